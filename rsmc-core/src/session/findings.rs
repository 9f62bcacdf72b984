//! The findings of a check so far: its counts, its first failure, and the notes of its report.

use rustc_hash::FxHashSet;

use crate::base::Digest;
use crate::explore::up_to_date;
use crate::machine::rounds;
use crate::seed::Seed;
use crate::session::driver::{Next, Ran, Sink};
use crate::session::failure_signature::FailureSignature;
use crate::session::jobs::{Livelock, Problem};
use crate::session::judge::{Finding, failure, judge, unseen, why_stale};
use crate::session::model_attribution::find_models;
use crate::session::progress::Clock;
use crate::session::remedy::find_remedy;
use crate::session::shrink::{Cost, LONGEST as SHRINKS_FOR, shrink};
use crate::session::spot::leaks;
use crate::session::tally::Tally;
use crate::session::{Config, Estimate, Failure, FailureKind, Limit, MemoryModel, Needs, Report, Seen, Verdict};
use crate::step::{End, Executor, Forced, Plan, Run, Step};
use crate::trace::{Trace, Weakened, reads_from_class};

/// See the module.
pub(super) struct Findings<'c> {
    pub(super) config: &'c Config,
    memory: MemoryModel,
    pub(super) watch: Box<dyn FnMut(Seen<'_>) + 'c>,
    pub(super) tally: Tally,
    pub(super) first: Option<Box<Failure>>,
    /// The plan of the first failure, if this process found it.
    pub(super) of_first: Option<Plan>,
    /// The failure of the first pinned seed that fails.
    of_pinned: Option<Box<Failure>>,
    /// The first failure as shrinking needs it, if a better schedule may exist.
    again: Option<Again>,
    extra_runs: u64,
    /// The classes of the livelocks so far.
    pub(super) livelocks: FxHashSet<Digest>,
    notes: Vec<String>,
    stale_pins: Vec<String>,
    /// The number of runs that the whole check would take, if it was stopped.
    pub(super) estimate: Option<Estimate>,
    /// The bound that has been reached, where it rises.
    pub(super) level: Option<u32>,
    /// The first run that does not count, for the case that none does.
    pub(super) uncounted: Option<Seed>,
}

/// Whether a failure of this kind shows call paths. The others cannot be run again, take too long, or leave no room on
/// the stack.
fn has_call_paths(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Panic
        | FailureKind::Deadlock
        | FailureKind::DataRace
        | FailureKind::Livelock
        | FailureKind::UseAfterFree
        | FailureKind::DoubleFree
        | FailureKind::Leak
        | FailureKind::ThreadLeft
        | FailureKind::WrongThread => true,
        FailureKind::StepLimit
        | FailureKind::Nondeterminism
        | FailureKind::Misuse
        | FailureKind::StackOverflow
        | FailureKind::Crash
        | FailureKind::StaleSeed
        | FailureKind::NothingShared => false,
    }
}

/// Whether two runs are the same execution, step by step.
fn is_same_execution(a: &Trace, b: &Trace) -> bool {
    let key = |trace: &Trace| trace.events.iter().map(|event| (event.id, event.op.site)).collect::<Vec<_>>();
    key(a) == key(b) && a.notes.len() == b.notes.len()
}

/// A failing execution that may be run in another order.
struct Again {
    same: FailureSignature,
    steps: Vec<Step>,
    cost: Cost,
}

/// Runs executions that are no part of the exploration. The executor then forgets what it learned from them: the
/// exploration has to learn by itself, and to start over when it does.
fn aside(executor: &mut dyn Executor, runs: impl FnOnce(&mut dyn Executor)) {
    let before = executor.knowledge();
    runs(executor);
    executor.know(&before);
}

impl Sink for Findings<'_> {
    fn counts(&mut self) -> &mut Tally {
        &mut self.tally
    }

    fn learn(&mut self, run: &Run, _executor: &dyn Executor) {
        self.tally.runs += 1;
        (self.watch)(Seen::Run(run, false));
    }

    fn is_new_livelock(&mut self, class: Digest) -> bool {
        self.livelocks.insert(class)
    }

    fn take(&mut self, ran: Ran<'_>, executor: &mut dyn Executor) -> Next {
        (self.watch)(Seen::Run(ran.run, ran.counts));
        if !ran.counts && self.tally.executions == 0 {
            self.uncounted.get_or_insert_with(|| Seed::of_run(ran.run, self.memory));
        }
        let is_over = ran.is_final || (ran.finding.is_some() && !self.config.keep_going);
        if let Some(finding) = ran.finding {
            self.tally.causes.see(ran.run, finding.kind, &finding.message, self.memory);
            self.find(ran.run, ran.plan, finding, executor);
        }
        if is_over { Next::Nothing } else { Next::Run }
    }

    /// Forgets the executions so far. They ran without knowledge that the executor has gained since, for instance that
    /// a loop waits for other threads.
    fn start_over(&mut self) {
        (self.watch)(Seen::StartOver);
        self.tally.start_over();
        self.first = None;
        self.again = None;
        self.livelocks.clear();
    }
}

