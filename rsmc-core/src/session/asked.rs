//! What is asked about a failure afterwards: does the same body fail under other conditions?
//!
//! Each question is an exploration by RF-SMC, within bounds. Cost: at most [`MOST_RUNS`] runs each, the same on every machine;
//! [`Asked::until`] is a safety net.

use std::time::Instant;

use crate::explore::RfSmc;
use crate::session::judge::{is_final, judge};
use crate::session::same::Sameness;
use crate::session::shrink::plan;
use crate::session::tally::Worth;
use crate::session::{Config, FailureKind, MemoryModel};
use crate::step::{End, Executor, Explorer, Plan, Run, Step};

/// How many runs one exploration may take.
pub(super) const MOST_RUNS: u64 = 10_000;

/// What an exploration says.
pub(super) enum Answer {
    /// Something fails.
    Fails(FailureKind),
    /// It was complete, and nothing fails.
    Holds,
    /// Nobody knows.
    Open,
}

/// Explorations of the same body, bounded together.
pub(super) struct Asked<'a> {
    pub(super) config: &'a Config,
    /// The failure to look for, if not any.
    pub(super) same: Option<&'a Sameness>,
    pub(super) executor: &'a mut dyn Executor,
    pub(super) runs: u64,
    /// When to give up.
    pub(super) until: Instant,
}

impl Asked<'_> {
    /// Whether a schedule fails so.
    pub(super) fn repeat(&mut self, steps: &[Step]) -> bool {
        let mut run = Run::default();
        self.executor.execute(&plan(steps), &mut run);
        self.runs += 1;
        self.fails(&run).is_some()
    }

    /// What is wrong with a run, if it is what is looked for.
    fn fails(&self, run: &Run) -> Option<FailureKind> {
        let found = if run.is_maximal() { judge(run, self.config)? } else { return None };
        let is_sought = |sought: &Sameness| Sameness::of(run, &found).as_ref() == Some(sought);
        self.same.is_none_or(is_sought).then_some(found.kind)
    }

    /// Explores under a model that the executor follows, until it shows such a failure.
    pub(super) fn explore(&mut self, model: MemoryModel) -> Answer {
        let (mut explorer, mut plan, mut run) = (RfSmc::new(model), Plan::default(), Run::default());
        let until = self.runs + MOST_RUNS;
        while explorer.next_plan(&mut plan) {
            if self.runs == until || Instant::now() >= self.until {
                return Answer::Open;
            }
            self.executor.execute(&plan, &mut run);
            self.runs += 1;
            if run.end == End::Learned {
                explorer = RfSmc::new(model);
                continue;
            }
            let counts = !matches!(Worth::of(&run, plan.purpose), Worth::Nothing);
            if let Some(kind) = self.fails(&run).filter(|_| counts) {
                return Answer::Fails(kind);
            }
            if is_final(&run.end) || self.executor.is_broken() {
                return Answer::Open;
            }
            explorer.observe(&run);
        }
        Answer::Holds
    }
}
