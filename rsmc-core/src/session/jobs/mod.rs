//! A check by several executors at once: a coordinator gives jobs away, workers answer.
//!
//! A *job* is a part of what is left to explore, and an answer says all that came of it, at once: so a worker that ends
//! without an answer loses nothing, and nothing is counted twice. How jobs and answers travel, and what a worker is, is
//! not known here: [`Crew`] and [`Link`] are the two ends of that. `docs/protocol.md` describes the messages.
//!
//! - `coordinate`: the coordinator. It owns what is left, the counts, and the names of threads.
//! - `shared`: what is left, whichever explorer began.
//! - `samples`: what is left of a check at random.
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
use crate::session::tally::Tally;
use crate::step::{Knowledge, Step};

pub(super) use coordinate::{Nobody, Team, Then};
pub(super) use samples::Samples;
pub(super) use shared::{Begin, Left, Shared};
pub(super) use work::run_job;

/// A part of what is left to explore.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// What the executor has to know, and no more.
    pub(super) knowledge: Knowledge,
    /// It ends after so many executions that count.
    pub(super) grant: Option<u64>,
    pub(super) careful: bool,
    pub(super) task: Task,
}

impl Job {
    /// Whether a worker ended in it: this one says at every step where it is.
    pub fn is_careful(&self) -> bool {
        self.careful
    }
}

/// A failing execution, without what only its executor knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Problem {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    pub(super) steps: Vec<Step>,
    /// As [`crate::step::Plan::newest`].
    pub(super) newest: Option<Vec<EventId>>,
}

/// All that came of a job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    pub(super) tally: Tally,
    /// Of a subtree: what is left of it, and what it shows of the tree above.
    pub(super) found: Option<Found>,
    /// Of samples: how many were run. Of a livelock: 1 if it was run.
    pub(super) done: u64,
    /// Executions that end in a livelock. Who sees all of them knows which are new; they are not counted yet.
    pub(super) livelocks: Vec<(Digest, Problem)>,
    /// The first execution that fails in another way.
    pub(super) problem: Option<Problem>,
    /// Nothing can be explored after that.
    pub(super) over: bool,
    /// What the executor came to know. The run that showed it was not taken in.
    pub(super) knowledge: Option<Knowledge>,
    /// For that the exploration has to start over; the answer says nothing else.
    pub(super) learned: bool,
}

impl Answer {
    /// Whether the exploration has to start over.
    pub fn learned(&self) -> bool {
        self.learned
    }
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// What the system says of it, as the end of a sentence: `was ended by SIGSEGV`.
    pub how: String,
    /// It ended itself; otherwise something else did.
    pub by_itself: bool,
    /// It said so before.
    pub said_so: bool,
    /// Where it was, if it said so, as it ended or in a careful job.
    pub at: Option<Seed>,
}

/// What a coordinator hears of a worker.
#[derive(Debug)]
pub enum News {
    /// It can be given its first job.
    Ready,
    /// It answers its job.
    Answer(Box<Answer>),
    /// It ended; another takes its place, and will be ready.
    Died(Death),
    /// There is none, and there will be none.
    Gone(String),
}

/// The workers, as the coordinator sees them: numbered from 0.
pub trait Crew {
    /// How many there are to be.
    fn size(&self) -> usize;
    /// Begins to start them, and returns at once.
    fn start(&mut self);
    /// Gives a job to a worker that has none.
    fn give(&mut self, worker: usize, job: &Job);
    /// Asks a worker to answer as soon as it can.
    fn hurry(&mut self, worker: usize);
    /// The next news; waits for it for so long.
    fn news(&mut self, wait: Duration) -> Option<(usize, News)>;
}

/// The coordinator, as a worker sees it.
pub trait Link {
    /// Waits for the next job; `None` if there will be none.
    fn next(&mut self) -> Option<Job>;
    /// Whether the coordinator asked for an answer.
    fn hurries(&mut self) -> bool;
    /// Says where a careful job is.
    fn announcer(&self) -> Rc<dyn Fn(&Seed)>;
    /// Answers the job.
    fn answer(&mut self, answer: Answer);
}
