//! The contents of memory during an execution: the time at which each store reaches it, and the text of a value.
//!
//! Under C11 there is no memory that all threads see; instead of it, the last write in coherence order counts, of those
//! that have happened.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{LocId, ThreadId};
use crate::report::diagram::coherence::{Order, modification};
use crate::report::rows::Scene;
use crate::session::MemoryModel;
use crate::trace::{Action, HELD, POISONED, Trace};

/// Follows the stores of an execution. All numbers are positions of events.
pub(super) struct Memory<'a> {
    trace: &'a Trace,
    /// Stores in buffers.
    waiting: BTreeSet<usize>,
    /// The writes in the order in which they reached memory.
    reached: Order,
    /// Under C11: the modification order, and the places of the writes in it.
    modification: Option<Order>,
    ranks: BTreeMap<usize, usize>,
    newest: BTreeMap<LocId, usize>,
}

impl<'a> Memory<'a> {
    pub(super) fn new(trace: &'a Trace, model: MemoryModel) -> Self {
        let modification = if model.is_graph() { modification(trace) } else { None };
        let ranked =
            modification.iter().flat_map(BTreeMap::values).flat_map(|writes| writes.iter().copied().enumerate());
        let ranks = ranked.map(|(rank, at)| (at, rank)).collect();
        let (waiting, reached, newest) = (BTreeSet::new(), Order::new(), BTreeMap::new());
        Self { trace, waiting, reached, modification, ranks, newest }
    }

    /// Puts a store into the buffer of its thread.
    pub(super) fn wait(&mut self, at: usize) {
        self.waiting.insert(at);
    }

    /// Whether a store is in the buffer of its thread.
    pub(super) fn waits(&self, at: usize) -> bool {
        self.waiting.contains(&at)
    }

    /// Moves a write to memory. Returns whether memory holds another value now.
    pub(super) fn reach(&mut self, at: usize) -> bool {
        self.waiting.remove(&at);
        let loc = self.trace.events[at].op.loc;
        self.reached.entry(loc).or_default().push(at);
        let Some(&rank) = self.ranks.get(&at) else { return true };
        let newest = self.newest.entry(loc).or_insert(rank);
        let is_newest = *newest <= rank;
        *newest = rank.max(*newest);
        is_newest
    }

    /// The order of the writes of each location: of those that have reached memory, or under C11 of all.
    pub(super) fn coherence(self) -> Order {
        self.modification.unwrap_or(self.reached)
    }
}

/// The meaning of a location's value, by the operations on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Number,
    Lock,
    Token,
}

/// The texts of the values of locations.
pub(super) struct States<'a> {
    scene: &'a Scene<'a>,
    uses: BTreeMap<LocId, Use>,
}

impl<'a> States<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Self {
        let done = scene.finding.trace.events.iter().map(|event| event.op);
        let wanted = scene.finding.waiting.iter().filter_map(|pending| pending.op);
        let use_of = |action| match action {
            Action::Acquire | Action::TryAcquire | Action::Release { .. } => Use::Lock,
            Action::Park | Action::Unpark => Use::Token,
            _ => Use::Number,
        };
        Self { scene, uses: done.chain(wanted).map(|op| (op.loc, use_of(op.action))).collect() }
    }

    /// Whether it has a value that the user knows; a cell has none, nor has an object that is used by calls.
    pub(super) fn has_value(&self, loc: LocId) -> bool {
        self.uses.contains_key(&loc) && !self.scene.calls.is_object(loc)
    }

    /// The text of a value of a location; `by`: the thread that wrote it, or `None` for the initial value.
    pub(super) fn show(&self, loc: LocId, value: u64, by: Option<ThreadId>) -> String {
        let held = value & HELD != 0;
        match (self.uses.get(&loc).unwrap_or(&Use::Number), by) {
            (Use::Lock, Some(by)) if held => format!("held by {}", self.scene.threads.name(by)),
            (Use::Lock, None) if held => "held".to_owned(),
            (Use::Lock, _) if value & POISONED != 0 => "free, poisoned".to_owned(),
            (Use::Lock, _) => "free".to_owned(),
            (Use::Token, _) => if value == 0 { "not there" } else { "there" }.to_owned(),
            (Use::Number, _) => self.scene.values.show(self.scene.finding.trace.locs[loc].kind, value),
        }
    }
}
