//! Events and notes: the rows of a recorded execution.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::atomic::Ordering;

use crate::base::{EventId, LocId, ThreadId};
use crate::trace::{Action, CHOICE, PATIENCE, SUSPENSION};

/// A place in the user's source.
#[derive(Clone, Copy, Debug, Eq, Default)]
pub enum Site {
    /// Not known.
    #[default]
    Unknown,
    /// A place in Rust code.
    Code(&'static Location<'static>),
    /// A place in Rust code that is known by name only.
    Place {
        /// The file.
        file: &'static str,
        /// The line.
        line: u32,
    },
    /// A line of a litmus program.
    Line(u32),
}

impl Site {
    /// Line and column, as far as they are known.
    pub fn line_and_column(self) -> (u32, u32) {
        match self {
            Site::Unknown => (0, 0),
            Site::Code(place) => (place.line(), place.column()),
            Site::Place { line, .. } | Site::Line(line) => (line, 0),
        }
    }
}

impl PartialEq for Site {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Site::Unknown, Site::Unknown) => true,
            // Mostly the same call, so that the names of the files are not read.
            (Site::Code(a), Site::Code(b)) => std::ptr::eq(a, b) || a == b,
            (Site::Place { file: a, line: at }, Site::Place { file: b, line: other }) => (a, at) == (b, other),
            (Site::Line(a), Site::Line(b)) => a == b,
            _ => false,
        }
    }
}

impl Hash for Site {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.line_and_column().hash(state);
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Site::Unknown => write!(f, "unknown place"),
            Site::Code(place) => write!(f, "{}:{}", place.file(), place.line()),
            Site::Place { file, line } => write!(f, "{file}:{line}"),
            Site::Line(line) => write!(f, "line {line}"),
        }
    }
}

/// An operation a thread is about to perform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Its action.
    pub action: Action,
    /// The location it acts on.
    pub loc: LocId,
    /// The ordering written in the source (of the success, where there are two).
    pub order: Ordering,
    /// The ordering of a failed compare-exchange; equal to `order` elsewhere.
    pub failure: Ordering,
    /// Its place in the user's source.
    pub site: Site,
}

impl Op {
    /// The ordering that applies where the action writes, or does not.
    pub fn effective_order(&self, writes: bool) -> Ordering {
        if writes { self.order } else { self.failure }
    }

    /// Whether SC and C11 are the same for it, where it writes or does not: it is `SeqCst`, or the use of a lock, whose
    /// order is happens-before.
    pub fn is_sequential(&self, writes: bool) -> bool {
        let uses_lock = (self.action.locks() && writes) || matches!(self.action, Action::Release { .. });
        uses_lock || self.effective_order(writes) == Ordering::SeqCst
    }

    /// This operation with an ordering that is at least this one, as far as its action can have it: a load releases
    /// nothing, and a store acquires nothing. Locks have no ordering of their own.
    pub fn with_at_least(self, least: Ordering) -> Self {
        let acquires = acquires(least) && !matches!(self.action, Action::Store(_));
        let releases = releases(least) && self.action != Action::Load;
        match self.action {
            Action::Load | Action::Store(_) | Action::Rmw(_) => {
                let order = raised(self.order, least, acquires, releases);
                Self { order, failure: order, ..self }
            }
            Action::Cas { .. } | Action::AddUnless(_) | Action::Fail { .. } => Self {
                order: raised(self.order, least, acquires, releases),
                failure: raised(self.failure, least, acquires, false),
                ..self
            },
            _ => self,
        }
    }

    /// This operation with an ordering that is at most this one; of a compare-exchange, that of its success.
    pub fn with_at_most(self, most: Ordering) -> Self {
        let order = weakest(self.order, most);
        match self.action {
            Action::Load | Action::Store(_) | Action::Rmw(_) => Self { order, failure: order, ..self },
            Action::Cas { .. } | Action::AddUnless(_) | Action::Fail { .. } => Self { order, ..self },
            _ => self,
        }
    }

