//! The check's allocator: what user code allocates in an execution lies in one piece of memory.
//!
//! Problem. What a thread will do depends on its stack and on what it reaches by pointers. The stacks are ours
//! (`coroutine`); the heap is ours as well if the program allocates from here. Then a change of either can be seen
//! (`state`), and a loop iteration that changes neither is known to change nothing.
//!
//! Method. Memory comes from a region that is reserved once, in pieces of [`PIECE`] bytes, of which a check takes one. Blocks
//! lie one behind the other; memory that was freed is not used again in the same execution. When the next one begins, the dead
//! blocks at the end are dropped, so what outlives an execution (a captured collection, say) keeps its memory and all else is
//! used again. Outside user code of executions, and where a piece is full, it is the system's allocator.
//!
//! Limits. Memory that was allocated outside executions is not seen, nor are statics and std's thread-locals.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much memory a check has, in bytes. Only what is used takes memory.
const PIECE: usize = 64 << 20;

/// How many pieces there are at most. Where so much address space is not to be had, there are fewer.
const PIECES: usize = 1 << 10;

/// What stands before each block.
#[repr(C)]
struct Header {
    /// Where the header of the block before it is; 0 for the first.
    before: usize,
    /// 1 while the block is in use.
    alive: AtomicUsize,
}

/// An allocator for test builds. [`Runtime`](super::Runtime) knows whether it is installed.
///
/// ```
/// use rsmc_core::runtime::Allocator;
///
/// #[global_allocator]
/// static ALLOCATOR: Allocator = Allocator;
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Allocator;

/// Where the region begins, and how many bytes it has: none as long as it is not reserved.
static REGION: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// By piece, how many blocks are alive in it.
static ALIVE: [AtomicUsize; PIECES] = [const { AtomicUsize::new(0) }; PIECES];
static TAKEN: Mutex<Taken> = Mutex::new(Taken { pieces: Vec::new(), ever: 0, is_reserved: false });

/// The pieces that are in use by checks, how many were ever used, and whether the region was asked for.
struct Taken {
    pieces: Vec<usize>,
    ever: usize,
    is_reserved: bool,
}

thread_local! {
    /// The arena from which the code that runs allocates, if it is user code in an execution.
    static CURRENT: Cell<*mut Inner> = const { Cell::new(null_mut()) };
}

struct Inner {
    piece: usize,
    /// Where this execution's blocks begin, where the next one comes, and where the piece ends.
    start: usize,
    next: usize,
    end: usize,
    /// The header of the last block.
    last: usize,
    /// Something did not fit.
    overflowed: bool,
}

/// The memory of a check.
pub(super) struct Arena(Option<Box<Inner>>);

impl Arena {
    /// A piece of its own, if the allocator is installed and there is one left.
    pub(super) fn new() -> Self {
        let Some(piece) = is_installed().then(take_piece).flatten() else { return Self(None) };
        let start = REGION.load(Ordering::Relaxed) + piece * PIECE;
        Self(Some(Box::new(Inner { piece, start, next: start, end: start + PIECE, last: 0, overflowed: false })))
    }

    /// Whether all that user code allocates is seen.
    pub(super) fn sees_all(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| !inner.overflowed)
    }

    /// Where everything lies that it allocates, but for what does not fit.
    pub(super) fn memory(&self) -> Range<usize> {
        self.0.as_ref().map_or(0..0, |inner| inner.next..inner.end)
    }

    /// An execution begins.
    pub(super) fn begin(&mut self) {
        let Some(inner) = &mut self.0 else { return };
        while inner.last != 0 {
            // SAFETY: `last` is the address of a header in this arena's piece, which is never unmapped.
            let header = unsafe { &*std::ptr::with_exposed_provenance::<Header>(inner.last) };
            if header.alive.load(Ordering::Acquire) != 0 {
                break;
            }
            inner.next = inner.last;
            inner.last = header.before;
        }
        inner.start = inner.next;
        inner.overflowed = false;
    }

    /// What this execution's blocks hold.
    pub(super) fn bytes(&self) -> &[u8] {
        let Some(inner) = &self.0 else { return &[] };
        // SAFETY: the piece is mapped and readable from its beginning on, and all that user code has written to it; nobody
        // writes while this is looked at, since all threads of a check share one OS thread, and it runs this.
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(inner.start), inner.next - inner.start) }
    }

    /// User code runs from now on, until what is returned is dropped.
    pub(super) fn enter(&mut self) -> Switched {
        let inner = self.0.as_mut().map_or(null_mut(), |inner| std::ptr::from_mut(&mut **inner));
        switch(inner)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if let Some(inner) = &self.0 {
            let mut taken = TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            taken.pieces.retain(|&piece| piece != inner.piece);
        }
    }
}

