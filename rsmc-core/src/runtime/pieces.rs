//! The address space that checks allocate from, in pieces.
//!
//! A check has one piece at a time. A piece in which nothing is alive serves again, the first ones first, since their
//! pages are there. Where none does, another one is mapped behind the last; only what is used takes memory. Nothing is
//! reserved ahead: emulators, valgrind and limits of address space count what is mapped. Pieces begin at multiples of
//! their size, so the same place in two pieces differs in the higher bits only, which [`Addresses`] exchanges.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of bytes of address space of a piece.
pub(super) const PIECE: usize = 1 << 30;

/// The number of bytes at the beginning of a piece that are no part of a block: a small number is no address, whatever
/// is in the higher half of its word.
pub(super) const UNUSED: usize = 1 << 16;

/// The largest number of pieces. Where something else is in the way, there are fewer.
pub(super) const PIECES: usize = 1 << 14;

/// The addresses at which the first piece may be: far from what systems map by themselves. The last place is for small
/// address spaces.
const PLACES: [u64; 3] = [0x2000 << 32, 0x1000 << 32, 0x20 << 32];

/// The address at which the first piece begins, and the number of bytes of all pieces.
static REGION: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// By piece: the number of blocks that are alive in it.
static ALIVE: [AtomicUsize; PIECES] = [const { AtomicUsize::new(0) }; PIECES];
/// The first piece in which the last block has died since a piece was taken.
static FREED: AtomicUsize = AtomicUsize::new(usize::MAX);
/// By piece that no check has: the place of the header of the last block that was made in it, from the beginning of the
/// region on; or [`NOWHERE`]. It must not look like a pointer to what ends there (`reclaim`).
static LAST: [AtomicUsize; PIECES] = [const { AtomicUsize::new(NOWHERE) }; PIECES];
/// The number of bytes that executions have left behind, and the number of them that is a reason to look them through.
static LEFT: AtomicUsize = AtomicUsize::new(0);
static MUCH: AtomicUsize = AtomicUsize::new(LEAST);
/// The number of bytes that were still in use when memory was last looked through.
static STAYED: AtomicUsize = AtomicUsize::new(0);
static TAKEN: Mutex<Taken> = Mutex::new(Taken { are_taken: Vec::new(), from: 0, is_full: false });

const NOWHERE: usize = usize::MAX;

/// Below this it is not worth while to look for memory that was left behind, in bytes.
const LEAST: usize = 64 << 20;

/// The pieces that checks have.
struct Taken {
    /// By piece, as far as pieces were ever used: whether a check has it.
    are_taken: Vec<bool>,
    /// No piece before this one is free, but for what [`FREED`] says.
    from: usize,
    /// There is no room behind the last one.
    is_full: bool,
}

impl Taken {
    /// Maps one more piece, and returns its number.
    fn grow(&mut self) -> Option<usize> {
        let piece = self.are_taken.len();
        if self.is_full {
            return None;
        }
        let start = match piece {
            0 => PLACES.into_iter().filter_map(|place| usize::try_from(place).ok()).find(|&place| map(place)),
            PIECES.. => None,
            _ => Some(REGION.load(Ordering::Relaxed) + piece * PIECE).filter(|&place| map(place)),
        };
        let Some(start) = start else {
            self.is_full = true;
            return None;
        };
        self.are_taken.push(false);
        if piece == 0 {
            REGION.store(start, Ordering::Relaxed);
        }
        BYTES.store((piece + 1) * PIECE, Ordering::Release);
        Some(piece)
    }
}

/// A piece that a check has.
#[derive(Debug)]
pub(super) struct Piece(usize);

impl Piece {
    /// A piece that no check has, and in which nothing is alive.
    pub(super) fn take() -> Option<Self> {
        let taken = &mut *lock();
        taken.from = taken.from.min(FREED.swap(usize::MAX, Ordering::Relaxed));
        let is_free = |&piece: &usize| !taken.are_taken[piece] && ALIVE[piece].load(Ordering::Acquire) == 0;
        let again = (taken.from..taken.are_taken.len()).find(is_free);
        let piece = again.or_else(|| taken.grow())?;
        taken.are_taken[piece] = true;
        taken.from = piece;
        Some(Self(piece))
    }

