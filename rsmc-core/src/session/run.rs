//! The loop of a check, for any executor.

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{Digest, LocId, ThreadId};
use crate::explore::view_xplore::Traversal;
use crate::explore::{Exhaustive, Pct, Random, RfSmc, RvfSmc, ViewXplore, up_to_date};
use crate::seed::Seed;
use crate::session::config::RANDOM_EXECUTIONS;
use crate::session::judge::{Finding, failure, is_final, judge, judge_replay};
use crate::session::{Config, ExplorerKind, Failure, Limit, Report, Verdict};
use crate::step::{End, Executor, Explorer, Plan, Purpose, Run, Step, Tail, Why};
use crate::trace::{NoteKind, Trace, reads_from_class};

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
    let mut check = Check::new(config);
    let verdict = check.explore(executor, observe);
    check.report(verdict)
}

struct Check<'c> {
    config: &'c Config,
    started: Instant,
    plan: Plan,
    run: Run,
    report: Report,
    first: Option<Box<Failure>>,
    /// The classes of the livelocks so far.
    livelocks: FxHashSet<Digest>,
}

/// Whether a run shows no class that is not shown by another.
fn is_redundant(run: &Run, purpose: Purpose, livelocks: &mut FxHashSet<Digest>) -> bool {
    if run.repeated.is_some() || purpose == Purpose::Discovery || run.end == End::Tried {
        return true;
    }
    let spins = run.waiting.iter().any(|pending| matches!(pending.why, Why::Spin { .. }));
    if spins { !livelocks.insert(reads_from_class(&run.trace)) } else { purpose == Purpose::Livelock }
}

/// Whether two threads use one location.
fn shares(trace: &Trace) -> bool {
    let accesses = trace.events.iter().map(|event| (event.id.thread, event.op.loc));
    let of_cells = trace.notes.iter().filter_map(|note| match note.kind {
        NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) => Some((note.thread, loc)),
        _ => None,
    });
    let mut first: FxHashMap<LocId, ThreadId> = FxHashMap::default();
    accesses.chain(of_cells).any(|(thread, loc)| *first.entry(loc).or_insert(thread) != thread)
}

impl<'c> Check<'c> {
    fn new(config: &'c Config) -> Self {
        let report = Report {
            verdict: Verdict::Verified,
            executions: 0,
            runs: 0,
            blocked: 0,
            failures: 0,
            threads: 0,
            events: 0,
            shares: false,
            unmodelled: false,
            elapsed: std::time::Duration::ZERO,
            memory: config.effective_memory(),
            explorer: config.explorer,
        };
        let (plan, run) = (Plan::default(), Run::default());
        Self { config, started: Instant::now(), plan, run, report, first: None, livelocks: FxHashSet::default() }
    }

    fn explore(&mut self, executor: &mut dyn Executor, observe: &mut dyn FnMut(&Run, bool)) -> Verdict {
        let mut explorer = self.explorer();
        loop {
            if !explorer.next_plan(&mut self.plan) {
                return if self.config.replay.is_some() {
                    Verdict::Incomplete(Limit::Replay)
                } else {
                    Verdict::Verified
                };
            }
            if let Some(limit) = self.limit() {
                return Verdict::Incomplete(limit);
            }
            executor.execute(&self.plan, &mut self.run);
            self.report.runs += 1;
            if self.run.end == End::Learned {
                observe(&self.run, false);
                self.start_over();
                explorer = self.explorer();
                continue;
            }
            let before = self.report.executions;
            let finding = self.take_in();
            let found = finding.is_some();
            observe(&self.run, self.report.executions > before);
            let over = is_final(&self.run.end) || executor.is_broken();
            if let Some(finding) = finding
                && self.first.is_none()
            {
                self.first = Some(Box::new(self.failure(finding, executor)));
            }
            if over || (found && !self.config.keep_going) {
                return Verdict::Verified;
            }
            explorer.observe(&self.run);
            if explorer.starts_over() {
                self.start_over();
            }
        }
    }

    fn explorer(&self) -> Box<dyn Explorer> {
        if let Some(seed) = &self.config.replay {
            return Box::new(Replay { plan: Some(seed.plan()) });
        }
        match self.config.explorer {
            ExplorerKind::Exhaustive => Box::new(Exhaustive::new()),
            ExplorerKind::Random => Box::new(Random::new(self.config.seed)),
            ExplorerKind::Pct => Box::new(Pct::new(self.config.seed)),
            ExplorerKind::View => Box::new(ViewXplore::new(self.report.memory, Traversal::default())),
            ExplorerKind::ReadsValueFrom => Box::new(RvfSmc::new()),
            _ => Box::new(RfSmc::new(self.report.memory)),
        }
    }

    /// Something was learned, for instance that a loop waits for others: what was explored so far was explored
    /// without knowing it.
    fn start_over(&mut self) {
        self.report.executions = 0;
        self.report.blocked = 0;
        self.report.failures = 0;
        self.report.threads = 0;
        self.report.events = 0;
        self.first = None;
        self.livelocks.clear();
    }

    fn limit(&self) -> Option<Limit> {
        let random = matches!(self.config.explorer, ExplorerKind::Random | ExplorerKind::Pct);
        let executions = self.config.max_executions.or(random.then_some(RANDOM_EXECUTIONS));
        if let Some(most) = executions.filter(|&most| self.report.executions >= most) {
            return Some(Limit::Executions(most));
        }
        let long = self.started.elapsed() >= self.config.max_duration;
        long.then_some(Limit::Duration(self.config.max_duration))
    }

    /// Counts the run and judges it.
    fn take_in(&mut self) -> Option<Finding> {
        let (run, report) = (&self.run, &mut self.report);
        report.threads = report.threads.max(run.trace.present().count());
        report.events = report.events.max(run.trace.events.len());
        report.shares = report.shares || shares(&run.trace);
        report.unmodelled |= run.unmodelled;
        let explores = self.plan.tail == Tail::RunOn && self.config.replay.is_none();
        if explores && is_redundant(run, self.plan.purpose, &mut self.livelocks) {
            report.blocked += 1;
            return None;
        }
        report.executions += u64::from(run.is_maximal());
        let finding = self.config.replay.as_ref().and_then(|seed| judge_replay(seed, run));
        let finding = finding.or_else(|| judge(run, self.config));
        self.report.failures += u64::from(finding.is_some());
        finding
    }

    /// What was found, with its schedule: in another order of the execution if that explains more.
    fn failure(&mut self, finding: Finding, executor: &mut dyn Executor) -> Failure {
        let memory = self.report.memory;
        let of = |run: &Run, finding| failure(run, finding, Seed::of_run(run, memory));
        let late = self.run.is_maximal() && self.run.steps().any(|step| matches!(step, Step::Take(..)));
        if late && self.config.replay.is_none() && !executor.is_broken() {
            let mut run = Run::default();
            executor.execute(&up_to_date(&self.run), &mut run);
            self.report.runs += 1;
            let same_class = reads_from_class(&run.trace) == reads_from_class(&self.run.trace);
            let again = judge(&run, self.config);
            if let Some(again) = again.filter(|again| same_class && again.kind == finding.kind) {
                return of(&run, again);
            }
        }
        of(&self.run, finding)
    }

    fn report(mut self, verdict: Verdict) -> Report {
        self.report.elapsed = self.started.elapsed();
        self.report.verdict = match self.first {
            Some(failure) => Verdict::Failed(failure),
            None => verdict,
        };
        debug_assert!(self.report.runs >= self.report.executions);
        self.report
    }
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
