//! The coordinator: gives jobs away, takes answers in, and decides when a check is over.
//!
//! Problem. Keep all workers busy with as few jobs as possible, and lose nothing when one of them ends.
//!
//! Method. What is likely to be large is given away first. Only where a worker has nothing to do and nothing is left to
//! give, the one that is longest at its job is asked to answer; what it has left is divided. A job is away until it is
//! answered. If its worker ends instead, by its own doing, and says where it was, the test has crashed there. If it
//! says nothing, the job is given away again, *careful*: the worker then says at every step where it is. If that worker
//! ends as well, by its own doing, the test has crashed, and the last thing that it said is the schedule. A job in
//! which three workers ended is given up, and so is the check.
//!
//! Where the check is stopped, all are asked to answer. What is not answered soon counts as not explored, so all that
//! is left is known here, and goes into a checkpoint. A check that goes on from one begins here; until the first worker
//! is ready, or if there is none, this process does jobs itself.

use std::time::{Duration, Instant};

use crate::seed::Seed;
use crate::session::checkpoint::Checkpoint;
use crate::session::course::Course;
use crate::session::findings::Findings;
use crate::session::jobs::shared::{Part, Shared};
use crate::session::jobs::{Answer, Crew, Death, Job, Link, News, Problem, run_job};
use crate::session::progress::Clock;
use crate::session::{Estimate, Limit, Verdict};
use crate::step::{Executor, Knowledge};

/// A job that has not taken so long is not asked for.
const SHORTEST: Duration = Duration::from_millis(2);

/// How long a worker may take to answer when the time of the check is over.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// How many workers may end in one job.
const MOST_DEATHS: u32 = 3;

/// What the coordinator leaves to the loop of the check.
pub(in crate::session) enum Then {
    /// The check is over.
    Over(Verdict),
    /// Something was learned.
    StartOver,
}

/// A job that is away, or comes again because its worker ended.
struct Given {
    part: Part,
    grant: Option<u64>,
    deaths: u32,
}

enum State {
    /// It is not ready, or never will be.
    Absent,
    Idle,
    Busy {
        given: Given,
        since: Instant,
        asked: bool,
    },
    /// It works on something that is of no interest any more.
    Stale,
}

/// The workers of a check, from their start to its end.
pub(in crate::session) struct Team<'t> {
    crew: &'t mut dyn Crew,
    states: Vec<State>,
    /// Why there will never be a worker, for each of which that is known.
    gone: Vec<String>,
    started: bool,
    /// Whether some worker was ready once.
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

    /// Why there are no workers, if it is known that there will be none.
    pub(in crate::session) fn is_gone(&self) -> Option<&str> {
        if self.is_empty() { self.gone.first().map(String::as_str) } else { None }
    }

    /// Whether some worker can be given a job. Starts them when it is first asked; with `wait`, waits for one.
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

    /// Explores what is left, for a check.
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
            if let Some(limit) = self.clock.stops(&self.findings.tally, None) {
                return self.stop(limit);
            }
            let alone = self.team.is_empty() || !self.team.arrived;
            if alone && let Some(then) = self.work_alone() {
                return then;
            }
            self.give_jobs();
            if !self.team.states.iter().any(|state| matches!(state, State::Busy { .. })) {
                if !self.has_more() {
                    return self.complete();
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

    fn has_more(&self) -> bool {
        !self.again.is_empty() || self.shared.has_more()
    }

    /// Gives every worker a job that has none, as far as there are jobs.
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

    /// How many executions a job may have: `None` if there are none left to grant, `Some(None)` if there is no limit.
    fn grant(&self) -> Option<Option<u64>> {
        let Some(most) = self.findings.config.enough_executions() else { return Some(None) };
        let granted = self.team.states.iter().filter_map(|state| match state {
            State::Busy { given, .. } => given.grant,
            _ => None,
        });
        let left = most.saturating_sub(self.findings.tally.executions + granted.sum::<u64>());
        (left > 0).then(|| Some((left / (2 * self.team.states.len().max(1) as u64)).max(1)))
    }

    /// What one of so many workers is to do next.
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

    /// Asks for an answer that may leave something to give, if a worker has nothing to do; says how long to wait.
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

    /// Takes an answer in.
    fn take_in(&mut self, given: Given, mut answer: Answer) -> Option<Then> {
        if let Some(knowledge) = &answer.knowledge {
            self.knowledge.adopt(knowledge);
            self.executor.know(&self.knowledge);
        }
        if answer.learned {
            self.findings.tally.runs += 1;
            return Some(Then::StartOver);
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
        for (class, problem) in livelocks {
            if self.findings.counts_livelock(class) {
                fails = true;
                self.note(Some(problem));
            }
        }
        (over || (fails && !keep_going)).then(|| self.over(Verdict::Verified))
    }

    /// Notes a failure. Of several the one with the fewest steps is shown, and of these the one that comes first in
    /// some order.
    fn note(&mut self, problem: Option<Problem>) {
        let rank = |problem: &Problem| (problem.steps.len(), problem.steps.clone(), problem.newest.clone());
        if let Some(problem) = problem
            && self.problem.as_ref().is_none_or(|known| rank(&problem) < rank(known))
        {
            self.problem = Some(problem);
        }
    }

    /// A worker ended without an answer.
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

    /// Without workers, does the next job here. Not one in which a worker ended.
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

    /// The check is stopped: what is left goes into a checkpoint.
    fn stop(&mut self, limit: Limit) -> Then {
        if let Some(then) = self.collect_last_answers() {
            return then;
        }
        self.take_back();
        if !self.has_more() {
            return self.complete();
        }
        if !self.clock.is_long() {
            return self.over(Verdict::Incomplete(limit));
        }
        // The failure goes into the checkpoint, and what is added up at the end is there already.
        self.show_problem();
        if let Some(left) = self.shared.save(self.findings.config.keep_going) {
            let checkpoint = Checkpoint::new(self.findings, self.clock, left, self.knowledge.clone());
            *self.checkpoint = Some(checkpoint);
        }
        self.over(Verdict::Incomplete(limit))
    }

    /// What workers have found so far still counts, if they say so soon. It may end the check in another way.
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

    /// What is away is given back, as if it had not been given away.
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

    /// Runs the failure to show here.
    fn show_problem(&mut self) {
        if let Some(problem) = self.problem.take() {
            self.findings.run_again(&problem, self.executor);
        }
    }

    /// Nothing is left.
    fn complete(&mut self) -> Then {
        let all = self.findings.config.enough_executions().filter(|_| self.shared.is_limited());
        self.over(all.map_or(Verdict::Verified, |most| Verdict::Incomplete(Limit::Executions(most))))
    }

    /// The check is over, with a failure if there is one.
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

/// A crew of nobody.
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
