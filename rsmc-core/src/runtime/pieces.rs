//! The address space that checks allocate from, in pieces.
//!
//! It is reserved once for the process; only what is used takes memory. A check has one piece at a time. A piece in which nothing is
//! alive serves again, the first ones first, since their pages are there. Pieces begin at multiples of their size, so the same place
//! in two pieces differs in the higher bits only, which [`Addresses`] exchanges.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much address space a piece has, in bytes.
pub(super) const PIECE: usize = 1 << 30;

/// How many pieces there are at most. Where so much address space is not to be had, there are fewer.
pub(super) const PIECES: usize = 1 << 14;

/// Where the region begins, and how many bytes it has: none as long as it is not reserved.
static REGION: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// By piece, how many blocks are alive in it.
static ALIVE: [AtomicUsize; PIECES] = [const { AtomicUsize::new(0) }; PIECES];
/// The first piece in which the last block has died since a piece was taken.
static FREED: AtomicUsize = AtomicUsize::new(usize::MAX);
/// By piece that no check has, where the header of the last block is that was made in it, from the beginning of the region on; or
/// [`NOWHERE`]. It must not look like a pointer to what ends there (`reclaim`).
static LAST: [AtomicUsize; PIECES] = [const { AtomicUsize::new(NOWHERE) }; PIECES];
/// How much memory executions have left behind since it was last looked through, in bytes, and how much of that is a reason to look.
static LEFT: AtomicUsize = AtomicUsize::new(0);
static MUCH: AtomicUsize = AtomicUsize::new(LEAST);
static TAKEN: Mutex<Taken> = Mutex::new(Taken { are_taken: Vec::new(), from: 0, is_reserved: false });

const NOWHERE: usize = usize::MAX;

/// Below this it is not worth while to look for memory that was left behind, in bytes.
const LEAST: usize = 64 << 20;

/// Which pieces checks have.
struct Taken {
    /// By piece, as far as they were ever used.
    are_taken: Vec<bool>,
    /// No piece before this one is free, but for what [`FREED`] says.
    from: usize,
    /// The region was asked for.
    is_reserved: bool,
}

/// A piece that a check has.
#[derive(Debug)]
pub(super) struct Piece(usize);

impl Piece {
    /// One that no check has, and in which nothing is alive.
    pub(super) fn take() -> Option<Self> {
        let taken = &mut *lock();
        if !std::mem::replace(&mut taken.is_reserved, true)
            && let Some((region, bytes)) = reserve()
        {
            REGION.store(region, Ordering::Relaxed);
            BYTES.store(bytes, Ordering::Release);
        }
        taken.from = taken.from.min(FREED.swap(usize::MAX, Ordering::Relaxed));
        let ever = taken.are_taken.len();
        let is_free = |&piece: &usize| !taken.are_taken[piece] && ALIVE[piece].load(Ordering::Acquire) == 0;
        let there_is_more = ever < BYTES.load(Ordering::Relaxed) / PIECE;
        let piece = (taken.from..ever).find(is_free).or_else(|| there_is_more.then_some(ever))?;
        if piece == ever {
            taken.are_taken.push(false);
        }
        taken.are_taken[piece] = true;
        taken.from = piece;
        Some(Self(piece))
    }

    /// Where it begins.
    pub(super) fn start(&self) -> usize {
        REGION.load(Ordering::Relaxed) + self.0 * PIECE
    }

    /// Its number.
    #[inline]
    pub(super) fn number(&self) -> usize {
        self.0
    }

    /// How many blocks are alive in it.
    pub(super) fn alive(&self) -> usize {
        ALIVE[self.0].load(Ordering::Acquire)
    }

    /// There is a block more.
    #[inline]
    pub(super) fn has_one_more(&self) {
        ALIVE[self.0].fetch_add(1, Ordering::Relaxed);
    }

    /// The header of the last block that is in it; 0 if there is none.
    pub(super) fn ends_with(&self, last: usize) {
        let place = if last == 0 { NOWHERE } else { last - REGION.load(Ordering::Relaxed) };
        LAST[self.0].store(place, Ordering::Relaxed);
    }
}

