//! Runs: the record of an execution and its end.

use rustc_hash::FxHashMap;

use crate::base::{EventId, LocId, ThreadId};
use crate::model::MemoryModel;
use crate::step::{Difference, Observed, Step, WaitingLoops};
use crate::trace::spin::Watched;
use crate::trace::{Event, NoteKind, Op, Row, Site, Source, Trace};

/// The end of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// Every thread ended.
    #[default]
    Complete,
    /// Nothing can run any more; [`Run::waiting`] has the threads that wait.
    Stuck,
    /// The limit of steps was reached.
    StepLimit {
        /// The thread that took the last step.
        thread: ThreadId,
        /// The place of its last operation.
        site: Site,
    },
    /// The limit of steps was reached while the exploration held a thread back, for which the others may wait. So no
    /// fair scheduler takes these steps, and the run does not show all that it is for.
    Unfair {
        /// The place of the last operation.
        site: Site,
    },
    /// Threads go on for ever, under a fair scheduler: the last events can repeat for ever.
    Endless {
        /// The position of the first event that repeats.
        since: u32,
    },
    /// A forced step did not repeat.
    Diverged {
        /// The number of the forced step.
        step: usize,
        /// The event that should have happened.
        event: EventId,
        /// The difference.
        difference: Difference,
    },
    /// Only reads remained all of whose sources were tried elsewhere: see [`crate::step::Plan::tried`].
    Tried,
    /// The executor learned something, for instance that a loop waits for other threads, and keeps it: explore again.
    Learned,
    /// A thread gave back a lock that another one had taken.
    WrongThread {
        /// The lock.
        lock: LocId,
        /// The thread that took it.
        holder: ThreadId,
        /// The thread that gave it back.
        thread: ThreadId,
        /// The place where it was taken.
        site: Site,
    },
    /// The body did something that a check cannot follow.
    Misused {
        /// A description, with the place.
        message: String,
    },
    /// A thread gave hints and did nothing else, so nothing that it may wait for can happen.
    Idle {
        /// The thread.
        thread: ThreadId,
        /// The place of the last hint.
        site: Site,
        /// The number of hints since the last operation.
        hints: u32,
    },
    /// A thread needs a larger stack.
    StackOverflow {
        /// The thread.
        thread: ThreadId,
    },
}

/// The reason for which a thread waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It waits for a lock.
    Lock {
        /// The lock.
        loc: LocId,
        /// The holder, unless it ended without a release.
        holder: Option<ThreadId>,
        /// The event that took it, as a position in the trace.
        since: Option<usize>,
    },
    /// It waits for the end of this thread.
    Join(ThreadId),
    /// It waits for its park token.
    Park,
    /// It was suspended for ever, where the body said so. Its place is that of its last operation.
    Suspended,
    /// It waits for another value in one of the watched locations.
    Spin {
        /// The locations that the last iteration read, with the values; empty for a thread that the plan held back
        /// elsewhere.
        watched: Vec<Watched>,
        /// Whether the loop has a `spin_loop` or `yield_now`.
        hinted: bool,
        /// The hint, or the first operation of the iteration.
        site: Site,
    },
}

/// A thread that waits at the end of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The event that it would do next.
    pub id: EventId,
    /// The operation it waits to perform; `None` for a join.
    pub op: Option<Op>,
    /// The reason for which it waits.
    pub why: Why,
    /// The place where it waits.
    pub site: Site,
}

impl Pending {
    /// Whether the thread was suspended for ever.
    pub fn is_suspended(&self) -> bool {
        self.why == Why::Suspended
    }

    /// Whether the thread waits for the end of one that was suspended, which is one of `all`.
    pub fn joins_suspended(&self, all: &[Self]) -> bool {
        all.iter().any(|other| other.is_suspended() && self.why == Why::Join(other.id.thread))
    }
}

/// A panic of a modelled thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The thread.
    pub thread: ThreadId,
    /// The message.
    pub message: String,
    /// The place where it was raised.
    pub site: Site,
    /// Whether another thread received it by `join`.
    pub received: bool,
}

impl Panicked {
    /// Whether it only passes on the panic of another thread, as `join().unwrap()` and `thread::scope` do.
    pub fn passes_on(&self) -> bool {
        self.message == "a scoped thread panicked" || self.message.contains("`Err` value: Any")
    }

