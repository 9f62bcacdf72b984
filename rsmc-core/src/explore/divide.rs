//! Explorers whose state is data: one can be saved and restored, and its work divided between processes.
//!
//! An explorer that does none of that implements [`Divisible`] without a method.

use serde::{Deserialize, Serialize};

use crate::base::Spill;
use crate::explore::rf_smc::{Checkpoint, Estimate, Found, MOST_COUNTED, Subtree, Tree};
use crate::explore::{PreemptionBound, SavedLooks};
use crate::model::MemoryModel;
use crate::step::{Explorer, Route};

/// The settings of a check that its explorers need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The memory model.
    pub memory: MemoryModel,
    /// The seed of random explorers.
    pub seed: u64,
    /// The bug depth that PCT aims at, where it is set.
    pub pct_depth: Option<u32>,
    /// Whether each sample is run twice.
    pub twice: bool,
    /// The memory of RF-SMC's sets in bytes, where it is set.
    pub sets: Option<usize>,
    /// The place of what is too much for memory, where there is one.
    pub spill: Option<Spill>,
    /// The bound of preemptions, where there is one.
    pub preemption_bound: Option<PreemptionBound>,
    /// The bound of delays, where there is one.
    pub delay_bound: Option<u32>,
}

/// An explorer that may be able to say how far it is, to be saved, and to be divided.
pub trait Divisible: Explorer {
    /// The number of decisions on the path to the next run.
    fn depth(&self) -> usize {
        0
    }

    /// The number of runs in all, of a check that has made `runs` runs. Valid while a plan is given and not run.
    fn estimate_after(&self, _runs: u64) -> Option<Estimate> {
        None
    }

    /// The bound of preemptions that an exploration in which it rises has reached.
    fn level(&self) -> Option<u32> {
        None
    }

    /// The state between two runs; `None` if it is not kept as data.
    fn save(&self) -> Option<Saved> {
        None
    }

    /// The rest of the exploration, for several processes; `None` if it is not divided. At least one run was observed.
    fn divide(&self) -> Option<Division> {
        None
    }

    /// Takes over the reads that complete an iteration that changes nothing, from an exploration that has to start
    /// over. No run was observed.
    fn know(&mut self, _looks: &SavedLooks) {}

    /// The results of a task that this explorer was made for, where they are more than counts.
    fn found(&self, _task: &Task) -> Option<Found> {
        None
    }
}

/// The state of an explorer between two runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Saved {
    /// The path of RF-SMC.
    Tree(Checkpoint),
    /// Samples from this number on.
    Samples(u64),
    /// Samples of PCT from this number on, and the number of steps that it assumes.
    Pct(u64, u32),
}

impl Saved {
    /// True if an explorer can have written it; the executor knows `threads` threads.
    pub fn is_sound(&self, threads: usize) -> bool {
        match self {
            Saved::Tree(state) => state.is_sound(threads),
            &(Saved::Samples(number) | Saved::Pct(number, _)) => number < MOST_COUNTED,
        }
    }
}

/// The rest of an exploration that several processes share.
#[derive(Debug)]
pub enum Division {
    /// A tree of decisions.
    Tree(Box<Tree>),
    /// Samples from this number on.
    Samples(u64),
}

/// The part of an exploration that one process explores.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// A part of RF-SMC's tree.
    Subtree(Subtree),
    /// A run that may end in a livelock.
    Livelock(Route),
    /// Random schedules.
    Samples {
        /// The number of the first one.
        first: u64,
        /// The number of schedules.
        count: u64,
    },
}
