//! RF-SMC as an explorer that is saved and divided.

use crate::explore::rf_smc::{Estimate, Found, RfSmc, Tree};
use crate::explore::{Divisible, Division, Saved, Settings, Task};

impl RfSmc {
    /// This explorer with the memory budget of these settings.
    pub fn with_settings(self, settings: &Settings) -> Self {
        match settings.sets {
            Some(bytes) => self.with_memory_budget(bytes),
            None => self,
        }
    }
}

impl Divisible for RfSmc {
    fn depth(&self) -> usize {
        self.depth()
    }

    fn estimate_after(&self, runs: u64) -> Option<Estimate> {
        Some(self.estimate().after(runs.saturating_sub(self.runs())))
    }

    fn save(&self) -> Option<Saved> {
        Some(Saved::Tree(self.checkpoint()))
    }

    fn divide(&self) -> Option<Division> {
        Some(Division::Tree(Tree::new(self)))
    }

    fn found(&self, task: &Task) -> Option<Found> {
        match task {
            Task::Subtree(subtree) => Some(self.found(subtree)),
            Task::Livelock(_) | Task::Samples { .. } => None,
        }
    }
}
