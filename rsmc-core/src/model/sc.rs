//! Sequential consistency: one value per location, and every write is seen by all at once.
//!
//! Source. L. Lamport, "How to make a multiprocessor computer that correctly executes multiprocess programs",
//! 1979. Rust's orderings make no difference here; they count for data races only (`analysis::race`).

use crate::base::{IdVec, LocId};
use crate::trace::Source;

/// What a location holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The value.
    pub value: u64,
    /// The event that wrote it.
    pub writer: Source,
}

/// The whole memory of an execution.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    cells: IdVec<LocId, Cell>,
}

impl Memory {
    /// Forgets every location and keeps the memory.
    pub fn clear(&mut self) {
        self.cells.clear();
    }

    /// Adds a location with its initial value.
    pub fn add(&mut self, init: u64) -> LocId {
        self.cells.push(Cell { value: init, writer: Source::Init })
    }

    /// What a location holds now.
    pub fn get(&self, loc: LocId) -> Cell {
        self.cells[loc]
    }

    /// Writes: the event at position `at` of the trace is the newest write of the location from now on.
    pub fn write(&mut self, loc: LocId, value: u64, at: u32) {
        self.cells[loc] = Cell { value, writer: Source::At(at) };
    }
}
