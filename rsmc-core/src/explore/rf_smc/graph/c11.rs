//! C11: the events before a read are those that happen before it, and coherence excludes sources.

use std::sync::atomic::Ordering;

use crate::base::LocId;
use crate::explore::rf_smc::graph::{Graph, Reader, Visible};
use crate::model::c11;
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

    fn node(&self, event: usize) -> usize {
        self.numbers[event] as usize
    }
}

/// Whether an event is a non-SC event.
pub(super) fn is_weak(event: &Event) -> bool {
    !event.op.is_always_sequential()
}

/// Finds the writes of a location that are visible to a reader: those that coherence lets it take. A reader that knows
/// of an access takes no older write. The last access of a thread that it knows of stands for all of that thread. A
/// write is older if such an access, or the write that it has read, knows that it was written or read before.
pub(super) fn find_visible(graph: &Graph, trace: &Trace, who: &Reader<'_>, loc: LocId, visible: &mut Visible) {
    let (own, hidden) = (&graph.c11, &mut visible.hidden);
    let past = match trace.position(who.id) {
        Some(at) => own.graph.known_before(own.node(at)),
        None => own.graph.known_next(who.id.thread),
    };
    // The last access of each thread, and what it wrote or else read.
    let mut latest: Vec<(usize, usize)> = Vec::new();
    let mut consider = |event: usize, write: usize| {
        let id = trace.events[event].id;
        if !past.includes(own.graph.place(own.node(event))) {
            return;
        }
        match latest.iter_mut().find(|(other, _)| trace.events[*other].id.thread == id.thread) {
            Some(last) if trace.events[last.0].id.index < id.index => *last = (event, write),
            Some(_) => {}
            None => latest.push((event, write)),
        }
    };
    for write in graph.writes(loc) {
        consider(write, write);
        let reads = graph.readers(write).filter(|&read| trace.events[read].written.is_none());
        reads.for_each(|read| consider(read, write));
    }
    hidden.reset(trace.events.len() + 1);
    if !latest.is_empty() {
        hidden.insert(trace.events.len());
    }
    for write in graph.writes(loc) {
        let is_older = |&(last, value): &(usize, usize)| {
            let is_in = |event: usize, end: usize| event == end || own.happens_before(event, end);
            let before = |event: usize| is_in(event, last) || last != value && is_in(event, value);
            value != write && (before(write) || graph.readers(write).any(before))
        };
        if latest.iter().any(is_older) {
            hidden.insert(write);
        }
    }
}
