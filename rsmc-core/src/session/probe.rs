//! Explorations after a failure: does the same body fail under other conditions?
//!
//! Each question is an exploration by RF-SMC, within bounds. Cost: at most [`MOST_RUNS`] runs each, the same on every
//! machine; [`Probe::until`] is a safety net.

use std::time::Instant;

use crate::explore::{Divisible, RfSmc};
use crate::session::driver::{Driver, Ended, Limits, Next, Ran, Sink};
use crate::session::failure_signature::FailureSignature;
use crate::session::judge::{Finding, judge};
use crate::session::shrink::plan;
use crate::session::tally::Tally;
use crate::session::{Config, FailureKind, Limit, MemoryModel};
use crate::step::{Executor, Run, Step};

/// The number of runs that one exploration may take.
pub(super) const MOST_RUNS: u64 = 10_000;

/// The result of an exploration.
pub(super) enum Answer {
    /// Something fails.
    Fails(FailureKind),
    /// The exploration was complete, and nothing fails.
    Holds,
    /// The exploration ended early, without a failure.
    Open,
}

/// Explorations of the same body, bounded together.
pub(super) struct Probe<'a> {
    pub(super) config: &'a Config,
    /// The failure to look for; `None`: any failure.
    pub(super) same: Option<&'a FailureSignature>,
    pub(super) executor: &'a mut dyn Executor,
    pub(super) runs: u64,
    /// The time at which to give up.
    pub(super) until: Instant,
}

impl Probe<'_> {
    /// Whether a schedule shows the sought failure.
    pub(super) fn repeat(&mut self, steps: &[Step]) -> bool {
        let mut run = Run::default();
        self.executor.execute(&plan(steps), &mut run);
        self.runs += 1;
        let found = if run.is_maximal() { judge(&run, self.config) } else { None };
        found.is_some_and(|found| is_sought(self.same, &run, &found))
    }

    /// Explores under a model that the executor follows, until a run shows the sought failure.
    pub(super) fn explore(&mut self, model: MemoryModel) -> Answer {
        let mut sink = Sought { same: self.same, tally: Tally::default(), fails: None };
        let ended = loop {
            let (config, executor, limits) = (self.config, &mut *self.executor, &mut Bounds(self.until));
            let mut driver = Driver { config, executor, limits, sink: &mut sink, may_probe: false };
            match driver.explore(&mut RfSmc::new(model)) {
                Ended::Unknown => {}
                ended => break ended,
            }
        };
        self.runs += sink.tally.runs;
        match (sink.fails, ended) {
            (Some(kind), _) => Answer::Fails(kind),
            (None, Ended::Complete) => Answer::Holds,
            (None, _) => Answer::Open,
        }
    }
}

/// True if this is the sought failure.
fn is_sought(same: Option<&FailureSignature>, run: &Run, found: &Finding) -> bool {
    same.is_none_or(|same| FailureSignature::of(run, found).as_ref() == Some(same))
}

/// The bounds of one exploration.
struct Bounds(Instant);

impl Limits for Bounds {
    fn stops(&mut self, counted: &Tally, _explorer: &dyn Divisible) -> Option<Limit> {
        (counted.runs >= MOST_RUNS || Instant::now() >= self.0).then_some(Limit::Interrupted)
    }
}

/// The sink that looks for a failure.
struct Sought<'a> {
    same: Option<&'a FailureSignature>,
    tally: Tally,
    fails: Option<FailureKind>,
}

impl Sink for Sought<'_> {
    fn counts(&mut self) -> &mut Tally {
        &mut self.tally
    }

    fn learn(&mut self, _run: &Run, _executor: &dyn Executor) {
        self.tally.runs += 1;
    }

    fn take(&mut self, ran: Ran<'_>, _executor: &mut dyn Executor) -> Next {
        let found = ran.finding.filter(|found| ran.counts && is_sought(self.same, ran.run, found));
        self.fails = found.map(|found| found.kind);
        if ran.is_final || self.fails.is_some() { Next::Nothing } else { Next::Run }
    }
}
