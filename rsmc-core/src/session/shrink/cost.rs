//! The cost of a schedule, and the state that it leads to, step by step.

use rustc_hash::FxHashMap;

use crate::base::{Digest, EventId, Id, IdVec, LocId, ThreadId, mix};
use crate::model::MemoryModel;
use crate::session::FailureKind;
use crate::step::{Run, Step};
use crate::trace::{Event, Note, NoteKind, Op, Row, Source, Trace};

/// The cost of a schedule; see the module above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct Cost {
    /// The number of operations of another thread than the operation before.
    pub(in crate::session) switches: u32,
    /// The number of stores that do not leave their buffer at once, and of reads that take an old value.
    pub(in crate::session) weak: u32,
    /// The number of alternatives other than the first.
    pub(in crate::session) chosen: u32,
    /// The number of steps.
    pub(in crate::session) steps: u32,
}

impl Cost {
    /// The cost of an execution.
    pub(in crate::session) fn of(run: &Run) -> Self {
        let mut walk = Walk::new(run.model, None);
        run.trace.rows().for_each(|row| walk.row(&run.trace, row));
        walk.cost
    }

    /// Whether no part is larger.
    pub(super) fn is_within(&self, other: &Cost) -> bool {
        self.switches <= other.switches && self.weak <= other.weak && self.chosen <= other.chosen
    }
}

/// A walk along an execution.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    model: MemoryModel,
    /// The failure that is looked for, if states matter.
    kind: Option<FailureKind>,
    pub(super) cost: Cost,
    /// The thread that performed the last operation.
    pub(super) last: Option<ThreadId>,
    /// The store of the last step, if it waits in a buffer.
    fresh: Option<EventId>,
    /// By location: its last write in memory. Under C11 the last write that happened.
    memory: FxHashMap<LocId, EventId>,
    /// The stores that wait in buffers, in order.
    waiting: Vec<(EventId, LocId)>,
    counts: IdVec<ThreadId, u32>,
    /// A digest of the operations of every thread.
    history: Digest,
    /// A digest of the order of the events that decide which of several failures is the first.
    order: Digest,
    /// By thread: the number of its accesses of cells.
    accesses: IdVec<ThreadId, u64>,
    /// By cell: all its accesses so far, in order, as a number.
    of_cells: FxHashMap<LocId, u64>,
    /// The order when the last step was taken: the later notes of its thread follow from the step.
    order_before: Digest,
}

/// An operation that happens.
struct Performed {
    id: EventId,
    loc: LocId,
    /// The write that it takes, if it reads; `None` in that is the initial value.
    takes: Option<Option<EventId>>,
    which: u64,
    writes: bool,
    buffered: bool,
}

impl Walk {
    pub(super) fn new(model: MemoryModel, kind: Option<FailureKind>) -> Self {
        Self {
            model,
            kind,
            cost: Cost::default(),
            last: None,
            fresh: None,
            memory: FxHashMap::default(),
            waiting: Vec::new(),
            counts: IdVec::new(),
            history: Digest::EMPTY,
            order: Digest::EMPTY,
            accesses: IdVec::new(),
            of_cells: FxHashMap::default(),
            order_before: Digest::EMPTY,
        }
    }

    /// Walks over the next row of an execution.
    pub(super) fn row(&mut self, trace: &Trace, row: Row<'_>) {
        match row {
            Row::Event(_, event) => self.event(trace, event),
            Row::Note(&Note { kind: NoteKind::Flush(at), .. }) => self.flush(trace.events[at as usize].id),
            Row::Note(note) => self.note(note),
        }
    }

    fn event(&mut self, trace: &Trace, event: &Event) {
        let takes = (event.source != Source::None).then(|| trace.source_id(event));
        let which = event.op.action.alternative();
        let writes = event.written.is_some();
        self.perform(&Performed { id: event.id, loc: event.op.loc, takes, which, writes, buffered: event.buffered });
    }