    /// The number of the panic that makes an execution fail: the first that no thread received, or the one that it
    /// passes on.
    pub fn cause(panics: &[Panicked]) -> Option<usize> {
        let first = panics.iter().position(|panic| !panic.received)?;
        let origin = panics[..first].iter().rposition(|panic| !panic.passes_on());
        Some(origin.filter(|_| panics[first].passes_on()).unwrap_or(first))
    }
}

/// A leak: an object of an execution whose value or memory was not freed by the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Its type.
    pub kind: &'static str,
    /// The place where it was created.
    pub created: Site,
    /// The part of it that was not freed.
    pub what: Leaked,
    /// The references to it that are still there, if the run captured call paths.
    pub held: Vec<Held>,
}

/// A reference to an object that was not dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The thread that made it.
    pub thread: ThreadId,
    /// The call that made it: `new`, `clone`, `upgrade`; `into_raw` if it is a pointer since.
    pub verb: &'static str,
    /// The place of that call.
    pub site: Site,
    /// Its number among all references on record: its call path has it, too.
    pub number: u32,
}

/// The part of a leaked object that was not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaked {
    /// The value was not dropped.
    Value,
    /// The memory of the object was not freed, and is no longer reachable.
    MemoryOf,
    /// Memory to which the object has pointed was not freed, and is no longer reachable.
    MemoryBehind,
}

/// A wrong use of memory by user code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadMemory {
    /// A thread uses an object whose memory was freed, or may be freed before.
    UsedAfterFree {
        /// The object.
        loc: LocId,
        /// The access of the thread.
        access: Touch,
        /// The place of the access.
        site: Site,
        /// The number of the free, if known: see [`Trace::freed`].
        freed_at: Option<u32>,
    },
    /// A thread frees memory that was freed before.
    FreedTwice {
        /// The thread.
        thread: ThreadId,
        /// The name of the address.
        block: u64,
        /// The number of the first free, if known: see [`Trace::freed`].
        freed_at: Option<u32>,
        /// The number of the second free.
        again_at: u32,
    },
}

impl BadMemory {
    /// The object, if one is known.
    pub fn loc(&self) -> Option<LocId> {
        match *self {
            BadMemory::UsedAfterFree { loc, .. } => Some(loc),
            BadMemory::FreedTwice { .. } => None,
        }
    }

    /// The number of the first free, if known: see [`Trace::freed`].
    pub fn freed_at(&self) -> Option<u32> {
        match *self {
            BadMemory::UsedAfterFree { freed_at, .. } | BadMemory::FreedTwice { freed_at, .. } => freed_at,
        }
    }
}

/// An operation on an object, or an access of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// This event.
    Event(EventId),
    /// The access of a cell that this thread began as this one, counted from 0: see [`Trace::access`].
    Cell(ThreadId, u32),
}

impl Touch {
    /// The thread that performs it.
    pub fn thread(self) -> ThreadId {
        match self {
            Touch::Event(event) => event.thread,
            Touch::Cell(thread, _) => thread,
        }
    }
}

/// The steps that were possible at one point, and the one taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The step taken.
    pub taken: Step,
    /// All steps that were possible, in a fixed order.
    pub possible: Vec<Step>,
    /// True if the execution does not have the step: its event was part of a pure iteration.
    pub left_out: bool,
}

/// A point at which a thread began to wait in a spin loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The event that the thread does next, if it goes on.
    pub next: EventId,
    /// The locations that the iteration read, with the values.
    pub watched: Vec<Watched>,
    /// The number of events of the iteration that are in the execution: the thread waits halfway through it.
    pub begun: u32,
}

