//! What RF-SMC needs to know of a run: causal past, places in `τ`, and who writes and reads what.

use crate::base::{BitMatrix, IdVec, LocId, ThreadId};
use crate::explore::rf_smc::Entry;
use crate::model::MemoryModel;
use crate::step::Run;
use crate::trace::{Action, Event, ProgramOrder, Source, Trace};

/// The causal order (program order and reads-from) of a run, and tables of its writes.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) order: ProgramOrder,
    /// Row of an event: all events causally before it.
    past: BitMatrix,
    /// Row of an event: all events before it in program order. Only under PSO.
    program_past: BitMatrix,
    model: MemoryModel,
    /// The place in `τ` of the event at each position of the trace.
    pub(super) place: Vec<u32>,
    writes: IdVec<LocId, Vec<u32>>,
    readers: Vec<Vec<u32>>,
}

impl Graph {
    pub(super) fn new(model: MemoryModel) -> Self {
        Self { model, ..Self::default() }
    }

    pub(super) fn compute(&mut self, run: &Run, tau: &[Entry]) {
        let trace = &run.trace;
        let n = trace.events.len();
        self.order.compute(trace);
        self.past.reset(n);
        self.program_past.reset(if self.model == MemoryModel::Pso { n } else { 0 });
        self.place.clear();
        self.place.resize(n, 0);
        for (place, entry) in tau.iter().enumerate() {
            let at = trace.position(entry.id).expect("every event of τ is in the run");
            self.place[at] = place as u32;
        }
        self.writes.values_mut().for_each(Vec::clear);
        if let Some(last) = trace.locs.ids().next_back() {
            self.writes.grow_to(last, Vec::new);
        }
        self.readers.resize_with(self.readers.len().max(n), Vec::new);
        self.readers[..n].iter_mut().for_each(Vec::clear);
        for (at, event) in trace.events.iter().enumerate() {
            self.enter(at, event);
        }
    }

    fn enter(&mut self, at: usize, event: &Event) {
        for i in 0..self.order.preds(at).len() {
            let pred = self.order.preds(at)[i] as usize;
            self.past.union_rows(at, pred);
            self.past.set(at, pred);
            if self.model == MemoryModel::Pso {
                self.program_past.union_rows(at, pred);
                self.program_past.set(at, pred);
            }
        }
        if let Source::At(write) = event.source {
            self.past.union_rows(at, write as usize);
            self.past.set(at, write as usize);
            self.readers[write as usize].push(at as u32);
        }
        if event.written.is_some() {
            self.writes[event.op.loc].push(at as u32);
        }
    }

    /// Whether `a` is causally before `b`.
    pub(super) fn precedes(&self, a: usize, b: usize) -> bool {
        self.past.get(b, a)
    }

    /// Adds to `set` the event and all that is causally before it.
    pub(super) fn add_past(&self, at: usize, set: &mut [u64]) {
        set[at / 64] |= 1 << (at % 64);
        for (mine, theirs) in set.iter_mut().zip(self.past.row(at)) {
            *mine |= theirs;
        }
    }

    /// Adds all that is before the event in program order, and what is causally before that.
    pub(super) fn add_program_past(&self, preds: &[u32], set: &mut [u64]) {
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

    /// Whether a read with these program-order predecessors can see `write` (`None`: the initial value) at all: not
    /// if some other write of the location must be between them.
    ///
    /// Under SC and TSO that is a write causally between them. Under PSO what one thread does is seen in any order by
    /// others, so only program order says something.
    pub(super) fn is_visible(&self, loc: LocId, write: Option<usize>, preds: &[u32]) -> bool {
        let past = if self.model == MemoryModel::Pso { &self.program_past } else { &self.past };
        let hidden = |other: usize| {
            Some(other) != write
                && preds.iter().any(|&pred| pred as usize == other || past.get(pred as usize, other))
                && write.is_none_or(|write| past.get(other, write))
        };
        !self.writes(loc).iter().any(|&other| hidden(other as usize))
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
