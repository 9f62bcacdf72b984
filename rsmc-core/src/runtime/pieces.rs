//! The address space that checks allocate from, in pieces.
//!
//! It is reserved once for the process; only what is used takes memory. A check has one piece at a time. A piece in which nothing is
//! alive serves again, the first ones first, since their pages are there. Pieces begin at multiples of their size, so the same place
//! in two pieces differs in the higher bits only, which [`Addresses`] exchanges.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much address space a piece has, in bytes.
pub(super) const PIECE: usize = 1 << 30;

/// How many pieces there are at most. Where so much address space is not to be had, there are fewer.
const PIECES: usize = 1 << 12;

/// Where the region begins, and how many bytes it has: none as long as it is not reserved.
static REGION: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// By piece, how many blocks are alive in it.
static ALIVE: [AtomicUsize; PIECES] = [const { AtomicUsize::new(0) }; PIECES];
static TAKEN: Mutex<Taken> = Mutex::new(Taken { are_taken: Vec::new(), from: 0, is_reserved: false });

/// Which pieces checks have.
struct Taken {
    /// By piece, as far as they were ever used.
    are_taken: Vec<bool>,
    /// No piece before this one was free when it was looked at last.
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
        let ever = taken.are_taken.len();
        let is_free = |&piece: &usize| !taken.are_taken[piece] && ALIVE[piece].load(Ordering::Acquire) == 0;
        let there_is_more = ever < BYTES.load(Ordering::Relaxed) / PIECE;
        let piece = (taken.from..ever)
            .find(is_free)
            .or_else(|| there_is_more.then_some(ever))
            .or_else(|| (0..taken.from).find(is_free))?;
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

    /// How many blocks are alive in it.
    pub(super) fn alive(&self) -> usize {
        ALIVE[self.0].load(Ordering::Acquire)
    }

    /// There is a block more.
    #[inline]
    pub(super) fn has_one_more(&self) {
        ALIVE[self.0].fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Piece {
    /// No check has it. It serves again when nothing is alive in it.
    fn drop(&mut self) {
        let mut taken = lock();
        taken.are_taken[self.0] = false;
        taken.from = 0;
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
    ALIVE[number].fetch_sub(1, Ordering::Release);
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
        if piece == self.start || piece == NAMES { value ^ self.exchanges } else { value }
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
        (region != libc::MAP_FAILED).then(|| (region.expose_provenance().next_multiple_of(PIECE), bytes))
    })
}

#[cfg(not(all(unix, target_pointer_width = "64")))]
fn reserve() -> Option<(usize, usize)> {
    None
}
