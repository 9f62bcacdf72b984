//! A part of RF-SMC's tree, explored by another `RfSmc`, in another process perhaps.
//!
//! A subtree is the state of an explorer when it chooses a schedule: `τ`, the decisions above, and the schedule, or
//! several schedules of one decision. A worker never explores inherited decisions; it returns the schedules it
//! discovers for them, with the rest of its own decisions if it ends early. [`super::Tree`] puts that together.
//!
//! Thread ids must mean the same on both sides ([`crate::step::Knowledge::threads`]).

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId};
use crate::explore::looks::{Looks, SavedLooks};
use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::budget::MemoryBudget;
use crate::explore::rf_smc::decision::{Decision, SavedDecision};
use crate::explore::rf_smc::schedule::Branch;
use crate::explore::rf_smc::steps::Steps;
use crate::explore::rf_smc::tau::NamedEntry;
use crate::model::MemoryModel;
use crate::step::Route;

/// A part of the tree; see the module. It consists of the runs below some schedules of one decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Subtree {
    /// The path to the decision.
    pub(super) tau: Vec<NamedEntry>,
    /// The decisions from the first to the one that has the schedules, the last of which is run first.
    pub(super) path: Vec<SavedDecision>,
    /// The reads that are known to complete an iteration that changes nothing.
    pub(super) looks: SavedLooks,
}

/// The names and schedules that are new at a decision above a subtree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Discovered {
    /// The new names, possible or not.
    pub(super) seen: Vec<Digest>,
    pub(super) stays: Option<EventId>,
    pub(super) pending: Vec<Branch>,
}

/// The results of exploring a subtree, to its end or not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// The number of the subtree's schedules that were not begun, from the first on.
    pub(super) not_begun: usize,
    /// By decision above.
    pub(super) discovered: Vec<Discovered>,
    /// The decisions below, on the path on which the exploration stopped, as far as a schedule is pending.
    pub(super) own: Vec<SavedDecision>,
    /// The path, as far as `own` needs it.
    pub(super) tau: Vec<NamedEntry>,
    /// Livelocks to run: the class of the run that showed each, and its schedule.
    pub(super) livelocks: Vec<(Digest, Route)>,
    /// The reads that are known to complete an iteration that changes nothing.
    pub(super) looks: SavedLooks,
}

impl Decision {
    /// The names and schedules that are new at an inherited decision.
    fn discovered(&self, before: &SavedDecision, steps: &Steps) -> Discovered {
        let known: FxHashSet<Digest> = before.seen.iter().copied().collect();
        Discovered {
            seen: self.seen.iter().filter(|key| !known.contains(key)).collect(),
            stays: self.stays.filter(|_| self.pending.iter().any(|schedule| schedule.key == Digest::EMPTY)),
            pending: Branch::all(&self.pending, steps),
        }
    }
}

impl RfSmc {
    /// An exploration of a part of the tree.
    pub fn of_subtree(model: MemoryModel, subtree: &Subtree) -> Self {
        let mut budget = MemoryBudget::unbounded();
        let decisions: Vec<Decision> = subtree.path.iter().map(|saved| saved.clone().restore(&mut budget)).collect();
        let (tau, inherited) = (subtree.tau.clone(), decisions.len());
        let mut explorer = Self { tau, decisions, started: true, inherited, budget, ..Self::new(model) };
        explorer.waits.looks = Looks::restore(&subtree.looks);
        explorer
    }

    /// The results of exploring a subtree so far.
    pub fn found(&self, subtree: &Subtree) -> Found {
        let (above, own) = self.decisions.split_at(self.inherited);
        let needed = own.iter().rposition(Decision::has_more).map_or(0, |last| last + 1);
        let (own, steps) = (&own[..needed], &self.finder.steps.table);
        // Whoever goes on does not know in which order this explorer came to know the reads that the subtree has not.
        let asked = subtree.looks.count();
        let saved = |decision: &Decision| {
            let saved = decision.save(steps);
            SavedDecision { asked: saved.asked.min(asked), ..saved }
        };
        let discovered = above.iter().zip(&subtree.path).map(|(decision, before)| decision.discovered(before, steps));
        Found {
            not_begun: above.last().map_or(0, |last| last.received.len()),
            discovered: discovered.collect(),
            tau: self.tau[..own.last().map_or(0, |last| last.at)].to_vec(),
            own: own.iter().map(saved).collect(),
            livelocks: self.waits.livelocks.iter().map(|(class, witness)| (*class, witness.route())).collect(),
            looks: self.waits.looks.save(),
        }
    }
}
