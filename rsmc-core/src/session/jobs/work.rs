//! A worker: explores what it is given until it is asked to stop, and answers.

use std::rc::Rc;

use crate::explore::{Random, RfSmc};
use crate::seed::Seed;
use crate::session::Config;
use crate::session::jobs::{Answer, Job, Link, Problem, Task};
use crate::session::judge::{Finding, is_final, judge};
use crate::session::tally::Worth;
use crate::step::{Difference, End, Executor, Expect, Explorer, Plan, Purpose, Route, Run, SchedulingPolicy, Step};

/// Does jobs until there are no more.
pub fn work(config: &Config, executor: &mut dyn Executor, link: &mut dyn Link) {
    while let Some(job) = link.next() {
        let answer = run_job(config, executor, &job, link, &mut |_, _| {});
        link.answer(answer);
    }
}

/// Does one job. `observe` sees every run that is part of the answer, and whether it counts as an execution: if it ends in
/// a livelock, only if that is new.
pub fn run_job(
    config: &Config,
    executor: &mut dyn Executor,
    job: &Job,
    link: &mut dyn Link,
    observe: &mut dyn FnMut(&Run, bool),
) -> Answer {
    executor.know(&job.knowledge);
    if job.careful {
        let (announce, observed, model) = (link.announcer(), job.knowledge.observed.clone(), config.effective_memory());
        let say = move |run: &Run| announce(&Seed::of_prefix(run, model, &observed));
        executor.watch(Some(Rc::new(say)));
    }
    let (plan, run, answer) = (Plan::default(), Run::default(), Answer::default());
    let mut worker = Worker { config, executor, job, link, observe, plan, run, answer };
    match &job.task {
        Task::Subtree(subtree) => {
            let mut explorer = RfSmc::of_subtree(config.effective_memory(), subtree);
            worker.explore(&mut explorer);
            worker.answer.found = Some(explorer.found(subtree));
        }
        Task::Livelock(route) => {
            route.force(&mut worker.plan);
            worker.plan.purpose = Purpose::Livelock;
            worker.answer.done = u64::from(worker.run(&mut |run| compare_with_route(route, run)) != Went::Unknown);
        }
        Task::Samples { first, count } => {
            let mut explorer = Limited { explorer: Random::starting_at(config.seed, *first), left: *count };
            worker.answer.done = worker.explore(&mut explorer);
        }
    }
    let answer = worker.answer;
    executor.watch(None);
    if answer.learned { Answer { learned: true, knowledge: answer.knowledge, ..Answer::default() } } else { answer }
}

/// How a run went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Went {
    /// It was taken in.
    On,
    /// It was taken in, and nothing else is to be run.
    Enough,
    /// The executor came to know something without which it cannot be taken in.
    Unknown,
}

struct Worker<'a> {
    config: &'a Config,
    executor: &'a mut dyn Executor,
    job: &'a Job,
    link: &'a mut dyn Link,
    observe: &'a mut dyn FnMut(&Run, bool),
    plan: Plan,
    run: Run,
    answer: Answer,
}

impl Worker<'_> {
    /// Explores until there is no more, or a reason to stop. Returns how many runs were taken in.
    fn explore(&mut self, explorer: &mut dyn Explorer) -> u64 {
        let mut taken_in = 0;
        while explorer.next_plan(&mut self.plan) {
            let went = self.run(&mut |run| compare_with_plan(explorer, run));
            if went == Went::Unknown {
                explorer.retract();
                break;
            }
            explorer.observe(&self.run);
            taken_in += 1;
            if went == Went::Enough || self.link.hurries() {
                break;
            }
        }
        taken_in
    }

    /// Executes the plan and takes the run in.
    fn run(&mut self, compare: &mut dyn FnMut(&mut Run)) -> Went {
        self.executor.execute(&self.plan, &mut self.run);
        if self.meets_the_unknown() {
            return Went::Unknown;
        }
        compare(&mut self.run);
        let (run, answer) = (&self.run, &mut self.answer);
        answer.tally.runs += 1;
        answer.tally.see(run);
        answer.over = is_final(&run.end) || self.executor.is_broken();
        let worth =
            if self.plan.policy == SchedulingPolicy::RunOn { Worth::of(run, self.plan.purpose) } else { Worth::Class };
        let (counts, fails) = match worth {
            Worth::Nothing => {
                answer.tally.blocked += 1;
                (false, false)
            }
            Worth::Class => {
                answer.tally.executions += u64::from(run.is_maximal());
                let finding = judge(run, self.config);
                let fails = finding.is_some();
                answer.tally.failures += u64::from(fails);
                if answer.problem.is_none() {
                    answer.problem = finding.map(|finding| problem(run, finding));
                }
                (run.is_maximal(), fails)
            }
            Worth::Livelock(class) => {
                let finding = judge(run, self.config).expect("a livelock is a failure");
                answer.livelocks.push((class, problem(run, finding)));
                (true, true)
            }
        };
        (self.observe)(run, counts);
        let stops = answer.over || (fails && !self.config.keep_going);
        let counted = answer.tally.executions + answer.livelocks.len() as u64;
        if stops || self.job.grant.is_some_and(|grant| counted >= grant) { Went::Enough } else { Went::On }
    }

    /// Whether the last run showed something for which everybody has to start over, or a thread without a name.
    fn meets_the_unknown(&mut self) -> bool {
        let learned = self.run.end == End::Learned;
        let known = self.job.knowledge.threads.len() as u32;
        if !learned && self.run.trace.present().all(|(thread, _)| thread.0 <= known) {
            return false;
        }
        self.answer.learned = learned;
        self.answer.knowledge = Some(self.executor.knowledge());
        true
    }
}

fn problem(run: &Run, finding: Finding) -> Problem {
    let steps: Vec<Step> = run.steps().collect();
    Problem { kind: finding.kind, message: finding.message, steps, newest: run.newest_at_end() }
}

/// Makes a run that did not do what it was expected to one that diverged.
fn compare_with_route(expected: &Route, run: &mut Run) {
    if let Some(event) = expected.mismatch(run) {
        let at = run.trace.position(event).expect("it is in the run");
        run.end = diverged(run, at);
    }
}

/// The same, where an explorer follows what another process planned.
pub(in crate::session) fn compare_with_plan(explorer: &dyn Explorer, run: &mut Run) {
    let Some(route) = explorer.route() else { return };
    compare_with_route(route, run);
    if let Some(at) = explorer.misplaced(run) {
        run.end = diverged(run, at);
    }
}

/// How a run ended that did not do what the process did that planned it.
fn diverged(run: &Run, at: usize) -> End {
    let event = &run.trace.events[at];
    let found = Expect::of(event, &run.trace.locs[event.op.loc]).to_string();
    let difference = Difference::Operation { expected: "what another process of the test did".to_owned(), found };
    End::Diverged { step: at, event: event.id, difference }
}

/// So many plans of an explorer that has no end.
struct Limited {
    explorer: Random,
    left: u64,
}

impl Explorer for Limited {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        let more = self.left > 0;
        self.left -= u64::from(more);
        more && self.explorer.next_plan(plan)
    }

    fn observe(&mut self, run: &Run) {
        self.explorer.observe(run);
    }
}
