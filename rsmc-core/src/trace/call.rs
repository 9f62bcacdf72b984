//! Calls of the program that consist of several events.
//!
//! A `RwLock`, a `Condvar`, a channel or a `Once` is made of locks, tokens and counts that its user does not have. The
//! shim notes which of a thread's events belong to one call of the user's, so that a report shows that call and not its
//! inner steps. Explorers do not look at calls.

use crate::base::{LocId, ThreadId};
use crate::trace::Site;

/// A call, or the part of one up to the point where its thread has to wait, or from there on.
#[derive(Clone, Debug)]
pub struct Call {
    /// The thread that makes it.
    pub thread: ThreadId,
    /// The location that stands for the object of the user.
    pub object: LocId,
    /// The type of the object, as the user wrote it.
    pub kind: &'static str,
    /// The method.
    pub verb: &'static str,
    /// Its result.
    pub result: CallResult,
    /// The number of events of its thread before it.
    pub first: u32,
    /// The number of events of its thread before the one that decided the result; `None` while that is open.
    pub decided: Option<u32>,
    /// The number of events of its thread at its end; `None` while it goes on.
    pub end: Option<u32>,
    /// Its place in the user's source.
    pub site: Site,
}

/// The calls of a scenario of a specification, in its words. They are the user's operations, of which each may make
/// many calls of objects.
#[derive(Clone, Debug, Default)]
pub struct ScenarioCalls {
    /// The calls with their results, as lines of a table with a column for each thread.
    pub table: Vec<String>,
    /// The calls, by number.
    pub calls: Vec<ScenarioCall>,
}

/// A call of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioCall {
    /// The operation with its argument.
    pub begun: String,
    /// The operation with its result, if it has returned; empty if it has not.
    pub returned: String,
}

impl ScenarioCalls {
    /// Forgets all calls and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.calls.clear();
    }
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallResult {
    /// There is nothing to say.
    #[default]
    Nothing,
    /// A remark.
    Remark(&'static str),
    /// The value that it returned, in words.
    Is(&'static str),
    /// The number that it returned.
    Number(u64),
    /// The number of references that there are then, and their kind.
    References(u64, &'static str),
    /// A message went into a channel.
    Sent(Message),
    /// The thread waits until a channel takes its message.
    Offers(Message),
    /// A message came out of a channel.
    Received(Message),
    /// The thread is one of those for which others wait.
    Came {
        /// The number of threads that have come.
        there: usize,
        /// The number of threads that have to come.
        all: usize,
    },
    /// The thread waits until these threads give the object back.
    WaitsFor(Vec<ThreadId>),
    /// The thread waits, and has given a lock back.
    GivesBack(LocId),
    /// A thread that waited goes on, notified.
    Notified,
    /// So many threads that wait are notified.
    Notifies(usize),
}

/// A message of a channel, as far as it can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A message of a type that cannot be shown.
    Unknown,
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A truth value.
    Bool(bool),
    /// A character.
    Char(char),
}

impl Call {
    fn is_open(&self, thread: ThreadId) -> bool {
        self.thread == thread && self.end.is_none()
    }
}

/// The calls of an execution, in the order in which they begin.
#[derive(Debug, Default)]
pub struct Calls(Vec<Call>);

impl Calls {
    /// The calls.
    pub fn iter(&self) -> impl Iterator<Item = &Call> {
        self.0.iter()
    }

    /// The outermost call in which a thread is. Calls of one thread lie within one another or apart, so it is the one
    /// that began first.
    pub fn open(&self, thread: ThreadId) -> Option<&Call> {
        self.0.iter().find(|call| call.is_open(thread))
    }

    /// Begins a call.
    pub fn begin(&mut self, call: Call) {
        self.0.push(call);
    }

    /// Notes the result of the innermost open call of a thread that has performed `count` events.
    pub fn decide(&mut self, thread: ThreadId, count: u32, result: CallResult) {
        if let Some(call) = self.innermost(thread).filter(|call| call.first < count) {
            call.result = result;
            call.decided = Some(count - 1);
        }
    }

    /// Ends the innermost open call of a thread that has performed `count` events. A call without an event is none.
    pub fn end(&mut self, thread: ThreadId, count: u32) {
        let Some(at) = self.0.iter().rposition(|call| call.is_open(thread)) else { return };
        if self.0[at].first < count {
            self.0[at].end = Some(count);
        } else {
            self.0.remove(at);
        }
    }

    fn innermost(&mut self, thread: ThreadId) -> Option<&mut Call> {
        self.0.iter_mut().rfind(|call| call.is_open(thread))
    }

    /// Forgets all calls and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets what a thread, which has performed `count` events, has not done after all. A call that goes on stays.
    pub(super) fn cut(&mut self, thread: ThreadId, count: u32) {
        self.0.retain_mut(|call| {
            if call.thread != thread {
                return true;
            }
            let goes_on = call.end.is_none();
            call.end = call.end.map(|end| end.min(count));
            call.decided = call.decided.filter(|&decided| decided < count);
            goes_on || call.first < count
        });
    }
}

impl Clone for Calls {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    /// Keeps the memory.
    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}
