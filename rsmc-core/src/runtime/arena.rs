//! The check's allocator: what user code allocates in an execution lies in one piece of address space, at the same
//! place in every execution.
//!
//! Problem. What a thread will do depends on its stack and on what it reaches by pointers. The stacks are ours
//! (`coroutine`); the heap is ours as well if the program allocates from here. Then a change of either can be seen
//! (`state`), and a loop iteration that changes neither is known to change nothing. And addresses are values: where
//! they differ between two runs of one execution, code that compares or hashes them does not do the same.
//!
//! Method. A check has a piece of address space (`pieces`). In it each thread has areas of its own: a small one, and
//! where that is full, larger ones. In an area, blocks lie one behind the other; memory that was freed is not used
//! again in the same execution, unless the check wants that (`again`). So the place of a block depends on what its
//! thread has allocated before, and on nothing else. The next execution begins with empty areas: in the same piece if
//! nothing is alive in it, else in another, so what outlives an execution (a captured collection, say) keeps its
//! memory. Outside user code of executions, and where areas are full, it is the system's allocator.
//!
//! The memory of threads that are left behind when an execution is over is not freed. It stays until nothing points to
//! it (`reclaim`).
//!
//! Cost. An allocation is a few instructions; the next execution begins without looking at blocks.
//!
//! Limits. Memory that was allocated outside executions is not seen, nor are statics and std's thread-locals. Of large
//! areas there are few: where [`LEVELS`] has fewer than there are threads, some share one, and the place of a block
//! depends on what they do.

mod again;
mod freed;
mod made;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use crate::base::{Id, ThreadId};
use crate::runtime::arena::again::Again;
use crate::runtime::arena::freed::Freed;
pub(super) use crate::runtime::arena::freed::News;
use crate::runtime::arena::made::Made;
use crate::runtime::blocks::{Block, Header, blocks};
use crate::runtime::memcheck;
use crate::runtime::pieces::{self, Addresses, PIECE, PIECES, Piece, UNUSED};

/// Areas of one size, which lie one behind the other.
struct Level {
    /// The place of the first one in a piece.
    start: usize,
    /// The number of bytes of each.
    bytes: usize,
    /// The number of areas.
    count: usize,
    /// The number of the first one among all areas.
    first: usize,
}

/// A thread's block is in the first of these in which there is room.
const LEVELS: [Level; 3] = [
    Level { start: 0, bytes: 256 << 10, count: 256, first: 0 },
    Level { start: 64 << 20, bytes: 4 << 20, count: 64, first: 256 },
    Level { start: 320 << 20, bytes: 64 << 20, count: 8, first: 320 },
];

/// The number of areas of all sizes.
const AREAS: usize = 328;

/// The parts of the piece of this number that may be in use, one range for each level.
pub(super) fn in_use(start: usize, piece: usize) -> impl Iterator<Item = Range<usize>> {
    let marks = MARKS[piece].iter().map(|mark| mark.load(Ordering::Relaxed) as usize);
    LEVELS.iter().zip(marks).map(move |(level, mark)| start + level.start..start + mark.max(level.start))
}

/// By piece and level: the end of the last page up to which blocks were ever made.
static MARKS: [[AtomicU32; LEVELS.len()]; PIECES] = [const { [const { AtomicU32::new(0) }; LEVELS.len()] }; PIECES];

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

thread_local! {
    /// The arena from which the code that runs allocates, if it is user code in an execution.
    static CURRENT: Cell<*mut Inner> = const { Cell::new(null_mut()) };
}

/// The least number of bytes that a part of memory takes.
const PAGE: usize = 4096;

/// A part of a piece, from the beginning of the piece on.
#[derive(Clone, Copy)]
struct Area {
    /// The places where this execution's blocks begin, and where the next one comes.
    from: u32,
    next: u32,
}

struct Inner {
    piece: Piece,
    /// The address at which the piece begins.
    start: usize,
    /// The number of the thread whose code runs.
    thread: usize,
    areas: [Area; AREAS],
    /// The areas in which this execution has blocks, a bit for each.
    used: [u64; AREAS.div_ceil(64)],
    /// The header of the last block, and of the last one from before this execution.
    last: usize,
    behind: usize,
    /// Something did not fit.
    overflowed: bool,
    freed: Freed,
    made: Made,
    /// The running thread has made blocks since its last mark.
    is_unmarked: bool,
    again: Again,
}

/// The memory of a check.
pub(super) struct Arena(Option<Box<Inner>>);

impl Arena {
    /// An arena with a piece of its own, if the allocator is installed and a piece can be had.
    pub(super) fn new() -> Self {
        Self(is_installed().then(Inner::new).flatten().map(Box::new))
    }

    /// Whether threads get memory again that they have freed.
    pub(super) fn reuse(&mut self, on: bool) {
        if let Some(inner) = &mut self.0 {
            inner.again.want(on);
        }
    }

