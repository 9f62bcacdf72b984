//! How much memory the sets of decisions may take, with the schedules that are left.
//!
//! What counts is what the same exploration counts after a stop, however its schedules are kept.

use crate::base::Digest;
use crate::explore::rf_smc::Decision;
use crate::explore::rf_smc::schedule::Schedule;
use crate::explore::rf_smc::subtree::Branch;

/// The most that all sets and schedules of a path take, in bytes, roughly. More makes executions hardly faster, less makes
/// them slower, and detours longer, which take memory, too.
const BOUND: usize = 128 << 10;

/// A decision has enough if it takes this part of what is free. So there is always something free.
const PART: usize = 8;

/// What a name takes in a table that is half full, in bytes.
const NAME: usize = 2 * (size_of::<Digest>() + 1);

/// See the module.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    /// So many bytes for all.
    pub(super) bound: usize,
    explored: usize,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self { bound: BOUND, explored: 0 }
    }
}

impl MemoryBudget {
    /// For sets that may take whatever they need.
    pub(super) fn unbounded() -> Self {
        Self { bound: usize::MAX, explored: 0 }
    }

    /// Whether a decision is not to take more, since it has enough.
    pub(super) fn is_short(&self, decision: &Decision) -> bool {
        decision.bytes.saturating_mul(PART) >= self.bound.saturating_sub(self.explored)
    }

    fn take(&mut self, decision: &mut Decision, bytes: usize) {
        decision.bytes += bytes;
        self.explored += bytes;
    }

    /// A decision takes so many bytes less.
    pub(super) fn give_back(&mut self, decision: &mut Decision, bytes: usize) {
        decision.bytes -= bytes;
        self.explored -= bytes;
    }

    /// A name came into the set of a decision.
    pub(super) fn note_name(&mut self, decision: &mut Decision) {
        self.take(decision, NAME);
    }

    /// Leaves a schedule to a decision.
    pub(super) fn leave(&mut self, decision: &mut Decision, schedule: Schedule) {
        self.take(decision, schedule.size());
        decision.pending.push(schedule);
    }

    /// The same, for one that is explored when all others of the decision were.
    pub(super) fn leave_first(&mut self, decision: &mut Decision, schedule: Schedule) {
        self.take(decision, schedule.size());
        decision.pending.insert(0, schedule);
    }

    /// The same behind those that another process has planned.
    pub(super) fn leave_branch_first(&mut self, decision: &mut Decision, branch: Branch) {
        self.take(decision, branch.size());
        decision.received.insert(0, branch);
    }

    /// The same, for one that another process has planned.
    pub(super) fn leave_branch(&mut self, decision: &mut Decision, branch: Branch) {
        self.take(decision, branch.size());
        decision.received.push(branch);
    }
}