    /// The address at which it begins.
    pub(super) fn start(&self) -> usize {
        REGION.load(Ordering::Relaxed) + self.0 * PIECE
    }

    /// Its number.
    #[inline]
    pub(super) fn number(&self) -> usize {
        self.0
    }

    /// The number of blocks that are alive in it.
    pub(super) fn alive(&self) -> usize {
        ALIVE[self.0].load(Ordering::Acquire)
    }

    /// Counts a block more.
    #[inline]
    pub(super) fn has_one_more(&self) {
        ALIVE[self.0].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a block less, while a check has the piece.
    #[inline]
    pub(super) fn has_one_less(&self) {
        ALIVE[self.0].fetch_sub(1, Ordering::Release);
    }

    /// Notes the header of the last block that is in it; 0 if there is none.
    pub(super) fn ends_with(&self, last: usize) {
        let place = if last == 0 { NOWHERE } else { last - REGION.load(Ordering::Relaxed) };
        LAST[self.0].store(place, Ordering::Relaxed);
    }
}

impl Drop for Piece {
    /// Gives the piece back. It serves again when nothing is alive in it.
    fn drop(&mut self) {
        let mut taken = lock();
        taken.are_taken[self.0] = false;
        if self.alive() == 0 {
            taken.from = taken.from.min(self.0);
        }
    }
}

fn lock() -> MutexGuard<'static, Taken> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of the piece that an address is in.
#[inline]
pub(super) fn number_of(address: usize) -> Option<usize> {
    let bytes = BYTES.load(Ordering::Acquire);
    let offset = address.wrapping_sub(REGION.load(Ordering::Relaxed));
    (offset < bytes).then_some(offset / PIECE)
}

/// Counts a block less in the piece of this number.
#[inline]
pub(super) fn has_one_less(number: usize) {
    let was_the_last = ALIVE[number].fetch_sub(1, Ordering::Release) == 1;
    if was_the_last && number < FREED.load(Ordering::Relaxed) {
        FREED.fetch_min(number, Ordering::Relaxed);
    }
}

/// Counts bytes that an execution has left behind.
pub(super) fn were_left(bytes: usize) {
    LEFT.fetch_add(bytes, Ordering::Relaxed);
}

/// Whether so many bytes were left behind that it is worth while to look for unused ones.
#[inline]
pub(super) fn is_much_left() -> bool {
    LEFT.load(Ordering::Relaxed) >= MUCH.load(Ordering::Relaxed)
}

/// Whether that is worth while where there is no room for a piece: an execution that leaves a few blocks behind takes a
/// piece for them.
pub(super) fn is_something_left() -> bool {
    LEFT.load(Ordering::Relaxed) >= MUCH.load(Ordering::Relaxed) / 256
}

/// Whether anything was left behind since memory was last looked through. A check that begins without a piece would
/// unwind threads and see no state.
pub(super) fn is_anything_new_left() -> bool {
    LEFT.load(Ordering::Relaxed) > STAYED.load(Ordering::Relaxed)
}

/// All pieces while no check gives one back or takes one.
pub(super) struct All(MutexGuard<'static, Taken>);

impl All {
    pub(super) fn hold() -> Self {
        Self(lock())
    }

    /// The address space of all pieces.
    pub(super) fn region(&self) -> Range<usize> {
        let start = REGION.load(Ordering::Relaxed);
        start..start + BYTES.load(Ordering::Relaxed)
    }

    /// The header of the last block of each piece that no check has and in which something is alive.
    pub(super) fn idle(&self) -> impl Iterator<Item = usize> {
        let last = self.alive(false).map(|piece| LAST[piece].load(Ordering::Relaxed));
        last.filter(|&place| place != NOWHERE).map(|place| REGION.load(Ordering::Relaxed) + place)
    }

    /// The addresses at which the pieces begin that checks have, and their numbers.
    pub(super) fn taken(&self) -> impl Iterator<Item = (usize, usize)> {
        self.alive(true).map(|piece| (REGION.load(Ordering::Relaxed) + piece * PIECE, piece))
    }

    fn alive(&self, are_taken: bool) -> impl Iterator<Item = usize> {
        let those = move |&(piece, &is_taken): &(usize, &bool)| {
            is_taken == are_taken && ALIVE[piece].load(Ordering::Acquire) > 0
        };
        self.0.are_taken.iter().enumerate().filter(those).map(|(piece, _)| piece)
    }

    /// Notes that `bytes` were looked through, and that `stay` of the bytes left behind stay in use. The next time is
    /// when these have grown by [`LEAST`], or by the half of `bytes` if that is more.
    pub(super) fn were_looked_through(self, bytes: usize, stay: usize) {
        LEFT.store(stay, Ordering::Relaxed);
        STAYED.store(stay, Ordering::Relaxed);
        MUCH.store(stay + LEAST.max(bytes / 2), Ordering::Relaxed);
    }

    /// Notes that the system does not show the memory: nobody tries it again.
    pub(super) fn cannot_be_looked_through(self) {
        MUCH.store(usize::MAX, Ordering::Relaxed);
        STAYED.store(usize::MAX, Ordering::Relaxed);
    }
}

/// The addresses that blocks of a piece may have. They are values like others, but a check has not the same piece in
/// all executions, nor in all processes: so an address that comes from an atomic or goes to one is exchanged with the
/// name that has the same place in [`NAMES`], and the other way round. Arithmetic within a piece, and with tags in the
/// lowest or the highest bits, gives the same on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    start: u64,
    exchanges: u64,
}

/// The address at which the names of addresses begin. Hardly anything is there.
const NAMES: u64 = 0x6e << 40;

/// The bits that say which piece an address is in.
const WHICH: u64 = (1 << 48) - PIECE as u64;

/// The place in its piece of the address that has this name, if it is one.
pub(super) fn place_of(name: u64) -> Option<usize> {
    (name & WHICH == NAMES).then_some(name as usize % PIECE)
}

impl Default for Addresses {
    fn default() -> Self {
        Self { start: NAMES, exchanges: 0 }
    }
}

impl Addresses {
    pub(super) fn of(piece: &Piece) -> Self {
        let start = piece.start() as u64;
        Self { start, exchanges: start ^ NAMES }
    }

