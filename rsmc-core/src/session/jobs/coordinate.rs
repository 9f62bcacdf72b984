//! The coordinator: hands jobs out, adds the answers, and decides when a check is over.
//!
//! Problem. Keep all workers busy with as few jobs as possible, and lose nothing when one of them ends.
//!
//! Method. The coordinator hands out first the parts that are likely to be large. If a worker is idle and no part is
//! pending, it asks the worker that is longest at its job to answer, and divides that worker's rest. A job is handed
//! out until it is answered. If its worker ends itself instead, and has announced its position, the test has crashed
//! there. If the worker has announced nothing, the job is handed out again, as a *careful* one: its worker announces
//! its position at every step. If that worker ends itself as well, the test has crashed, and the last announced
//! position is the schedule. The coordinator gives up a job in which three workers ended, and with it the check.
//!
//! If the check is stopped, the coordinator asks all workers to answer. A job without an answer soon after counts as
//! not explored; so the coordinator knows the whole rest, and writes it to a checkpoint. A resumed check begins here.
//! Until the first worker is ready, or if there is none, this process runs jobs itself.

use std::time::{Duration, Instant};

use crate::explore::SavedLooks;
use crate::seed::Seed;
use crate::session::checkpoint::Checkpoint;
use crate::session::course::Course;
use crate::session::findings::Findings;
use crate::session::jobs::shared::{Part, Shared};
use crate::session::jobs::{Answer, Crew, Death, Job, Link, News, Problem, run_job};
use crate::session::progress::Clock;
use crate::session::{Estimate, Limit, Verdict};
use crate::step::{Executor, Knowledge};

/// The time that a worker has for its job before it can be asked to answer.
const SHORTEST: Duration = Duration::from_millis(2);

/// The time that workers have to answer when the check is stopped.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// The number of workers after which a job is given up, if all of them ended in it.
const MOST_DEATHS: u32 = 3;

/// The result of the coordinator, for the loop of the check.
pub(in crate::session) enum Then {
    /// The check is over.
    Over(Verdict),
    /// A worker has learned something: the exploration starts over, and knows these reads ([`Divisible::know`]).
    ///
    /// [`Divisible::know`]: crate::explore::Divisible::know
    StartOver(SavedLooks),
}

/// A job that is handed out, or will be again since its worker ended.
struct Given {
    part: Part,
    grant: Option<u64>,
    deaths: u32,
}

enum State {
    /// The worker is not ready, or never will be.
    Absent,
    Idle,
    Busy {
        given: Given,
        since: Instant,
        asked: bool,
    },
    /// The worker runs a job whose answer is no longer needed.
    Stale,
}

/// The workers of a check, from their start to its end.
pub(in crate::session) struct Team<'t> {
    crew: &'t mut dyn Crew,
    states: Vec<State>,
    /// The reasons for which workers can never start, one for each such worker.
    gone: Vec<String>,
    started: bool,
    /// Whether a worker has been ready.
    arrived: bool,
}

impl<'t> Team<'t> {
    pub(in crate::session) fn new(crew: &'t mut dyn Crew) -> Self {
        let states = (0..crew.size()).map(|_| State::Absent).collect();
        Self { crew, states, gone: Vec::new(), started: false, arrived: false }
    }

    /// Whether there are no workers, and will be none.
    fn is_empty(&self) -> bool {
        self.gone.len() == self.states.len()
    }

    /// The reason for which there can be no workers, once that is known.
    pub(in crate::session) fn is_gone(&self) -> Option<&str> {
        if self.is_empty() { self.gone.first().map(String::as_str) } else { None }
    }

    /// Whether a worker can be given a job. The first call starts the workers; with `wait`, waits for one.
    pub(in crate::session) fn is_ready(&mut self, wait: bool) -> bool {
        if !self.started {
            self.started = true;
            self.crew.start();
        }
        while !self.is_empty() && !self.states.iter().any(|state| matches!(state, State::Idle)) {
            let patience = if wait { Duration::from_secs(60) } else { Duration::ZERO };
            match self.crew.news(patience) {
                Some((worker, News::Ready | News::Answer(_))) => {
                    self.states[worker] = State::Idle;
                    self.arrived = true;
                }
                Some((worker, News::Died(_))) => self.states[worker] = State::Absent,
                Some((_, News::Gone(why))) => self.gone.push(why),
                None => return false,
            }
        }
        !self.is_empty()
    }

