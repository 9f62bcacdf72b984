//! A decision of RF-SMC's tree: on the path that is explored, and as data.
//!
//! [`Decision`] is the only form in memory: the explorer has a path of them, and a node of the shared [`Tree`] is one
//! with a parent. [`SavedDecision`] is the only form outside: in checkpoints, in jobs, and in what workers return.
//!
//! [`Tree`]: super::Tree

use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId};
use crate::explore::rf_smc::lineage::Lineage;
use crate::explore::rf_smc::revisit::Question;
use crate::explore::rf_smc::schedule::{Branch, Later, Schedule};
use crate::explore::rf_smc::seen::Seen;
use crate::explore::rf_smc::steps::Steps;

/// A decision: the event at place `at` of `τ`, the schedules that were seen there, and those that are pending.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) at: usize,
    /// The event that stands there, or would stand there if its thread were not frozen.
    pub(super) id: EventId,
    pub(super) question: Question,
    /// The current answer is that the thread stays in its waiting loop: no event stands there.
    pub(super) frozen: bool,
    /// The event whose thread stays where it is, if that answer was explored or is pending.
    pub(super) stays: Option<EventId>,
    /// The number of known reads that complete an iteration (`wait`) when that answer was planned.
    pub(super) asked: u32,
    pub(super) seen: Seen,
    /// The schedules that this explorer found, the next one last.
    pub(super) pending: Vec<Schedule>,
    /// The schedules that another explorer found, the next one last. They are explored after `pending`.
    pub(super) received: Vec<Branch>,
    /// The part for a rising bound, if it has one. Mostly there is none, so it is small.
    pub(super) later: Option<Box<Later>>,
    /// In some run, what it read may have been overwritten while it stood there: see `wait`.
    pub(super) contested: bool,
    /// Which of its answers were found during which, for the estimate of what is left.
    pub(super) lineage: Lineage,
    /// Its set is large enough: it takes no name of a schedule that has a canonical parent.
    pub(super) full: bool,
    /// Where it is full: runs that are alike before this place of `τ` have no canonical children here but for new
    /// writes.
    pub(super) settled: usize,
    /// The memory of its set and of its schedules, in bytes, roughly.
    pub(super) bytes: usize,
}

impl Decision {
    /// A decision with no schedule.
    pub(super) fn new(at: usize, id: EventId, question: Question, seen: Seen) -> Self {
        Self {
            at,
            id,
            question,
            frozen: false,
            stays: None,
            asked: 0,
            seen,
            pending: Vec::new(),
            received: Vec::new(),
            later: None,
            contested: false,
            lineage: Lineage::default(),
            full: false,
            settled: 0,
            bytes: 0,
        }
    }

    /// The number of schedules that are not explored yet.
    pub(super) fn pending(&self) -> usize {
        self.pending.len() + self.received.len()
    }

    /// Whether the answer that its thread stays where it is has not been explored yet.
    pub(super) fn plans_to_stay(&self) -> bool {
        self.pending.iter().any(|schedule| schedule.key == Digest::EMPTY)
            || self.received.iter().any(|branch| branch.suffix.is_empty())
    }

    /// Whether a schedule is not explored yet.
    pub(super) fn has_more(&self) -> bool {
        self.pending() > 0
    }

    /// The decision as data.
    pub(super) fn save(&self, steps: &Steps) -> SavedDecision {
        let mut pending = self.received.clone();
        pending.extend(Branch::all(&self.pending, steps));
        SavedDecision { pending, ..self.save_without_pending() }
    }

    /// The decision as data, but for its schedules.
    pub(super) fn save_without_pending(&self) -> SavedDecision {
        let &Self { at, id, question, frozen, stays, asked, contested, full, .. } = self;
        let (lineage, seen, pending) = (self.lineage.clone(), self.seen.iter().collect(), Vec::new());
        SavedDecision { at, id, question, frozen, stays, asked, contested, full, lineage, seen, pending }
    }
}

/// A decision as data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedDecision {
    pub(super) at: usize,
    pub(super) id: EventId,
    pub(super) question: Question,
    pub(super) frozen: bool,
    pub(super) stays: Option<EventId>,
    pub(super) asked: u32,
    pub(super) contested: bool,
    pub(super) full: bool,
    pub(super) lineage: Lineage,
    pub(super) seen: Vec<Digest>,
    /// The schedules that are not explored yet, the next one last.
    pub(super) pending: Vec<Branch>,
}
