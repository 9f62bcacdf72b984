//! Memory that was freed: uses of it, and blocks that are freed twice.
//!
//! Problem. A structure without locks that frees what another thread still uses is wrong, and nothing shows it if what
//! was freed keeps its bytes until the execution is over.
//!
//! Method. An execution says where each object of the shim is that it meets, and when it meets it elsewhere. When a
//! block is freed, the objects in it are marked in their tags, so that a later use of one is noticed without a look at
//! the allocator, and the execution learns what was freed. An object that the execution had not met is looked up among
//! the blocks when it is met first.
//!
//! A block without such objects is filled with [`FILLING`]. What reads it later finds neither the value that it had nor
//! an address: an assertion fails, or the process ends at a signal.
//!
//! Cost. Freeing looks for the objects in a block by binary search among all that are here, and reads and writes the
//! block.
//!
//! Limits. Only what is allocated here is seen. A use of memory in which there is no object of the shim is noticed by
//! what it reads, and only if it comes after the freeing in the execution at hand. A block is left as it is if there is
//! an address of the program in it, as that of a function or of a string literal: it may have an object that the
//! execution has not met. Nor is it filled if threads get memory again: what is then wrong with a structure that reads
//! what was freed is that it takes one node for another. Objects in a block that starts with two zeros are marked but
//! not reported, since std's `Arc` leaves these of its counts, whose order is unknown.

use std::ops::Range;

use crate::base::LocId;
use crate::runtime::arena::{Arena, Inner, outside};
use crate::runtime::blocks::Block;
use crate::runtime::locations::{mark_freed, names};
use crate::runtime::memcheck;

/// The bytes of memory that was freed: as an address nothing is there, and as a number it is neither small nor usual.
const FILLING: u8 = 0xdb;

/// The largest block that is filled, as a bound of the cost.
const LARGEST: usize = 1 << 16;

/// No address of the program's code and statics is farther from another one.
const PROGRAM: usize = 1 << 30;

/// The memory that was freed in an execution.
#[derive(Default)]
pub(super) struct Freed {
    /// The objects that are here, by their places in the piece, which do not look like pointers, and where the first
    /// one and the last one are.
    objects: Vec<(usize, LocId)>,
    first: usize,
    last: usize,
    /// Everything that was freed lies between these places.
    lowest: usize,
    highest: usize,
    /// The place in the piece whose freeing is news; if there is one, every block is looked at.
    watched: Option<usize>,
    /// The news that the execution has not received yet.
    news: Vec<News>,
    /// The function that is called for each of the news, when it happens.
    listener: Option<fn()>,
}

/// An act of user code on its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runtime) enum News {
    /// It freed the memory of this object.
    Freed(LocId),
    /// It freed the block at the place that is watched.
    Watched,
    /// It freed the block at this address, which was freed before.
    Twice(usize),
}

impl Freed {
    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.news.clear();
        (self.first, self.last) = if self.watched.is_some() { (0, usize::MAX) } else { (usize::MAX, 0) };
        (self.lowest, self.highest) = (usize::MAX, 0);
    }

    fn add(&mut self, news: News) {
        self.news.push(news);
        if let Some(listener) = self.listener {
            listener();
        }
    }
}

impl Inner {
    /// Frees a block in the piece for user code of the check.
    #[inline]
    pub(super) fn free(&mut self, block: Block, bytes: usize) {
        if self.behind != 0 || !block.is_alive() {
            return self.free_special(block, bytes);
        }
        self.free_alive(block, bytes);
    }

    #[cold]
    fn free_special(&mut self, block: Block, bytes: usize) {
        if !self.ranges().any(|range| range.contains(&block.header())) {
            block.free(self.piece.number());
        } else if block.is_dead() {
            let _ours = outside();
            self.freed.add(News::Twice(block.start()));
        } else {
            self.free_alive(block, bytes);
        }
    }

    #[inline]
    fn free_alive(&mut self, block: Block, bytes: usize) {
        block.dies();
        self.piece.has_one_less();
        if self.again.is_wanted() {
            self.keep(block, bytes);
        }
        let start = block.start() - self.start;
        let end = start + bytes;
        let freed = &mut self.freed;
        (freed.lowest, freed.highest) = (freed.lowest.min(start), freed.highest.max(end));
        if start <= freed.last && end > freed.first && self.frees_objects(start, bytes) {
            return;
        }
        if !self.again.is_wanted() {
            fill(block.start(), bytes);
        }
    }

    /// Whether the execution has met an object in a block that is freed.
    #[inline(never)]
    fn frees_objects(&mut self, start: usize, bytes: usize) -> bool {
        let _ours = outside();
        let first = self.freed.objects.partition_point(|&(place, _)| place < start);
        let count = self.freed.objects[first..].partition_point(|&(place, _)| place < start + bytes);
        if count > 0 {
            let words: *const usize = std::ptr::with_exposed_provenance(self.start + start);
            // SAFETY: it is in the block, in which there is more than one word, since there is an object.
            let counts = unsafe { [words.read(), words.add(1).read()] };
            for at in first..first + count {
                let (place, loc) = self.freed.objects[at];
                let tag: *mut u64 = std::ptr::with_exposed_provenance_mut(self.start + place);
                // SAFETY: a tag was there, which is in the block, and nothing else uses that.
                unsafe {
                    if names(tag.read(), loc) {
                        tag.write(mark_freed(tag.read()));
                    }
                }
                if counts != [0, 0] {
                    self.freed.add(News::Freed(loc));
                }
            }
            self.freed.objects.drain(first..first + count);
        }
        if self.freed.watched.is_some_and(|at| (start..start + bytes).contains(&at)) {
            self.freed.add(News::Watched);
        }
        count > 0
    }
}

