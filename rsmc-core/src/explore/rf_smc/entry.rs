//! An event of a new sequence: as it was in the run, or as the revisit changes it.

use crate::base::{Digest, EventId};
use crate::consistency::Shape;
use crate::consistency::near_sc::Part;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, source_of};
use crate::model::c11::Node;
use crate::step::{Forced, Run, Step};
use crate::trace::{Action, Event, Op, Source, Trace};

/// The name of an event and its source.
pub(super) fn key_of(trace: &Trace, event: &Event) -> Digest {
    key_of_pair(event.id, event.op.action, trace.source_id(event))
}

fn key_of_pair(id: EventId, action: Action, source: Option<EventId>) -> Digest {
    let word = |id: EventId| u64::from(id.thread.0) << 32 | u64::from(id.index);
    // No event has these as its name.
    let source = match source {
        _ if !action.reads() => u64::MAX,
        None => u64::MAX - 1,
        Some(source) => word(source),
    };
    Digest::of(&[word(id), source, action.alternative()])
}

/// An event of a new sequence, with what the revisit changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct RevisedEntry {
    pub(super) who: OpRef,
    pub(super) id: EventId,
    pub(super) op: Op,
    /// The write that it reads from; `None` is the initial value, or no read.
    pub(super) source: Option<OpRef>,
    /// The value that it reads, if it reads.
    pub(super) read: u64,
    pub(super) writes: bool,
}

impl RevisedEntry {
    pub(super) fn of(run: &Run, who: OpRef) -> Self {
        match who {
            OpRef::Event(at) => {
                let event = &run.trace.events[at];
                let source = source_of(event).map(OpRef::Event);
                let writes = event.written.is_some();
                RevisedEntry { who, id: event.id, op: event.op, source, read: event.read, writes }
            }
            OpRef::Waiting(i) => {
                let waiting = &run.waiting[i];
                let op = waiting.op.expect("an actor that waits stands before an operation");
                RevisedEntry { who, id: waiting.id, op, source: None, read: 0, writes: false }
            }
        }
    }

    /// This entry with another source.
    pub(super) fn takes(mut self, source: Option<OpRef>, read: u64, writes: bool) -> Self {
        (self.source, self.read, self.writes) = (source, read, writes);
        self
    }

    /// This entry as the second of two reversed events: it takes what the first one took.
    pub(super) fn reversed_with(self, first: &Event) -> Self {
        self.takes(source_of(first).map(OpRef::Event), first.read, true)
    }

    /// Whether it is unchanged: it has the source and the action of this event, and writes if the event writes.
    pub(super) fn is_as_in(&self, event: &Event) -> bool {
        self.source == source_of(event).map(OpRef::Event)
            && self.writes == event.written.is_some()
            && self.op.action == event.op.action
    }

    /// The name of it and its source.
    pub(super) fn key(&self, run: &Run) -> Digest {
        let source = self.source.map(|source| source.id(run));
        key_of_pair(self.id, self.op.action, source)
    }

    /// Its form for [`NearSc`](crate::consistency::near_sc::NearSc).
    pub(super) fn part(&self, run: &Run) -> Part {
        let number = |who: OpRef| who.number(run.trace.events.len()) as u32;
        let source = self.op.action.reads().then(|| self.source.map(number));
        Part::changed(number(self.who), source, self.op.loc, self.writes)
    }

    /// Its form for the verifier.
    pub(super) fn shape(&self, run: &Run, graph: &Graph) -> Shape {
        let shape = match self.who {
            OpRef::Event(at) => Shape::of(&run.trace.events[at], graph.order.epoch(at)),
            OpRef::Waiting(_) => {
                Shape { thread: self.id.thread, ..Shape::direct(self.op.loc, self.op.action.reads(), false) }
            }
        };
        Shape { writes: self.writes, ..shape }
    }

    /// Its node in a graph, given that of its source.
    pub(super) fn node(&self, source: Option<u32>) -> Node {
        let source = match source {
            _ if !self.op.action.reads() => Source::None,
            None => Source::Init,
            Some(write) => Source::At(write),
        };
        Node { loc: Some(self.op.loc), source, writes: self.writes, order: self.op.effective_order(self.writes) }
    }

    /// The step in which it happens.
    pub(super) fn forced(&self, run: &Run) -> Forced {
        let read = self.op.action.reads().then_some(self.read);
        Forced::operation(self.id.thread, &self.op, &run.trace.locs[self.op.loc], read)
    }

    /// The step in which it happens, with the write that it takes if it reads.
    pub(super) fn taking(&self, run: &Run) -> Forced {
        let source = || self.source.map(|source| source.id(run));
        let takes = self.op.action.reads().then(source);
        Forced { step: Step::perform(self.id.thread, self.op.action, takes), ..self.forced(run) }
    }
}