    /// This operation, whose ordering where it is a compare-exchange that fails is at most this one. A load at such a
    /// place is that of `fetch_update`, which has the same ordering.
    pub fn with_failure_at_most(self, most: Ordering) -> Self {
        match self.action {
            Action::Load => self.with_at_most(most),
            Action::Cas { .. } | Action::AddUnless(_) | Action::Fail { .. } => {
                Self { failure: weakest(self.failure, most), ..self }
            }
            _ => self,
        }
    }

    /// Whether it is sequential whatever it reads.
    pub fn is_always_sequential(&self) -> bool {
        self.is_sequential(true) && (self.action == Action::Acquire || self.is_sequential(false))
    }
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// The strongest ordering that is no stronger than either of two.
pub fn weakest(one: Ordering, other: Ordering) -> Ordering {
    if one == Ordering::SeqCst || other == Ordering::SeqCst {
        return if one == Ordering::SeqCst { other } else { one };
    }
    of_parts(acquires(one) && acquires(other), releases(one) && releases(other))
}

/// The weakest ordering that is at least as strong as either of two.
pub fn strongest(one: Ordering, other: Ordering) -> Ordering {
    raised(one, other, acquires(other), releases(other))
}

fn of_parts(acquires: bool, releases: bool) -> Ordering {
    match (acquires, releases) {
        (true, true) => Ordering::AcqRel,
        (true, false) => Ordering::Acquire,
        (false, true) => Ordering::Release,
        (false, false) => Ordering::Relaxed,
    }
}

/// An ordering that is at least another one, with what is wanted of that.
fn raised(order: Ordering, least: Ordering, acquire: bool, release: bool) -> Ordering {
    if least == Ordering::SeqCst || order == Ordering::SeqCst {
        return Ordering::SeqCst;
    }
    of_parts(acquire || acquires(order), release || releases(order))
}

/// The source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The event does not read.
    None,
    /// The value the location had before any write.
    Init,
    /// The write at this position of [`crate::trace::Trace::events`].
    At(u32),
}

/// A visible operation that happened.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Its name.
    pub id: EventId,
    /// The operation.
    pub op: Op,
    /// The source of its value.
    pub source: Source,
    /// The value it read (0 if it does not read).
    pub read: u64,
    /// The value it wrote, if it wrote.
    pub written: Option<u64>,
    /// Whether what it wrote went into the buffer of its thread; a [`NoteKind::Flush`] makes it visible to all.
    pub buffered: bool,
}

impl Event {
    /// Whether the event both reads and writes.
    pub fn updates(&self) -> bool {
        self.source != Source::None && self.written.is_some()
    }

    /// Whether it writes and may leave another value than it found: an update that writes what it read does not.
    #[inline]
    pub fn changes(&self) -> bool {
        self.written.is_some_and(|written| self.source == Source::None || written != self.read)
    }

    /// The ordering that applied, with the failure ordering for a failed compare-exchange.
    pub fn order(&self) -> Ordering {
        self.op.effective_order(self.written.is_some())
    }

    /// Whether the event made its thread the holder of a lock.
    pub fn locked(&self) -> bool {
        self.op.action.locks() && self.written.is_some()
    }
}