/// One execution as the executor saw it. Reused from run to run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The memory model that it followed.
    pub model: MemoryModel,
    /// The events and notes.
    pub trace: Trace,
    /// The end of the execution.
    pub end: End,
    /// The threads that wait at the end, in order of their ids.
    pub waiting: Vec<Pending>,
    /// The threads that may wait for ever.
    pub detached: Vec<ThreadId>,
    /// Under C11, in an execution that is stuck: the writes that are the newest of their locations though another
    /// happened later. The steps do not show this, and which threads wait for ever depends on it.
    pub newest: Vec<EventId>,
    /// The panics, in order.
    pub panics: Vec<Panicked>,
    /// The leaks, if all threads have ended.
    pub leaks: Vec<Leak>,
    /// The first wrong use of memory.
    pub bad_memory: Option<BadMemory>,
    /// True if the body used the shim in a way that the execution does not see.
    pub unmodelled: bool,
    /// The number of steps before a thread was first made to repeat a pure iteration: such an execution is no class of
    /// its own. If it is `halfway` as well, the other threads have gone on.
    pub repeated: Option<u32>,
    /// The points at which threads began to wait in a loop, in order.
    pub waits: Vec<Wait>,
    /// True if a thread was made to begin a pure iteration, and waits before its next read, or behind the iteration if
    /// that takes a lock: such an execution is no class of its own either.
    pub halfway: bool,
    /// The reads that completed a pure iteration, by [`crate::trace::Histories::look`], and the number of events of the
    /// thread before each that belong to the iteration.
    pub looks: Vec<(u64, u32)>,
    /// The loops that wait in this program, as far as known when the run began.
    pub loops: WaitingLoops,
    /// The number of spurious outcomes that an execution may have.
    pub spurious: u32,
    /// The observations of the program: the events they name are steps.
    pub observed: Observed,
    /// The places of loops that were bounded, since no state of their threads repeated.
    pub bounded: Vec<Site>,
    /// The places of loops that were bounded, since they take back what they change (`machine::rounds`).
    pub rounds: Vec<Site>,
    /// The places of loops that keep state where rsmc does not see it.
    pub hiding: Vec<Site>,
    /// True if the states of threads are not compared: this platform or build shows none.
    pub is_blind: bool,
    /// The possible steps at each step, if the plan asked for them.
    pub choices: Vec<Choice>,
}

impl Run {
    /// Forgets the execution and keeps the memory.
    pub fn clear(&mut self) {
        self.trace.clear();
        self.end = End::Complete;
        self.waiting.clear();
        self.detached.clear();
        self.newest.clear();
        self.panics.clear();
        self.leaks.clear();
        self.bad_memory = None;
        self.unmodelled = false;
        self.repeated = None;
        self.halfway = false;
        self.waits.clear();
        self.looks.clear();
        self.bounded.clear();
        self.rounds.clear();
        self.hiding.clear();
        self.is_blind = false;
        self.choices.clear();
    }

    /// Whether threads wait in loops in this program, as far as known.
    pub fn has_waits(&self) -> bool {
        self.loops.any
    }

    /// The locks of this execution at which threads look without waiting for them, as far as known.
    pub fn tried(&self) -> Vec<LocId> {
        if self.loops.tried.is_empty() {
            return Vec::new();
        }
        self.trace.locs.iter().filter(|(_, info)| self.loops.is_tried(info.created)).map(|(loc, _)| loc).collect()
    }

    /// Whether the execution is maximal: nothing could have happened after its end.
    pub fn is_maximal(&self) -> bool {
        matches!(self.end, End::Complete | End::Stuck)
    }

    /// The events that can repeat for ever.
    pub fn repeated_events(&self) -> &[Event] {
        match self.end {
            End::Endless { since } => &self.trace.events[since as usize..],
            _ => &[],
        }
    }

    /// The newest writes for a plan that forces all its steps: see [`crate::step::Plan::newest`].
    pub fn newest_at_end(&self) -> Option<Vec<EventId>> {
        (self.model.is_graph() && self.end == End::Stuck).then(|| self.newest.clone())
    }

    /// The steps that were taken. Under C11 the step of a read that took the write that happened last does not name it.
    pub fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        let mut last: FxHashMap<LocId, EventId> = FxHashMap::default();
        self.trace.rows().filter_map(move |row| match row {
            Row::Event(_, event) => {
                let source = self.trace.source_id(event);
                let stale =
                    self.model.is_graph() && event.source != Source::None && source != last.get(&event.op.loc).copied();
                if event.written.is_some() {
                    last.insert(event.op.loc, event.id);
                }
                Some(Step::perform(event.id.thread, event.op.action, stale.then_some(source)))
            }
            Row::Note(note) => match note.kind {
                NoteKind::Flush(store) => Some(Step::Flush(self.trace.events[store as usize].id)),
                _ => None,
            },
        })
    }
}
