//! Schedules that are explored at once, before what is left on the path on which they were proposed.
//!
//! Problem. A schedule that is not remembered ([`super::canonical_parent`]) must be explored while the run that proposes it is at
//! hand. Its decision may stand high above.
//!
//! Method. What is below that decision is put aside, with what is left of it, and chosen up again when all that comes of the
//! schedule is explored. Meanwhile nothing is chosen from the decision itself, and from those above it. A detour may have
//! detours.

use serde::{Deserialize, Serialize};

use crate::explore::rf_smc::budget::MemoryBudget;
use crate::explore::rf_smc::checkpoint::SavedDecision;
use crate::explore::rf_smc::steps::Steps;
use crate::explore::rf_smc::subtree::Branch;
use crate::explore::rf_smc::{Chosen, Decision, NamedEntry, RfSmc};

/// What one run has proposed so.
#[derive(Debug)]
pub(super) struct Children {
    /// By number of the decision: what is left to explore, the last one first.
    pending: Vec<(usize, Chosen)>,
    current: Option<SuspendedPath>,
}

/// What was put aside for a schedule: the decisions below its own, and `τ` from there on.
#[derive(Debug)]
pub(super) struct SuspendedPath {
    /// How many decisions are above.
    pub(super) above: usize,
    pub(super) decisions: Vec<Decision>,
    pub(super) tau: Vec<NamedEntry>,
}

impl Children {
    /// What was put aside for the schedule that is explored.
    pub(super) fn current(&self) -> Option<&SuspendedPath> {
        self.current.as_ref()
    }

    /// What is left to explore, as data.
    pub(super) fn branches<'a>(&'a self, steps: &'a Steps) -> impl Iterator<Item = (usize, Branch)> + 'a {
        self.pending.iter().filter_map(|(number, chosen)| Some((*number, chosen.branch(steps)?)))
    }
}

/// The detours of the current path, each made from a run of the one before it.
#[derive(Debug, Default)]
pub(super) struct Suspended(Vec<Children>);

impl Suspended {
    /// Plans to explore these next, the last one first.
    pub(super) fn plan(&mut self, pending: Vec<(usize, Chosen)>) {
        if !pending.is_empty() {
            self.0.push(Children { pending, current: None });
        }
    }

    /// Each before the one from whose run it was made.
    pub(super) fn last_first(&self) -> impl Iterator<Item = &Children> {
        self.0.iter().rev()
    }

    fn asides(&self) -> impl DoubleEndedIterator<Item = &SuspendedPath> {
        self.0.iter().filter_map(|detour| detour.current.as_ref())
    }

    /// How many decisions are above what is being explored: nothing may be chosen from these.
    pub(super) fn above(&self) -> usize {
        self.asides().next_back().map_or(0, |aside| aside.above)
    }

    /// How many decisions of the path are above what is being explored, or above what is planned from there.
    pub(super) fn needed(&self) -> usize {
        let planned = self.0.last().filter(|detour| detour.current.is_none());
        let numbers = planned.into_iter().flat_map(|detour| &detour.pending).map(|(number, _)| number + 1);
        numbers.max().unwrap_or(0).max(self.above())
    }

    /// How many schedules are left to explore, also of the decisions that were put aside.
    pub(super) fn pending(&self) -> usize {
        let planned: usize = self.0.iter().map(|detour| detour.pending.len()).sum();
        planned + self.asides().flat_map(|aside| &aside.decisions).map(Decision::pending).sum::<usize>()
    }

    /// How many answers of a decision were begun, and wait for one that was begun later.
    pub(super) fn waiting_at(&self, number: usize) -> usize {
        self.asides().filter(|aside| aside.above == number + 1).count()
    }
}

impl RfSmc {
    /// Begins with the next schedule of a detour that is planned, if one is: its decision, and the schedule.
    pub(super) fn suspend_path(&mut self) -> Option<(usize, Chosen)> {
        while let Some(detour) = self.suspended.0.last_mut().filter(|detour| detour.current.is_none()) {
            if let Some((number, next)) = detour.pending.pop() {
                let (above, tau) = (number + 1, self.tau[self.decisions[number].at..].to_vec());
                detour.current = Some(SuspendedPath { above, decisions: self.decisions.split_off(above), tau });
                return Some((number, next));
            }
            self.suspended.0.pop();
        }
        None
    }

    /// Takes up again what was put aside for a schedule that is explored; whether there was something.
    pub(super) fn resume_path(&mut self) -> bool {
        let Some(aside) = self.suspended.0.last_mut().and_then(|detour| detour.current.take()) else { return false };
        debug_assert_eq!(self.decisions.len(), aside.above);
        self.tau.truncate(self.decisions[aside.above - 1].at);
        self.tau.extend(aside.tau);
        self.decisions.extend(aside.decisions);
        true
    }

    /// What was chosen last is not run: it is planned again if a detour began with it, and else returned.
    pub(super) fn retract_child(&mut self, chosen: Chosen) -> Option<Chosen> {
        let above = self.decisions.len();
        match self.suspended.0.last_mut() {
            Some(detour) if detour.current.as_ref().is_some_and(|aside| aside.above == above) => {
                detour.pending.push((above - 1, chosen));
                self.resume_path();
                None
            }
            _ => Some(chosen),
        }
    }
}

/// A detour as data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedChildren {
    pub(super) pending: Vec<(usize, Branch)>,
    pub(super) current: Option<(usize, Vec<SavedDecision>, Vec<NamedEntry>)>,
}

impl SavedChildren {
    pub(super) fn all(detours: &Suspended, steps: &Steps) -> Vec<Self> {
        let save = |aside: &SuspendedPath| {
            let decisions = aside.decisions.iter().map(|decision| SavedDecision::of(decision, steps)).collect();
            (aside.above, decisions, aside.tau.clone())
        };
        let detour =
            |detour: &Children| Self { pending: detour.branches(steps).collect(), current: detour.current().map(save) };
        detours.0.iter().map(detour).collect()
    }

    pub(super) fn restore(saved: &[Self], budget: &mut MemoryBudget) -> Suspended {
        let planned = |(number, branch): &(usize, Branch)| (*number, Chosen::Branch(branch.clone()));
        let mut restore = |(above, decisions, tau): &(usize, Vec<SavedDecision>, Vec<NamedEntry>)| {
            let decisions = decisions.iter().map(|saved| saved.restore(budget)).collect();
            SuspendedPath { above: *above, decisions, tau: tau.clone() }
        };
        let detour = |saved: &Self| Children {
            pending: saved.pending.iter().map(planned).collect(),
            current: saved.current.as_ref().map(&mut restore),
        };
        Suspended(saved.iter().map(detour).collect())
    }
}
