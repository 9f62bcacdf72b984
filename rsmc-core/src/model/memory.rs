//! The state of memory: one value per location, and the stores that wait in the buffers of their threads.

use std::sync::atomic::Ordering;

use crate::base::{IdVec, LocId, ThreadId};
use crate::model::MemoryModel;
use crate::trace::{Op, Source};

/// The content of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The value.
    pub value: u64,
    /// The event that wrote it.
    pub writer: Source,
}

/// A store that waits in the buffer of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffered {
    /// The location.
    pub loc: LocId,
    /// The value.
    pub value: u64,
    /// The position of its event in the trace.
    pub at: u32,
    /// The number of store-store fences that its thread had passed.
    pub epoch: u32,
}

#[derive(Clone, Debug, Default)]
struct Buffer {
    waiting: Vec<Buffered>,
    epoch: u32,
}

/// The whole memory of an execution.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    model: MemoryModel,
    cells: IdVec<LocId, Cell>,
    buffers: IdVec<ThreadId, Buffer>,
    waiting: usize,
}

impl Memory {
    /// An empty memory.
    pub fn new(model: MemoryModel) -> Self {
        Self { model, ..Self::default() }
    }

    /// The model it follows.
    pub fn model(&self) -> MemoryModel {
        self.model
    }

    /// Forgets every location and keeps the memory.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.waiting = 0;
        for buffer in self.buffers.values_mut() {
            buffer.waiting.clear();
            buffer.epoch = 0;
        }
    }

    /// Adds a location with its initial value.
    pub fn add(&mut self, init: u64) -> LocId {
        self.cells.push(Cell { value: init, writer: Source::Init })
    }

    /// The content of a location as a thread sees it: its own newest store there, or what is in memory.
    #[inline]
    pub fn view(&self, thread: ThreadId, loc: LocId) -> Cell {
        if self.waiting == 0 { self.cells[loc] } else { self.view_of_own(thread, loc) }
    }

    /// As [`Memory::view`], where stores wait.
    #[inline(never)]
    fn view_of_own(&self, thread: ThreadId, loc: LocId) -> Cell {
        let own = self.waiting_of(thread).iter().rev().find(|store| store.loc == loc);
        own.map_or(self.cells[loc], |store| Cell { value: store.value, writer: Source::At(store.at) })
    }

    /// The content of a location as all threads see it.
    #[inline]
    pub fn shared(&self, loc: LocId) -> Cell {
        self.cells[loc]
    }

    /// Stores a value by an operation of a thread: the event at position `at` of the trace.
    #[inline]
    pub fn store(&mut self, thread: ThreadId, op: &Op, value: u64, at: u32) {
        if !self.model.buffers(op) {
            return self.write(op.loc, value, at);
        }
        self.order_stores(thread, op.order);
        self.buffers.grow_to(thread, Buffer::default);
        let buffer = &mut self.buffers[thread];
        buffer.waiting.push(Buffered { loc: op.loc, value, at, epoch: buffer.epoch });
        self.waiting += 1;
    }

    /// Puts a value into memory at once: that of the event at position `at` of the trace.
    #[inline]
    pub fn write(&mut self, loc: LocId, value: u64, at: u32) {
        self.cells[loc] = Cell { value, writer: Source::At(at) };
    }

    /// Passes a fence, or the fence that is part of a store: where its ordering says so, later stores of the thread
    /// stay behind earlier ones.
    pub fn order_stores(&mut self, thread: ThreadId, order: Ordering) {
        if self.model.orders_stores(order) {
            self.buffers.grow_to(thread, Buffer::default);
            self.buffers[thread].epoch += 1;
        }
    }

    /// The stores of a thread that wait, oldest first.
    #[inline]
    pub fn waiting_of(&self, thread: ThreadId) -> &[Buffered] {
        if self.waiting == 0 {
            return &[];
        }
        self.buffers.get(thread).map_or(&[], |buffer| &buffer.waiting)
    }

    /// Whether no store of any thread waits.
    pub fn is_drained(&self) -> bool {
        self.waiting == 0
    }

    /// The stores of a thread that may become visible now.
    pub fn may_flush(&self, thread: ThreadId) -> impl Iterator<Item = Buffered> + '_ {
        let buffer = self.waiting_of(thread);
        (0..buffer.len()).filter(|&at| self.model.may_flush(buffer, at)).map(|at| buffer[at])
    }

    /// Makes a waiting store, named by its event, visible to all; false if it may not be or does not wait.
    pub fn flush(&mut self, thread: ThreadId, event: u32) -> bool {
        let Some(store) = self.may_flush(thread).find(|store| store.at == event) else { return false };
        self.buffers[thread].waiting.retain(|other| other.at != event);
        self.waiting -= 1;
        self.write(store.loc, store.value, event);
        true
    }

    /// Gives events other positions, or puts another write in the place of one: `places` says so, by old position.
    /// `value` gives the value that a write left in a location.
    pub fn renumber(&mut self, places: &[Source], value: impl Fn(LocId, Source) -> u64) {
        for loc in self.cells.ids() {
            let cell = &mut self.cells[loc];
            if let Source::At(at) = cell.writer {
                cell.writer = places[at as usize];
                cell.value = value(loc, cell.writer);
            }
        }
        for store in self.buffers.values_mut().flat_map(|buffer| &mut buffer.waiting) {
            match places[store.at as usize] {
                Source::At(at) => store.at = at,
                _ => unreachable!("this is a bug in rsmc: a store that waits was left out"),
            }
        }
    }

    /// Makes all waiting stores visible, thread by thread: for those that still wait when an execution is cut off.
    pub fn flush_all(&mut self) {
        if self.waiting == 0 {
            return;
        }
        for store in self.buffers.values_mut().flat_map(|buffer| buffer.waiting.drain(..)) {
            self.cells[store.loc] = Cell { value: store.value, writer: Source::At(store.at) };
        }
        self.waiting = 0;
    }
}
