//! The state of RF-SMC between two runs, as data: another process of the same executable goes on from it.
//!
//! What is kept is what the next plan depends on: `τ` up to the last decision of which something is left, those decisions,
//! and livelocks that are still to be run. All else is computed anew from each run. Schedules become [`Branch`]es, which are
//! taken after those that the resumed explorer plans itself, as they would have been: they are the older ones.
//!
//! Thread ids must mean the same on both sides ([`crate::step::Knowledge::threads`]).
//!
//! Deviation from an exploration that was not stopped: what is expected of each step of a branch is a number
//! ([`crate::step::Expect::check`]), and nothing is known of the steps of livelocks. So nondeterminism of the program may be
//! noticed later.

use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::explore::rf_smc::schedule::Witness;
use crate::explore::rf_smc::subtree::Own;
use crate::explore::rf_smc::{Decision, Entry, RfSmc};
use crate::model::MemoryModel;
use crate::step::Route;

/// An exploration that was stopped; see the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    started: bool,
    tau: Vec<Entry>,
    /// The decisions, and how many schedules of each were taken.
    decisions: Vec<(Own, u32)>,
    runs: u64,
    livelocks: Vec<(Digest, Route)>,
    /// Classes of runs that were asked for livelocks.
    asked: Vec<Digest>,
}

impl RfSmc {
    /// The state between two runs: after [`observe`](crate::step::Explorer::observe), or
    /// [`retract`](crate::step::Explorer::retract). Not of a subtree.
    pub fn checkpoint(&self) -> Checkpoint {
        debug_assert_eq!(self.inherited, 0, "what is left of a subtree is `found`");
        let needed = self.decisions.iter().rposition(Decision::has_more).map_or(0, |last| last + 1);
        let decisions = &self.decisions[..needed];
        let own = |decision: &Decision| (decision.own(&self.builder.steps), decision.taken);
        Checkpoint {
            started: self.started,
            runs: self.runs,
            tau: self.tau[..decisions.last().map_or(0, |last| last.at)].to_vec(),
            decisions: decisions.iter().map(own).collect(),
            livelocks: self.waits.livelocks.iter().map(|(class, witness)| (*class, witness.route())).collect(),
            asked: self.waits.known.iter().copied().collect(),
        }
    }

    /// Goes on from there, under the same memory model.
    pub fn resume(model: MemoryModel, checkpoint: &Checkpoint) -> Self {
        let mut explorer = Self::new(model);
        (explorer.started, explorer.runs) = (checkpoint.started, checkpoint.runs);
        explorer.tau.clone_from(&checkpoint.tau);
        explorer.decisions = checkpoint.decisions.iter().map(|(own, taken)| decision(own, *taken)).collect();
        let livelocks = checkpoint.livelocks.iter();
        explorer.waits.livelocks = livelocks.map(|(class, route)| (*class, Witness::of_route(route))).collect();
        explorer.waits.known = checkpoint.asked.iter().copied().collect();
        explorer
    }
}

fn decision(own: &Own, taken: u32) -> Decision {
    Decision { given: own.left.clone(), taken, ..Decision::tried_at(&own.place, &own.tried) }
}

impl Witness {
    fn of_route(route: &Route) -> Self {
        Self { steps: route.forced().collect(), modification: route.modification.clone() }
    }
}
