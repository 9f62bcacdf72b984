//! Explorers from data: of a saved state, and of a part of an exploration.

use crate::explore::divide::{Divisible, Saved, Settings, Task};
use crate::explore::one_plan::OnePlan;
use crate::explore::random::{Pct, Random};
use crate::explore::rf_smc::RfSmc;

impl Saved {
    /// The explorer that was saved.
    pub fn restore(&self, settings: &Settings) -> Box<dyn Divisible> {
        match *self {
            Saved::Tree(ref state) => Box::new(RfSmc::resume(settings.memory, state).with_settings(settings)),
            Saved::Samples(number) => Box::new(Random::starting_at(settings.seed, number)),
            Saved::Pct(number, length) => {
                Box::new(Pct::starting_at(settings.seed, number, length).with_depth(settings.pct_depth))
            }
        }
    }
}

impl Task {
    /// An explorer of this part only.
    pub fn explorer(&self, settings: &Settings) -> Box<dyn Divisible> {
        match *self {
            Task::Subtree(ref subtree) => {
                let settings = Settings { sets: None, ..settings.clone() };
                Box::new(RfSmc::of_subtree(settings.memory, subtree).with_settings(&settings))
            }
            Task::Livelock(ref route) => Box::new(OnePlan::of_livelock(route.clone())),
            Task::Samples { first, count } => Box::new(Random::among(settings.seed, first..first + count)),
        }
    }
}