    fn perform(&mut self, done: &Performed) {
        let thread = done.id.thread;
        self.step();
        self.cost.switches += u32::from(self.last.is_some_and(|last| last != thread));
        self.cost.chosen += u32::from(done.which > 0);
        self.last = Some(thread);
        let newest = self.memory.get(&done.loc).copied();
        let stale = self.model.is_graph() && done.takes.is_some_and(|takes| takes != newest);
        self.cost.weak += u32::from(stale);
        if done.buffered {
            self.waiting.push((done.id, done.loc));
            self.fresh = Some(done.id);
        } else if done.writes {
            self.memory.insert(done.loc, done.id);
        }
        self.counts.grow_to(thread, || 0);
        self.counts[thread] = done.id.index + 1;
        let takes = match done.takes {
            None => 0,
            Some(None) => 1,
            Some(Some(write)) => 2 + name(write),
        };
        self.history.add(&[0, name(done.id), takes, done.which]);
    }

    fn flush(&mut self, store: EventId) {
        if self.fresh == Some(store) {
            self.fresh = None;
        }
        self.step();
        if let Some(at) = self.waiting.iter().position(|&(other, _)| other == store) {
            let (_, loc) = self.waiting.remove(at);
            self.memory.insert(loc, store);
        }
    }

    /// Begins a step. A store that entered its buffer in the step before is now a delayed one.
    fn step(&mut self) {
        self.cost.weak += u32::from(self.fresh.take().is_some());
        self.cost.steps += 1;
        self.order_before = self.order;
    }

    /// Adds a note to the order, if the first of several failures decides what an execution counts as: states with
    /// different first failures are distinguished.
    fn note(&mut self, note: &Note) {
        match (self.kind, note.kind) {
            (Some(FailureKind::Panic), NoteKind::Panic(number)) => {
                self.order.add(&[1, note.thread.index() as u64, u64::from(number)]);
            }
            (Some(FailureKind::DataRace), NoteKind::CellRead(cell) | NoteKind::CellWrite(cell)) => {
                self.accesses.grow_to(note.thread, || 0);
                self.accesses[note.thread] += 1;
                let this = mix(note.thread.index() as u64, self.accesses[note.thread]);
                let all = self.of_cells.entry(cell).or_default();
                *all = mix(*all, this);
                self.order.add(&[2, *all]);
            }
            (Some(FailureKind::DataRace), NoteKind::CellEnd { access: number, .. }) => {
                self.order.add(&[7, note.thread.index() as u64, u64::from(number)]);
            }
            _ => {}
        }
    }

    /// A digest of everything that decides how the execution can go on, and the further cost.
    pub(super) fn state(&self) -> Digest {
        let mut state = self.history.with(self.order_before);
        self.memory.values().for_each(|&write| state.add(&[3, name(write)]));
        self.waiting.iter().for_each(|&(store, _)| state.add(&[4, name(store)]));
        state.add(&[5, self.last.map_or(0, |last| 1 + last.index() as u64)]);
        state.add(&[6, self.fresh.map_or(0, |store| 1 + name(store))]);
        state
    }

    /// The event that a thread makes next.
    pub(super) fn next(&self, thread: ThreadId) -> EventId {
        EventId { thread, index: self.counts.get(thread).copied().unwrap_or(0) }
    }

    /// The walk after another step; `op` is the operation that its thread stands before.
    pub(super) fn after(&self, trace: &Trace, step: Step, op: Option<&Op>) -> Option<Walk> {
        let mut walk = self.clone();
        let thread = step.thread();
        if let Step::Flush(store) = step {
            walk.flush(store);
            return Some(walk);
        }
        let (which, takes) = step.performed();
        let op = op?;
        let op = Op { action: op.action.with_alternative(which), ..*op };
        let takes = takes.unwrap_or_else(|| self.view(thread, op.loc));
        let value = match takes.and_then(|write| trace.position(write)) {
            Some(at) => trace.events[at].written?,
            None => trace.locs[op.loc].init,
        };
        let writes = op.action.effect(value).written().is_some();
        let buffered = writes && self.model.buffers(&op);
        let takes = op.action.reads().then_some(takes);
        walk.perform(&Performed { id: self.next(thread), loc: op.loc, takes, which, writes, buffered });
        Some(walk)
    }

    /// The write that a thread sees in a location.
    fn view(&self, thread: ThreadId, loc: LocId) -> Option<EventId> {
        let own = self.waiting.iter().rev().find(|(store, of)| store.thread == thread && *of == loc);
        own.map(|&(store, _)| store).or_else(|| self.memory.get(&loc).copied())
    }
}

fn name(event: EventId) -> u64 {
    (event.thread.index() as u64) << 32 | u64::from(event.index)
}