/// Something that happened between events and that no explorer orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Started a thread.
    Spawn(ThreadId),
    /// Received the end of a thread.
    Join(ThreadId),
    /// The thread ended.
    End,
    /// A fence. One that is `SeqCst` has waited for the buffers of its thread.
    Fence(Ordering),
    /// The buffered store at this position of [`crate::trace::Trace::events`] became visible to all. The note is its
    /// thread's, though the thread has no part in it.
    Flush(u32),
    /// Changed a count of references, for which it has waited for its buffers. Only under models with buffers.
    Counted,
    /// Read a tracked cell.
    CellRead(LocId),
    /// Wrote a tracked cell.
    CellWrite(LocId),
    /// The access of a cell that its thread began as this one, counted from 0, is over. One that has none ended where
    /// it began.
    CellEnd {
        /// The number of the access.
        access: u32,
        /// Whether it ended with the last operation of its thread before this note, not after it.
        early: bool,
    },
    /// Freed the memory of an object, which other threads may have used or may still use.
    Freed(LocId),
    /// Dropped a tracked value, which other threads may have used or may still use.
    Dropped(LocId),
    /// Freed the memory that [`crate::step::BadMemory`] is about.
    FreedAny,
    /// `hint::spin_loop` or `thread::yield_now`.
    Hint,
    /// A future that the thread runs is not ready.
    Pending,
    /// Dropped one reference to a shared value: what came before is visible to whoever drops the last one.
    ArcRelease(LocId),
    /// Dropped the last reference to a shared value, and begins to drop the value.
    ArcAcquire(LocId),
    /// Has dropped the value of which it had the last reference.
    ArcGone(LocId),
    /// Begins the call of this number of a scenario.
    Called(u32),
    /// Has returned from the call of this number of a scenario.
    Returned(u32),
    /// Panicked; the number is the place in [`crate::step::Run::panics`].
    Panic(u32),
    /// Asked for what follows, in all threads, to be explored or not.
    Explore(Explore),
}

/// Whether explorers make decisions in a part of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explore {
    /// They do, as in the beginning.
    On,
    /// They do not, until it is on again.
    Off,
    /// They do not, to the end.
    OffForGood,
}

impl NoteKind {
    /// Whether it says that a tracked cell is accessed, or no longer.
    pub fn is_of_cell(self) -> bool {
        matches!(self, NoteKind::CellRead(_) | NoteKind::CellWrite(_) | NoteKind::CellEnd { .. })
    }

    /// Whether it says that memory was freed, or a tracked value dropped.
    pub fn frees(self) -> bool {
        matches!(self, NoteKind::Freed(_) | NoteKind::Dropped(_) | NoteKind::FreedAny)
    }

    /// Whether it says that a tracked value was dropped.
    pub fn drops(self) -> bool {
        matches!(self, NoteKind::Dropped(_))
    }

    /// The object that is gone after it, if it says that of one.
    pub fn ends(self) -> Option<LocId> {
        match self {
            NoteKind::Freed(loc) | NoteKind::Dropped(loc) => Some(loc),
            _ => None,
        }
    }
}

/// A note with its place.
#[derive(Clone, Copy, Debug)]
pub struct Note {
    /// The number of events that happened before it.
    pub at: u32,
    /// Its thread.
    pub thread: ThreadId,
    /// Its kind.
    pub kind: NoteKind,
    /// Its place in the user's source.
    pub site: Site,
}

/// A location of an execution.
#[derive(Clone, Copy, Debug)]
pub struct LocInfo {
    /// The type, as the user wrote it: `AtomicUsize`, `Mutex`, …
    pub kind: &'static str,
    /// The place where it was created, or first used.
    pub created: Site,
    /// Its value before any write.
    pub init: u64,
    /// Its address, or 0; a report orders by it the elements of an array, which are created at one place.
    pub address: usize,
}

impl LocInfo {
    /// Whether it holds choices, or the token of a suspended thread, and is no object of the program.
    pub fn is_internal(&self) -> bool {
        [CHOICE, PATIENCE, SUSPENSION].contains(&self.kind)
    }
}

/// The acts of a thread up to some time, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Done {
    /// The number of its events.
    pub events: u32,
    /// The number of threads that it had started.
    pub spawns: u32,
    /// The number of its fences.
    pub fences: u32,
}

/// The making of an object, which is a write of it: it comes after all that a thread had done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Making {
    /// Its location.
    pub loc: LocId,
    /// The thread that made it.
    pub thread: ThreadId,
    /// The acts of that thread before it.
    pub done: Done,
}

/// A thread of an execution.
#[derive(Clone, Debug, Default)]
pub struct ThreadInfo {
    /// The name given by the user.
    pub name: Option<String>,
    /// The thread that started it; itself for the test body.
    pub parent: ThreadId,
    /// Its number among its parent's spawns.
    pub nth: u32,
    /// The place where it was spawned.
    pub site: Site,
    /// Whether it took part in this execution.
    pub present: bool,
}
