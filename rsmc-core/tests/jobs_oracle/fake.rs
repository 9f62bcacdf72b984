//! Workers in one thread, for tests of the coordinator, and what their runs show.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rsmc_core::base::{Digest, mix};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::seed::Seed;
use rsmc_core::session::jobs::{Answer, Crew, Death, Job, Link, News};
use rsmc_core::session::{Check, Config, Seen as Shown};
use rsmc_core::step::{End, Run};
use rsmc_core::trace::reads_from_class;
use rsmc_testkit::litmus::{Interpreter, Program};

/// How often each class counted, and whether it ended stuck.
type Classes = BTreeMap<Digest, (bool, u32)>;

/// The runs that were seen.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) classes: Classes,
    /// How often the exploration has started over.
    starts: u32,
    /// A thread of one of them loops for ever, or longer than there may be steps. That ends a check at once, so it has
    /// not run the other classes.
    pub(super) endless: bool,
    /// A thread waits behind rounds (`machine::rounds`). Which executions are run in which it has begun one more
    /// depends on the order.
    pub(super) bounded: bool,
}

impl Runs {
    pub(super) fn see(&mut self, seen: &Shown<'_>) {
        match seen {
            Shown::StartOver => *self = Runs { starts: self.starts + 1, ..Runs::default() },
            Shown::Run(run, counts) => self.note(run, *counts),
        }
    }

    fn note(&mut self, run: &Run, counts: bool) {
        self.endless |= matches!(run.end, End::Endless { .. } | End::StepLimit { .. });
        self.bounded |= !run.rounds.is_empty();
        if counts {
            self.classes.entry(reads_from_class(&run.trace)).or_insert((run.end == End::Stuck, 0)).1 += 1;
        }
    }

    /// Adds the runs of a job.
    fn add(&mut self, job: Runs) {
        self.endless |= job.endless;
        self.bounded |= job.bounded;
        for (class, (stuck, runs)) in job.classes {
            self.classes.entry(class).or_insert((stuck, 0)).1 += runs;
        }
    }
}

/// Workers in this thread. Each does its job when the coordinator waits for news, and all that is left open is drawn.
pub(super) struct Fake<'a> {
    pub(super) program: &'a Program,
    pub(super) config: Config,
    workers: Vec<Worker>,
    draw: u64,
    pub(super) runs: Rc<RefCell<Runs>>,
    /// The number of answers with pending schedules, and of workers that ended.
    pub(super) early: u32,
    pub(super) deaths: u32,
    /// Set when no worker answers any more.
    pub(super) silent: Option<&'a AtomicBool>,
}

struct Worker {
    executor: Interpreter,
    /// The job, as bytes, and how often the exploration had started over when it was given.
    job: Option<(Vec<u8>, u32)>,
    ready: bool,
}

pub(super) fn interpreter(program: &Program, memory: MemoryModel) -> Interpreter {
    Interpreter::new(program, Rules::new(memory, 400)).expect("a generated program is well formed")
}

impl<'a> Fake<'a> {
    pub(super) fn new(program: &'a Program, config: &Config, seed: u64) -> Self {
        let memory = config.effective_memory();
        let worker = || Worker { executor: interpreter(program, memory), job: None, ready: false };
        let workers = (0..1 + seed % 4).map(|_| worker()).collect();
        let (config, runs) = (config.clone(), Rc::default());
        Self { program, config, workers, draw: mix(seed, 3), runs, early: 0, deaths: 0, silent: None }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.draw = mix(self.draw, 7);
        self.draw % bound
    }

    /// Does the job of a worker, up to a run that is drawn.
    fn work(&mut self, number: usize) -> News {
        let (bytes, starts) = self.workers[number].job.take().expect("it has one");
        let job: Job = postcard::from_bytes(&bytes).expect("what was written");
        let runs = if self.below(4) == 0 { u64::MAX } else { self.below(6) };
        // In one job at most one worker ends.
        let dies = !job.is_careful() && self.below(8) == 0;
        let (worker, mut found, mut link) = (&mut self.workers[number], Runs::default(), Hurried { runs });
        let check = Check::new(&self.config, &mut worker.executor).observe(|run, counts| found.note(run, counts));
        let answer = check.answer(&job, &mut link);
        if dies {
            worker.executor = interpreter(self.program, self.config.effective_memory());
            worker.ready = false;
            self.deaths += 1;
            let how = "was ended".to_owned();
            return News::Died(Death { how, by_itself: false, said_so: false, at: None, scenario: None });
        }
        self.early += u32::from(runs < u64::MAX);
        let answer: Answer = postcard::from_bytes(&postcard::to_allocvec(&answer).unwrap()).unwrap();
        // Nobody is interested in the answer to a job of before.
        let mut runs = self.runs.borrow_mut();
        if starts == runs.starts && answer.learned() {
            runs.see(&Shown::StartOver);
        } else if starts == runs.starts {
            runs.add(found);
        }
        News::Answer(Box::new(answer))
    }
}

impl Crew for Fake<'_> {
    fn size(&self) -> usize {
        self.workers.len()
    }

    fn start(&mut self) {}

    fn give(&mut self, worker: usize, job: &Job) {
        assert!(self.workers[worker].job.is_none(), "it has a job");
        let starts = self.runs.borrow().starts;
        self.workers[worker].job = Some((postcard::to_allocvec(job).unwrap(), starts));
    }

    fn hurry(&mut self, worker: usize) {
        let _ = worker;
    }

    fn news(&mut self, wait: Duration) -> Option<(usize, News)> {
        if self.silent.is_some_and(|silent| silent.load(Relaxed)) {
            std::thread::sleep(wait);
            return None;
        }
        if let Some(worker) = self.workers.iter().position(|worker| !worker.ready) {
            self.workers[worker].ready = true;
            return Some((worker, News::Ready));
        }
        let busy: Vec<usize> = (0..self.workers.len()).filter(|&at| self.workers[at].job.is_some()).collect();
        if busy.is_empty() {
            return None;
        }
        let worker = busy[self.below(busy.len() as u64) as usize];
        Some((worker, self.work(worker)))
    }
}

/// Asks for an answer after so many runs.
struct Hurried {
    runs: u64,
}

impl Link for Hurried {
    fn next(&mut self) -> Option<Job> {
        None
    }

    fn hurries(&mut self) -> bool {
        let now = self.runs == 0;
        self.runs = self.runs.saturating_sub(1);
        now
    }

    fn announcer(&self) -> Rc<dyn Fn(&Seed)> {
        Rc::new(|_| ())
    }

    fn answer(&mut self, _answer: Answer) {}
}
