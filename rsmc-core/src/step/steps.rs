//! One decision of an execution.

use serde::{Deserialize, Serialize};

use crate::base::{EventId, ThreadId};
use crate::trace::Action;

/// One decision of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// The thread performs the operation it stands before.
    Run(ThreadId),
    /// The thread performs the operation it stands before, which reads, and takes this write (`None`: the initial
    /// value). Only under C11; otherwise, and in a step without a write, a read takes the newest write.
    Take(ThreadId, Option<EventId>),
    /// The thread performs another alternative of the operation it stands before
    /// ([`crate::trace::Action::alternatives`]); one that reads takes the write in `takes`, as in [`Step::Take`].
    Choose {
        /// The thread.
        thread: ThreadId,
        /// The number of the alternative.
        which: u64,
        /// The write that it takes, if the step names one.
        takes: Option<Option<EventId>>,
    },
    /// This store leaves the buffer of its thread and becomes visible to all.
    Flush(EventId),
}

impl Step {
    /// The step in which a thread performs an operation, and takes the newest write, or the one in `takes`.
    pub fn perform(thread: ThreadId, action: Action, takes: Option<Option<EventId>>) -> Self {
        Self::alternative(thread, action.alternative(), takes)
    }

    /// The step in which a thread performs an alternative of its operation, and takes the newest write, or the one in
    /// `takes`.
    pub fn alternative(thread: ThreadId, which: u64, takes: Option<Option<EventId>>) -> Self {
        match (which, takes) {
            (0, None) => Step::Run(thread),
            (0, Some(write)) => Step::Take(thread, write),
            (which, takes) => Step::Choose { thread, which, takes },
        }
    }

    /// The number of the alternative that a thread performs, and the write that it takes, if the step names one.
    pub fn performed(self) -> (u64, Option<Option<EventId>>) {
        match self {
            Step::Run(_) | Step::Flush(_) => (0, None),
            Step::Take(_, write) => (0, Some(write)),
            Step::Choose { which, takes, .. } => (which, takes),
        }
    }

    /// The thread the step belongs to.
    pub fn thread(self) -> ThreadId {
        match self {
            Step::Run(thread) | Step::Take(thread, _) | Step::Choose { thread, .. } => thread,
            Step::Flush(store) => store.thread,
        }
    }
}
