//! Several schedulers for one body.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::config::Config;
use crate::run::run;
use crate::scheduler::Scheduler;

/// Checks a body with several schedulers, one after the other; `RSMC_JOBS` uses more than one core for each of them. In
/// shuttle they run at the same time, each on a thread of its own.
///
/// ```
/// use rsmc_shuttle as shuttle;
/// use shuttle::scheduler::{PctScheduler, RandomScheduler};
///
/// let mut runner = shuttle::PortfolioRunner::new(true, shuttle::Config::new());
/// runner.add(RandomScheduler::new(10));
/// runner.add(PctScheduler::new(2, 10));
/// runner.run(|| drop(shuttle::thread::spawn(|| ()).join()));
/// ```
#[derive(Debug)]
pub struct PortfolioRunner {
    schedulers: Vec<Box<dyn Scheduler + Send>>,
    stop_on_first_failure: bool,
    config: Config,
}

impl PortfolioRunner {
    /// No schedulers. If `stop_on_first_failure`, those behind one that finds a failure are not used.
    #[must_use]
    pub fn new(stop_on_first_failure: bool, config: Config) -> Self {
        Self { schedulers: Vec::new(), stop_on_first_failure, config }
    }

    /// Adds a scheduler.
    pub fn add(&mut self, scheduler: impl Scheduler + Send + 'static) {
        self.schedulers.push(Box::new(scheduler));
    }

    /// Checks `f` with each scheduler.
    ///
    /// # Panics
    /// With the report of the first check that fails.
    #[track_caller]
    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        let mut first: Option<Box<dyn Any + Send>> = None;
        for scheduler in &self.schedulers {
            let exploration = scheduler.exploration();
            if self.stop_on_first_failure {
                run(&exploration, &self.config, &f);
            } else if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(&exploration, &self.config, &f))) {
                first.get_or_insert(payload);
            }
        }
        if let Some(payload) = first {
            resume_unwind(payload);
        }
    }
}
