//! The entry of a session: a check, with the settings that are not in its configuration.

use std::time::Duration;

use crate::session::course::Course;
use crate::session::findings::Findings;
use crate::session::jobs::{Answer, Crew, Job, Link, run_job};
use crate::session::progress::{Clock, Progress, Pulse};
use crate::session::trivial::fail_if_trivial;
use crate::session::{Checkpoint, Config, Report, Seen, Verdict};
use crate::step::{Executor, Run, Watcher};

/// A check before its run. Settings are chained; [`run`](Self::run), [`run_part`](Self::run_part), [`work`](Self::work)
/// or [`answer`](Self::answer) runs it.
///
/// ```
/// use rsmc_core::session::{Config, Verdict, check_body};
///
/// let mut executions = 0;
/// let body = || ();
/// let report = check_body(&Config::default(), &body, |body| {
///     body.check().observe(|_, counts| executions += u32::from(counts)).run()
/// });
/// assert!(matches!(report.unwrap().verdict, Verdict::Verified));
/// assert_eq!(executions, 1);
/// ```
#[must_use = "a check that is not run does nothing"]
pub struct Check<'c> {
    config: &'c Config,
    executor: &'c mut dyn Executor,
    watch: Box<dyn FnMut(Seen<'_>) + 'c>,
    crew: Option<&'c mut dyn Crew>,
    resume: Option<Checkpoint>,
    pulse: Option<Pulse<'c>>,
    /// True if the check fails when its threads share nothing.
    is_of_code: bool,
}

impl<'c> Check<'c> {
    /// A check by an executor. The configuration must be valid.
    pub fn new(config: &'c Config, executor: &'c mut dyn Executor) -> Self {
        let watch = Box::new(|_: Seen<'_>| ());
        Self { config, executor, watch, crew: None, resume: None, pulse: None, is_of_code: false }
    }

    /// A check of real code.
    pub(super) fn of_code(config: &'c Config, executor: &'c mut dyn Executor) -> Self {
        Self { is_of_code: true, ..Self::new(config, executor) }
    }

    /// Shows `watch` every run in this process, and every start-over.
    pub fn watch(self, watch: impl FnMut(Seen<'_>) + 'c) -> Self {
        Self { watch: Box::new(watch), ..self }
    }

    /// Shows `observe` every run in this process, and whether it counts as an execution.
    pub fn observe(self, mut observe: impl FnMut(&Run, bool) + 'c) -> Self {
        self.watch(move |seen| {
            if let Seen::Run(run, counts) = seen {
                observe(run, counts);
            }
        })
    }

    /// Shows the watcher every execution while it runs. The executor calls the watcher on the stacks of the modelled
    /// threads.
    pub fn trace(self, watcher: Watcher) -> Self {
        self.executor.watch(Some(watcher));
        self
    }

    /// Lets workers explore, if there is a crew and the explorer can be divided.
    pub fn crew<'w: 'c>(self, crew: Option<&'c mut (dyn Crew + 'w)>) -> Self {
        Self { crew: crew.map(|crew| crew as &mut dyn Crew), ..self }
    }

    /// Goes on from a checkpoint, if there is one. It must fit ([`Checkpoint::misfit`]).
    pub fn resume(self, resume: Option<Checkpoint>) -> Self {
        Self { resume, ..self }
    }

    /// Shows `show` the progress of the check, at intervals of `every` or a little more; if `every` is zero, before
    /// each execution. If `show` returns false, the verdict is [`Incomplete`](Verdict::Incomplete), for
    /// [`Limit::Interrupted`](super::Limit::Interrupted).
    ///
    /// A check with a pulse may leave a checkpoint: see [`run_part`](Self::run_part).
    pub fn pulse(self, every: Duration, show: impl FnMut(&Progress) -> bool + 'c) -> Self {
        Self { pulse: Some(Pulse::new(every, show)), ..self }
    }

    /// Runs the check.
    ///
    /// # Panics
    /// If the check resumes a checkpoint that does not fit.
    pub fn run(self) -> Report {
        self.run_part().0
    }

    /// Runs the check. If it has a [`pulse`](Self::pulse), and the pulse or the time limit stops it, the result has a
    /// checkpoint from which another check goes on, unless a note of the report says why not.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_part(self) -> (Report, Option<Checkpoint>) {
        let Self { config, executor, watch, crew, resume, pulse, is_of_code } = self;
        if let Some(why) = resume.as_ref().and_then(|checkpoint| checkpoint.misfit(config)) {
            panic!("the checkpoint does not fit: {why}");
        }
        let (findings, clock) = (Findings::new(config, watch), Clock::new(config, pulse));
        let traces_paths = config.replay.is_some() && config.shrink > 0 && executor.trace_paths(true);
        let is_resumed = resume.is_some();
        let mut course = Course { findings, clock, checkpoint: None };
        let verdict = course.explore(executor, crew, resume);
        let Course { mut findings, clock, checkpoint } = course;
        if traces_paths && !executor.is_broken() {
            executor.trace_paths(false);
        }
        findings.explain(executor);
        findings.trace_paths(executor);
        let uncounted = findings.uncounted.take();
        let mut report = findings.report(verdict, &clock);
        if matches!(report.verdict, Verdict::Verified) && report.executions == 0 {
            assert!(!is_resumed, "the checkpoint does not fit: it is damaged");
            let (runs, seed) = (report.runs, uncounted.map_or_else(|| "none".to_owned(), |seed| seed.to_string()));
            panic!("this is a bug in rsmc: a check is complete after {runs} runs, and none counts; the first: {seed}");
        }
        let is_stopped = matches!(report.verdict, Verdict::Incomplete(limit) if limit.leaves_the_rest());
        if clock.is_long() && is_stopped && checkpoint.is_none() {
            report.notes.push(format!("a check by {} cannot be resumed", config.undivided()));
        }
        // What operations had in other processes is not known here.
        if matches!(report.verdict, Verdict::Verified) && config.jobs == 1 {
            let note = |weakened| format!("{weakened} weakens nothing: no operation there had a stronger ordering");
            report.notes.extend(executor.unused().into_iter().map(note));
        }
        if is_of_code {
            fail_if_trivial(config, &mut report);
        }
        (report, checkpoint)
    }

    /// Runs jobs of the check until the link has no more.
    pub fn work(mut self, link: &mut dyn Link) {
        while let Some(job) = link.next() {
            let answer = run_job(self.config, self.executor, &job, link, &mut *self.watch);
            link.answer(answer);
        }
    }

    /// Runs one job of the check. The watcher sees the runs that are part of the answer; a run that ends in a livelock
    /// counts only if the livelock is new.
    pub fn answer(mut self, job: &Job, link: &mut dyn Link) -> Answer {
        run_job(self.config, self.executor, job, link, &mut *self.watch)
    }
}