/// Fills a block that is freed, unless it may have an object of the shim in it. Each of these knows the place in the
/// source where it was created, which is in the memory of the program.
#[inline]
fn fill(start: usize, bytes: usize) {
    static OF_PROGRAM: u8 = 0;
    if bytes > LARGEST {
        return;
    }
    memcheck::define(start, bytes);
    let words: *mut usize = std::ptr::with_exposed_provenance_mut(start);
    let lowest = (&raw const OF_PROGRAM).addr().wrapping_sub(PROGRAM);
    let is_of_program = |word: usize| word.wrapping_sub(lowest) < 2 * PROGRAM;
    // SAFETY: a block has so many bytes, is aligned to words, and nobody has it any more; what was not written is read
    // as some number.
    unsafe {
        if !(0..bytes / size_of::<usize>()).any(|at| is_of_program(words.add(at).read_volatile())) {
            words.cast::<u8>().write_bytes(FILLING, bytes);
        }
    }
}

impl Arena {
    /// Notes that the execution meets an object at this address, for the first time.
    #[inline]
    pub(in crate::runtime) fn meets(&mut self, loc: LocId, address: usize) {
        if let Some(inner) = &mut self.0
            && inner.has_there(address)
        {
            let place = address - inner.start;
            let Freed { objects, first, last, .. } = &mut inner.freed;
            *first = (*first).min(place);
            if objects.last().is_none_or(|&(other, _)| other < place) {
                *last = (*last).max(place);
                return objects.push((place, loc));
            }
            let at = objects.partition_point(|&(other, _)| other < place);
            match objects.get_mut(at) {
                // The object that was there is not there any more.
                Some(object) if object.0 == place => object.1 = loc,
                _ => objects.insert(at, (place, loc)),
            }
        }
    }

    /// Notes that an object that was at one address is at another one.
    pub(in crate::runtime) fn moves(&mut self, loc: LocId, from: usize, to: usize) {
        if let Some(inner) = &mut self.0 {
            let place = from.wrapping_sub(inner.start);
            inner.freed.objects.retain(|&object| object != (place, loc));
        }
        self.meets(loc, to);
    }

    /// The objects that are here, by their places.
    pub(in crate::runtime) fn objects(&self) -> impl Iterator<Item = (usize, LocId)> {
        self.0.iter().flat_map(|inner| inner.freed.objects.iter().copied())
    }

    /// Whether a block may be in use.
    pub(in crate::runtime) fn has_alive(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.piece.alive() > 0)
    }

    /// The places of the execution's blocks that are in use, in ascending order.
    pub(in crate::runtime) fn alive(&self) -> Vec<Range<usize>> {
        let alive = self.0.iter().flat_map(|inner| {
            let place = |block: Block| block.start() - inner.start..block.range().end - inner.start;
            inner.own().filter(|block| block.is_alive()).map(place)
        });
        let mut alive: Vec<_> = alive.collect();
        alive.sort_unstable_by_key(|block| block.start);
        alive
    }

    /// Whether an address is in memory that the execution has freed.
    pub(in crate::runtime) fn is_freed(&self, address: usize) -> bool {
        self.0.as_ref().is_some_and(|inner| {
            let may_be = (inner.freed.lowest..inner.freed.highest).contains(&address.wrapping_sub(inner.start));
            may_be && inner.own().find(|block| block.range().contains(&address)).is_some_and(Block::is_dead)
        })
    }

    /// Makes executions from the next one on learn when the block is freed that has this address, which is given as in
    /// the last one.
    pub(in crate::runtime) fn watch(&mut self, address: Option<usize>) {
        if let Some(inner) = &mut self.0 {
            inner.freed.watched = address.map(|address| address.wrapping_sub(inner.start));
        }
    }

    /// Whether a freeing is looked for.
    pub(in crate::runtime) fn is_watching(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.freed.watched.is_some())
    }

    /// Whether there are [`Arena::news`].
    #[inline]
    pub(in crate::runtime) fn has_news(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| !inner.freed.news.is_empty())
    }

    /// Calls `listener`, in the user code that acts, for each of the news.
    pub(in crate::runtime) fn listen(&mut self, listener: Option<fn()>) {
        if let Some(inner) = &mut self.0 {
            inner.freed.listener = listener;
        }
    }

    /// The acts of user code on its memory since the last call.
    pub(in crate::runtime) fn news(&mut self) -> impl Iterator<Item = News> {
        self.0.iter_mut().flat_map(|inner| inner.freed.news.drain(..))
    }
}

impl super::Switched {
    /// Whether there are [`Arena::news`] of the code that ran before.
    #[inline]
    pub(in crate::runtime) fn has_news(&self) -> bool {
        let Self(inner) = self;
        // SAFETY: the arena of a check is alive while its user code runs, on one OS thread.
        inner.addr() > super::QUESTION.addr() && unsafe { !(**inner).freed.news.is_empty() }
    }
}
