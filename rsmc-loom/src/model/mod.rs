//! Running a model: [`model()`], and a [`Builder`] with loom's settings.
//!
//! | variable | what it does here |
//! | --- | --- |
//! | `LOOM_MAX_PREEMPTIONS` | [`Builder::preemption_bound`] |
//! | `LOOM_MAX_DURATION` | [`Builder::max_duration`], in seconds |
//! | `LOOM_MAX_PERMUTATIONS` | [`Builder::max_permutations`] |
//! | `LOOM_MAX_BRANCHES` | [`Builder::max_branches`] |
//! | `LOOM_CHECKPOINT_FILE` | [`Builder::checkpoint_file`]: the seed of the failure |
//! | `LOOM_CHECKPOINT_INTERVAL` | nothing: a check that is stopped keeps a checkpoint, and `RSMC_RESUME=1` goes on from it |
//! | `LOOM_LOG` | `trace` and `debug` print every operation, as `RSMC_LOG=trace`; anything else the number of executions |
//! | `LOOM_LOCATION` | nothing: a report always names the lines |
//!
//! rsmc's own variables (`RSMC_MEMORY`, `RSMC_JOBS`, …) override these.

mod variables;

use std::path::PathBuf;
use std::time::Duration;

use rsmc::__private::{Model, run_model};
use rsmc::{Config, Report, Verdict};

use crate::explore::{stop_exploring, was_stopped};

/// Runs `body` once per class of its executions, with the settings of the environment.
///
/// # Panics
/// With a report, if an execution fails or the check does not finish in time; if a variable has a value that cannot be
/// read.
#[track_caller]
pub fn model<F>(body: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(body);
}

/// The settings of a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// In loom the number of threads that a model can have. Nothing here: it can have any number.
    pub max_threads: usize,
    /// In loom the number of decisions that an execution can have. Here it can have as many operations, and 100,000
    /// if this is less. Loops that wait need no bound.
    pub max_branches: usize,
    /// Stop after this many executions; the test passes.
    pub max_permutations: Option<usize>,
    /// Stop after this long; the test passes. Without it a check that takes longer than 10 minutes fails, as one that
    /// is not complete.
    pub max_duration: Option<Duration>,
    /// Explore only executions with at most so many preemptions, and what belongs to their classes.
    pub preemption_bound: Option<usize>,
    /// The file that gets the seed of a failure. If it is there, the execution of its seed is run first; the
    /// exploration follows.
    pub checkpoint_file: Option<PathBuf>,
    /// In loom, how often the file is written. Nothing here.
    pub checkpoint_interval: usize,
    /// Explore nothing before the first [`explore`](crate::explore()).
    pub expect_explicit_explore: bool,
    /// Nothing: a report always names the lines.
    pub location: bool,
    /// In loom, print the switches between threads. Here, print every operation while it happens.
    pub log: bool,
    /// Say how many executions there were.
    counts: bool,
}

impl Builder {
    /// The settings of the environment; see the [module](mod@crate::model).
    ///
    /// # Panics
    /// If a variable has a value that cannot be read.
    #[must_use]
    pub fn new() -> Self {
        variables::read(&|name| std::env::var_os(name)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Sets the file that gets the seed of a failure.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Runs `body` once per class of its executions.
    ///
    /// A body whose threads share nothing passes, and says so on stderr.
    ///
    /// # Panics
    /// With a report, if an execution fails or the check does not finish in time; if the file has no seed.
    #[track_caller]
    pub fn check<F>(&self, body: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let seed = self.checkpoint_file.as_deref().and_then(kept_seed);
        let mut config = self.config();
        if let Some(seed) = seed {
            config = config.pin(rsmc::__private::parse_seed(seed.trim()));
        }
        let see = |report: &Report, say: &dyn Fn(&str)| {
            if let (Verdict::Failed(failure), Some(file)) = (&report.verdict, &self.checkpoint_file)
                && failure.kind.is_replayed()
                && let Err(error) = std::fs::write(file, format!("{}\n", failure.seed))
            {
                say(&format!("the seed is not in {}: {error}", file.display()));
            }
            if report.threads > 1 && !report.shares {
                say(
                    "no two threads share anything of `loom`, so there is one execution; is a type of `std` used instead?",
                );
            }
            if was_stopped() {
                say("parts of the model were not explored (`stop_exploring`)");
            }
            if self.counts {
                say(&format!("completed in {} executions", report.executions));
            }
        };
        let starts_stopped = self.expect_explicit_explore;
        run_model(Model { config, is_traced: self.log, quotes: false, see: &see }, || {
            if starts_stopped {
                stop_exploring();
            }
            body();
        });
    }

    fn config(&self) -> Config {
        let mut config = Config::default().allow_trivial(true).check_lost(false);
        let steps = u32::try_from(self.max_branches).unwrap_or(u32::MAX);
        config = config.clone().max_steps(steps.max(config.max_steps));
        if let Some(executions) = self.max_permutations {
            config = config.max_executions(executions as u64);
        }
        if let Some(most) = self.preemption_bound {
            config = config.preemption_bound(u32::try_from(most).unwrap_or(u32::MAX));
        }
        if let Some(time) = self.max_duration {
            config = config.max_duration(time);
        }
        config
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

/// The text of the file, if it is there.
#[track_caller]
fn kept_seed(file: &std::path::Path) -> Option<String> {
    if !file.exists() {
        return None;
    }
    Some(std::fs::read_to_string(file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display())))
}
