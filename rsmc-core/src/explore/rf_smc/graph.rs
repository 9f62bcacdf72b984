//! What RF-SMC needs to know of a run: causal past, and who writes and reads what.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use crate::base::{BitMatrix, BitSet, EventId, IdVec, LocId, ThreadId, unite};
use crate::model::{MemoryModel, c11};
use crate::step::Run;
use crate::trace::{Action, Event, Note, NoteKind, ProgramOrder, Source, Trace};

/// An event, or the operation that a thread stands before.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    pub(super) id: EventId,
    /// Its predecessors in program order.
    pub(super) preds: &'a [u32],
    /// The stores that are in memory before it.
    pub(super) fenced: Cow<'a, [u32]>,
}

/// The causal order (program order and reads-from) of a run, and tables of its writes.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) order: ProgramOrder,
    /// Row of an event: all events causally before it.
    past: BitMatrix,
    /// Under PSO. Row of an event: all events whose effect is certainly in memory when it is performed.
    settled: BitMatrix,
    /// Under PSO. Row of a write: the same, when what it writes reaches memory.
    stored: BitMatrix,
    /// Under C11, unless the rules are those of SC: the execution graph, and the node of each event.
    pub(super) c11: c11::Graph,
    pub(super) numbers: Vec<u32>,
    /// Under C11: whether that is SC for all events and fences of the run.
    pub(super) is_sequential: bool,
    model: MemoryModel,
    /// By what sources are ruled out: the model's, or those of SC where C11 is SC whatever is read.
    rules: MemoryModel,
    writes: IdVec<LocId, Vec<u32>>,
    readers: Vec<Vec<u32>>,
    /// By write, and by location for the initial value: the update that reads it, or [`NOBODY`].
    updates: Vec<u32>,
    first_updates: IdVec<LocId, u32>,
}

/// No event.
const NOBODY: u32 = u32::MAX;

impl Graph {
    pub(super) fn new(model: MemoryModel) -> Self {
        Self { model, ..Self::default() }
    }

    pub(super) fn compute(&mut self, run: &Run) {
        let trace = &run.trace;
        let n = trace.events.len();
        self.order.compute(trace);
        self.past.reset(n);
        let relaxed = if self.model == MemoryModel::Pso { n } else { 0 };
        self.settled.reset(relaxed);
        self.stored.reset(relaxed);
        self.writes.values_mut().for_each(Vec::clear);
        self.first_updates.values_mut().for_each(|update| *update = NOBODY);
        if let Some(last) = trace.locs.ids().next_back() {
            self.writes.grow_to(last, Vec::new);
            self.first_updates.grow_to(last, || NOBODY);
        }
        self.updates.clear();
        self.updates.resize(n, NOBODY);
        self.readers.resize_with(self.readers.len().max(n), Vec::new);
        self.readers[..n].iter_mut().for_each(Vec::clear);
        for (at, event) in trace.events.iter().enumerate() {
            self.enter(at, event);
            if self.model == MemoryModel::Pso {
                self.settle(trace, at, event);
            }
        }
        self.rules = self.model;
        if self.model == MemoryModel::C11 {
            let is_strong = |note: &Note| !matches!(note.kind, NoteKind::Fence(order) if order != Ordering::SeqCst);
            self.is_sequential = trace.notes.iter().all(is_strong)
                && trace.events.iter().all(|event| event.op.is_sequential(event.written.is_some()));
            let is_sc = self.is_sequential
                && run.waiting.is_empty()
                && trace.events.iter().all(|event| event.op.is_always_sequential());
            if is_sc {
                self.rules = MemoryModel::Sc;
            } else {
                self.c11.read(trace, &mut self.numbers);
            }
        }
    }

    fn enter(&mut self, at: usize, event: &Event) {
        for i in 0..self.order.preds(at).len() {
            let pred = self.order.preds(at)[i] as usize;
            self.past.union_rows(at, pred);
            self.past.set(at, pred);
        }
        if let Source::At(write) = event.source {
            self.past.union_rows(at, write as usize);
            self.past.set(at, write as usize);
            self.readers[write as usize].push(at as u32);
        }
        if event.written.is_some() {
            self.writes[event.op.loc].push(at as u32);
            match event.source {
                Source::At(write) => self.updates[write as usize] = at as u32,
                Source::Init => self.first_updates[event.op.loc] = at as u32,
                Source::None => {}
            }
        }
    }

