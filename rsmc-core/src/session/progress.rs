//! The time of a check, and the function that is shown its progress.
//!
//! Between runs, and while an explorer analyses, the check calls that function now and then with its figures; the
//! function returns whether the check goes on. A check does not print.

use std::time::{Duration, Instant};

use crate::explore::Divisible;
use crate::explore::rf_smc::Estimate;
use crate::session::memory_limit::{default_limit, resident_memory};
use crate::session::tally::Tally;
use crate::session::{Config, Limit};

/// The time between two looks at the memory.
const LOOK: Duration = Duration::from_secs(1);

/// The progress of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// As [`Report::executions`](super::Report::executions), with those of the parts before.
    pub executions: u64,
    /// As [`Report::runs`](super::Report::runs), with those of the parts before.
    pub runs: u64,
    /// The number of runs in this part of the check.
    pub runs_here: u64,
    /// The time that this part of the check has taken.
    pub elapsed: Duration,
    /// The number of decisions on the path to the next run. 0 if the explorer has none, or other processes explore.
    pub depth: usize,
    /// The estimated number of runs in all, if decisions are known.
    pub estimate: Option<Estimate>,
}

/// A function that is shown the progress of a check, and says whether it goes on.
pub(super) struct Pulse<'c> {
    every: Duration,
    next: Duration,
    show: Box<dyn FnMut(&Progress) -> bool + 'c>,
}

impl<'c> Pulse<'c> {
    pub(super) fn new(every: Duration, show: impl FnMut(&Progress) -> bool + 'c) -> Self {
        Self { every, next: every, show: Box::new(show) }
    }
}

/// The time that a check takes.
pub(super) struct Clock<'c> {
    pub(super) config: &'c Config,
    started: Instant,
    pulse: Option<Pulse<'c>>,
    /// The time of the next look at the memory.
    next_look: Duration,
    /// The time and the runs of the parts of the check before this one.
    pub(super) before: Duration,
    pub(super) runs_before: u64,
}

impl<'c> Clock<'c> {
    /// The clock of a check that starts now.
    pub(super) fn new(config: &'c Config, pulse: Option<Pulse<'c>>) -> Self {
        let next_look = if config.max_memory.is_some() { Duration::ZERO } else { LOOK };
        Self { config, started: Instant::now(), pulse, next_look, before: Duration::ZERO, runs_before: 0 }
    }

    /// The reason for which the check stops now, other than its findings and counts. If processes share the
    /// exploration, there is no explorer, and `others` is the memory of the other processes, in bytes.
    pub(super) fn stops(
        &mut self,
        counted: &Tally,
        explorer: Option<&dyn Divisible>,
        others: impl FnOnce() -> u64,
    ) -> Option<Limit> {
        let elapsed = self.started.elapsed();
        if elapsed >= self.next_look {
            self.next_look = elapsed + LOOK;
            let most = self.config.max_memory.or_else(default_limit).unwrap_or(u64::MAX);
            if resident_memory(None).is_some_and(|own| own + others() >= most) {
                return Some(Limit::Memory(most));
            }
        }
        if let Some(pulse) = self.pulse.as_mut().filter(|pulse| elapsed >= pulse.next) {
            let &Tally { executions, runs, .. } = counted;
            let (depth, estimate) =
                explorer.map_or((0, None), |explorer| (explorer.depth(), explorer.estimate_after(runs)));
            let runs_here = runs.saturating_sub(self.runs_before);
            if !(pulse.show)(&Progress { executions, runs, runs_here, elapsed, depth, estimate }) {
                return Some(Limit::Interrupted);
            }
            pulse.next = elapsed + pulse.every;
        }
        (elapsed >= self.config.max_duration).then_some(Limit::Duration(self.config.max_duration))
    }

    /// The time that remains to this part of the check.
    pub(super) fn left(&self) -> Duration {
        self.config.max_duration.saturating_sub(self.started.elapsed())
    }

    /// True once one process has explored for so long that several are worth their start.
    pub(super) fn is_time_to_divide(&self) -> bool {
        self.started.elapsed() >= self.config.divide_after
    }

    /// True if the check has a pulse. If such a check is stopped, a checkpoint keeps the rest.
    pub(super) fn is_long(&self) -> bool {
        self.pulse.is_some()
    }

    /// The time that the check has taken, with the parts before this one.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }
}