    /// Whether all that user code allocates is seen.
    pub(super) fn sees_all(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| !inner.overflowed)
    }

    /// The addresses of everything that this execution allocates, but for what does not fit.
    pub(super) fn memory(&self) -> Range<usize> {
        self.0.as_ref().map_or(0..0, |inner| inner.start..inner.start + PIECE)
    }

    /// The names that stand for the addresses in it.
    pub(super) fn addresses(&self) -> Addresses {
        self.0.as_ref().map_or_else(Addresses::default, |inner| Addresses::of(&inner.piece))
    }

    /// Begins an execution; false if there is no piece in which nothing is alive.
    pub(super) fn begin(&mut self) -> bool {
        self.0.as_mut().is_none_or(|inner| inner.begin())
    }

    /// Begins an execution, behind the blocks that are alive if there is no other way.
    #[cold]
    pub(super) fn begin_anyhow(&mut self) {
        if let Some(inner) = &mut self.0
            && !inner.begin()
        {
            inner.begin_behind();
        }
    }

    /// Marks the blocks of the execution, which is over, as left behind with its threads.
    pub(super) fn was_left(&mut self) {
        let Some(inner) = &mut self.0 else { return };
        let left = inner.own().filter(|block| block.leave_behind()).count();
        if left > 0 {
            pieces::were_left(inner.ranges().map(|range| range.len().next_multiple_of(PAGE)).sum());
        }
    }

    /// A number for what this execution's blocks hold.
    pub(super) fn number(&self) -> u64 {
        let Some(inner) = &self.0 else { return 0 };
        inner.ranges().fold(inner.again.number(), |number: u64, range| {
            // SAFETY: the piece is mapped and readable, and all that user code has written to it; nothing writes while
            // this is looked at, since all threads of a check share one OS thread, and it runs this.
            let bytes =
                unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(range.start), range.len()) };
            number.wrapping_mul(31).wrapping_add(memcheck::defined(xxh3_64(bytes)))
        })
    }

    /// Whether an address is in one of this execution's blocks, or between two.
    pub(super) fn contains(&self, address: usize) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.ranges().any(|range| range.contains(&address)))
    }

    /// Lets user code of a thread run from now on.
    #[inline]
    pub(super) fn turn(&mut self, thread: ThreadId) {
        if let Some(inner) = &mut self.0 {
            inner.thread = thread.index();
        }
    }

    /// Lets user code run until the result is dropped.
    pub(super) fn enter(&mut self) -> Switched {
        let inner = self.0.as_mut().map_or(null_mut(), |inner| std::ptr::from_mut(&mut **inner));
        switch(inner)
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

/// Lets our own code run until the result is dropped.
#[inline]
pub(super) fn outside() -> Switched {
    switch(null_mut())
}

/// A value of [`CURRENT`] that is no arena, but a question: whether an allocation comes to this allocator.
const QUESTION: *mut Inner = std::ptr::without_provenance_mut(1);

/// Whether this is the program's allocator: then it answers the question.
fn is_installed() -> bool {
    let _until = switch(QUESTION);
    drop(std::hint::black_box(Box::new(0_u8)));
    CURRENT.get().is_null()
}

impl Inner {
    fn new() -> Option<Self> {
        let piece = Piece::take()?;
        let start = piece.start();
        let (areas, used) = (empty_areas(), Default::default());
        Some(Self {
            piece,
            start,
            thread: 0,
            areas,
            used,
            last: 0,
            behind: 0,
            overflowed: false,
            freed: Freed::default(),
            made: Made::default(),
            is_unmarked: false,
            again: Again::default(),
        })
    }

    fn begin(&mut self) -> bool {
        self.overflowed = false;
        self.freed.clear();
        self.made.clear();
        self.again.clear();
        if self.piece.alive() > 0 {
            let Some(piece) = Piece::take() else { return false };
            self.piece.ends_with(self.last);
            self.start = piece.start();
            self.piece = piece;
        }
        for number in self.take_used() {
            self.areas[number].next = self.areas[number].from;
        }
        if self.behind != 0 {
            self.areas = empty_areas();
        }
        (self.last, self.behind) = (0, 0);
        true
    }

    fn begin_behind(&mut self) {
        self.behind = self.last;
        for number in self.take_used() {
            self.areas[number].from = self.areas[number].next;
        }
    }

    /// Takes out the areas that have blocks of this execution: none has from now on.
    fn take_used(&mut self) -> impl Iterator<Item = usize> + use<> {
        numbers(std::mem::take(&mut self.used))
    }

    /// This execution's blocks, the last first.
    fn own(&self) -> impl Iterator<Item = Block> {
        // SAFETY: `last` is the header of this piece's last block, or 0.
        unsafe { blocks(self.last) }.take_while(|block| block.header() != self.behind)
    }

    /// The addresses of this execution's blocks.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        numbers(self.used).map(|number| {
            let Area { from, next } = self.areas[number];
            self.start + from as usize..self.start + next as usize
        })
    }

    /// Whether an address is in its piece.
    #[inline]
    fn has_there(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < PIECE
    }

    #[inline]
    fn allocate(&mut self, layout: Layout) -> Option<*mut u8> {
        if self.again.is_wanted()
            && let Some(block) = self.allocate_again(layout)
        {
            return Some(block);
        }
        self.allocate_on::<0>(layout).or_else(|| self.allocate_much(layout))
    }

    #[cold]
    fn allocate_much(&mut self, layout: Layout) -> Option<*mut u8> {
        let block = self.allocate_on::<1>(layout).or_else(|| self.allocate_on::<2>(layout));
        self.overflowed |= block.is_none();
        block
    }

    #[inline]
    fn allocate_on<const LEVEL: usize>(&mut self, layout: Layout) -> Option<*mut u8> {
        let level = const { &LEVELS[LEVEL] };
        let nth = self.thread % level.count;
        let area = &mut self.areas[level.first + nth];
        let (start, before) = (self.start, area.next);
        let block = up_to(start + before as usize + size_of::<Header>(), layout.align().max(align_of::<Header>()));
        // No overflow: a layout has less than half of all bytes, and pieces do not lie at the end of memory.
        let end = up_to(block + layout.size(), align_of::<Header>());
        if end > start + level.start + (nth + 1) * level.bytes {
            return None;
        }
        let header = block - size_of::<Header>();
        let written = Header::new(self.last, layout.size());
        // SAFETY: the bytes from `next` to the end of the area belong to this piece, are mapped, aligned and not in
        // use.
        unsafe { std::ptr::with_exposed_provenance_mut::<Header>(header).write(written) };
        self.piece.has_one_more();
        self.last = header;
        let end = (end - start) as u32;
        area.next = end;
        self.is_unmarked = true;
        if before / PAGE as u32 != end / PAGE as u32 || before == area.from {
            self.enter_page(LEVEL, level.first + nth, end);
        }
        Some(std::ptr::with_exposed_provenance_mut(block))
    }

    /// Notes that a block in an area is the first one, or ends on another page than the one before.
    #[cold]
    fn enter_page(&mut self, level: usize, number: usize, end: u32) {
        self.used[number / 64] |= 1 << (number % 64);
        let mark = &MARKS[self.piece.number()][level];
        if mark.load(Ordering::Relaxed) < end {
            // No other check has the piece.
            mark.store(up_to(end as usize, PAGE) as u32, Ordering::Relaxed);
        }
    }
}