    /// Explores the rest, for a check.
    pub(in crate::session) fn explore(
        &mut self,
        shared: Shared,
        course: &mut Course<'_>,
        executor: &mut dyn Executor,
    ) -> Then {
        let (knowledge, again) = (executor.knowledge(), Vec::new());
        let Course { findings, clock, checkpoint } = course;
        let mut coordinator =
            Coordinator { team: self, findings, clock, checkpoint, executor, shared, again, knowledge, problem: None };
        let then = coordinator.coordinate();
        for (worker, state) in self.states.iter_mut().enumerate() {
            if matches!(state, State::Busy { .. }) {
                *state = State::Stale;
                self.crew.hurry(worker);
            }
        }
        then
    }
}

struct Coordinator<'a, 't, 'c> {
    team: &'a mut Team<'t>,
    findings: &'a mut Findings<'c>,
    clock: &'a mut Clock<'c>,
    checkpoint: &'a mut Option<Checkpoint>,
    executor: &'a mut dyn Executor,
    shared: Shared,
    /// Jobs whose workers ended.
    again: Vec<Given>,
    knowledge: Knowledge,
    /// The failure to show.
    problem: Option<Problem>,
}

impl Coordinator<'_, '_, '_> {
    fn coordinate(&mut self) -> Then {
        loop {
            if let Some(limit) = self.clock.stops(&self.findings.tally, None, || self.team.crew.memory()) {
                return self.stop(limit);
            }
            let alone = self.team.is_empty() || !self.team.arrived;
            if alone && let Some(then) = self.work_alone() {
                return then;
            }
            self.give_jobs();
            if !self.team.states.iter().any(|state| matches!(state, State::Busy { .. })) {
                if !self.has_more() {
                    return self.starts_over(true).unwrap_or_else(|| self.complete());
                }
                if let Some(most) = self.findings.config.enough_executions().filter(|_| self.grant().is_none()) {
                    return self.over(Verdict::Incomplete(Limit::Executions(most)));
                }
            }
            let wait = if alone { Duration::ZERO } else { self.divide() };
            if let Some((worker, news)) = self.team.crew.news(wait)
                && let Some(then) = self.hear(worker, news)
            {
                return then;
            }
        }
    }

    /// Whether the exploration has to start over, when all of it is explored at the latest.
    fn starts_over(&self, is_over: bool) -> Option<Then> {
        self.shared.starts_over(self.findings.tally.runs, is_over).map(Then::StartOver)
    }

    fn has_more(&self) -> bool {
        !self.again.is_empty() || self.shared.has_more()
    }

    /// Gives a job to each idle worker, as long as there are jobs.
    fn give_jobs(&mut self) {
        for worker in 0..self.team.states.len() {
            if !matches!(self.team.states[worker], State::Idle) {
                continue;
            }
            let Some((given, job)) = self.next_job(self.team.states.len()) else { return };
            self.team.crew.give(worker, &job);
            self.team.states[worker] = State::Busy { given, since: Instant::now(), asked: false };
        }
    }

    /// The number of executions that a job may have: `None` if all are granted, `Some(None)` if there is no limit.
    fn grant(&self) -> Option<Option<u64>> {
        let Some(most) = self.findings.config.enough_executions() else { return Some(None) };
        let granted = self.team.states.iter().filter_map(|state| match state {
            State::Busy { given, .. } => given.grant,
            _ => None,
        });
        let left = most.saturating_sub(self.findings.tally.executions + granted.sum::<u64>());
        (left > 0).then(|| Some((left / (2 * self.team.states.len().max(1) as u64)).max(1)))
    }

    /// The next job for one of so many workers.
    fn next_job(&mut self, workers: usize) -> Option<(Given, Job)> {
        let given = match self.again.pop() {
            Some(given) => given,
            None => self.next_given(workers)?,
        };
        let (knowledge, task) = (self.knowledge.clone(), self.shared.task(&given.part));
        let job = Job { knowledge, grant: given.grant, careful: given.deaths > 0, task };
        Some((given, job))
    }

    fn next_given(&mut self, workers: usize) -> Option<Given> {
        let grant = if self.shared.is_summed() { None } else { self.grant()? };
        self.shared.next(workers).map(|part| Given { part, grant, deaths: 0 })
    }

    /// If a worker is idle, asks the worker that is longest at its job to answer; returns the time to wait for news.
    fn divide(&mut self) -> Duration {
        let left = self.clock.left();
        let idle = self.team.states.iter().any(|state| matches!(state, State::Idle));
        let mut longest: Option<(usize, Instant)> = None;
        for (worker, state) in self.team.states.iter().enumerate() {
            match state {
                State::Busy { asked: true, .. } => return left.min(Duration::from_millis(100)),
                State::Busy { since, .. } if longest.is_none_or(|(_, first)| *since < first) => {
                    longest = Some((worker, *since));
                }
                _ => {}
            }
        }
        let Some((worker, since)) = longest.filter(|_| idle) else { return left.min(Duration::from_millis(100)) };
        let early = SHORTEST.saturating_sub(since.elapsed());
        if early > Duration::ZERO {
            return early.min(left);
        }
        if let State::Busy { asked, .. } = &mut self.team.states[worker] {
            *asked = true;
        }
        self.team.crew.hurry(worker);
        left.min(Duration::from_millis(100))
    }

    fn hear(&mut self, worker: usize, news: News) -> Option<Then> {
        let state = &mut self.team.states[worker];
        match news {
            News::Ready => {
                *state = State::Idle;
                self.team.arrived = true;
                None
            }
            News::Answer(answer) => match std::mem::replace(state, State::Idle) {
                State::Busy { given, .. } => self.take_in(given, *answer),
                _ => None,
            },
            News::Died(death) => match std::mem::replace(state, State::Absent) {
                State::Busy { given, .. } => self.mourn(given, death),
                _ => None,
            },
            News::Gone(why) => {
                self.team.gone.push(why);
                None
            }
        }
    }

    /// Adds an answer.
    fn take_in(&mut self, given: Given, mut answer: Answer) -> Option<Then> {
        if let Some(knowledge) = &answer.knowledge {
            self.knowledge.adopt(knowledge);
            self.executor.know(&self.knowledge);
        }
        if answer.learned {
            self.findings.tally.runs += 1;
            return Some(Then::StartOver(SavedLooks::default()));
        }
        let keep_going = self.findings.config.keep_going;
        let mut fails = answer.problem.is_some();
        let ends = answer.over || (fails && !keep_going);
        self.shared.take_in(given.part, &mut answer, ends);
        if self.shared.is_summed() {
            return None;
        }
        let Answer { tally, livelocks, problem, over, .. } = answer;
        self.findings.tally.add(&tally);
        self.note(problem);
        for livelock in livelocks {
            if self.findings.counts_livelock(&livelock) {
                fails = true;
                self.note(Some(livelock.problem));
            }
        }
        if over || (fails && !keep_going) {
            return Some(self.over(Verdict::Verified));
        }
        self.starts_over(false)
    }

    /// Notes a failure, if its rank is the least: the fewest steps, and of these the first in the order of the steps.
    fn note(&mut self, problem: Option<Problem>) {
        let rank = |problem: &Problem| (problem.steps.len(), problem.steps.clone(), problem.newest.clone());
        if let Some(problem) = problem
            && self.problem.as_ref().is_none_or(|known| rank(&problem) < rank(known))
        {
            self.problem = Some(problem);
        }
    }

    /// Handles the end of a worker without an answer.
    fn mourn(&mut self, given: Given, death: Death) -> Option<Then> {
        let deaths = given.deaths + 1;
        if let Some(seed) = death.at.filter(|_| death.by_itself && (death.said_so || given.deaths > 0)) {
            self.findings.crashed(&death.how, seed);
            return Some(self.over(Verdict::Verified));
        }
        if deaths >= MOST_DEATHS {
            self.findings.note(format!("{deaths} worker processes ended in the same job; the last one {}", death.how));
            return Some(self.over(Verdict::Incomplete(Limit::Workers)));
        }
        self.again.push(Given { deaths, ..given });
        None
    }

    /// Runs the next job in this process, without workers. It ends the check if the next job is one in which a worker
    /// ended.
    fn work_alone(&mut self) -> Option<Then> {
        if let Some(given) = self.again.last() {
            let deaths = given.deaths;
            self.findings
                .note(format!("the worker process of a job ended ({deaths} times), and no other can be started"));
            return Some(self.over(Verdict::Incomplete(Limit::Workers)));
        }
        let (given, job) = self.next_job(0)?;
        let Findings { config, watch, .. } = &mut *self.findings;
        let answer = run_job(config, self.executor, &job, &mut Alone(Instant::now()), &mut **watch);
        self.take_in(given, answer)
    }

    /// Stops the check, and writes the rest to a checkpoint.
    fn stop(&mut self, limit: Limit) -> Then {
        if let Some(then) = self.collect_last_answers() {
            return then;
        }
        self.take_back();
        if !self.has_more() {
            return self.starts_over(true).unwrap_or_else(|| self.complete());
        }
        if !self.clock.is_long() {
            return self.over(Verdict::Incomplete(limit));
        }
        // The checkpoint keeps the failure; counts that are added up at the end are in the shared rest already.
        self.show_problem();
        if let Some(left) = self.shared.save(self.findings.config.keep_going) {
            let checkpoint = Checkpoint::new(self.findings, self.clock, left, self.knowledge.clone());
            *self.checkpoint = Some(checkpoint);
        }
        self.over(Verdict::Incomplete(limit))
    }

    /// Adds the answers that workers give soon after the stop. One of them may end the check in another way.
    fn collect_last_answers(&mut self) -> Option<Then> {
        let busy = |states: &[State]| states.iter().any(|state| matches!(state, State::Busy { .. }));
        for worker in 0..self.team.states.len() {
            if matches!(self.team.states[worker], State::Busy { .. }) {
                self.team.crew.hurry(worker);
            }
        }
        let start = Instant::now();
        while busy(&self.team.states) && start.elapsed() < LAST_ANSWERS {
            let wait = LAST_ANSWERS.saturating_sub(start.elapsed());
            if let Some((worker, news)) = self.team.crew.news(wait)
                && let Some(then) = self.hear(worker, news)
            {
                return Some(then);
            }
        }
        None
    }

    /// Returns all jobs without an answer to the rest, as if they had not been handed out.
    fn take_back(&mut self) {
        for state in &mut self.team.states {
            if matches!(state, State::Busy { .. })
                && let State::Busy { given, .. } = std::mem::replace(state, State::Stale)
            {
                self.again.push(given);
            }
        }
        for given in std::mem::take(&mut self.again) {
            self.shared.give_back(given.part);
        }
    }

    /// Runs the failure to show in this process.
    fn show_problem(&mut self) {
        if let Some(problem) = self.problem.take() {
            self.findings.run_again(&problem, self.executor);
        }
    }

    /// Ends the check after all executions, or at the limit of executions.
    fn complete(&mut self) -> Then {
        let all = self.findings.config.enough_executions().filter(|_| self.shared.is_limited());
        self.over(all.map_or(Verdict::Verified, |most| Verdict::Incomplete(Limit::Executions(most))))
    }

    /// Ends the check, with a failure if there is one.
    fn over(&mut self, verdict: Verdict) -> Then {
        let (tally, first) = self.shared.sum();
        self.findings.tally.add(&tally);
        self.note(first);
        self.show_problem();
        let left = self.shared.pending();
        if matches!(verdict, Verdict::Incomplete(_)) && left > 0 {
            self.findings.estimate = Some(Estimate::of_least(self.findings.tally.runs + left));
        }
        Then::Over(verdict)
    }
}

/// A crew without workers.
pub(in crate::session) struct Nobody;

impl Crew for Nobody {
    fn size(&self) -> usize {
        0
    }

    fn start(&mut self) {}

    fn give(&mut self, _worker: usize, _job: &Job) {}

    fn hurry(&mut self, _worker: usize) {}

    fn news(&mut self, _wait: Duration) -> Option<(usize, News)> {
        None
    }
}

/// The link of a coordinator to itself.
struct Alone(Instant);

impl Link for Alone {
    fn next(&mut self) -> Option<Job> {
        None
    }

    fn hurries(&mut self) -> bool {
        self.0.elapsed() > Duration::from_millis(100)
    }

    fn announcer(&self) -> std::rc::Rc<dyn Fn(&Seed)> {
        std::rc::Rc::new(|_| ())
    }

    fn answer(&mut self, _answer: Answer) {}
}
