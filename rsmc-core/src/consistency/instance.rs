//! The question that consistency algorithms answer: events, program order, and the good writes of every read.

use crate::base::{BitSet, LocId, ThreadId};
use crate::trace::Event;

/// No write: the initial value.
pub(super) const INIT: u32 = u32::MAX;

/// One event of an instance. An event that reads and writes does both at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its thread, whose buffer it uses, reads or waits for.
    pub thread: ThreadId,
    /// Its location.
    pub loc: LocId,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is a store that goes through the buffer of its thread. Such an event does not read.
    pub buffered: bool,
    /// The number of store-store fences that its thread has passed before it; counts for buffered stores under PSO.
    pub epoch: u32,
}

impl Shape {
    /// An event of a run, whose thread has passed `epoch` store-store fences before it.
    pub fn of(event: &Event, epoch: u32) -> Self {
        let (reads, writes) = (event.op.action.reads(), event.written.is_some());
        Self { thread: event.id.thread, loc: event.op.loc, reads, writes, buffered: event.buffered, epoch }
    }

    /// An event of an instance without buffers; where there are some, it needs its own thread.
    pub fn direct(loc: LocId, reads: bool, writes: bool) -> Self {
        Self { thread: ThreadId::MAIN, loc, reads, writes, buffered: false, epoch: 0 }
    }
}

/// Events numbered from 0, their program order, and for every read the writes it may take its value from.
///
/// A store that goes through a buffer happens twice: it is *performed*, when it enters the buffer of its thread, and
/// *flushed*, when it becomes visible to all. Everything else happens once. Where there are buffers, the edges order
/// the events of each thread, and epochs do not decrease along them; numbers may come in any order.
///
/// Reused from question to question.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub(super) items: Vec<Shape>,
    /// By event, whether the initial value is good for it.
    pub(super) init_good: Vec<bool>,
    pub(super) edges: Vec<(u32, u32)>,
    /// Pairs of a buffered store and an event that is not performed before the store is flushed.
    pub(super) fences: Vec<(u32, u32)>,
    /// Pairs of a read and one of its good writes.
    pub(super) goods: Vec<(u32, u32)>,
    pub(super) locs: usize,
}

/// One step of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The event is performed.
    Perform(usize),
    /// The buffered store becomes visible to all.
    Flush(usize),
}

impl Instance {
    /// Forgets the question and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.init_good.clear();
        self.edges.clear();
        self.fences.clear();
        self.goods.clear();
        self.locs = 0;
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The events, by number.
    pub fn items(&self) -> &[Shape] {
        &self.items
    }

    /// Program order: pairs of events of which the first is performed before the second.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Pairs of a buffered store and an event that is not performed before the store is flushed.
    pub fn fences(&self) -> &[(u32, u32)] {
        &self.fences
    }

    /// The writes that are good for a read, without the initial value.
    pub fn good_writes(&self, read: usize) -> impl Iterator<Item = usize> {
        self.goods.iter().filter(move |good| good.0 as usize == read).map(|good| good.1 as usize)
    }

    /// True if the initial value is good for a read.
    pub fn is_init_good(&self, read: usize) -> bool {
        self.init_good[read]
    }

    /// The number of locations: one more than the largest.
    pub fn locs(&self) -> usize {
        self.locs
    }

    /// Adds an event and returns its number. A read has no good write yet.
    pub fn push(&mut self, shape: Shape) -> usize {
        debug_assert!(!shape.buffered || (shape.writes && !shape.reads), "only a plain store waits in a buffer");
        self.items.push(shape);
        self.init_good.push(false);
        self.locs = self.locs.max(shape.loc.0 as usize + 1);
        self.items.len() - 1
    }

    /// Puts one event before another in program order: it is performed first.
    pub fn edge(&mut self, before: usize, after: usize) {
        self.edges.push((before as u32, after as u32));
    }

    /// Puts a full fence between a buffered store and an event: the store is flushed before the event is performed.
    pub fn fence(&mut self, store: usize, event: usize) {
        debug_assert!(self.items[store].buffered);
        self.fences.push((store as u32, event as u32));
    }

    /// Makes a write good for a read; `None` is the initial value.
    pub fn good(&mut self, read: usize, write: Option<usize>) {
        debug_assert!(self.items[read].reads && write.is_none_or(|write| self.items[write].writes));
        match write {
            None => self.init_good[read] = true,
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
