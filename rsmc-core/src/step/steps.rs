//! One decision of an execution.

use serde::{Deserialize, Serialize};

use crate::base::{EventId, ThreadId};
use crate::trace::Action;

/// One decision of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// The thread performs the operation it stands before.
    Run(ThreadId),
    /// The thread performs the operation it stands before, which reads, and takes what this write left (`None`: the initial
    /// value). Under C11; otherwise, and where nothing is said, it takes the newest.
    Take(ThreadId, Option<EventId>),
    /// The thread performs another alternative of the operation it stands before ([`crate::trace::Action::alternatives`]);
    /// one that reads takes what `takes` says, as in [`Step::Take`].
    Choose {
        /// The thread.
        thread: ThreadId,
        /// The number of the alternative.
        which: u64,
        /// What it takes, if that is said.
        takes: Option<Option<EventId>>,
    },
    /// This store leaves the buffer of its thread and becomes visible to all.
    Flush(EventId),
}

impl Step {
    /// A thread performs an operation, and takes what newest is or what is said.
    pub fn perform(thread: ThreadId, action: Action, takes: Option<Option<EventId>>) -> Self {
        Self::alternative(thread, action.alternative(), takes)
    }

    /// The same, by the number of the alternative.
    pub fn alternative(thread: ThreadId, which: u64, takes: Option<Option<EventId>>) -> Self {
        match (which, takes) {
            (0, None) => Step::Run(thread),
            (0, Some(write)) => Step::Take(thread, write),
            (which, takes) => Step::Choose { thread, which, takes },
        }
    }

    /// The number of the alternative that a thread performs, and what it takes, if that is said.
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
