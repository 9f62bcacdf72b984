//! The loop of a check, for any executor.

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::base::Digest;
use crate::explore::rf_smc::Tree;
use crate::explore::view_xplore::Traversal;
use crate::explore::{Exhaustive, Pct, Random, RfSmc, RvfSmc, ViewXplore, up_to_date};
use crate::seed::Seed;
use crate::session::checkpoint::{Begin, Checkpoint};
use crate::session::config::RANDOM_EXECUTIONS;
use crate::session::jobs::{Crew, Nobody, Problem, Samples, Team, Then, Work, compare_with_plan};
use crate::session::judge::{Finding, failure, is_final, judge, judge_replay, unseen, why_stale};
use crate::session::long::{Long, Pulse, note_what_is_lost};
use crate::session::same::Sameness;
use crate::session::shrink::{Cost, LONGEST as SHRINKS_FOR, shrink};
use crate::session::tally::{Tally, Worth};
use crate::session::{
    Config, Estimate, ExplorerKind, Failure, FailureKind, Limit, MemoryModel, Needs, Remedy, Report, Verdict,
};
use crate::step::{End, Executor, Explorer, Forced, Plan, Run, SchedulingPolicy, Step};
use crate::trace::reads_from_class;

/// Runs a check; the configuration must be valid. `observe` sees every maximal run that counts.
pub fn check(config: &Config, executor: &mut dyn Executor, observe: &mut dyn FnMut(&Run)) -> Report {
    check_counted(config, executor, &mut |run, counted| {
        if counted {
            observe(run);
        }
    })
}

/// As [`check`]; `observe` sees every run, and whether it counts as an execution.
pub fn check_counted(config: &Config, executor: &mut dyn Executor, observe: &mut dyn FnMut(&Run, bool)) -> Report {
    check_watched(config, executor, &mut |seen| seen.show(observe))
}

/// What is seen of a check while it goes on.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// A run, and whether it counts as an execution.
    Run(&'a Run, bool),
    /// All that was seen before does not count: it is explored again with what was learned.
    StartOver,
}

impl Seen<'_> {
    fn show(self, observe: &mut dyn FnMut(&Run, bool)) {
        if let Seen::Run(run, counts) = self {
            observe(run, counts);
        }
    }
}

