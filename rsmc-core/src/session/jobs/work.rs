//! A worker: explores its job until it is done or the coordinator asks for an answer, and answers.

use std::rc::Rc;

use crate::seed::Seed;
use crate::session::causes::Causes;
use crate::session::driver::{Driver, Ended, Limits, Next, Ran, Sink};
use crate::session::jobs::{Answer, Job, Link, Livelock, Problem};
use crate::session::judge::Finding;
use crate::session::tally::Tally;
use crate::session::{Config, Seen};
use crate::step::{End, Executor, Run, Step};

/// Runs one job. `watch` sees every run that is part of the answer.
pub(in crate::session) fn run_job(
    config: &Config,
    executor: &mut dyn Executor,
    job: &Job,
    link: &mut dyn Link,
    watch: &mut dyn FnMut(Seen<'_>),
) -> Answer {
    executor.know(&job.knowledge);
    if job.careful {
        let (announce, observed, model) = (link.announcer(), job.knowledge.observed.clone(), config.effective_memory());
        let say = move |run: &Run| announce(&Seed::of_prefix(run, model, &observed));
        executor.watch(Some(Rc::new(say)));
    }
    let mut explorer = job.task.explorer(&config.for_explorers());
    let limits = &mut Granted { grant: job.grant, link };
    let mut worker = Worker { config, job, watch, answer: Answer::default(), uncounted: 0 };
    let ended = Driver { config, executor, limits, sink: &mut worker, may_probe: false }.explore(&mut *explorer);
    executor.watch(None);
    if matches!(ended, Ended::Unknown) {
        explorer.retract();
    }
    let Worker { mut answer, uncounted, .. } = worker;
    if answer.learned {
        return Answer { learned: true, knowledge: answer.knowledge, ..Answer::default() };
    }
    answer.found = explorer.found(&job.task);
    answer.done = if answer.found.is_some() { 0 } else { answer.tally.runs };
    answer.tally.executions -= uncounted;
    answer
}

/// The limits of a job.
struct Granted<'g> {
    grant: Option<u64>,
    link: &'g mut dyn Link,
}

impl Limits for Granted<'_> {
    fn pauses(&mut self, counted: &Tally) -> bool {
        self.grant.is_some_and(|grant| counted.executions >= grant) || self.link.hurries()
    }
}

struct Worker<'a> {
    config: &'a Config,
    job: &'a Job,
    watch: &'a mut dyn FnMut(Seen<'_>),
    answer: Answer,
    /// The executions in the tally that end in livelocks: the coordinator counts them, since it sees those of all
    /// workers.
    uncounted: u64,
}

impl Sink for Worker<'_> {
    fn counts(&mut self) -> &mut Tally {
        &mut self.answer.tally
    }

    /// False if the run shows something for which all workers have to start over, or a thread that the job does not
    /// know.
    fn is_known(&self, run: &Run) -> bool {
        let known = self.job.knowledge.threads.len() as u32;
        run.end != End::Learned && run.trace.present().all(|(thread, _)| thread.0 <= known)
    }

    fn learn(&mut self, run: &Run, executor: &dyn Executor) {
        self.answer.learned = run.end == End::Learned;
        self.answer.knowledge = Some(executor.knowledge());
    }

    fn take(&mut self, ran: Ran<'_>, _executor: &mut dyn Executor) -> Next {
        (self.watch)(Seen::Run(ran.run, ran.counts));
        let answer = &mut self.answer;
        answer.over = ran.is_final;
        let is_over = ran.is_final || (ran.finding.is_some() && !self.config.keep_going);
        if let Some(finding) = ran.finding {
            let model = self.config.effective_memory();
            if let Some(class) = ran.livelock {
                let cause = Causes::of(ran.run, finding.kind, &finding.message, model);
                answer.livelocks.push(Livelock { class, problem: problem(ran.run, finding), cause });
                self.uncounted += u64::from(ran.counts);
            } else {
                answer.tally.causes.see(ran.run, finding.kind, &finding.message, model);
                answer.problem.get_or_insert_with(|| problem(ran.run, finding));
            }
        }
        if is_over { Next::Observe } else { Next::Run }
    }
}

fn problem(run: &Run, finding: Finding) -> Problem {
    let steps: Vec<Step> = run.steps().collect();
    Problem { kind: finding.kind, message: finding.message, steps, newest: run.newest_at_end() }
}
