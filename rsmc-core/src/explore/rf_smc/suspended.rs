//! Paths that are suspended while a canonical child of one of their runs is explored.
//!
//! Problem. A schedule that has a canonical parent has no name ([`super::canonical_parent`]), so it must be explored
//! while the run that discovers it is at hand. Its decision may stand high above.
//!
//! Method. The part of the path below that decision is suspended, with its pending schedules, and resumed when the
//! child's part of the tree is explored. Meanwhile no schedule is taken from the decision itself, nor from those above
//! it. While a child is explored, its runs may have children of their own.

use serde::{Deserialize, Serialize};

use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::budget::MemoryBudget;
use crate::explore::rf_smc::decision::{Decision, SavedDecision};
use crate::explore::rf_smc::schedule::{Branch, Chosen};
use crate::explore::rf_smc::steps::Steps;
use crate::explore::rf_smc::tau::NamedEntry;

/// The canonical children of one run.
#[derive(Debug)]
pub(super) struct Children {
    /// Those that are not explored yet, the next one last, each with the number of its decision.
    pending: Vec<(usize, Chosen)>,
    /// The path that is suspended for the current child.
    current: Option<SuspendedPath>,
}

/// The decisions below that of a child, and `τ` from that decision on.
#[derive(Debug)]
pub(super) struct SuspendedPath {
    /// The number of decisions above, with the child's.
    pub(super) above: usize,
    pub(super) decisions: Vec<Decision>,
    pub(super) tau: Vec<NamedEntry>,
}

impl Children {
    /// The path that is suspended for the current child.
    pub(super) fn current(&self) -> Option<&SuspendedPath> {
        self.current.as_ref()
    }

    /// The children that are not explored yet, as data.
    pub(super) fn branches<'a>(&'a self, steps: &'a Steps) -> impl Iterator<Item = (usize, Branch)> + 'a {
        self.pending.iter().filter_map(|(number, child)| Some((*number, child.branch(steps)?)))
    }
}

/// The suspended paths, each by a run of the child before it.
#[derive(Debug, Default)]
pub(super) struct Suspended(Vec<Children>);

impl Suspended {
    /// Plans to explore these next, the last one first.
    pub(super) fn plan(&mut self, pending: Vec<(usize, Chosen)>) {
        if !pending.is_empty() {
            self.0.push(Children { pending, current: None });
        }
    }

    /// The children of runs, those of the newest run first.
    pub(super) fn last_first(&self) -> impl Iterator<Item = &Children> {
        self.0.iter().rev()
    }

    /// The suspended paths, those of the newest runs last.
    pub(super) fn paths(&self) -> impl DoubleEndedIterator<Item = &SuspendedPath> {
        self.0.iter().filter_map(|children| children.current.as_ref())
    }

    /// The number of decisions above the current child, with its own: no schedule is taken from these.
    pub(super) fn above(&self) -> usize {
        self.paths().next_back().map_or(0, |path| path.above)
    }

    /// The number of decisions that the current child, or one that is planned, stands below.
    pub(super) fn needed(&self) -> usize {
        let planned = self.0.last().filter(|children| children.current.is_none());
        let numbers = planned.into_iter().flat_map(|children| &children.pending).map(|(number, _)| number + 1);
        numbers.max().unwrap_or(0).max(self.above())
    }

    /// The number of schedules that are not explored yet: children, and those of suspended decisions.
    pub(super) fn pending(&self) -> usize {
        let planned: usize = self.0.iter().map(|children| children.pending.len()).sum();
        planned + self.paths().flat_map(|path| &path.decisions).map(Decision::pending).sum::<usize>()
    }
}

impl RfSmc {
    /// Begins with the next planned child, if there is one, and suspends the path below its decision.
    pub(super) fn suspend_path(&mut self) -> Option<(usize, Chosen)> {
        while let Some(children) = self.suspended.0.last_mut().filter(|children| children.current.is_none()) {
            if let Some((number, next)) = children.pending.pop() {
                let (above, tau) = (number + 1, self.tau[self.decisions[number].at..].to_vec());
                children.current = Some(SuspendedPath { above, decisions: self.decisions.split_off(above), tau });
                return Some((number, next));
            }
            self.suspended.0.pop();
        }
        None
    }

    /// Resumes the path that is suspended for the current child. Returns whether there was a child.
    pub(super) fn resume_path(&mut self) -> bool {
        let Some(path) = self.suspended.0.last_mut().and_then(|children| children.current.take()) else { return false };
        debug_assert_eq!(self.decisions.len(), path.above);
        self.tau.truncate(self.decisions[path.above - 1].at);
        self.tau.extend(path.tau);
        self.decisions[path.above - 1].lineage.resume();
        self.decisions.extend(path.decisions);
        true
    }

    /// Plans a schedule again that was chosen and not run, if it is a child; otherwise returns it.
    pub(super) fn retract_child(&mut self, chosen: Chosen) -> Option<Chosen> {
        let above = self.decisions.len();
        match self.suspended.0.last_mut() {
            Some(children) if children.current.as_ref().is_some_and(|path| path.above == above) => {
                children.pending.push((above - 1, chosen));
                self.resume_path();
                None
            }
            _ => Some(chosen),
        }
    }
}

/// The canonical children of one run, as data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedChildren {
    pub(super) pending: Vec<(usize, Branch)>,
    pub(super) current: Option<(usize, Vec<SavedDecision>, Vec<NamedEntry>)>,
}

impl SavedChildren {
    pub(super) fn all(suspended: &Suspended, steps: &Steps) -> Vec<Self> {
        let save = |path: &SuspendedPath| {
            let decisions = path.decisions.iter().map(|decision| decision.save(steps)).collect();
            (path.above, decisions, path.tau.clone())
        };
        let children = |children: &Children| Self {
            pending: children.branches(steps).collect(),
            current: children.current().map(save),
        };
        suspended.0.iter().map(children).collect()
    }

    pub(super) fn restore(saved: &[Self], budget: &mut MemoryBudget) -> Suspended {
        let planned = |(number, branch): &(usize, Branch)| (*number, Chosen::Branch(branch.clone()));
        let mut restore = |(above, decisions, tau): &(usize, Vec<SavedDecision>, Vec<NamedEntry>)| {
            let decisions = decisions.iter().map(|saved| saved.clone().restore(budget)).collect();
            SuspendedPath { above: *above, decisions, tau: tau.clone() }
        };
        let children = |saved: &Self| Children {
            pending: saved.pending.iter().map(planned).collect(),
            current: saved.current.as_ref().map(&mut restore),
        };
        Suspended(saved.iter().map(children).collect())
    }
}
