//! A schedule: a sequence that is possible, and an execution of it. Packed where it is pending, plain where it leaves
//! the process.

use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::explore::rf_smc::steps::{Packed, Steps};
use crate::explore::rf_smc::tau::Entry;
use crate::explore::rf_smc::witness::Witness;
use crate::step::Route;

/// A pending schedule of the explorer that found it.
#[derive(Debug)]
pub(super) struct Schedule {
    /// The name of its sequence, or nothing if a thread stays in its loop.
    pub(super) key: Digest,
    pub(super) packed: Packed,
}

impl Schedule {
    /// The memory of a schedule with these numbers of entries from the decision's place on and of steps, in bytes,
    /// roughly.
    fn size_of(entries: usize, steps: usize) -> usize {
        size_of::<Self>() + 2 * entries + 3 * steps
    }

    /// Its memory, in bytes, roughly.
    pub(super) fn size(&self) -> usize {
        let (entries, steps) = self.packed.counts();
        Self::size_of(entries, steps)
    }
}

/// A schedule as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub(super) key: Digest,
    /// The entries from the decision's place on.
    pub(super) suffix: Vec<Entry>,
    pub(super) route: Route,
}

impl Branch {
    /// Its memory as a [`Schedule`]. Sizes are estimated, so a resumed exploration reaches its budget at the same
    /// point.
    pub(super) fn size(&self) -> usize {
        Schedule::size_of(self.suffix.len(), self.route.steps.len())
    }

    pub(super) fn of(schedule: &Schedule, steps: &Steps) -> Self {
        let mut suffix = Vec::new();
        schedule.packed.for_each_entry(|entry| suffix.push(entry));
        Self { key: schedule.key, suffix, route: steps.witness(&schedule.packed).route() }
    }

    pub(super) fn all(schedules: &[Schedule], steps: &Steps) -> Vec<Self> {
        schedules.iter().map(|schedule| Branch::of(schedule, steps)).collect()
    }
}

/// A schedule that is aside, and a bound within which it may be.
#[derive(Debug)]
pub(super) struct SetAside {
    pub(super) level: u32,
    pub(super) schedule: Schedule,
}

/// The part of a decision for a rising bound.
#[derive(Debug, Default)]
pub(super) struct Later {
    /// The schedules that are explored when the bound has risen.
    pub(super) aside: Vec<SetAside>,
    /// Its number among the kept decisions, if it has one.
    pub(super) kept: Option<usize>,
}

/// A run that shows whether an update completes an iteration that changes nothing ([`preview`](super::preview)).
#[derive(Debug, Default)]
pub(super) struct Preview {
    /// The number of what the thread of the update knows then.
    pub(super) look: u64,
    /// The number of its decision.
    pub(super) number: usize,
    /// The schedule of that decision in which the thread stays, if there is one.
    pub(super) stay: Option<Packed>,
    pub(super) witness: Witness,
}

/// The schedule of the current plan.
#[derive(Debug, Default)]
pub(super) enum Chosen {
    /// None: the first plan.
    #[default]
    Nothing,
    Schedule(Schedule),
    Branch(Branch),
    Livelock(Digest, Witness),
    Preview(Preview),
}

impl Chosen {
    /// Visits the entries from the decision's place on.
    pub(super) fn for_each_entry(&self, mut visit: impl FnMut(Entry)) {
        match self {
            Chosen::Schedule(schedule) => schedule.packed.for_each_entry(visit),
            Chosen::Branch(branch) => branch.suffix.iter().for_each(|&entry| visit(entry)),
            Chosen::Nothing | Chosen::Livelock(..) | Chosen::Preview(_) => {}
        }
    }

    /// The schedule as data, if there is one.
    pub(super) fn branch(&self, steps: &Steps) -> Option<Branch> {
        match self {
            Chosen::Schedule(schedule) => Some(Branch::of(schedule, steps)),
            Chosen::Branch(branch) => Some(branch.clone()),
            Chosen::Nothing | Chosen::Livelock(..) | Chosen::Preview(_) => None,
        }
    }
}