impl<'c> Findings<'c> {
    pub(super) fn new(config: &'c Config, watch: Box<dyn FnMut(Seen<'_>) + 'c>) -> Self {
        Self {
            config,
            memory: config.effective_memory(),
            watch,
            tally: Tally::default(),
            first: None,
            of_first: None,
            of_pinned: None,
            again: None,
            extra_runs: 0,
            livelocks: FxHashSet::default(),
            notes: Vec::new(),
            stale_pins: Vec::new(),
            estimate: None,
            level: None,
            uncounted: None,
        }
    }

    /// Runs the executions of the pinned seeds, which are not counted as executions. True if one of them fails and ends
    /// the check.
    pub(super) fn run_pinned(&mut self, executor: &mut dyn Executor) -> bool {
        let config = self.config;
        for (number, seed) in config.pinned.iter().enumerate() {
            let passed_over = |why: &str| format!("pinned seed {} was passed over: {why}", number + 1);
            if seed.model() != self.memory {
                let note =
                    passed_over(&format!("it is one under {}, and this check is under {}", seed.model(), self.memory));
                self.notes.push(note);
                continue;
            }
            let run = self.run_seed(seed, executor);
            // No run follows one that breaks the executor, so it is judged, even if it is another one.
            if let Some(why) = why_stale(seed, &run).filter(|_| !executor.is_broken()) {
                let note = passed_over(&format!("it does not fit this test any more: {why}"));
                self.stale_pins.push(note.clone());
                self.notes.push(note);
            } else if let Some(finding) = judge(&run, config) {
                let failure = self.failure(&run, finding, executor);
                self.of_pinned.get_or_insert_with(|| Box::new(failure));
            }
            if executor.is_broken() || (self.of_pinned.is_some() && !config.keep_going) {
                return true;
            }
        }
        false
    }

    /// Runs the execution of a seed.
    fn run_seed(&mut self, seed: &Seed, executor: &mut dyn Executor) -> Run {
        let mut run = Run::default();
        aside(executor, |executor| {
            loop {
                executor.execute(&seed.plan(), &mut run);
                self.tally.runs += 1;
                (self.watch)(Seen::Run(&run, false));
                if run.end != End::Learned {
                    break;
                }
            }
        });
        run
    }

    /// Counts an execution of a worker that ends in a livelock; returns whether the livelock is new.
    pub(super) fn counts_livelock(&mut self, livelock: &Livelock) -> bool {
        let is_new = self.livelocks.insert(livelock.class);
        if is_new {
            self.tally.executions += 1;
            self.tally.causes.add(&livelock.cause);
        } else {
            self.tally.blocked += 1;
        }
        is_new
    }

    /// Notes the failure of a run, if it is the first.
    pub(super) fn find(&mut self, run: &Run, plan: &Plan, finding: Finding, executor: &mut dyn Executor) {
        if self.first.is_none() {
            self.first = Some(Box::new(self.failure(run, finding, executor)));
            self.of_first = Some(plan.clone());
        }
    }

    /// The failure that a run shows, in another order of its class if that is easier to read.
    fn failure(&mut self, run: &Run, finding: Finding, executor: &mut dyn Executor) -> Failure {
        let stale = |step| matches!(step, Step::Take(..));
        let late = run.is_maximal() && (!run.newest.is_empty() || run.steps().any(stale));
        if late && self.config.replay.is_none() && !executor.is_broken() {
            let mut latest = Run::default();
            aside(executor, |executor| executor.execute(&up_to_date(run), &mut latest));
            self.tally.runs += 1;
            let same_class = reads_from_class(&latest.trace) == reads_from_class(&run.trace);
            let again = judge(&latest, self.config);
            if let Some(again) = again.filter(|again| same_class && again.kind == finding.kind) {
                return self.noted(&latest, again);
            }
        }
        self.noted(run, finding)
    }

    /// The failure of a run. Also notes what shrinking needs of it.
    fn noted(&mut self, run: &Run, finding: Finding) -> Failure {
        let explains = self.config.shrink > 0 && self.config.replay.is_none() && run.is_maximal();
        let same = if explains { FailureSignature::of(run, &finding) } else { None };
        self.again = same.map(|same| Again { same, steps: run.steps().collect(), cost: Cost::of(run) });
        let stale = self.config.replay.as_ref().filter(|_| finding.kind == FailureKind::StaleSeed);
        let seed = stale.cloned().unwrap_or_else(|| Seed::of_run(run, self.memory));
        failure(run, finding, seed)
    }

    /// Looks for a better schedule of the first failure, and for the models that allow it.
    pub(super) fn explain(&mut self, executor: &mut dyn Executor) {
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
        if self.config.explains && !executor.is_broken() {
            let (needs, runs) = find_models(&same, shrunk.strong.as_deref(), self.memory, self.config, executor);
            let is_of_orderings = match &needs {
                Some(Needs::Model { strongest, .. }) => !strongest.is_sequential(),
                Some(Needs::Race { .. }) => true,
                None => first.kind == FailureKind::DataRace,
            };
            first.needs = needs;
            self.extra_runs += runs;
            if is_of_orderings && !executor.is_broken() {
                let (remedy, runs) = find_remedy(&first.trace, self.memory, self.config, executor);
                first.remedy = remedy;
                self.extra_runs += runs;
            }
        }
    }

    /// Runs the first failure once more, for the call paths of its report. A replay has captured them.
    pub(super) fn trace_paths(&mut self, executor: &mut dyn Executor) {
        let first = self.of_pinned.as_mut().or(self.first.as_mut());
        let Some(first) = first.filter(|first| has_call_paths(first.kind)) else { return };
        let runs_again = self.config.shrink > 0 && self.config.replay.is_none() && !executor.is_broken();
        if !runs_again || !executor.trace_paths(true) {
            return;
        }
        let mut run = Run::default();
        executor.execute(&first.seed.plan(), &mut run);
        if !executor.is_broken() {
            executor.trace_paths(false);
        }
        self.extra_runs += 1;
        let held = leaks(&run, self.config.check_lost);
        let leaves_the_same = held.iter().map(|spot| &spot.message).eq(first.spots.iter().map(|spot| &spot.message));
        if is_same_execution(&run.trace, &first.trace) {
            first.trace = run.trace;
            if leaves_the_same && first.kind == FailureKind::Leak {
                first.spots = held;
            }
        }
    }

    /// Runs a failing execution of a worker in this process, for its trace. It is not counted: the worker has counted
    /// it.
    pub(super) fn run_again(&mut self, problem: &Problem, executor: &mut dyn Executor) {
        if self.first.is_some() {
            return;
        }
        let forced = problem.steps.iter().map(|&step| Forced { step, expect: None }).collect();
        let plan = Plan { forced, newest: problem.newest.clone(), ..Plan::default() };
        let mut run = Run::default();
        executor.execute(&plan, &mut run);
        let again = judge(&run, self.config).filter(|again| again.kind == problem.kind);
        let finding = again.unwrap_or_else(|| {
            let what = match problem.kind {
                FailureKind::Nondeterminism => problem.message.clone(),
                _ => format!("a schedule fails in one process ({}), and not in another", problem.message),
            };
            Finding::new(FailureKind::Nondeterminism, what)
        });
        self.find(&run, &plan, finding, executor);
    }

    /// Notes that an execution ended the process of a worker.
    pub(super) fn crashed(&mut self, how: &str, seed: Seed) {
        let message = format!("a worker process {how} in this execution");
        self.tally.causes.see_crash(&message, &seed);
        self.first.get_or_insert_with(|| Box::new(unseen(FailureKind::Crash, message, seed)));
    }

    /// Adds a note to the report.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn report(mut self, verdict: Verdict, clock: &Clock<'_>) -> Report {
        let &Config { jobs, explorer, .. } = self.config;
        if jobs > 1 && !self.config.is_divided() && clock.is_time_to_divide() {
            let undivided = self.config.undivided();
            self.notes.push(format!("`jobs` = {jobs} makes no difference: {undivided} explores in one process"));
        }
        let elapsed = clock.elapsed();
        let is_whole = self.tally.unfair.is_empty();
        self.notes.extend(self.tally.of_hiding());
        self.notes.extend(self.tally.of_unfair());
        self.notes.extend(self.tally.of_bounded(self.config.spin_bound));
        self.notes.extend(self.tally.of_rounds(rounds(self.config.spin_bound)));
        let Tally { executions, runs, blocked, causes, threads, events, shares, unmodelled, .. } = self.tally;
        debug_assert!(runs >= executions);
        Report {
            failures: causes.executions() + u64::from(self.of_pinned.is_some()),
            causes: causes.list(),
            verdict: match self.of_pinned.or(self.first) {
                Some(failure) => Verdict::Failed(failure),
                None if matches!(verdict, Verdict::Verified) && !is_whole => {
                    Verdict::Incomplete(Limit::Steps(self.config.max_steps))
                }
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
            explorer,
            preemption_bound: self.config.preemption_bound,
            delay_bound: self.config.delay_bound,
            level: self.level,
            notes: self.notes,
            weakened: (!self.config.weakened.is_empty()).then(|| Weakened::list(&self.config.weakened)),
            stale_pins: self.stale_pins,
        }
    }
}
