//! The memory that the sets and the pending schedules of a path may take.
//!
//! Sizes are estimated, so a resumed exploration reaches the budget at the same point, however its schedules are
//! stored.

use crate::base::Digest;
use crate::explore::rf_smc::decision::{Decision, SavedDecision};
use crate::explore::rf_smc::schedule::{Branch, Schedule};

/// The default budget of a path, in bytes. A larger one makes executions hardly faster. A smaller one makes them
/// slower, and suspends longer paths, which take memory, too.
const BOUND: usize = 128 << 10;

/// A decision has enough when it takes this part (one in `PART`) of the free memory, so some memory always remains
/// free.
const PART: usize = 8;

/// The size of a name in a table that is half full, in bytes.
const NAME: usize = 2 * (size_of::<Digest>() + 1);

/// See the module.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    /// The budget, in bytes.
    pub(super) bound: usize,
    explored: usize,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self { bound: BOUND, explored: 0 }
    }
}

impl MemoryBudget {
    /// A budget like this one, for an exploration that starts over.
    pub(super) fn anew(&self) -> Self {
        Self { bound: self.bound, ..Self::default() }
    }

    /// A budget without a limit.
    pub(super) fn unbounded() -> Self {
        Self { bound: usize::MAX, explored: 0 }
    }

    /// Whether a decision has enough, so that it should take no more.
    pub(super) fn has_enough(&self, decision: &Decision) -> bool {
        decision.bytes.saturating_mul(PART) >= self.bound.saturating_sub(self.explored)
    }

    fn take(&mut self, decision: &mut Decision, bytes: usize) {
        decision.bytes += bytes;
        self.explored += bytes;
    }

    /// Frees `bytes` bytes of a decision.
    pub(super) fn give_back(&mut self, decision: &mut Decision, bytes: usize) {
        decision.bytes -= bytes;
        self.explored -= bytes;
    }

    /// Counts a name in the set of a decision.
    pub(super) fn note_name(&mut self, decision: &mut Decision) {
        self.take(decision, NAME);
    }

    /// Adds a schedule to a decision, to be explored next.
    pub(super) fn add(&mut self, decision: &mut Decision, schedule: Schedule) {
        self.take(decision, schedule.size());
        decision.pending.push(schedule);
    }

    /// Adds a schedule to a decision, to be explored after all others that this explorer found.
    pub(super) fn add_last(&mut self, decision: &mut Decision, schedule: Schedule) {
        self.take(decision, schedule.size());
        decision.pending.insert(0, schedule);
        decision.lineage.add_last();
    }

    /// Adds a received schedule to a decision, to be explored after all other received ones.
    pub(super) fn add_branch_last(&mut self, decision: &mut Decision, branch: Branch) {
        self.take(decision, branch.size());
        decision.received.insert(0, branch);
        decision.lineage.add_last();
    }

    /// Adds a received schedule to a decision, to be explored before the other received ones.
    pub(super) fn add_branch(&mut self, decision: &mut Decision, branch: Branch) {
        self.take(decision, branch.size());
        decision.received.push(branch);
    }
}

impl SavedDecision {
    /// The decision that was saved, with its memory in a budget.
    pub(super) fn restore(self, budget: &mut MemoryBudget) -> Decision {
        let Self { at, id, question, frozen, stays, asked, contested, full, lineage, seen, pending } = self;
        let names = seen.len();
        let decision = Decision::new(at, id, question, seen.into_iter().collect());
        // What other runs were asked is not known.
        let settled = usize::MAX;
        let mut decision = Decision { frozen, stays, asked, contested, full, lineage, settled, ..decision };
        (0..names).for_each(|_| budget.note_name(&mut decision));
        pending.into_iter().for_each(|branch| budget.add_branch(&mut decision, branch));
        decision
    }
}
