//! An explorer whose time is measured.

use std::time::{Duration, Instant};

use rsmc_core::step::{Explorer, Plan, Run};

/// An explorer, and how much time it took.
pub struct Timed<E> {
    explorer: E,
    started: Instant,
    exploring: Duration,
}

impl<E> Timed<E> {
    /// From now on.
    pub fn new(explorer: E) -> Self {
        Self { explorer, started: Instant::now(), exploring: Duration::ZERO }
    }

    pub fn explorer(&self) -> &E {
        &self.explorer
    }

    pub fn since_start(&self) -> Duration {
        self.started.elapsed()
    }

    /// The time in the explorer.
    pub fn exploring(&self) -> Duration {
        self.exploring
    }
}

impl<E: Explorer> Explorer for Timed<E> {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        let start = Instant::now();
        let goes_on = self.explorer.next_plan(plan);
        self.exploring += start.elapsed();
        goes_on
    }

    fn observe(&mut self, run: &Run) {
        let start = Instant::now();
        self.explorer.observe(run);
        self.exploring += start.elapsed();
    }

    fn starts_over(&mut self) -> bool {
        self.explorer.starts_over()
    }
}
