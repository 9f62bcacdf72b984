//! Runs: what an execution did and how it ended.

use rustc_hash::FxHashMap;

use crate::base::{EventId, LocId, ThreadId};
use crate::model::MemoryModel;
use crate::step::{Difference, Observed, Step};
use crate::trace::spin::Watched;
use crate::trace::{Event, NoteKind, Op, Row, Site, Source, Trace};

/// How an execution ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// Every thread ended.
    #[default]
    Complete,
    /// Nothing can run any more, and [`Run::waiting`] says what waits.
    Stuck,
    /// The limit of steps was reached.
    StepLimit {
        /// The thread that took the last step.
        thread: ThreadId,
        /// Its last operation.
        site: Site,
    },
    /// Threads go on for ever, under a scheduler that is fair: what happened last can happen again and again.
    Endless {
        /// The position of the first event that does.
        since: u32,
    },
    /// A forced step did not repeat.
    Diverged {
        /// The number of the forced step.
        step: usize,
        /// The event that should have happened.
        event: EventId,
        /// What was different.
        difference: Difference,
    },
    /// Only reads were left that could take nothing but what was tried elsewhere: see [`crate::step::Plan::tried`].
    Tried,
    /// A loop turned out to wait for others; explore again with this knowledge, which the executor keeps.
    Learned,
    /// A thread gave back a lock that another one had taken.
    WrongThread {
        /// The lock.
        lock: LocId,
        /// Who took it.
        holder: ThreadId,
        /// Who gave it back.
        thread: ThreadId,
        /// Where it was taken.
        site: Site,
    },
    /// Something was done that a check cannot follow.
    Misused {
        /// What, and where.
        message: String,
    },
    /// A thread needs a larger stack.
    StackOverflow {
        /// The thread.
        thread: ThreadId,
    },
}

/// What a waiting thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A lock, and who holds it.
    Lock {
        /// The lock.
        loc: LocId,
        /// The holder, unless it ended without a release.
        holder: Option<ThreadId>,
        /// The event that took it, as a position in the trace.
        since: Option<usize>,
    },
    /// The end of a thread.
    Join(ThreadId),
    /// Its park token.
    Park,
    /// Another value in one of these locations (the location and the value last read).
    Spin {
        /// What the last iteration read; empty for a thread that the plan held back elsewhere.
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
    /// What it waits for.
    pub why: Why,
    /// Where it waits.
    pub site: Site,
}

/// A panic of a modelled thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The thread.
    pub thread: ThreadId,
    /// The message.
    pub message: String,
    /// Where it was raised.
    pub site: Site,
    /// Whether another thread received it by `join`.
    pub received: bool,
}

impl Panicked {
    /// Whether it only says that another thread panicked, as `join().unwrap()` and `thread::scope` do.
    pub fn passes_on(&self) -> bool {
        self.message == "a scoped thread panicked" || self.message.contains("`Err` value: Any")
    }

    /// The number of the panic that makes an execution fail: the first that nobody received, or the one that it
    /// passes on.
    pub fn cause(panics: &[Panicked]) -> Option<usize> {
        let first = panics.iter().position(|panic| !panic.received)?;
        let origin = panics[..first].iter().rposition(|panic| !panic.passes_on());
        Some(origin.filter(|_| panics[first].passes_on()).unwrap_or(first))
    }
}

/// Something that was created in an execution and was still there at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Its type.
    pub kind: &'static str,
    /// Where it was created.
    pub created: Site,
    /// What of it is still there.
    pub what: Leaked,
}

/// What is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaked {
    /// It was not dropped.
    Value,
    /// Its memory was not freed, and nothing leads there any more.
    MemoryOf,
    /// Memory to which it has pointed was not freed, and nothing leads there any more.
    MemoryBehind,
}

