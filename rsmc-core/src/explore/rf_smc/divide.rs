//! RF-SMC as an explorer that is saved and divided.

use crate::explore::rf_smc::{Estimate, Found, RfSmc, Tree};
use crate::explore::{Divisible, Division, Saved, SavedLooks, Settings, Task};

impl RfSmc {
    /// This explorer with the memory, the files and the bounds of these settings.
    pub fn with_settings(mut self, settings: &Settings) -> Self {
        self.waits.spill_to(settings.spill.as_ref());
        let with_sets = match settings.sets {
            Some(bytes) => self.with_memory_budget(bytes),
            None => self,
        };
        with_sets.with_preemption_bound(settings.preemption_bound).with_delay_bound(settings.delay_bound)
    }
}

impl Divisible for RfSmc {
    fn depth(&self) -> usize {
        self.depth()
    }

    fn estimate_after(&self, runs: u64) -> Option<Estimate> {
        let before = runs.saturating_sub(self.runs());
        let estimate = self.estimate().after(before);
        // With a rising bound most of the tree is not on the path.
        Some(if self.bound.rises { Estimate::of_least(estimate.at_least) } else { estimate })
    }

    fn level(&self) -> Option<u32> {
        self.bound.most.filter(|_| self.bound.rises)
    }

    fn save(&self) -> Option<Saved> {
        (!self.bound.rises).then(|| Saved::Tree(self.checkpoint()))
    }

    fn divide(&self) -> Option<Division> {
        (!self.bound.rises).then(|| Division::Tree(Box::new(Tree::new(self))))
    }

    fn know(&mut self, looks: &SavedLooks) {
        self.waits.looks = self.waits.looks.replaced(looks);
    }

    fn found(&self, task: &Task) -> Option<Found> {
        match task {
            Task::Subtree(subtree) => Some(self.found(subtree)),
            Task::Livelock(_) | Task::Samples { .. } => None,
        }
    }
}
