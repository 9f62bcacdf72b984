//! Workers each of which answers whole questions about a check: a question is a check of its own, with other settings.
//!
//! What ends the process of a worker ends one question only.

use std::time::Duration;

use rsmc_core::session::Config;
use rsmc_core::session::jobs::{Death, News};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ends;
use crate::jobs::Which;
use crate::jobs::crew::Processes;
use crate::jobs::link::{Assignment, Purpose};

/// A worker, as the pool sees it.
enum Worker<Q> {
    /// Its process has not come yet.
    Absent,
    Idle,
    Busy(Q),
}

/// The workers for the questions about one check.
pub(crate) struct Pool<'a, Q, A> {
    processes: Processes<'a, A>,
    workers: Vec<Worker<Q>>,
    /// The reasons for which workers can never start, one for each such worker.
    gone: Vec<String>,
}

impl<'a, Q, A> Pool<'a, Q, A>
where
    Q: Serialize + PartialEq,
    A: DeserializeOwned + Send + 'static,
{
    /// Starts as many workers as the configuration asks for.
    pub(crate) fn start(which: &'a Which, config: &Config) -> Self {
        let mut processes = Processes::new(which, Purpose::Answer, config);
        processes.start_all();
        Self { processes, workers: (0..config.jobs).map(|_| Worker::Absent).collect(), gone: Vec::new() }
    }

    /// The reason why there are no workers, once that is known.
    pub(crate) fn is_gone(&self) -> Option<&str> {
        if self.gone.len() == self.workers.len() { self.gone.first().map(String::as_str) } else { None }
    }

    /// Asks a question, unless a worker has it already. False if no worker is free.
    pub(crate) fn ask(&mut self, question: Q) -> bool {
        let is_asked = |worker: &Worker<Q>| matches!(worker, Worker::Busy(other) if *other == question);
        if self.workers.iter().any(is_asked) {
            return true;
        }
        let Some(free) = self.workers.iter().position(|worker| matches!(worker, Worker::Idle)) else { return false };
        self.processes.give_job(free, &question);
        self.workers[free] = Worker::Busy(question);
        true
    }

    /// A question that was asked and its answer, or the death of its worker; `None` if there is none in time, or if
    /// something else was heard of a worker.
    pub(crate) fn hear(&mut self, wait: Duration) -> Option<(Q, Result<A, Death>)> {
        let (worker, news) = self.processes.next_news(wait)?;
        let mut becomes = |state| match std::mem::replace(&mut self.workers[worker], state) {
            Worker::Busy(question) => Some(question),
            Worker::Absent | Worker::Idle => None,
        };
        match news {
            News::Ready => becomes(Worker::Idle).and(None),
            News::Answer(answer) => becomes(Worker::Idle).map(|question| (question, Ok(*answer))),
            News::Died(death) => becomes(Worker::Absent).map(|question| (question, Err(death))),
            News::Gone(why) => {
                self.gone.push(why);
                None
            }
        }
    }
}

/// Answers questions for the rest of the process, if it is a worker that was started to do that for this check.
pub(crate) fn answer_if_asked<Q, A>(which: &Which, config: &Config, answer: &dyn Fn(Q) -> A)
where
    Q: DeserializeOwned + Send + 'static,
    A: Serialize,
{
    if let Some(assignment) = Assignment::read().filter(|it| it.is_to(Purpose::Answer, which.name())) {
        ends::prepare();
        assignment.answer(which.fingerprint(config), answer);
    }
}
