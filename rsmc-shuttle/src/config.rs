//! shuttle's settings.

use std::path::PathBuf;
use std::time::Duration;

/// The settings of a check. Those of shuttle that are not here have nothing to set: there are no spans of `tracing`,
/// and what is left of a failing execution is never run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The stack of each thread, in bytes, if it is more than rsmc's own 256 KiB.
    pub stack_size: usize,
    /// The place where the seed of a failure is left. The report has it in any case.
    pub failure_persistence: FailurePersistence,
    /// The number of operations that an execution may have. Loops that wait need no bound.
    pub max_steps: MaxSteps,
    /// Stop after this long; the test passes. It is looked at between executions. Without it a check that takes longer
    /// than 10 minutes fails, as one that is not complete.
    pub max_time: Option<Duration>,
    /// Nothing: there are no warnings.
    pub silence_warnings: bool,
}

impl Config {
    /// The default settings, which are those of shuttle.
    #[must_use]
    pub fn new() -> Self {
        Self {
            stack_size: 0xf000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
        }
    }

    /// rsmc's configuration of these settings.
    pub(crate) fn of_rsmc(&self) -> rsmc::Config {
        // shuttle looks for no leak, and each of its panics is a failure.
        let config = rsmc::Config::default().allow_trivial(true).check_leaks(false).pardons(false);
        let stack_size = config.stack_size.max(self.stack_size);
        let steps = match self.max_steps {
            MaxSteps::None => u32::MAX,
            MaxSteps::FailAfter(steps) => u32::try_from(steps).unwrap_or(u32::MAX).max(1),
        };
        let config = config.stack_size(stack_size).max_steps(steps);
        match self.max_time {
            Some(time) => config.max_duration(time),
            None => config,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

/// The place where the seed of a failure is left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    /// In the report only.
    None,
    /// In the report.
    Print,
    /// In a new file `schedule000.txt`, `schedule001.txt`, … of this folder, or of the current one, for
    /// [`replay_from_file`](crate::replay_from_file); and in the report.
    File(Option<PathBuf>),
}

/// The number of operations that an execution may have. shuttle's `ContinueAfter`, which goes on with the next
/// execution, is not here: an execution that is too long is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    /// Any number.
    None,
    /// At most so many, or the check fails.
    FailAfter(usize),
}