/// The next multiple of a power of two.
#[inline]
fn up_to(address: usize, power: usize) -> usize {
    (address + power - 1) & !(power - 1)
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.piece.ends_with(self.last);
    }
}

fn empty_areas() -> [Area; AREAS] {
    let mut areas = [Area { from: 0, next: 0 }; AREAS];
    for level in &LEVELS {
        for number in 0..level.count {
            let from = (level.start + number * level.bytes).max(UNUSED) as u32;
            areas[level.first + number] = Area { from, next: from };
        }
    }
    areas
}

/// The numbers of the bits that are set.
fn numbers<const WORDS: usize>(bits: [u64; WORDS]) -> impl Iterator<Item = usize> {
    bits.into_iter().enumerate().flat_map(|(word, mut bits)| {
        std::iter::from_fn(move || {
            let bit = bits.checked_ilog2()?;
            bits &= !(1 << bit);
            Some(word * 64 + bit as usize)
        })
    })
}

// SAFETY: a block is memory that is mapped, aligned as asked for, and in no other use until it is freed; the rest is
// the system's allocator.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let inner = CURRENT.try_with(Cell::get).unwrap_or(null_mut());
        if inner.addr() <= QUESTION.addr() {
            if inner == QUESTION {
                CURRENT.set(null_mut());
            }
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
        let inner = CURRENT.try_with(Cell::get).unwrap_or(null_mut());
        // SAFETY: the arena of a check is alive while its user code runs, on one OS thread.
        if inner.addr() > QUESTION.addr() && unsafe { (*inner).has_there(block.addr()) } {
            // SAFETY: as above, and a block of this allocator begins there.
            return unsafe { (*inner).free(Block::at(block.expose_provenance()), layout.size()) };
        }
        match pieces::number_of(block.addr()) {
            None => {
                // SAFETY: it comes from there.
                unsafe { System.dealloc(block, layout) }
            }
            Some(piece) => {
                // SAFETY: a block of this allocator begins there, and the caller has it.
                unsafe { Block::at(block.expose_provenance()) }.free(piece);
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if pieces::number_of(block.addr()).is_none() {
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

#[cfg(test)]
mod oracle;
