//! Call paths: the functions of the user through which a thread came to an operation.
//!
//! An operation has the place of the call that the user wrote. Where that is in a function which is called from several
//! places, only the path tells which call it was. The runtime captures paths in one run, that of the failing execution
//! which a report shows; all other runs have none.

use std::panic::UnwindSafe;
use std::sync::{Arc, LazyLock};

use crate::base::ThreadId;
use crate::trace::{Event, Site};

/// A function on the stack of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Its path, as the compiler names it: `bank::Account::transfer::{{closure}}`. Without full debug information, that
    /// of an inlined function is its last name.
    pub function: String,
    /// The place of the call in it.
    pub site: Site,
    /// Whether code that is not the user's called it.
    pub run_by_others: bool,
}

/// The acts to which paths lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// An operation, or another act with a place of its own.
    Operation,
    /// A panic.
    Panic,
    /// The making of the reference with this number: see [`crate::step::Held`].
    Reference(u32),
}

/// The user's functions on the stack of a thread at one moment, from the one that called the shim outwards.
#[derive(Clone, Debug)]
pub struct CallPath {
    /// The thread.
    pub thread: ThreadId,
    /// The number of its events before.
    pub events: u32,
    /// The number of notes of all threads before.
    pub notes: u32,
    /// The act of the thread at that moment.
    pub act: Act,
    /// The functions.
    pub callers: Vec<Caller>,
}

/// The call paths of an execution, in the order in which they were captured. Most executions have none. Names are
/// looked up when a path is asked for: that takes longer than to capture it.
#[derive(Clone, Debug, Default)]
pub struct CallPaths(Option<Arc<Found>>);

type Found = LazyLock<Vec<CallPath>, Box<dyn FnOnce() -> Vec<CallPath> + Send + UnwindSafe>>;

impl CallPaths {
    /// The paths that `find` finds when one is asked for.
    pub fn new(find: impl FnOnce() -> Vec<CallPath> + Send + UnwindSafe + 'static) -> Self {
        Self(Some(Arc::new(LazyLock::new(Box::new(find)))))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        if self.0.is_some() {
            self.0 = None;
        }
    }

    fn all(&self) -> &[CallPath] {
        self.0.as_ref().map_or(&[], |paths| LazyLock::force(paths).as_slice())
    }

    /// The path to an event. A thread that comes to several events by one call has captured it once.
    pub fn of_event(&self, event: &Event) -> &[Caller] {
        self.last(|path| path.thread == event.id.thread && path.events <= event.id.index)
    }

    /// The path to the note of a thread at this place among the notes.
    pub fn of_note(&self, thread: ThreadId, at: usize) -> &[Caller] {
        self.last(|path| path.thread == thread && path.notes as usize <= at)
    }

    /// The path to the last panic of a thread.
    pub fn of_panic(&self, thread: ThreadId) -> &[Caller] {
        self.last(|path| path.thread == thread && path.act == Act::Panic)
    }

    /// The path to the making of a reference.
    pub fn of_reference(&self, number: u32) -> &[Caller] {
        self.last(|path| path.act == Act::Reference(number))
    }

    /// The path to the operation before which a thread stands at the end.
    pub fn at_end(&self, thread: ThreadId) -> &[Caller] {
        self.last(|path| path.thread == thread)
    }

    /// The places of all functions.
    pub fn sites(&self) -> impl Iterator<Item = Site> {
        self.all().iter().flat_map(|path| path.callers.iter().map(|caller| caller.site))
    }

    fn last(&self, is_it: impl Fn(&CallPath) -> bool) -> &[Caller] {
        self.all().iter().rev().find(|path| is_it(path)).map_or(&[], |path| &path.callers)
    }
}