/// As [`check_counted`]; `watch` also sees when the exploration starts over.
pub fn check_watched(config: &Config, executor: &mut dyn Executor, watch: &mut dyn FnMut(Seen<'_>)) -> Report {
    let mut check = Check::new(config);
    let verdict = check.explore(executor, watch, None);
    check.explain(executor);
    check.report(verdict)
}

/// As [`check_watched`], with workers if there are any, for a check that may take long. If it is stopped by
/// `max_duration`, or by who looks at it, there is a checkpoint from which another check goes on, unless a note of the
/// report says why not.
///
/// # Panics
/// If the checkpoint that it is given does not fit the configuration: see [`Checkpoint::misfit`].
pub fn check_long(
    config: &Config,
    executor: &mut dyn Executor,
    watch: &mut dyn FnMut(Seen<'_>),
    crew: Option<&mut dyn Crew>,
    long: Long<'_>,
) -> (Report, Option<Checkpoint>) {
    if let Some(why) = long.resume.as_ref().and_then(|checkpoint| checkpoint.misfit(config)) {
        panic!("the checkpoint does not fit: {why}");
    }
    let pulse = Some(Pulse::new(long.every, long.pulse));
    let mut check = Check { pulse, resume: long.resume, ..Check::new(config) };
    let verdict = check.explore(executor, watch, crew);
    let checkpoint = check.checkpoint.take();
    check.explain(executor);
    let mut report = check.report(verdict);
    note_what_is_lost(config, &mut report, checkpoint.as_ref());
    (report, checkpoint)
}

/// As [`check_counted`], with workers. `observe` sees what is run here, which is less.
pub fn check_divided(
    config: &Config,
    executor: &mut dyn Executor,
    observe: &mut dyn FnMut(&Run, bool),
    crew: &mut dyn Crew,
) -> Report {
    let mut check = Check::new(config);
    let verdict = check.explore(executor, &mut |seen| seen.show(observe), Some(crew));
    check.explain(executor);
    check.report(verdict)
}

pub(super) struct Check<'c> {
    pub(super) config: &'c Config,
    pub(super) started: Instant,
    pub(super) tally: Tally,
    pub(super) memory: MemoryModel,
    plan: Plan,
    pub(super) run: Run,
    pub(super) first: Option<Box<Failure>>,
    /// What led to it, if it was found here.
    pub(super) of_first: Option<Plan>,
    /// That of the first pinned seed that fails.
    of_pinned: Option<Box<Failure>>,
    /// What it takes to look for a better schedule of the first failure, if there may be one.
    again: Option<Again>,
    extra_runs: u64,
    /// The classes of the livelocks so far.
    pub(super) livelocks: FxHashSet<Digest>,
    notes: Vec<String>,
    stale_pins: Vec<String>,
    /// Where it goes on, until it does.
    resume: Option<Checkpoint>,
    /// How long the parts of the check before this one took, and how many runs they had.
    pub(super) before: Duration,
    pub(super) runs_before: u64,
    pub(super) pulse: Option<Pulse<'c>>,
    /// How many runs there would have been, if this check was stopped.
    pub(super) estimate: Option<Estimate>,
    /// Where another check can go on, if this one was stopped.
    pub(super) checkpoint: Option<Checkpoint>,
}

/// A failing execution that may be run in another order.
struct Again {
    same: Sameness,
    steps: Vec<Step>,
    cost: Cost,
}

/// The explorers, where it matters which it is.
pub(super) enum AnyExplorer {
    ReadsFrom(Box<RfSmc>),
    Random(Random),
    Pct(Pct),
    Other(Box<dyn Explorer>),
}

impl AnyExplorer {
    pub(super) fn get(&mut self) -> &mut dyn Explorer {
        match self {
            AnyExplorer::ReadsFrom(explorer) => &mut **explorer,
            AnyExplorer::Random(explorer) => explorer,
            AnyExplorer::Pct(explorer) => explorer,
            AnyExplorer::Other(explorer) => &mut **explorer,
        }
    }
}

impl<'c> Check<'c> {
    fn new(config: &'c Config) -> Self {
        Self {
            config,
            started: Instant::now(),
            tally: Tally::default(),
            memory: config.effective_memory(),
            plan: Plan::default(),
            run: Run::default(),
            first: None,
            of_first: None,
            of_pinned: None,
            again: None,
            extra_runs: 0,
            livelocks: FxHashSet::default(),
            notes: Vec::new(),
            stale_pins: Vec::new(),
            resume: None,
            before: Duration::ZERO,
            runs_before: 0,
            pulse: None,
            estimate: None,
            checkpoint: None,
        }
    }

    fn explore(
        &mut self,
        executor: &mut dyn Executor,
        watch: &mut dyn FnMut(Seen<'_>),
        crew: Option<&mut dyn Crew>,
    ) -> Verdict {
        if self.config.replay.is_none() && self.run_pinned(executor, watch) {
            return Verdict::Verified;
        }
        let mut team = crew.map(Team::new);
        let begin = self.resume.take().filter(|_| self.config.replay.is_none());
        let mut explorer = match begin.map(|checkpoint| self.resume(checkpoint, executor)) {
            None => self.explorer(),
            Some(Begin::Explorer(explorer)) => explorer,
            Some(Begin::Work(work)) => match self.go_on(work, team.as_mut(), executor, watch) {
                Then::Over(verdict) => return verdict,
                Then::StartOver => {
                    self.start_over(watch);
                    self.explorer()
                }
            },
        };
        loop {
            if let Some(limit) = self.analyse(&mut explorer) {
                return Verdict::Incomplete(limit);
            }
            if !explorer.get().next_plan(&mut self.plan) {
                return if self.config.replay.is_some() {
                    Verdict::Incomplete(Limit::Replay)
                } else {
                    Verdict::Verified
                };
            }
            if let Some(limit) = self.limit(&explorer) {
                if let AnyExplorer::ReadsFrom(explorer) = &explorer {
                    self.estimate = Some(self.tally.estimate(explorer));
                }
                if self.is_long() && matches!(limit, Limit::Duration(_) | Limit::Interrupted) {
                    self.checkpoint = self.stop(&mut explorer, executor);
                }
                return Verdict::Incomplete(limit);
            }
            self.plan.may_probe = self.config.replay.is_none();
            executor.execute(&self.plan, &mut self.run);
            self.tally.runs += 1;
            if matches!(self.run.end, End::Learned) {
                watch(Seen::Run(&self.run, false));
                self.start_over(watch);
                explorer = self.explorer();
                continue;
            }
            compare_with_plan(explorer.get(), &mut self.run);
            let before = self.tally.executions;
            let finding = self.take_in();
            let found = finding.is_some();
            watch(Seen::Run(&self.run, self.tally.executions > before));
            let over = is_final(&self.run.end) || executor.is_broken();
            if let Some(finding) = finding
                && self.first.is_none()
            {
                self.first = Some(Box::new(self.failure(finding, executor)));
                self.of_first = Some(self.plan.clone());
            }
            if over || (found && !self.config.keep_going) {
                return Verdict::Verified;
            }
            explorer.get().observe(&self.run);
            if explorer.get().starts_over() {
                self.start_over(watch);
            }
            if let Some(workers) = &mut team
                && self.started.elapsed() >= self.config.divide_after
            {
                match self.divide(&explorer, workers, executor, watch) {
                    None => {}
                    Some(Then::Over(verdict)) => return verdict,
                    Some(Then::StartOver) => {
                        self.start_over(watch);
                        explorer = self.explorer();
                    }
                }
                if let Some(why) = workers.is_gone() {
                    let note = alone(why);
                    self.notes.push(note);
                    team = None;
                }
            }
        }
    }

    /// Lets the explorer find out what it has to, unless the check is to stop before it has.
    fn analyse(&mut self, explorer: &mut AnyExplorer) -> Option<Limit> {
        while !explorer.get().analyse() {
            if let Some(limit) = self.stops(Some(explorer)) {
                return Some(limit);
            }
        }
        None
    }

    /// Runs the executions that are pinned, which are not counted. True if one of them fails and that ends the check.
    fn run_pinned(&mut self, executor: &mut dyn Executor, watch: &mut dyn FnMut(Seen<'_>)) -> bool {
        let config = self.config;
        for (number, seed) in config.pinned.iter().enumerate() {
            let passed_over = |why: &str| format!("pinned seed {} was passed over: {why}", number + 1);
            if seed.model() != self.memory {
                let note =
                    passed_over(&format!("it is one under {}, and this check is under {}", seed.model(), self.memory));
                self.notes.push(note);
                continue;
            }
            self.run_seed(seed, executor, watch);
            if let Some(why) = why_stale(seed, &self.run) {
                let note = passed_over(&format!("it does not fit this test any more: {why}"));
                self.stale_pins.push(note.clone());
                self.notes.push(note);
            } else if let Some(finding) = judge(&self.run, config) {
                let failure = self.failure(finding, executor);
                self.of_pinned.get_or_insert_with(|| Box::new(failure));
            }
            if executor.is_broken() || (self.of_pinned.is_some() && !config.keep_going) {
                return true;
            }
        }
        false
    }

    /// Runs the execution of a seed. What the executor learns from it is forgotten: the exploration has to learn by itself.
    fn run_seed(&mut self, seed: &Seed, executor: &mut dyn Executor, watch: &mut dyn FnMut(Seen<'_>)) {
        let before = executor.knowledge();
        loop {
            executor.execute(&seed.plan(), &mut self.run);
            self.tally.runs += 1;
            watch(Seen::Run(&self.run, false));
            if self.run.end != End::Learned {
                break;
            }
        }
        executor.know(&before);
    }

    /// Goes on with what workers have left, with workers or without.
    fn go_on(
        &mut self,
        work: Work,
        team: Option<&mut Team<'_>>,
        executor: &mut dyn Executor,
        watch: &mut dyn FnMut(Seen<'_>),
    ) -> Then {
        let Some(team) = team else { return Team::new(&mut Nobody).explore(work, self, executor, watch) };
        team.is_ready(false);
        let then = team.explore(work, self, executor, watch);
        if let (Then::Over(_), Some(why)) = (&then, team.is_gone()) {
            self.notes.push(alone(why));
        }
        then
    }

    /// Lets workers go on from here, if there are any and this explorer can be divided.
    fn divide(
        &mut self,
        explorer: &AnyExplorer,
        team: &mut Team<'_>,
        executor: &mut dyn Executor,
        watch: &mut dyn FnMut(Seen<'_>),
    ) -> Option<Then> {
        let divides = matches!(explorer, AnyExplorer::ReadsFrom(_) | AnyExplorer::Random(_));
        if !divides || !team.is_ready(self.config.divide_after == Duration::ZERO) {
            return None;
        }
        let work = match explorer {
            AnyExplorer::ReadsFrom(explorer) => Work::Tree(Tree::new(explorer)),
            AnyExplorer::Random(explorer) => Work::Samples(Samples::new(explorer.runs()..self.most_executions()?)),
            AnyExplorer::Pct(_) | AnyExplorer::Other(_) => return None,
        };
        Some(team.explore(work, self, executor, watch))
    }

    fn explorer(&self) -> AnyExplorer {
        if let Some(seed) = &self.config.replay {
            return AnyExplorer::Other(Box::new(Replay { plan: Some(seed.plan()) }));
        }
        AnyExplorer::Other(match self.config.explorer {
            ExplorerKind::Random => return AnyExplorer::Random(Random::new(self.config.seed)),
            ExplorerKind::Exhaustive => Box::new(Exhaustive::new()),
            ExplorerKind::Pct => return AnyExplorer::Pct(Pct::new(self.config.seed)),
            ExplorerKind::View => Box::new(ViewXplore::new(self.memory, Traversal::default())),
            ExplorerKind::ReadsValueFrom => Box::new(RvfSmc::new()),
            _ => return self.reads_from(RfSmc::new(self.memory)),
        })
    }

    /// With sets that are bounded, if nobody else explores.
    pub(super) fn reads_from(&self, explorer: RfSmc) -> AnyExplorer {
        let sets = if self.config.jobs > 1 { Some(usize::MAX) } else { self.config.sets };
        AnyExplorer::ReadsFrom(Box::new(match sets {
            Some(bytes) => explorer.with_memory_budget(bytes),
            None => explorer,
        }))
    }

    /// Something was learned, for instance that a loop waits for others: what was explored so far was explored
    /// without knowing it.
    fn start_over(&mut self, watch: &mut dyn FnMut(Seen<'_>)) {
        watch(Seen::StartOver);
        self.tally.start_over();
        self.first = None;
        self.again = None;
        self.livelocks.clear();
    }

    fn limit(&mut self, explorer: &AnyExplorer) -> Option<Limit> {
        if let Some(most) = self.most_executions().filter(|&most| self.tally.executions >= most) {
            return Some(Limit::Executions(most));
        }
        self.stops(Some(explorer))
    }

    /// How many executions there may be.
    pub(super) fn most_executions(&self) -> Option<u64> {
        let random = matches!(self.config.explorer, ExplorerKind::Random | ExplorerKind::Pct);
        self.config.max_executions.or(random.then_some(RANDOM_EXECUTIONS))
    }

    /// Counts the run and judges it.
    fn take_in(&mut self) -> Option<Finding> {
        self.tally.see(&self.run);
        let explores = self.plan.policy == SchedulingPolicy::RunOn && self.config.replay.is_none();
        let worth = if explores { Worth::of(&self.run, self.plan.purpose) } else { Worth::Class };
        let counts = match worth {
            Worth::Nothing => false,
            Worth::Class => true,
            Worth::Livelock(class) => self.livelocks.insert(class),
        };
        if !counts {
            self.tally.blocked += 1;
            return None;
        }
        let run = &self.run;
        self.tally.executions += u64::from(run.is_maximal());
        let finding = self.config.replay.as_ref().and_then(|seed| judge_replay(seed, run));
        let finding = finding.or_else(|| judge(run, self.config));
        self.tally.failures += u64::from(finding.is_some());
        finding
    }

    /// Counts a failing execution of a worker that ends in a livelock; whether it is new.
    pub(super) fn is_new_livelock(&mut self, class: Digest) -> bool {
        let is_new = self.livelocks.insert(class);
        match is_new {
            true => (self.tally.executions, self.tally.failures) = (self.tally.executions + 1, self.tally.failures + 1),
            false => self.tally.blocked += 1,
        }
        is_new
    }

    /// What was found, with its schedule: in another order of the execution if that explains more.
    pub(super) fn failure(&mut self, finding: Finding, executor: &mut dyn Executor) -> Failure {
        let stale = |step| matches!(step, Step::Take(..));
        let late = self.run.is_maximal() && (!self.run.newest.is_empty() || self.run.steps().any(stale));
        if late && self.config.replay.is_none() && !executor.is_broken() {
            let mut run = Run::default();
            executor.execute(&up_to_date(&self.run), &mut run);
            self.tally.runs += 1;
            let same_class = reads_from_class(&run.trace) == reads_from_class(&self.run.trace);
            let again = judge(&run, self.config);
            if let Some(again) = again.filter(|again| same_class && again.kind == finding.kind) {
                return self.noted(&run, again);
            }
        }
        let run = std::mem::take(&mut self.run);
        let failure = self.noted(&run, finding);
        self.run = run;
        failure
    }

    /// A failure, and what it takes to look for a better schedule of it.
    fn noted(&mut self, run: &Run, finding: Finding) -> Failure {
        let explains = self.config.shrink > 0 && self.config.replay.is_none() && run.is_maximal();
        let same = if explains { Sameness::of(run, &finding) } else { None };
        self.again = same.map(|same| Again { same, steps: run.steps().collect(), cost: Cost::of(run) });
        let stale = self.config.replay.as_ref().filter(|_| finding.kind == FailureKind::StaleSeed);
        let seed = stale.cloned().unwrap_or_else(|| Seed::of_run(run, self.memory));
        failure(run, finding, seed)
    }

    /// Looks for a better schedule of the first failure, and for the models that allow it.
    fn explain(&mut self, executor: &mut dyn Executor) {
        let (Some(first), Some(again)) = (&mut self.first, self.again.take()) else { return };
        if executor.is_broken() {
            return;
        }
        let Again { same, steps, cost } = again;
        let shrunk = shrink(steps, cost, &same, self.config, executor);
        self.extra_runs += shrunk.runs;
        if let Some((run, finding)) = shrunk.better {
            **first = failure(&run, finding, Seed::of_run(&run, self.memory));
        }
        first.fewest = shrunk.fewest;
        if shrunk.late {
            let seconds = SHRINKS_FOR.as_secs();
            self.notes.push(format!("the search for a smaller schedule was cut off after {seconds} s; see `shrink`"));
        }
        if !executor.is_broken() {
            let (needs, runs) = Needs::of(&same, shrunk.strong.as_deref(), self.memory, self.config, executor);
            let is_of_orderings = match &needs {
                Some(Needs::Model { strongest, .. }) => !strongest.is_sequential(),
                Some(Needs::Race { .. }) => true,
                None => first.kind == FailureKind::DataRace,
            };
            first.needs = needs;
            self.extra_runs += runs;
            if is_of_orderings && !executor.is_broken() {
                let (remedy, runs) = Remedy::of(&first.trace, self.memory, self.config, executor);
                first.remedy = remedy;
                self.extra_runs += runs;
            }
        }
    }

    /// Runs a failing execution of a worker here, where its trace is seen. Not counted: the worker has done that.
    pub(super) fn run_again(&mut self, problem: &Problem, executor: &mut dyn Executor) {
        if self.first.is_some() {
            return;
        }
        let forced = problem.steps.iter().map(|&step| Forced { step, expect: None }).collect();
        let plan = Plan { forced, newest: problem.newest.clone(), ..Plan::default() };
        executor.execute(&plan, &mut self.run);
        let again = judge(&self.run, self.config).filter(|again| again.kind == problem.kind);
        let finding = again.unwrap_or_else(|| {
            let what = match problem.kind {
                FailureKind::Nondeterminism => problem.message.clone(),
                _ => format!("a schedule fails in one process ({}), and not in another", problem.message),
            };
            Finding::new(FailureKind::Nondeterminism, what)
        });
        self.first = Some(Box::new(self.failure(finding, executor)));
        self.of_first = Some(plan);
    }

    /// The process of a worker was ended by what it ran.
    pub(super) fn crashed(&mut self, how: &str, seed: Seed) {
        self.tally.failures += 1;
        let message = format!("a worker process {how} in this execution");
        self.first.get_or_insert_with(|| Box::new(unseen(FailureKind::Crash, message, seed)));
    }

    /// Something that the report says besides.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn report(mut self, verdict: Verdict) -> Report {
        let divides = matches!(self.config.explorer, ExplorerKind::ReadsFrom | ExplorerKind::Random);
        if self.config.jobs > 1 && !divides && self.started.elapsed() > self.config.divide_after {
            let (jobs, explorer) = (self.config.jobs, self.config.explorer);
            self.notes.push(format!("`jobs` = {jobs} makes no difference: `{explorer}` explores in one process"));
        }
        let elapsed = self.elapsed();
        self.notes.extend(self.tally.of_hiding());
        self.notes.extend(self.tally.of_bounded(self.config.spin_bound));
        let Tally { executions, runs, blocked, failures, threads, events, shares, unmodelled, bounded: _, hiding: _ } =
            self.tally;
        debug_assert!(runs >= executions);
        Report {
            failures: failures + u64::from(self.of_pinned.is_some()),
            verdict: match self.of_pinned.or(self.first) {
                Some(failure) => Verdict::Failed(failure),
                None => verdict,
            },
            executions,
            runs,
            extra_runs: self.extra_runs,
            estimate: self.estimate,
            blocked,
            threads,
            events,
            shares,
            unmodelled,
            elapsed,
            memory: self.memory,
            explorer: self.config.explorer,
            notes: self.notes,
            stale_pins: self.stale_pins,
        }
    }
}

/// Why there are no workers, as a note.
fn alone(why: &str) -> String {
    format!("explored by one process: {why}")
}

/// Runs one plan.
struct Replay {
    plan: Option<Plan>,
}

impl Explorer for Replay {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.plan.take().is_some_and(|own| {
            *plan = own;
            true
        })
    }

    fn observe(&mut self, _run: &Run) {}
}
