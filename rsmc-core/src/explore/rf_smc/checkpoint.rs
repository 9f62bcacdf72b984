//! The state of RF-SMC between two runs, as data: another process of the same executable goes on from it.
//!
//! Kept is what the next plan depends on: `τ` up to the last decision with a pending schedule, those decisions, the
//! suspended paths, and livelocks that are still to be run. All else is computed anew from each run. Schedules become
//! [`Branch`]es, which the resumed explorer takes after those that it discovers itself, as it would have: they are the
//! older ones.
//!
//! Thread ids must mean the same on both sides ([`crate::step::Knowledge::threads`]).
//!
//! Deviation from an exploration that was not stopped: each step of a branch expects a number
//! ([`crate::step::Expect::check`]), and the steps of livelocks expect nothing. So nondeterminism of the program may be
//! noticed later.
//!
//! [`Branch`]: crate::explore::rf_smc::Branch

use serde::{Deserialize, Serialize};

use crate::base::{Digest, Spilled};
use crate::explore::looks::{Looks, SavedLooks};
use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::decision::{Decision, SavedDecision};
use crate::explore::rf_smc::suspended::SavedChildren;
use crate::explore::rf_smc::tau::NamedEntry;
use crate::explore::rf_smc::witness::Witness;
use crate::model::MemoryModel;
use crate::step::Route;

/// An exploration that was stopped; see the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    pub(super) started: bool,
    pub(super) tau: Vec<NamedEntry>,
    pub(super) decisions: Vec<SavedDecision>,
    pub(super) suspended: Vec<SavedChildren>,
    pub(super) runs: u64,
    pub(super) livelocks: Vec<(Digest, Route)>,
    /// The classes of the runs for which livelocks were looked for.
    asked: Vec<Digest>,
    /// The reads that are known to complete an iteration that changes nothing.
    looks: SavedLooks,
    /// The reads of which a preview was planned and not run.
    lost: Vec<u64>,
}

impl RfSmc {
    /// The state between two runs: after [`observe`](crate::step::Explorer::observe), or
    /// [`retract`](crate::step::Explorer::retract). Not of a subtree.
    pub fn checkpoint(&self) -> Checkpoint {
        debug_assert_eq!(self.inherited, 0, "the rest of a subtree is `found`");
        let has_more = self.decisions.iter().rposition(Decision::has_more).map_or(0, |last| last + 1);
        let decisions = &self.decisions[..has_more.max(self.suspended.needed())];
        let steps = &self.finder.steps.table;
        Checkpoint {
            started: self.started,
            runs: self.runs,
            tau: self.tau[..decisions.last().map_or(0, |last| last.at)].to_vec(),
            decisions: decisions.iter().map(|decision| decision.save(steps)).collect(),
            suspended: SavedChildren::all(&self.suspended, steps),
            livelocks: self.waits.livelocks.iter().map(|(class, witness)| (*class, witness.route())).collect(),
            asked: self.waits.known.names(),
            looks: self.waits.looks.save(),
            lost: self.waits.previews.lost(),
        }
    }

    /// An exploration that goes on from a checkpoint, under the same memory model.
    pub fn resume(model: MemoryModel, checkpoint: &Checkpoint) -> Self {
        let mut explorer = Self::new(model);
        (explorer.started, explorer.runs) = (checkpoint.started, checkpoint.runs);
        explorer.tau.clone_from(&checkpoint.tau);
        let budget = &mut explorer.budget;
        explorer.decisions = checkpoint.decisions.iter().map(|saved| saved.clone().restore(budget)).collect();
        explorer.suspended = SavedChildren::restore(&checkpoint.suspended, budget);
        let livelocks = checkpoint.livelocks.iter();
        explorer.waits.livelocks = livelocks.map(|(class, route)| (*class, Witness::of_route(route))).collect();
        explorer.waits.looks = Looks::restore(&checkpoint.looks);
        // They may not become known in time any more.
        explorer.waits.previews.asked.extend(&checkpoint.lost);
        explorer.waits.known = Spilled::of(checkpoint.asked.iter().copied());
        explorer
    }
}