    /// Whether every execution of these events is one under SC, whatever is read.
    pub(super) fn is_sc(&self) -> bool {
        self.rules == MemoryModel::Sc
    }

    /// Whether `a` is causally before `b`.
    pub(super) fn precedes(&self, a: usize, b: usize) -> bool {
        self.past.get(b, a)
    }

    /// Adds to `set` the event and all that is causally before it.
    pub(super) fn add_past(&self, at: usize, set: &mut BitSet) {
        set.insert(at);
        set.union(self.past.row(at));
    }

    /// Adds all that is before the event in program order, and what is causally before that.
    pub(super) fn add_program_past(&self, preds: &[u32], set: &mut BitSet) {
        for &pred in preds {
            self.add_past(pred as usize, set);
        }
    }

    /// Whether `a` is causally before an event with these predecessors, its own source aside.
    pub(super) fn precedes_by_program(&self, a: usize, preds: &[u32]) -> bool {
        preds.iter().any(|&pred| pred as usize == a || self.precedes(a, pred as usize))
    }

    /// The writes of a location, in order of happening.
    pub(super) fn writes(&self, loc: LocId) -> &[u32] {
        &self.writes[loc]
    }

    /// The events that read from a write.
    pub(super) fn readers(&self, write: usize) -> &[u32] {
        &self.readers[write]
    }

    /// The update that reads from a write of a location (`None`: the initial value). There is no other in any execution.
    pub(super) fn update_of(&self, loc: LocId, write: Option<usize>) -> Option<usize> {
        let update = write.map_or(self.first_updates[loc], |write| self.updates[write]);
        (update != NOBODY).then_some(update as usize)
    }

    /// Under PSO what one thread does is seen in any order by others, so the causal order says too much: a buffered
    /// store counts from where it is known to be in memory, because it was read by another thread or is behind a
    /// full fence.
    fn settle(&mut self, trace: &Trace, at: usize, event: &Event) {
        let (settled, stored) = (&mut self.settled, &mut self.stored);
        for &pred in self.order.preds(at) {
            settled.union_rows(at, pred as usize);
            if !trace.events[pred as usize].buffered {
                settled.set(at, pred as usize);
            }
        }
        let mut receive = |write: usize| {
            unite(settled.row_mut(at), stored.row(write));
            settled.set(at, write);
        };
        self.order.fenced(at).iter().for_each(|&store| receive(store as usize));
        if let Source::At(write) = event.source
            && trace.events[write as usize].id.thread != event.id.thread
        {
            receive(write as usize);
        }
        unite(stored.row_mut(at), settled.row(at));
        if !event.buffered {
            return;
        }
        // An older store of the same queue brings along those before it.
        let mut queued = false;
        for &earlier in trace.of_thread(event.id.thread)[..event.id.index as usize].iter().rev() {
            let (earlier, own) = (earlier as usize, &trace.events[earlier as usize]);
            let same = !queued && own.op.loc == event.op.loc;
            if own.buffered && (same || self.order.epoch(earlier) < self.order.epoch(at)) {
                stored.union_rows(at, earlier);
                stored.set(at, earlier);
                queued |= same;
            }
            if queued && self.order.epoch(at) == 0 {
                break;
            }
        }
    }