    /// The name of an address, or the address of a name; all else stands for itself.
    #[inline]
    pub(super) fn exchange(self, value: u64) -> u64 {
        let piece = value & WHICH;
        // Most values are small.
        if piece != 0 && (piece == self.start || piece == NAMES) { value ^ self.exchanges } else { value }
    }

    /// A word of memory, in which addresses are exchanged with their names. Where a small number was put over the lower
    /// half of an address or of a name, the remnants of both become the same: which one was there depends on the path
    /// on which a thread came.
    #[inline]
    pub(super) fn named(self, word: u64) -> u64 {
        let (high, low) = (word >> 32, word & u64::from(u32::MAX));
        let is_remnant = low < UNUSED as u64 && (high == self.start >> 32 || high == NAMES >> 32);
        if is_remnant { NAMES | low } else { self.exchange(word) }
    }
}

/// Maps a piece there; false if something is there, or the system does not want to.
#[cfg(all(unix, target_pointer_width = "64"))]
fn map(place: usize) -> bool {
    // Elsewhere than on Linux the place is only asked for.
    #[cfg(target_os = "linux")]
    const THERE: libc::c_int = libc::MAP_FIXED_NOREPLACE;
    #[cfg(not(target_os = "linux"))]
    const THERE: libc::c_int = 0;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE | THERE;
    let there = std::ptr::with_exposed_provenance_mut(place);
    // SAFETY: a new mapping, which replaces none.
    let mapped = unsafe { libc::mmap(there, PIECE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return false;
    }
    if mapped.expose_provenance() != place {
        // SAFETY: nothing uses it.
        unsafe { libc::munmap(mapped, PIECE) };
        return false;
    }
    // A piece has a little memory in many places: a large page for each would be mostly empty.
    #[cfg(target_os = "linux")]
    // SAFETY: the mapping is ours, and it stays as it is.
    unsafe {
        libc::madvise(mapped, PIECE, libc::MADV_NOHUGEPAGE);
    }
    true
}

#[cfg(not(all(unix, target_pointer_width = "64")))]
fn map(_: usize) -> bool {
    false
}
