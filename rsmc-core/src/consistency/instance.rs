//! The question that consistency algorithms answer: events, program order, and the good writes of every read.

use crate::base::{BitSet, LocId};

/// One event of an instance. An event that reads and writes does both at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) loc: LocId,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// Whether the initial value is good for it.
    pub(super) init_good: bool,
}

/// Events numbered from 0, their program order, and for every read the writes it may take its value from.
///
/// Reused from question to question.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub(super) items: Vec<Item>,
    pub(super) edges: Vec<(u32, u32)>,
    /// Pairs of a read and one of its good writes.
    pub(super) goods: Vec<(u32, u32)>,
    pub(super) locs: usize,
}

impl Instance {
    /// Forgets the question and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.edges.clear();
        self.goods.clear();
        self.locs = 0;
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds an event and returns its number. A read has no good write yet.
    pub fn push(&mut self, loc: LocId, reads: bool, writes: bool) -> usize {
        self.items.push(Item { loc, reads, writes, init_good: false });
        self.locs = self.locs.max(loc.0 as usize + 1);
        self.items.len() - 1
    }

    /// Puts one event before another in program order.
    pub fn edge(&mut self, before: usize, after: usize) {
        self.edges.push((before as u32, after as u32));
    }

    /// Makes a write good for a read; `None` is the initial value.
    pub fn good(&mut self, read: usize, write: Option<usize>) {
        debug_assert!(self.items[read].reads && write.is_none_or(|write| self.items[write].writes));
        match write {
            None => self.items[read].init_good = true,
            Some(write) => self.goods.push((read as u32, write as u32)),
        }
    }

    /// The writes of every location.
    pub(super) fn writes_by_loc(&self, sets: &mut Vec<BitSet>) {
        sets.resize_with(sets.len().max(self.locs), BitSet::default);
        for set in &mut sets[..self.locs] {
            set.reset(self.items.len());
        }
        for (i, item) in self.items.iter().enumerate().filter(|(_, item)| item.writes) {
            sets[item.loc.0 as usize].insert(i);
        }
    }
}
