//! The loop of every exploration: plan, run, judge, observe.
//!
//! A check, the job of a worker, and a question about a failure are explorations. Each brings an explorer, its
//! [`Limits`], and a [`Sink`] for its runs.

use crate::base::Digest;
use crate::explore::Divisible;
use crate::session::judge::{Finding, is_final, judge, judge_replay};
use crate::session::tally::{Tally, Worth};
use crate::session::{Config, Limit};
use crate::step::{Difference, End, Executor, Expect, Explorer, Plan, Run, SchedulingPolicy};

/// The reason for which an exploration ended.
pub(super) enum Ended {
    /// The explorer has no further plan.
    Complete,
    /// A limit was reached. The last plan of the explorer, if it has made one, was not run.
    At(Limit),
    /// The sink needs no other run.
    Enough,
    /// The limits ended it after a run that the explorer has observed.
    Paused,
    /// The sink has learned from a run that it cannot count; every later run needs that knowledge.
    Unknown,
}

/// The limits that end an exploration before it is complete.
pub(super) trait Limits {
    /// The number of executions that are enough.
    fn most_executions(&self) -> Option<u64> {
        None
    }

    /// Another limit that is reached, if any. Called before each run, and while the explorer analyses.
    fn stops(&mut self, _counted: &Tally, _explorer: &dyn Divisible) -> Option<Limit> {
        None
    }

    /// True if the exploration pauses. Called after each run.
    fn pauses(&mut self, _counted: &Tally) -> bool {
        false
    }
}

/// A run of a check, or an event of it, as [`Check::watch`](super::Check::watch) shows it.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// A run, and whether it counts as an execution.
    Run(&'a Run, bool),
    /// The runs seen before do not count: the exploration starts over with the knowledge gained.
    StartOver,
}

/// The receiver of the runs of an exploration.
pub(super) trait Sink {
    /// The counts, which the driver keeps.
    fn counts(&mut self) -> &mut Tally;

    /// True if the run can be counted. If not, the sink learns from it, and the exploration ends.
    fn is_known(&self, run: &Run) -> bool {
        run.end != End::Learned
    }

    /// Learns from a run that cannot be counted.
    fn learn(&mut self, run: &Run, executor: &dyn Executor);

    /// True for the first livelock of this class.
    fn is_new_livelock(&mut self, _class: Digest) -> bool {
        true
    }

    /// Adds a run.
    fn take(&mut self, ran: Ran<'_>, executor: &mut dyn Executor) -> Next;

    /// Forgets the runs so far: the explorer has started over.
    fn start_over(&mut self) {}
}

/// A run that was counted and judged.
pub(super) struct Ran<'r> {
    pub(super) plan: &'r Plan,
    pub(super) run: &'r Run,
    /// True if it counts as an execution.
    pub(super) counts: bool,
    /// The class of its livelock, if it ends in one.
    pub(super) livelock: Option<Digest>,
    pub(super) finding: Option<Finding>,
    /// True if nothing can be explored after it.
    pub(super) is_final: bool,
}

/// The request of a sink after a run.
pub(super) enum Next {
    /// The next run.
    Run,
    /// No further run; the explorer still observes this one.
    Observe,
    /// Nothing.
    Nothing,
}

/// See the module.
pub(super) struct Driver<'d> {
    pub(super) config: &'d Config,
    pub(super) executor: &'d mut dyn Executor,
    pub(super) limits: &'d mut dyn Limits,
    pub(super) sink: &'d mut dyn Sink,
    /// As [`Plan::may_probe`], for every plan.
    pub(super) may_probe: bool,
}

impl Driver<'_> {
    /// Explores until the exploration ends, and returns the reason.
    pub(super) fn explore(&mut self, explorer: &mut dyn Divisible) -> Ended {
        let (mut plan, mut run) = (Plan::default(), Run::default());
        loop {
            if let Some(ended) = self.plan(explorer, &mut plan) {
                return ended;
            }
            self.executor.execute(&plan, &mut run);
            if !self.sink.is_known(&run) {
                self.sink.learn(&run, self.executor);
                return Ended::Unknown;
            }
            compare_with_plan(explorer, &mut run);
            let ran = self.judge(&plan, &run);
            let next = self.sink.take(ran, self.executor);
            if matches!(next, Next::Nothing) {
                return Ended::Enough;
            }
            explorer.observe(&run);
            if explorer.starts_over() {
                self.sink.start_over();
            }
            if matches!(next, Next::Observe) {
                return Ended::Enough;
            }
            if self.limits.pauses(self.sink.counts()) {
                return Ended::Paused;
            }
        }
    }

    /// Writes the next plan to `plan`. If there is none, or a limit is reached, returns the reason to end.
    fn plan(&mut self, explorer: &mut dyn Divisible, plan: &mut Plan) -> Option<Ended> {
        while !explorer.analyse() {
            if let Some(limit) = self.limits.stops(self.sink.counts(), explorer) {
                return Some(Ended::At(limit));
            }
        }
        while !explorer.next_plan(plan) {
            if !explorer.starts_over() {
                return Some(Ended::Complete);
            }
            self.sink.start_over();
        }
        plan.may_probe = self.may_probe;
        let counted = self.sink.counts();
        let most = self.limits.most_executions().filter(|&most| counted.executions >= most);
        let limit = most.map(Limit::Executions).or_else(|| self.limits.stops(counted, explorer));
        limit.map(Ended::At)
    }

    /// Counts a run and judges it.
    fn judge<'r>(&mut self, plan: &'r Plan, run: &'r Run) -> Ran<'r> {
        let explores = plan.policy == SchedulingPolicy::RunOn && self.config.replay.is_none();
        let is_final = is_final(&run.end) || self.executor.is_broken();
        // No run follows one that is final, so none shows what it shows.
        let worth = if explores && !is_final { Worth::of(run, plan.purpose) } else { Worth::Class };
        let (is_shown, livelock) = match worth {
            Worth::Nothing => (false, None),
            Worth::Class => (true, None),
            Worth::Livelock(class) => (self.sink.is_new_livelock(class), Some(class)),
        };
        let tally = self.sink.counts();
        tally.runs += 1;
        tally.see(run);
        let mut finding = None;
        if is_shown {
            finding = self.config.replay.as_ref().and_then(|seed| judge_replay(seed, run));
            finding = finding.or_else(|| judge(run, self.config));
            tally.executions += u64::from(run.is_maximal());
        } else {
            tally.blocked += 1;
        }
        Ran { plan, run, counts: is_shown && run.is_maximal(), livelock, finding, is_final }
    }
}

/// Marks a run as diverged if it differs from what is known of its plan.
fn compare_with_plan(explorer: &dyn Explorer, run: &mut Run) {
    if let Some(event) = explorer.route().and_then(|route| route.mismatch(run)) {
        let at = run.trace.position(event).expect("it is in the run");
        run.end = diverged(run, at);
    }
    if let Some(at) = explorer.misplaced(run) {
        run.end = diverged(run, at);
    }
}

/// The end of a run in which this event is not the one that was planned.
fn diverged(run: &Run, at: usize) -> End {
    let event = &run.trace.events[at];
    let found = Expect::of(event, &run.trace.locs[event.op.loc]).to_string();
    let difference = Difference::Operation { expected: "what an earlier run of the test did".to_owned(), found };
    End::Diverged { step: at, event: event.id, difference }
}