impl Drop for Piece {
    /// No check has it. It serves again when nothing is alive in it.
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

/// A block in the piece of this number is dead.
#[inline]
pub(super) fn has_one_less(number: usize) {
    let was_the_last = ALIVE[number].fetch_sub(1, Ordering::Release) == 1;
    if was_the_last && number < FREED.load(Ordering::Relaxed) {
        FREED.fetch_min(number, Ordering::Relaxed);
    }
}

/// An execution has left so many bytes behind.
pub(super) fn were_left(bytes: usize) {
    LEFT.fetch_add(bytes, Ordering::Relaxed);
}

/// Whether that is worth to be looked through.
#[inline]
pub(super) fn is_much_left() -> bool {
    LEFT.load(Ordering::Relaxed) >= MUCH.load(Ordering::Relaxed)
}

/// Whether it is worth while where there is no room left.
pub(super) fn is_something_left() -> bool {
    LEFT.load(Ordering::Relaxed) >= MUCH.load(Ordering::Relaxed) / 16
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

    /// Of the pieces in which something is alive that no check has, the header of the last block.
    pub(super) fn idle(&self) -> impl Iterator<Item = usize> {
        let last = self.alive(false).map(|piece| LAST[piece].load(Ordering::Relaxed));
        last.filter(|&place| place != NOWHERE).map(|place| REGION.load(Ordering::Relaxed) + place)
    }

    /// Where the pieces begin that checks have, and their numbers.
    pub(super) fn taken(&self) -> impl Iterator<Item = (usize, usize)> {
        self.alive(true).map(|piece| (REGION.load(Ordering::Relaxed) + piece * PIECE, piece))
    }

    fn alive(&self, are_taken: bool) -> impl Iterator<Item = usize> {
        let those = move |&(piece, &is_taken): &(usize, &bool)| {
            is_taken == are_taken && ALIVE[piece].load(Ordering::Acquire) > 0
        };
        self.0.are_taken.iter().enumerate().filter(those).map(|(piece, _)| piece)
    }

    /// Much was looked through: so much stays in use, and the next time is when this has grown by as much, or the half of what was
    /// looked through.
    pub(super) fn were_looked_through(self, bytes: usize, stay: usize) {
        LEFT.store(stay, Ordering::Relaxed);
        MUCH.store(stay + LEAST.max(bytes / 2), Ordering::Relaxed);
    }

    /// The system does not show the memory: nobody has to try it again.
    pub(super) fn cannot_be_looked_through(self) {
        MUCH.store(usize::MAX, Ordering::Relaxed);
    }
}

/// The addresses that blocks of a piece may have. They are values like others, but a check has not the same piece in all executions,
/// nor in all processes: so what comes from an atomic or goes to one is exchanged with what has the same place in [`NAMES`], and the
/// other way round. Arithmetic within a piece, and with tags in the lowest or the highest bits, gives the same on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    start: u64,
    exchanges: u64,
}

/// Where the names of addresses begin. Hardly anything is there.
const NAMES: u64 = 0x6e << 40;

/// The bits that say which piece an address is in.
const WHICH: u64 = (1 << 48) - PIECE as u64;

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
}

/// Where the region begins, and how many bytes it has.
#[cfg(all(unix, target_pointer_width = "64"))]
fn reserve() -> Option<(usize, usize)> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
    let sizes = std::iter::successors(Some(PIECES), |&pieces| (pieces > 1).then_some(pieces / 2));
    sizes.map(|pieces| pieces * PIECE).find_map(|bytes| {
        // SAFETY: a new mapping, which nothing else refers to.
        let region = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes + PIECE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if region == libc::MAP_FAILED {
            return None;
        }
        // A piece has a little memory in many places: a large page for each would be mostly empty.
        #[cfg(target_os = "linux")]
        // SAFETY: the mapping is ours, and it stays as it is.
        unsafe {
            libc::madvise(region, bytes + PIECE, libc::MADV_NOHUGEPAGE);
        }
        Some((region.expose_provenance().next_multiple_of(PIECE), bytes))
    })
}

#[cfg(not(all(unix, target_pointer_width = "64")))]
fn reserve() -> Option<(usize, usize)> {
    None
}
