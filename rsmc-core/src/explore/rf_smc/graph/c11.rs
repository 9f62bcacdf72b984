//! C11: the events before a read are those that happen before it, and coherence excludes sources.

use std::sync::atomic::Ordering;

use crate::base::{Id, LocId};
use crate::explore::rf_smc::graph::{Graph, Reader, Visible};
use crate::model::c11::{self, Past, Place};
use crate::trace::{Event, Note, NoteKind, Trace};

/// The execution graph of a run, unless the rules are those of SC.
#[derive(Debug, Default)]
pub(in crate::explore::rf_smc) struct ExecutionGraph {
    pub(in crate::explore::rf_smc) graph: c11::Graph,
    /// By event: its node.
    pub(in crate::explore::rf_smc) numbers: Vec<u32>,
    /// Whether the model is SC for all events and fences of the run.
    pub(in crate::explore::rf_smc) is_sequential: bool,
}

impl ExecutionGraph {
    /// Finds whether all events and fences of a run are sequentially consistent.
    pub(super) fn compare_with_sc(&mut self, trace: &Trace) {
        let is_sc_event = |note: &Note| !matches!(note.kind, NoteKind::Fence(order) if order != Ordering::SeqCst);
        self.is_sequential = trace.notes.iter().all(is_sc_event)
            && trace.events.iter().all(|event| event.op.is_sequential(event.written.is_some()));
    }

    /// Makes the graph.
    pub(super) fn read(&mut self, trace: &Trace) {
        self.graph.read(trace, &mut self.numbers);
    }

    /// Whether one event happens before another.
    pub(super) fn happens_before(&self, a: usize, b: usize) -> bool {
        self.graph.happens_before(self.node(a), self.node(b))
    }

    /// The place of an event in its thread.
    fn place(&self, event: usize) -> Place {
        self.graph.place(self.node(event))
    }

    fn node(&self, event: usize) -> usize {
        self.numbers[event] as usize
    }
}

/// Whether an event is a non-SC event.
pub(super) fn is_weak(event: &Event) -> bool {
    !event.op.is_always_sequential()
}

/// Memory of [`find_visible`].
#[derive(Debug, Default)]
pub(in crate::explore::rf_smc) struct Sight {
    /// By thread: the last access of the location that the reader knows of.
    latest: Vec<Option<Access>>,
    /// By thread: the number of its nodes that are certainly before one of these accesses, or of what they read.
    before: Vec<u32>,
}

/// An access, and the write of which it knows the value: itself, or its source.
#[derive(Clone, Copy, Debug)]
struct Access {
    event: usize,
    write: usize,
}

impl Sight {
    /// Finds the last accesses of the threads among the nodes before the reader.
    fn find_latest(&mut self, graph: &Graph, trace: &Trace, past: Past<'_>, loc: LocId) {
        self.latest.clear();
        let mut consider = |event: usize, write: usize| {
            let id = trace.events[event].id;
            if past.includes(graph.c11.place(event)) {
                let thread = id.thread.index();
                self.latest.resize(self.latest.len().max(thread + 1), None);
                let last = &mut self.latest[thread];
                if last.is_none_or(|last| trace.events[last.event].id.index < id.index) {
                    *last = Some(Access { event, write });
                }
            }
        };
        for write in graph.writes(loc) {
            consider(write, write);
            let reads = graph.readers(write).filter(|&read| trace.events[read].written.is_none());
            reads.for_each(|read| consider(read, write));
        }
    }

    /// Finds what is before these accesses and what they read.
    fn find_before(&mut self, graph: &ExecutionGraph) {
        self.before.clear();
        let mut add_before = |event: usize| {
            let node = graph.node(event);
            let own = graph.graph.place(node);
            let others = graph.graph.happened_before(node).counts();
            for (thread, count) in others.chain([(own.thread, own.index + 1)]) {
                self.before.resize(self.before.len().max(thread.index() + 1), 0);
                let before = &mut self.before[thread.index()];
                *before = count.max(*before);
            }
        };
        for &Access { event, write } in self.latest.iter().flatten() {
            add_before(event);
            if event != write {
                add_before(write);
            }
        }
    }

    /// Whether an event is before one of the accesses, or what they read.
    fn is_before(&self, place: Place) -> bool {
        self.before.get(place.thread.index()).is_some_and(|&before| place.index < before)
    }
}

/// Finds the writes of a location that are visible to a reader: those that coherence lets it take. A reader that knows
/// of an access takes no older write. The last access of a thread that it knows of stands for all of that thread. A
/// write is older if such an access, or the write that it has read, knows that it was written or read before.
pub(super) fn find_visible(graph: &Graph, trace: &Trace, who: &Reader<'_>, loc: LocId, visible: &mut Visible) {
    let Visible { sight, hidden, .. } = visible;
    let own = &graph.c11;
    let past = match trace.position(who.id) {
        Some(at) => own.graph.known_before(own.node(at)),
        None => own.graph.known_next(who.id.thread),
    };
    sight.find_latest(graph, trace, past, loc);
    hidden.reset(trace.events.len() + 1);
    if sight.latest.is_empty() {
        return;
    }
    hidden.insert(trace.events.len());
    sight.find_before(own);
    let is_before = |event: usize| sight.is_before(own.place(event));
    for write in graph.writes(loc).filter(|&write| is_before(write) || graph.readers(write).any(is_before)) {
        // An access says nothing of the write that it knows itself.
        let mut accesses = sight.latest.iter().flatten();
        let is_known = accesses.clone().any(|access| access.write == write);
        if !is_known || accesses.any(|access| access.write != write && hides(graph, access, write)) {
            hidden.insert(write);
        }
    }
}

/// Whether a write is older than another one that an access knows.
fn hides(graph: &Graph, &Access { event: last, write: value }: &Access, write: usize) -> bool {
    let is_in = |event: usize, end: usize| event == end || graph.c11.happens_before(event, end);
    let before = |event: usize| is_in(event, last) || last != value && is_in(event, value);
    before(write) || graph.readers(write).any(before)
}
