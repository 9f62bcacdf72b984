//! How far a check of a specification came.

use std::fmt;
use std::time::Duration;

use rsmc_core::report::wrap;
use rsmc_core::session::{Report, Verdict};

use crate::spec::drawn::Drawn;

/// The scenarios of one number of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Covered {
    /// The number of calls.
    pub calls: usize,
    /// The number of scenarios that there are, without those that are left out.
    pub scenarios: usize,
    /// The scenarios of which every execution was explored, with all orders that a client can add, and with threads
    /// suspended wherever [`Spec::lock_free`](super::Spec::lock_free) asks for it.
    pub verified: usize,
    /// The scenarios that are left out because the model could wait for ever, those with orders of a client included.
    pub waiting: usize,
}

/// The extent of a check that goes on.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    pub(crate) covered: Vec<Covered>,
    pub(crate) levels: Vec<Duration>,
    pub(crate) drawn: Option<Drawn>,
    pub(crate) ordered: usize,
    pub(crate) suspended: usize,
    pub(crate) too_many: Option<String>,
    /// The orders of a client that are left out and not counted yet.
    pub(crate) waiting: usize,
}

/// The result of [`Spec::explore`](super::Spec::explore).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpecReport {
    /// The check of the scenario that fails, or of the one that was stopped; else the sum of all. Its counts are those
    /// of all scenarios.
    pub report: Report,
    /// The text of the scenario that fails.
    pub scenario: Option<String>,
    /// The scenarios, by their number of calls.
    pub covered: Vec<Covered>,
    /// The random scenarios, where [`Spec::random`](super::Spec::random) asks for some and none failed before.
    pub drawn: Option<Drawn>,
    /// The number of scenarios that were run again with threads that wait for each other.
    pub ordered: usize,
    /// The number of runs in which threads were to be suspended.
    pub suspended: usize,
    /// The time from the beginning to the end of the scenarios of each number of calls.
    pub(crate) levels: Vec<Duration>,
    /// The reason why larger scenarios were not even counted.
    pub(crate) too_many: Option<String>,
    /// The test that keeps the failing scenario.
    pub(crate) to_keep: Option<String>,
}

impl SpecReport {
    /// Whether every scenario was verified.
    pub fn is_complete(&self) -> bool {
        self.scenario.is_none() && self.too_many.is_none() && self.covered.iter().all(Covered::is_complete)
    }

    /// The numbers of calls up to which every scenario was verified, those with two calls or more, each with the time.
    pub(crate) fn whole(&self) -> impl Iterator<Item = (usize, Duration)> {
        let whole = self.covered.iter().zip(&self.levels).take_while(|(covered, _)| covered.is_complete());
        let last = whole.clone().count();
        whole.map(|(covered, &took)| (covered.calls, took)).filter(move |&(calls, _)| calls >= 2 || last == 1)
    }

    /// Whether the check came far enough to say something: through the scenarios of two calls.
    pub(crate) fn says_something(&self) -> bool {
        self.covered.len() >= 2 && self.covered[..2].iter().all(Covered::is_complete) || self.is_complete()
    }

    /// The scenarios that were verified, in words.
    pub(crate) fn extent(&self) -> String {
        let whole = self.covered.iter().take_while(|covered| covered.is_complete()).count();
        let sum = |of: fn(&Covered) -> usize| self.covered[..whole].iter().map(of).sum::<usize>();
        let mut parts = Vec::new();
        if whole > 0 {
            let calls = count(self.covered[whole - 1].calls, "call");
            let scenarios = sum(|it| it.scenarios);
            let all = if scenarios == 1 { "the".to_owned() } else { format!("all {scenarios}") };
            parts.push(format!("{all} {} of up to {calls}", if scenarios == 1 { "scenario" } else { "scenarios" }));
        }
        let part = |it: &Covered| format!("{} of {} with {}", it.verified, it.scenarios, count(it.calls, "call"));
        parts.extend(self.covered[whole..].iter().filter(|it| it.verified > 0).map(part));
        if let Some(Drawn { scenarios, verified, fewest_calls, most_calls }) = self.drawn {
            parts.push(format!("{verified} of {scenarios} random ones with {fewest_calls} to {most_calls} calls"));
        }
        let left_out: usize = self.covered.iter().map(|it| it.waiting).sum();
        let left_out = (left_out > 0).then(|| format!("; {left_out} left out, in which the model could wait for ever"));
        let scenarios = if parts.is_empty() { "no scenario".to_owned() } else { parts.join(", ") };
        scenarios + &left_out.unwrap_or_default()
    }

    /// Whether two threads used one object in some scenario, if there was one with two threads.
    pub(crate) fn shares_something(&self) -> bool {
        self.report.shares || self.report.threads <= 1
    }

    /// The text of a check in which no scenario fails.
    pub(crate) fn about(&self, passes: bool) -> String {
        match (passes, self.is_complete()) {
            (false, true) => "nothing shared: no atomic, lock or cell of `rsmc_shim` is used by two threads of a\n  \
                 scenario, so there is nothing to check"
                .to_owned(),
            (_, true) => self.to_string(),
            (true, false) if self.too_many.is_some() => self.to_string(),
            (true, false) => format!("{self}\n  then the time was over (`budget`, or RSMC_MAX_DURATION)"),
            (false, false) => format!(
                "{self}\n  incomplete, NOT a proof: raise the time (`budget`, or RSMC_MAX_DURATION=60s),\n  or let \
                 the operations do less"
            ),
        }
    }

    /// The text below the report of a scenario that fails.
    pub(crate) fn about_failure(&self) -> String {
        let to_keep = self.to_keep.as_deref().unwrap_or_default();
        format!("\n{self}\n\nto keep the scenario as a test (`spec()` makes this specification):\n\n{to_keep}\n")
    }

    fn text(&self) -> String {
        let Report { executions, elapsed, memory, explorer, .. } = &self.report;
        let executions = count(usize::try_from(*executions).unwrap_or(usize::MAX), "execution");
        let ordered = match self.ordered {
            0 => String::new(),
            orders => format!("; {} with threads that wait for each other", count(orders, "more run")),
        };
        let suspended = match self.suspended {
            0 => String::new(),
            runs => format!("; {} with suspended threads", count(runs, "more run")),
        };
        let too_many = self.too_many.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        let head = match (&self.report.verdict, self.is_complete()) {
            (Verdict::Failed(_), _) => "verified before:",
            (_, true) => "verified:",
            (_, false) => "not complete; verified so far:",
        };
        let extent = format!("{head} {}{ordered}{suspended}{too_many}", self.extent());
        // It comes behind `rsmc: `, as other checks have it.
        let wrapped = wrap(&format!("rsmc: {extent}"), "  ");
        let wrapped = wrapped.trim_start_matches("rsmc: ");
        format!("{wrapped}\n  {executions} ({explorer}, {memory}), {:.2} s", elapsed.as_secs_f64())
    }
}

impl Covered {
    fn is_complete(&self) -> bool {
        self.verified == self.scenarios
    }
}

impl fmt::Display for SpecReport {
    /// The scenarios that were verified, and how. The scenario that fails has a report of its own
    /// ([`render`](crate::render)).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
