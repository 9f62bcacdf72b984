//! A check that was stopped, as a value: another process of the same executable goes on from it.
//!
//! Problem. A check that ends at `max_duration` has explored a part of the executions. A resumed check must not explore
//! them again.
//!
//! Method. A check stops between two executions. The explorer takes back the plan that was not run. The checkpoint
//! keeps the explorer's state ([`crate::explore::rf_smc::Checkpoint`]; for samples their number), the counts, the
//! executor's knowledge, and the schedule of the first failure under `keep_going`. A resumed check begins with all
//! that, and explores exactly the rest: its counts and verdict are those of a check that was not stopped.
//!
//! Where workers explore, the state is the coordinator's, after it has added all answers and taken back the jobs
//! without one ([`crate::session::jobs`]): a tree of decisions instead of one path, or several ranges of samples. The
//! process that resumes it coordinates, with as many workers as it has, or none.
//!
//! Deviations. Each part of a check runs the pinned seeds again; they are counted once. The resumed check finds the
//! failure again by its schedule. `Config::max_duration` is the time of one part.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId};
use crate::explore::DEEPEST;
use crate::session::findings::Findings;
use crate::session::jobs::{Begin, Left};
use crate::session::judge::{Finding, judge};
use crate::session::progress::Clock;
use crate::session::tally::Tally;
use crate::session::{Config, FailureKind};
use crate::step::{Executor, Knowledge, Plan, Route, Run, SchedulingPolicy};
use crate::trace::Weakened;

/// A check that was stopped between two executions; see the module.
///
/// Only the executable that made it can use it: numbers name thread ids, loops and types.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    settings: Vec<(String, String)>,
    left: Left,
    tally: Tally,
    /// The classes of the livelocks that were counted.
    livelocks: Vec<Digest>,
    knowledge: Knowledge,
    first: Option<Failing>,
    elapsed: Duration,
}

/// The schedule of the first failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Failing {
    route: Route,
    /// As [`Plan::newest`].
    newest: Option<Vec<EventId>>,
    policy: SchedulingPolicy,
}

impl Checkpoint {
    /// The checkpoint of a check that is stopped.
    pub(super) fn new(findings: &Findings<'_>, clock: &Clock<'_>, left: Left, knowledge: Knowledge) -> Self {
        Self {
            settings: settings(findings.config),
            left,
            tally: findings.tally.clone(),
            livelocks: findings.livelocks.iter().copied().collect(),
            knowledge,
            first: findings.first.as_ref().and(findings.of_first.as_ref()).map(Failing::of),
            elapsed: clock.elapsed(),
        }
    }

    /// The number of executions that were counted before the checkpoint.
    pub fn executions(&self) -> u64 {
        self.tally.executions + self.left.executions()
    }

    /// The time that all parts of the check took before the checkpoint.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Restores the state of the check, and returns the explorer that goes on.
    pub(super) fn resume(
        self,
        findings: &mut Findings<'_>,
        clock: &mut Clock<'_>,
        executor: &mut dyn Executor,
    ) -> Begin {
        executor.know(&self.knowledge);
        if let Some(failing) = self.first {
            findings.fail_again(&failing, executor);
        }
        (clock.before, clock.runs_before) = (self.elapsed, self.tally.runs);
        findings.tally = self.tally;
        findings.livelocks = self.livelocks.into_iter().collect();
        self.left.resume(findings.config)
    }

    /// The reason for which a check with this configuration cannot resume the checkpoint: the first setting that makes
    /// it another check, with both values, or that the checkpoint is damaged. Limits, pinned seeds and the number of
    /// processes may differ.
    pub fn misfit(&self, config: &Config) -> Option<String> {
        let now = settings(config);
        let mut pairs = self.settings.iter().zip(&now);
        let found = pairs.find(|(was, is)| was != is);
        let other = |((name, was), (_, is)): (&(String, String), &(String, String))| {
            format!("it was made with {name} = {was}, and this check has {name} = {is}")
        };
        found.map(other).or_else(|| (!self.is_sound(&now, config)).then(|| "it is damaged".to_owned()))
    }

    /// Whether a check can have written it. This finds an error before the check goes on.
    fn is_sound(&self, settings: &[(String, String)], config: &Config) -> bool {
        let threads = self.knowledge.threads.len();
        self.settings == settings
            && self.left.is_sound(config.explorer, threads)
            && self.tally.is_sound()
            && self.knowledge.is_sound()
            && self.elapsed < LONGEST
            && self.first.as_ref().is_none_or(|first| config.keep_going && first.is_sound())
    }
}

/// The settings that decide which executions exist, and how they are judged.
fn settings(config: &Config) -> Vec<(String, String)> {
    let &Config { max_steps, spin_bound, spurious, stack_size, keep_going, .. } = config;
    let &Config { check_races, check_leaks, check_lost, check_joins, pardons, reuse, seed, twice, .. } = config;
    let bound = config.preemption_bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
    let delays = config.delay_bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
    let depth = config.pct_depth.map_or_else(|| "none".to_owned(), |depth| depth.to_string());
    let weakened = if config.weakened.is_empty() { "none".to_owned() } else { Weakened::list(&config.weakened) };
    let pairs: [(&str, &dyn std::fmt::Display); 19] = [
        ("memory", &config.effective_memory()),
        ("explorer", &config.explorer),
        ("max_steps", &max_steps),
        ("spin_bound", &spin_bound),
        ("spurious", &spurious),
        ("weakened", &weakened),
        ("stack_size", &stack_size),
        ("keep_going", &keep_going),
        ("check_races", &check_races),
        ("check_leaks", &check_leaks),
        ("check_lost", &check_lost),
        ("check_joins", &check_joins),
        ("pardons", &pardons),
        ("reuse", &reuse),
        ("seed", &seed),
        ("pct_depth", &depth),
        ("twice", &twice),
        ("preemption_bound", &bound),
        ("delay_bound", &delays),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value.to_string())).into()
}

/// A time that no check reaches.
const LONGEST: Duration = Duration::from_secs(1 << 36);

impl Findings<'_> {
    /// Runs the first failing execution of the earlier parts again, for its trace. It is not counted: an earlier part
    /// did.
    fn fail_again(&mut self, failing: &Failing, executor: &mut dyn Executor) {
        let (plan, mut run) = (failing.plan(), Run::default());
        executor.execute(&plan, &mut run);
        let finding = judge(&run, self.config).unwrap_or_else(|| {
            let what = "an execution failed before the checkpoint, and does not fail after it";
            Finding::new(FailureKind::Nondeterminism, what.to_owned())
        });
        self.find(&run, &plan, finding, executor);
    }
}

impl Failing {
    /// Whether an explorer can have made the schedule. Only a run shows whether such an execution exists.
    fn is_sound(&self) -> bool {
        match self.policy {
            SchedulingPolicy::RunOn | SchedulingPolicy::Random(_) => true,
            SchedulingPolicy::Pct { depth, .. } => depth <= DEEPEST,
        }
    }

    fn of(plan: &Plan) -> Self {
        let route = Route::new(&plan.forced, &plan.modification);
        Self { route, newest: plan.newest.clone(), policy: plan.policy }
    }

    fn plan(&self) -> Plan {
        let mut plan = Plan { newest: self.newest.clone(), policy: self.policy, ..Plan::default() };
        self.route.force(&mut plan);
        plan
    }
}
