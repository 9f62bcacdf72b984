//! What a check that takes long says while it goes on, and how it is stopped.
//!
//! Between executions and parts of the analysis of one, now and then, it shows its figures and hears whether to go on. It must not print, and does not know
//! who looks.

use std::time::Duration;

use crate::explore::rf_smc::Estimate;
use crate::session::checkpoint::Checkpoint;
use crate::session::run::{AnyExplorer, Check};
use crate::session::tally::Tally;
use crate::session::{Config, Limit, Report, Verdict};

/// What a check is given besides its configuration if it may take long.
pub struct Long<'a> {
    /// Where it goes on. It must fit ([`Checkpoint::misfit`]).
    pub resume: Option<Checkpoint>,
    /// How much time is between two calls of `pulse`, or a little more. If none, it is called before every execution.
    pub every: Duration,
    /// Is shown how far the check is, and says whether it goes on. If not, the verdict is
    /// [`Incomplete`](Verdict::Incomplete), for [`Limit::Interrupted`].
    pub pulse: &'a mut (dyn FnMut(&Progress) -> bool + Send),
}

/// How far a check is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// As [`Report::executions`], with those of the parts before.
    pub executions: u64,
    /// As [`Report::runs`], with those of the parts before.
    pub runs: u64,
    /// How many runs there were in this part of the check.
    pub runs_here: u64,
    /// How long this part of the check has taken.
    pub elapsed: Duration,
    /// The number of decisions on the path to what is run next. 0 where the explorer has none, or other processes explore.
    pub depth: usize,
    /// How many runs there will be in all, where decisions are known.
    pub estimate: Option<Estimate>,
}

/// The pulse of a check.
pub(super) struct Pulse<'a> {
    every: Duration,
    next: Duration,
    pulse: &'a mut (dyn FnMut(&Progress) -> bool + Send),
}

impl<'a> Pulse<'a> {
    pub(super) fn new(every: Duration, pulse: &'a mut (dyn FnMut(&Progress) -> bool + Send)) -> Self {
        Self { every, next: every, pulse }
    }
}

impl Check<'_> {
    /// Whether the check is to stop now, for a reason other than what it has found or counted.
    pub(super) fn stops(&mut self, explorer: Option<&AnyExplorer>) -> Option<Limit> {
        let elapsed = self.started.elapsed();
        if let Some(pulse) = self.pulse.as_mut().filter(|pulse| elapsed >= pulse.next) {
            let Tally { executions, runs, .. } = self.tally;
            let (depth, estimate) = match explorer {
                Some(AnyExplorer::ReadsFrom(explorer)) => (explorer.depth(), Some(self.tally.estimate(explorer))),
                _ => (0, None),
            };
            let runs_here = runs.saturating_sub(self.runs_before);
            let progress = Progress { executions, runs, runs_here, elapsed, depth, estimate };
            if !(pulse.pulse)(&progress) {
                return Some(Limit::Interrupted);
            }
            pulse.next = elapsed + pulse.every;
        }
        (elapsed >= self.config.max_duration).then_some(Limit::Duration(self.config.max_duration))
    }

    /// Whether it may take long, so that what is left is kept when it is stopped.
    pub(super) fn is_long(&self) -> bool {
        self.pulse.is_some()
    }

    /// How long the check has taken, with the parts before this one.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }
}

/// Says so if a check was stopped and cannot be resumed.
pub(super) fn note_what_is_lost(config: &Config, report: &mut Report, checkpoint: Option<&Checkpoint>) {
    let stopped = matches!(report.verdict, Verdict::Incomplete(Limit::Duration(_) | Limit::Interrupted));
    if stopped && checkpoint.is_none() {
        report.notes.push(format!("a check by `{}` cannot be resumed", config.explorer));
    }
}
