//! Blocks of memory, as the check's allocator makes them: each has a header before it, which names the one before.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::runtime::pieces;

/// The header before each block.
#[repr(C)]
pub(super) struct Header {
    /// Where the header of the block before it is, in any area; 0 for the first.
    before: usize,
    /// The number of bytes of the block, times 4, and its state.
    state: AtomicUsize,
}

const DEAD: usize = 0;
const ALIVE: usize = 1;
/// The threads that had it were left behind.
const LEFT: usize = 2;
const STATE: usize = 3;

impl Header {
    /// The header of a block which is in use.
    pub(super) fn new(before: usize, bytes: usize) -> Self {
        Self { before, state: AtomicUsize::new(bytes << 2 | ALIVE) }
    }
}

/// A block.
#[derive(Clone, Copy)]
pub(super) struct Block(&'static Header);

impl Block {
    /// The block that begins there.
    ///
    /// # Safety
    /// A block begins there.
    pub(super) unsafe fn at(start: usize) -> Self {
        // SAFETY: a header is before it, and pieces are never unmapped.
        Self(unsafe { &*std::ptr::with_exposed_provenance::<Header>(start - size_of::<Header>()) })
    }

    /// The address at which it begins.
    #[inline]
    pub(super) fn start(self) -> usize {
        std::ptr::from_ref(self.0).expose_provenance() + size_of::<Header>()
    }

    /// Its addresses.
    pub(super) fn range(self) -> Range<usize> {
        let start = self.start();
        start..start + (self.0.state.load(Ordering::Relaxed) >> 2)
    }

    /// The address of its header.
    pub(super) fn header(self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }

    #[inline]
    fn state(self) -> usize {
        self.0.state.load(Ordering::Acquire) & STATE
    }

    /// Whether it is in use, and the threads that had it were not left behind.
    #[inline]
    pub(super) fn is_alive(self) -> bool {
        self.state() == ALIVE
    }

    /// Whether it was freed.
    #[inline]
    pub(super) fn is_dead(self) -> bool {
        self.state() == DEAD
    }

    /// Whether the threads that had it were left behind.
    #[inline]
    pub(super) fn is_left(self) -> bool {
        self.state() == LEFT
    }

    /// Changes its state from `from` to `to`; false if that is another one.
    fn change(self, from: usize, to: usize) -> bool {
        let size = self.0.state.load(Ordering::Relaxed) & !STATE;
        self.0.state.compare_exchange(size | from, size | to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Marks it as left behind with the threads that have it. True if it was in use.
    pub(super) fn leave_behind(self) -> bool {
        self.change(ALIVE, LEFT)
    }

    /// Frees it; it is in use.
    #[inline]
    pub(super) fn dies(self) {
        let state = self.0.state.load(Ordering::Relaxed);
        self.0.state.store(state & !STATE | DEAD, Ordering::Release);
    }

    /// Puts it in use again; it was freed.
    pub(super) fn lives(self) {
        let state = self.0.state.load(Ordering::Relaxed);
        self.0.state.store(state & !STATE | ALIVE, Ordering::Release);
    }

    /// Frees it; it is in the piece of this number.
    #[inline]
    pub(super) fn free(self, piece: usize) {
        if self.is_left() {
            self.take_back();
        } else {
            self.dies();
            pieces::has_one_less(piece);
        }
    }

    /// Frees it after it was left, unless another OS thread has just done that.
    pub(super) fn take_back(self) {
        if self.change(LEFT, DEAD)
            && let Some(piece) = pieces::number_of(self.header())
        {
            pieces::has_one_less(piece);
        }
    }
}

/// The blocks of a piece from this header on, the last first.
///
/// # Safety
/// There is a header at `last`, or that is 0, and no execution begins in the piece meanwhile.
pub(super) unsafe fn blocks(last: usize) -> impl Iterator<Item = Block> {
    // SAFETY: the caller promises it for the first; each header says where another one is.
    let block = |at: usize| (at != 0).then(|| Block(unsafe { &*std::ptr::with_exposed_provenance::<Header>(at) }));
    std::iter::successors(block(last), move |Block(header)| block(header.before))
}