    /// Under C11: the writes that a reader cannot take by coherence, and behind all events the initial value. If it knows
    /// of an access, it takes nothing older; of the accesses of a thread that it knows of the last one stands for all. Older
    /// is what such an access knows to be written or read before.
    fn find_hidden(&self, trace: &Trace, who: &Reader<'_>, loc: LocId, hidden: &mut BitSet) {
        let node = |event: usize| self.numbers[event] as usize;
        let past = match trace.position(who.id) {
            Some(at) => self.c11.known_before(node(at)),
            None => self.c11.known_next(who.id.thread),
        };
        // The last access of each thread, and what it wrote or else read.
        let mut latest: Vec<(usize, usize)> = Vec::new();
        let mut consider = |event: usize, write: usize| {
            let id = trace.events[event].id;
            if !past.includes(self.c11.place(node(event))) {
                return;
            }
            match latest.iter_mut().find(|(other, _)| trace.events[*other].id.thread == id.thread) {
                Some(own) if trace.events[own.0].id.index < id.index => *own = (event, write),
                Some(_) => {}
                None => latest.push((event, write)),
            }
        };
        for &write in &self.writes[loc] {
            consider(write as usize, write as usize);
            let reads =
                self.readers(write as usize).iter().filter(|&&read| trace.events[read as usize].written.is_none());
            reads.for_each(|&read| consider(read as usize, write as usize));
        }
        hidden.reset(trace.events.len() + 1);
        if !latest.is_empty() {
            hidden.insert(trace.events.len());
        }
        for &write in &self.writes[loc] {
            let write = write as usize;
            let is_older = |&(last, value): &(usize, usize)| {
                let before = |event: usize| event == last || self.c11.happens_before(node(event), node(last));
                value != write && (before(write) || self.readers(write).iter().any(|&read| before(read as usize)))
            };
            if latest.iter().any(is_older) {
                hidden.insert(write);
            }
        }
    }

    /// The writes of a location that a reader certainly sees or finds overwritten, whatever it reads from: those that are
    /// before it but for its own source. There may be other events in `seen`. Under C11 those that it cannot take.
    pub(super) fn seen_before(&self, trace: &Trace, who: &Reader<'_>, loc: LocId, seen: &mut BitSet) {
        seen.reset(trace.events.len());
        match self.rules {
            MemoryModel::Pso => {}
            MemoryModel::C11 => return self.find_hidden(trace, who, loc, seen),
            _ => return self.add_program_past(who.preds, seen),
        }
        for &pred in who.preds {
            seen.union(self.settled.row(pred as usize));
            seen.insert(pred as usize);
        }
        for &store in &*who.fenced {
            seen.union(self.stored.row(store as usize));
            seen.insert(store as usize);
        }
        for &own in trace.of_thread(who.id.thread).iter().take(who.id.index as usize) {
            seen.insert(own as usize);
        }
    }

    /// Whether a reader that has `seen` so much can see `write` (`None`: the initial value) at all: not if some
    /// other write of the location must be between them.
    pub(super) fn is_visible(&self, trace: &Trace, loc: LocId, write: Option<usize>, seen: &BitSet) -> bool {
        if self.rules == MemoryModel::C11 {
            return !seen.contains(write.unwrap_or(trace.events.len()));
        }
        let hides = |other: usize| {
            Some(other) != write
                && seen.contains(other)
                && write.is_none_or(|write| self.reaches_memory_before(write, other))
        };
        !self.writes(loc).iter().any(|&other| hides(other as usize))
    }

    /// Whether one write certainly reaches memory before another.
    pub(super) fn reaches_memory_before(&self, a: usize, b: usize) -> bool {
        match self.rules {
            MemoryModel::Pso => self.stored.get(b, a),
            MemoryModel::C11 => self.c11.happens_before(self.numbers[a] as usize, self.numbers[b] as usize),
            _ => self.past.get(b, a),
        }
    }

    /// The release that ends what the acquire at `at` began.
    pub(super) fn release_of(&self, trace: &Trace, at: usize) -> Option<usize> {
        let Event { id, op, .. } = trace.events[at];
        let is_release = |&&later: &&u32| {
            let event = &trace.events[later as usize];
            later as usize > at && event.id.thread == id.thread && matches!(event.op.action, Action::Release { .. })
        };
        self.writes(op.loc).iter().find(is_release).map(|&at| at as usize)
    }

    /// Program-order predecessors of the event that a waiting thread would do next.
    pub(super) fn next_preds(&self, thread: ThreadId) -> &[u32] {
        self.order.next_preds(thread)
    }
}
