//! A part of RF-SMC's tree, explored by another `RfSmc`, in another process perhaps.
//!
//! A subtree is what the explorer's state is when it takes a schedule: `τ`, the decisions above, and the schedule; or several
//! of one decision, one after the other. Who
//! explores it never takes anything from the decisions above; what its runs propose for these it hands back, with what is
//! left of its own decisions if it ends early. [`super::Tree`] puts that together.
//!
//! Thread ids must mean the same on both sides ([`crate::step::Knowledge::threads`]).

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId};
use crate::explore::rf_smc::budget::MemoryBudget;
use crate::explore::rf_smc::revisit::Question;
use crate::explore::rf_smc::schedule::{Schedule, Witness};
use crate::explore::rf_smc::steps::Steps;
use crate::explore::rf_smc::{Decision, Entry, NamedEntry, RfSmc};
use crate::model::MemoryModel;
use crate::step::Route;

/// A decision without what was seen and is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) at: usize,
    pub(super) id: EventId,
    pub(super) question: Question,
    pub(super) frozen: bool,
    pub(super) stays: Option<EventId>,
    pub(super) contested: bool,
    pub(super) full: bool,
}

/// A schedule that is left to try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub(super) key: Digest,
    /// The events from the decision's place on.
    pub(super) suffix: Vec<Entry>,
    pub(super) route: Route,
}

/// A decision with what was seen there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Above {
    pub(super) place: Place,
    pub(super) seen: Vec<Digest>,
}

/// A part of the tree; see the module. It has all that comes of some schedules of one decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Subtree {
    /// The path to the decision.
    pub(super) tau: Vec<NamedEntry>,
    /// The decision, and those above it.
    pub(super) above: Vec<Above>,
    /// The schedules, the last one first.
    pub(super) branches: Vec<Branch>,
    /// The reads that are known to complete an iteration that changes nothing.
    pub(super) looks: Vec<(u64, u32)>,
}

/// What is new at a decision above a subtree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Proposed {
    /// What was seen, possible or not.
    pub(super) seen: Vec<Digest>,
    pub(super) stays: Option<EventId>,
    pub(super) pending: Vec<Branch>,
}

/// A decision inside a subtree, with what is left of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Own {
    pub(super) place: Place,
    pub(super) seen: Vec<Digest>,
    pub(super) pending: Vec<Branch>,
}

/// What exploring a subtree, to its end or not, leads to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// How many schedules are left of those that were given, from the first on.
    pub(super) not_begun: usize,
    /// By decision above.
    pub(super) proposed: Vec<Proposed>,
    /// What is pending: the decisions on the path on which the exploration stopped.
    pub(super) own: Vec<Own>,
    /// The path, as far as `own` needs it.
    pub(super) tau: Vec<NamedEntry>,
    /// Livelocks to run: the class of the run that showed each, and its schedule.
    pub(super) livelocks: Vec<(Digest, Route)>,
    /// The reads that are known to complete an iteration that changes nothing.
    pub(super) looks: Vec<(u64, u32)>,
}

impl Witness {
    pub(super) fn route(&self) -> Route {
        Route::new(&self.steps, &self.modification)
    }
}

impl Branch {
    /// What it takes in memory as a [`Schedule`].
    pub(super) fn size(&self) -> usize {
        Schedule::size_of(self.suffix.len(), self.route.steps.len())
    }

    pub(super) fn of(schedule: &Schedule, steps: &Steps) -> Self {
        let mut suffix = Vec::new();
        schedule.packed.for_each_entry(|entry| suffix.push(entry));
        Self { key: schedule.key, suffix, route: steps.witness(&schedule.packed).route() }
    }
}

fn branches(schedules: &[Schedule], steps: &Steps) -> Vec<Branch> {
    schedules.iter().map(|schedule| Branch::of(schedule, steps)).collect()
}

impl Decision {
    fn place(&self) -> Place {
        let &Decision { at, id, question, frozen, stays, contested, full, .. } = self;
        Place { at, id, question, frozen, stays, contested, full }
    }

    /// Whether something is left to try.
    pub(super) fn has_more(&self) -> bool {
        !self.pending.is_empty() || !self.received.is_empty()
    }

    /// A decision at this place where this was seen, and nothing is left to try.
    pub(super) fn seen_at(place: &Place, seen: &[Digest]) -> Self {
        let &Place { at, id, question, frozen, stays, contested, full } = place;
        Self { frozen, stays, full, contested, ..Decision::new(at, id, question, seen.iter().copied().collect()) }
    }

    pub(super) fn own(&self, steps: &Steps) -> Own {
        let mut pending = self.received.clone();
        pending.extend(branches(&self.pending, steps));
        Own { place: self.place(), seen: self.seen.iter().collect(), pending }
    }

    fn proposed(&self, above: &Above, steps: &Steps) -> Proposed {
        let known: FxHashSet<Digest> = above.seen.iter().copied().collect();
        Proposed {
            seen: self.seen.iter().filter(|key| !known.contains(key)).collect(),
            stays: self.stays.filter(|_| above.place.stays.is_none()),
            pending: branches(&self.pending, steps),
        }
    }
}

impl RfSmc {
    /// An exploration of a part of the tree.
    pub fn of_subtree(model: MemoryModel, subtree: &Subtree) -> Self {
        let mut decisions: Vec<Decision> =
            subtree.above.iter().map(|above| Decision::seen_at(&above.place, &above.seen)).collect();
        let mut budget = MemoryBudget::unbounded();
        let last = decisions.last_mut().expect("a subtree has the decision that it comes from");
        subtree.branches.iter().for_each(|branch| budget.leave_branch(last, branch.clone()));
        let (tau, inherited) = (subtree.tau.clone(), decisions.len());
        let mut explorer = Self { tau, decisions, started: true, inherited, budget, ..Self::new(model) };
        explorer.waits.looks.add(&subtree.looks);
        explorer
    }

    /// What the exploration of a subtree has led to so far.
    pub fn found(&self, subtree: &Subtree) -> Found {
        let (above, own) = self.decisions.split_at(self.inherited);
        let needed = own.iter().rposition(|decision| decision.has_more()).map_or(0, |last| last + 1);
        let (own, steps) = (&own[..needed], &self.builder.steps);
        Found {
            not_begun: above.last().map_or(0, |last| last.received.len()),
            proposed: above
                .iter()
                .zip(&subtree.above)
                .map(|(decision, above)| decision.proposed(above, steps))
                .collect(),
            tau: self.tau[..own.last().map_or(0, |last| last.at)].to_vec(),
            own: own.iter().map(|decision| decision.own(steps)).collect(),
            livelocks: self.waits.livelocks.iter().map(|(class, witness)| (*class, witness.route())).collect(),
            looks: self.waits.looks.all(),
        }
    }
}
