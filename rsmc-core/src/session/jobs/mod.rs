//! A check by several executors at once: a coordinator hands jobs out, workers answer.
//!
//! A *job* is a part of the rest of an exploration. An answer has the whole result of a job, at once: so a worker that
//! ends without an answer loses nothing, and nothing is counted twice. [`Crew`] and [`Link`] are the two ends of the
//! connection; their implementations decide what a worker is, and how jobs and answers travel. `docs/protocol.md`
//! describes the messages.
//!
//! - `coordinate`: the coordinator. It owns the rest, the counts, and the names of threads.
//! - `shared`: the rest of an exploration, for every explorer that can be divided.
//! - `samples`: the rest of a random check.
//! - `work`: a worker.

mod coordinate;
mod samples;
mod shared;
mod work;

use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId};
use crate::explore::Task;
use crate::explore::rf_smc::Found;
use crate::seed::Seed;
use crate::session::FailureKind;
use crate::session::causes::Causes;
use crate::session::tally::Tally;
use crate::step::{Knowledge, Step};

pub(super) use coordinate::{Nobody, Team, Then};
pub(super) use samples::Samples;
pub(super) use shared::{Begin, Left, Shared};
pub(super) use work::run_job;

/// A part of the rest of an exploration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The executor's knowledge for the job, and no more.
    pub(super) knowledge: Knowledge,
    /// The number of counted executions after which the job ends.
    pub(super) grant: Option<u64>,
    pub(super) careful: bool,
    pub(super) task: Task,
}

impl Job {
    /// True if a worker ended in the job: the next worker announces its position at every step.
    pub fn is_careful(&self) -> bool {
        self.careful
    }
}

/// A failing execution as data, without the parts that only its executor has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Problem {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    pub(super) steps: Vec<Step>,
    /// As [`crate::step::Plan::newest`].
    pub(super) newest: Option<Vec<EventId>>,
}

/// A livelock that a worker found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Livelock {
    pub(super) class: Digest,
    pub(super) problem: Problem,
    /// Its cause, counted once.
    pub(super) cause: Causes,
}

/// The result of a job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    pub(super) tally: Tally,
    /// For a subtree: its rest, and what it shows of the tree above.
    pub(super) found: Option<Found>,
    /// For samples: the number of runs. For a livelock: 1 if it was run.
    pub(super) done: u64,
    /// The executions that end in a livelock. They are not counted yet: only the coordinator knows which are new.
    pub(super) livelocks: Vec<Livelock>,
    /// The first execution that fails in another way.
    pub(super) problem: Option<Problem>,
    /// True if nothing can be explored after the job.
    pub(super) over: bool,
    /// The executor's new knowledge. The run that showed it was not counted.
    pub(super) knowledge: Option<Knowledge>,
    /// True if the exploration has to start over; the answer then has only the knowledge.
    pub(super) learned: bool,
}

impl Answer {
    /// Whether the exploration has to start over.
    pub fn learned(&self) -> bool {
        self.learned
    }
}

/// The end of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// The system's description, as the end of a sentence: `was ended by SIGSEGV`.
    pub how: String,
    /// True if the worker ended itself; otherwise another process ended it.
    pub by_itself: bool,
    /// True if the worker announced its end.
    pub said_so: bool,
    /// The last position that the worker announced, as it ended or in a careful job.
    pub at: Option<Seed>,
    /// The scenario that it announced as it ended.
    pub scenario: Option<String>,
}

/// A message about a worker, for the coordinator.
#[derive(Debug)]
pub enum News<A = Answer> {
    /// The worker can be given its first job.
    Ready,
    /// The worker answers its job.
    Answer(Box<A>),
    /// The worker ended; another takes its place, and will be ready.
    Died(Death),
    /// There is no such worker, and can be none, for this reason.
    Gone(String),
}

/// The workers, as the coordinator sees them: numbered from 0.
pub trait Crew {
    /// The number of workers.
    fn size(&self) -> usize;
    /// Begins to start the workers, and returns at once.
    fn start(&mut self);
    /// Gives a job to a worker that has none.
    fn give(&mut self, worker: usize, job: &Job);
    /// Asks a worker to answer as soon as it can.
    fn hurry(&mut self, worker: usize);
    /// The memory that the workers have in use, in bytes.
    fn memory(&self) -> u64 {
        0
    }
    /// The next news; waits for it for at most this time.
    fn news(&mut self, wait: Duration) -> Option<(usize, News)>;
}

/// The coordinator, as a worker sees it.
pub trait Link {
    /// Waits for the next job; `None` if there will be none.
    fn next(&mut self) -> Option<Job>;
    /// Whether the coordinator asked for an answer.
    fn hurries(&mut self) -> bool;
    /// The function with which a careful job announces its position.
    fn announcer(&self) -> Rc<dyn Fn(&Seed)>;
    /// Answers the job.
    fn answer(&mut self, answer: Answer);
}