/// What user code must not do with memory, and does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadMemory {
    /// A thread uses an object whose memory was freed, or may be freed before.
    UsedAfterFree {
        /// The object.
        loc: LocId,
        /// What the thread does with it.
        access: Touch,
        /// Where.
        site: Site,
        /// Where the memory is freed, if that is known: see [`Trace::freed`].
        freed_at: Option<u32>,
    },
    /// A thread frees what was freed before.
    FreedTwice {
        /// The thread.
        thread: ThreadId,
        /// The name of the address.
        block: u64,
        /// Where it was freed first, if that is known: see [`Trace::freed`].
        freed_at: Option<u32>,
        /// Where it is freed again.
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

    /// Where the memory is freed first, if that is known: see [`Trace::freed`].
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
    /// Whose it is.
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
    /// The step is none of the execution: its event was part of an iteration that changed nothing.
    pub left_out: bool,
}

/// A point at which a thread began to wait in a spin loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The event that the thread does next, if it goes on.
    pub next: EventId,
    /// What the iteration read.
    pub watched: Vec<Watched>,
    /// How many events of the iteration are in the execution: the thread waits halfway through it.
    pub begun: u32,
}

/// One execution as the executor saw it. Reused from run to run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The memory model that it followed.
    pub model: MemoryModel,
    /// What happened.
    pub trace: Trace,
    /// How it ended.
    pub end: End,
    /// The threads that wait at the end, in order of their ids.
    pub waiting: Vec<Pending>,
    /// Under C11, in an execution that is stuck: the writes that are the newest of their locations though another
    /// happened later. No step says so, and what waits for ever depends on it.
    pub newest: Vec<EventId>,
    /// The panics, in order.
    pub panics: Vec<Panicked>,
    /// What is left of what was created, if all threads have ended.
    pub leaks: Vec<Leak>,
    /// The first wrong use of memory.
    pub bad_memory: Option<BadMemory>,
    /// Something of the shim was used in a way that the execution does not see.
    pub unmodelled: bool,
    /// How many steps had been taken when a thread was first made to do again what changes nothing: such an execution is
    /// no class of its own.
    pub repeated: Option<u32>,
    /// Where threads began to wait in a loop, in order.
    pub waits: Vec<Wait>,
    /// A thread was made to begin what would have changed nothing, and waits before what it would have read next: such an
    /// execution is no class of its own either.
    pub halfway: bool,
    /// The reads that completed an iteration that changes nothing, by [`crate::trace::Histories::look`], and how many
    /// events of the thread before them belong to the iteration.
    pub looks: Vec<(u64, u32)>,
    /// Whether threads wait in loops in this program, as far as it is known.
    pub has_waits: bool,
    /// How many outcomes without cause an execution may have.
    pub spurious: u32,
    /// What is a step in it because the program was seen to observe it.
    pub observed: Observed,
    /// Where loops were bounded, since no state of their threads repeated.
    pub bounded: Vec<Site>,
    /// Loops that keep something where it is not seen.
    pub hiding: Vec<Site>,
    /// States of threads are not compared: this platform or build shows none.
    pub is_blind: bool,
    /// What could have run at each step, if the plan asked for it.
    pub choices: Vec<Choice>,
}

impl Run {
    /// Forgets the execution and keeps the memory.
    pub fn clear(&mut self) {
        self.trace.clear();
        self.end = End::Complete;
        self.waiting.clear();
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
        self.hiding.clear();
        self.is_blind = false;
        self.choices.clear();
    }

    /// Whether the execution is maximal: nothing could have happened after its end.
    pub fn is_maximal(&self) -> bool {
        matches!(self.end, End::Complete | End::Stuck)
    }

    /// The events that can happen again and again, for ever.
    pub fn repeated_events(&self) -> &[Event] {
        match self.end {
            End::Endless { since } => &self.trace.events[since as usize..],
            _ => &[],
        }
    }

    /// What a plan that forces all its steps says besides: see [`crate::step::Plan::newest`].
    pub fn newest_at_end(&self) -> Option<Vec<EventId>> {
        (self.model.is_graph() && self.end == End::Stuck).then(|| self.newest.clone())
    }

    /// The steps that were taken. Under C11 a read that took the write that happened last says nothing of it.
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