/// The code that runs allocates from elsewhere, until this is dropped.
pub(super) struct Switched(*mut Inner);

impl Drop for Switched {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.set(self.0));
    }
}

fn switch(to: *mut Inner) -> Switched {
    Switched(CURRENT.try_with(|current| current.replace(to)).unwrap_or(null_mut()))
}

/// Our own code runs from now on, until what is returned is dropped.
#[inline]
pub(super) fn outside() -> Switched {
    switch(null_mut())
}

/// Whether this is the program's allocator: one who has no room left notices what does not fit.
fn is_installed() -> bool {
    let mut full = Inner { piece: 0, start: 0, next: 0, end: 0, last: 0, overflowed: false };
    let until = switch(&raw mut full);
    drop(std::hint::black_box(Box::new(0_u8)));
    drop(until);
    full.overflowed
}

/// A piece that no check uses, and in which nothing is alive.
fn take_piece() -> Option<usize> {
    let taken = &mut *TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !std::mem::replace(&mut taken.is_reserved, true)
        && let Some((region, bytes)) = reserve()
    {
        REGION.store(region, Ordering::Relaxed);
        BYTES.store(bytes, Ordering::Release);
    }
    let pieces = BYTES.load(Ordering::Relaxed) / PIECE;
    let is_free = |piece: &usize| !taken.pieces.contains(piece) && ALIVE[*piece].load(Ordering::Acquire) == 0;
    let piece = (0..taken.ever).find(is_free).or_else(|| (taken.ever < pieces).then_some(taken.ever))?;
    taken.ever = taken.ever.max(piece + 1);
    taken.pieces.push(piece);
    Some(piece)
}

/// Where the region begins, and how many bytes it has.
#[cfg(all(unix, target_pointer_width = "64"))]
fn reserve() -> Option<(usize, usize)> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
    let sizes = std::iter::successors(Some(PIECES), |&pieces| (pieces > 1).then_some(pieces / 2));
    sizes.map(|pieces| pieces * PIECE).find_map(|bytes| {
        // SAFETY: a new mapping, which nothing else refers to.
        let region = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        (region != libc::MAP_FAILED).then(|| (region.expose_provenance(), bytes))
    })
}

#[cfg(not(all(unix, target_pointer_width = "64")))]
fn reserve() -> Option<(usize, usize)> {
    None
}

/// Which piece an address is in.
#[inline]
fn piece_of(address: usize) -> Option<usize> {
    let bytes = BYTES.load(Ordering::Acquire);
    let offset = address.wrapping_sub(REGION.load(Ordering::Relaxed));
    (offset < bytes).then_some(offset / PIECE)
}

impl Inner {
    fn allocate(&mut self, layout: Layout) -> Option<*mut u8> {
        let block = (self.next + size_of::<Header>()).next_multiple_of(layout.align().max(align_of::<Header>()));
        let next = block.checked_add(layout.size())?.next_multiple_of(align_of::<Header>());
        if next > self.end {
            self.overflowed = true;
            return None;
        }
        let header = block - size_of::<Header>();
        let written = Header { before: self.last, alive: AtomicUsize::new(1) };
        // SAFETY: the bytes from `next` to `end` belong to this piece, are mapped, aligned and in use by nobody.
        unsafe { std::ptr::with_exposed_provenance_mut::<Header>(header).write(written) };
        ALIVE[self.piece].fetch_add(1, Ordering::Relaxed);
        self.last = header;
        self.next = next;
        Some(std::ptr::with_exposed_provenance_mut(block))
    }
}

// SAFETY: a block is memory that is mapped, aligned as asked for, and in use by nobody else until it is freed; the rest is
// the system's allocator.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let inner = CURRENT.try_with(Cell::get).unwrap_or(null_mut());
        if inner.is_null() {
            // SAFETY: as the caller promises.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: the arena of a check is alive while its user code runs, on one OS thread.
        let block = unsafe { (*inner).allocate(layout) };
        // SAFETY: as the caller promises.
        block.unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match piece_of(block.addr()) {
            None => {
                // SAFETY: it comes from there.
                unsafe { System.dealloc(block, layout) }
            }
            Some(piece) => {
                // SAFETY: every block has a header before it.
                let header = unsafe { &*block.cast::<Header>().sub(1) };
                header.alive.store(0, Ordering::Release);
                ALIVE[piece].fetch_sub(1, Ordering::Release);
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if piece_of(block.addr()).is_none() {
            // SAFETY: it comes from there.
            return unsafe { System.realloc(block, layout, size) };
        }
        // SAFETY: the caller promises that the size is not 0 and does not overflow.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both have that many bytes, and the new one is another.
            unsafe { std::ptr::copy_nonoverlapping(block, new, layout.size().min(size)) };
            // SAFETY: as the caller promises.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}
