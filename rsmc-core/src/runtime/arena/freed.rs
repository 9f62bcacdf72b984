//! Memory that was freed: who still uses it, and whether it is freed twice.
//!
//! Problem. A structure without locks that frees what another thread still uses is wrong, and nothing shows it: what was freed keeps
//! its bytes until the execution is over.
//!
//! Method. When a block is freed, its words are searched for the objects of the shim that the execution has met: a tag with a number
//! that the execution has given out, beside the place where that object was created. Such tags are marked, so that whoever
//! comes to the object later is noticed without a look at the allocator, and the execution is told what was freed. An object
//! that nobody had met is looked up when it is met first.
//!
//! Cost. Freeing takes time linear in the size of the block.
//!
//! Limits. Only what is allocated here is seen, and only uses of the shim's objects. What is at the beginning of a block that starts
//! with two zeros is not told, since that is what std's `Arc` leaves of its counts, whose order nobody knows; but its tags are marked.

use crate::base::LocId;
use crate::runtime::arena::{Arena, Inner, outside};
use crate::runtime::blocks::{Block, blocks};
use crate::runtime::locations::{execution_of, loc_of, mark_freed};

/// What was freed in an execution.
#[derive(Default)]
pub(super) struct Freed {
    /// How the tags of the execution's objects begin.
    execution: u64,
    /// By location: where the object was created, as an address; 0 if that is not known.
    created: Vec<usize>,
    /// Something was freed.
    anything: bool,
    /// Who frees this is told: a place in the piece.
    watched: Option<usize>,
    /// What the execution was not told yet.
    news: Vec<News>,
}

/// What user code did with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runtime) enum News {
    /// It freed the memory of this object.
    Freed(LocId),
    /// It freed what is watched.
    Watched,
    /// It freed the block at this address, which was freed before.
    Twice(usize),
}

impl Freed {
    pub(super) fn clear(&mut self) {
        self.created.clear();
        self.news.clear();
        self.anything = false;
    }
}

impl Inner {
    /// User code of the check frees a block, which is in the piece of this number.
    #[inline]
    pub(super) fn free(&mut self, block: Block, bytes: usize, piece: usize) {
        if piece != self.piece.number() || (self.behind != 0 && !self.contains(block.header())) {
            return block.free(piece);
        }
        let start = block.range().start;
        // SAFETY: they are the words of the block, which nobody else uses, and blocks are aligned.
        let words = unsafe {
            std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(start), bytes / size_of::<u64>())
        };
        if block.is_dead() {
            return self.tell(News::Twice(start));
        }
        if self.freed.watched.is_some_and(|at| block.range().contains(&(self.start + at))) {
            self.tell(News::Watched);
        }
        self.freed.anything = true;
        if !self.freed.created.is_empty() {
            for at in 1..words.len() {
                if execution_of(words[at - 1]) == self.freed.execution {
                    self.found(words, at - 1);
                }
            }
        }
        block.free(piece);
    }

    /// A word of the block may be the tag of an object.
    #[cold]
    fn found(&mut self, words: &mut [u64], at: usize) {
        let Some(loc) = self.object(words[at], words[at + 1]) else { return };
        words[at] = mark_freed(words[at]);
        if words[..2] != [0, 0] {
            self.tell(News::Freed(loc));
        }
    }

    /// The object that has these words, if the execution has met it.
    fn object(&self, tag: u64, created: u64) -> Option<LocId> {
        let loc = loc_of(tag);
        let known = self.freed.created.get(loc.0 as usize).filter(|&&known| known != 0)?;
        (*known as u64 == created).then_some(loc)
    }

    #[cold]
    fn tell(&mut self, news: News) {
        let _ours = outside();
        self.freed.news.push(news);
    }

    fn contains(&self, address: usize) -> bool {
        self.ranges().any(|range| range.contains(&address))
    }
}

impl Arena {
    /// The execution has this number from its beginning on.
    pub(in crate::runtime) fn is_of(&mut self, execution: u64) {
        if let Some(inner) = &mut self.0 {
            inner.freed.execution = execution;
        }
    }

    /// The execution meets an object for the first time.
    #[inline]
    pub(in crate::runtime) fn meets(&mut self, loc: LocId, created: usize) {
        if let Some(inner) = &mut self.0 {
            let known = &mut inner.freed.created;
            if known.len() <= loc.0 as usize {
                known.resize(loc.0 as usize, 0);
                known.push(created);
            }
        }
    }

    /// Whether an address is in memory that the execution has freed.
    pub(in crate::runtime) fn is_freed(&self, address: usize) -> bool {
        let Some(inner) = self.0.as_ref().filter(|inner| inner.freed.anything) else { return false };
        if !inner.contains(address) {
            return false;
        }
        // SAFETY: `last` is the header of this piece's last block, or 0.
        let mut own = unsafe { blocks(inner.last) }.take_while(|block| block.header() != inner.behind);
        own.find(|block| block.range().contains(&address)).is_some_and(Block::is_dead)
    }

    /// Executions from the next one on are told when the block is freed that has this address, given as in the last one.
    pub(in crate::runtime) fn watch(&mut self, address: Option<usize>) {
        if let Some(inner) = &mut self.0 {
            inner.freed.watched = address.map(|address| address.wrapping_sub(inner.start));
        }
    }

    /// What user code has done with its memory since this was asked last.
    pub(in crate::runtime) fn news(&mut self) -> Vec<News> {
        self.0.as_mut().map_or_else(Vec::new, |inner| std::mem::take(&mut inner.freed.news))
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
