//! A run as nodes use it: its events, program order, and what each thread does or waits to do next.

use std::sync::Arc;

use rpds::RedBlackTreeMap;

use crate::base::{EventId, Id, LocId, ThreadId};
use crate::explore::looks::{Looks, Standing};
use crate::step::{Run, Wait, Why};
use crate::trace::{Histories, LocInfo, Op, ProgramOrder, Trace};

/// The writes that a read may take (`None`: the initial value).
pub(super) type Writes = Arc<[Option<EventId>]>;

/// The good writes of every read that has been decided.
pub(super) type GoodWrites = RedBlackTreeMap<EventId, Writes>;

/// A run as it is kept. All nodes that it realises share it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) trace: Trace,
    /// Nothing could have happened after its end.
    pub(super) is_maximal: bool,
    order: ProgramOrder,
    /// The reads that did not happen.
    waiting: Vec<Next>,
    /// Where threads began to wait in a loop.
    waits: Vec<Wait>,
    /// The histories of the threads.
    histories: Histories,
    /// The locks at which threads look without waiting for them.
    tried: Vec<LocId>,
    /// The number of spurious outcomes that an execution may have.
    pub(super) spurious: u32,
}

/// A read that has not been decided, and that its thread does next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) id: EventId,
    pub(super) op: Op,
    /// Its position in the run, if it happened there.
    pub(super) at: Option<usize>,
    /// It did not happen, though the plan did not hold it back and its thread does not wait in a loop.
    pub(super) is_blocked: bool,
}

/// The events of a run that depend on decided reads only.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    /// By position.
    pub(super) inside: Vec<bool>,
    /// By thread: the number of these events.
    pub(super) counts: Arc<[u32]>,
}

impl Known {
    pub(super) fn of(run: &Run) -> Self {
        let trace = run.trace.clone();
        let mut order = ProgramOrder::default();
        order.compute(&trace);
        let mut histories = Histories::default();
        if run.has_waits() {
            histories.compute(&trace);
        }
        let reads = |op: &Op| op.action.reads();
        let waiting = run.waiting.iter().filter_map(|pending| {
            let op = pending.op.filter(reads)?;
            Some(Next { id: pending.id, op, at: None, is_blocked: !matches!(pending.why, Why::Spin { .. }) })
        });
        Self {
            waiting: waiting.collect(),
            is_maximal: run.is_maximal() && run.repeated.is_none() && !run.halfway,
            trace,
            order,
            waits: run.waits.clone(),
            histories,
            tried: run.tried(),
            spurious: run.spurious,
        }
    }

    /// The events of a node: every thread goes on until it stands before a read that has not been decided, or must wait
    /// for a thread that does.
    pub(super) fn extent(&self, good: &GoodWrites) -> Extent {
        let mut inside: Vec<bool> = Vec::with_capacity(self.trace.events.len());
        let mut counts = vec![0; self.trace.thread_bound()];
        for (at, event) in self.trace.events.iter().enumerate() {
            let decided = !event.op.action.reads() || good.contains_key(&event.id);
            let is_in = decided && all_in(self.order.preds(at), &inside);
            inside.push(is_in);
            counts[event.id.thread.index()] += u32::from(is_in);
        }
        Extent { inside, counts: counts.into() }
    }

    /// The reads before which threads stand, in the order of the run.
    pub(super) fn pending(&self, extent: &Extent) -> Vec<Next> {
        let mut pending: Vec<Next> =
            (0..extent.counts.len()).filter_map(|thread| self.next(extent, ThreadId::from_index(thread))).collect();
        pending.sort_by_key(|next| next.at.unwrap_or(usize::MAX));
        pending
    }

    fn next(&self, extent: &Extent, thread: ThreadId) -> Option<Next> {
        let next = match self.trace.of_thread(thread).get(extent.counts[thread.index()] as usize) {
            Some(&at) => {
                let event = &self.trace.events[at as usize];
                Next { id: event.id, op: event.op, at: Some(at as usize), is_blocked: false }
            }
            None => *self.waiting.iter().find(|next| next.id.thread == thread)?,
        };
        all_in(self.preds(&next), &extent.inside).then_some(next)
    }

    /// The events of a node that cannot happen without the read at this position, whichever good writes other reads
    /// take.
    pub(super) fn depending_on(&self, read: usize, extent: &Extent, good: &GoodWrites) -> Vec<bool> {
        let events = &self.trace.events;
        let mut depends = vec![false; events.len()];
        depends[read] = true;
        for at in read + 1..events.len() {
            // A good write that comes later in the run is taken for one that does not depend on the read.
            let is_after = |write: &Option<EventId>| {
                write.and_then(|write| self.trace.position(write)).is_some_and(|write| depends[write])
            };
            let takes = || good.get(&events[at].id).is_some_and(|writes| writes.iter().all(is_after));
            depends[at] = extent.inside[at] && (any_in(self.order.preds(at), &depends) || takes());
        }
        depends
    }

    /// Whether one of these events is before a read that a thread does next.
    pub(super) fn is_behind(&self, next: &Next, events: &[bool]) -> bool {
        any_in(self.preds(next), events)
    }

    /// The events directly before an event in program order.
    pub(super) fn preds_of(&self, at: usize) -> &[u32] {
        self.order.preds(at)
    }

    /// The events directly before a read in program order; the read may not have happened.
    pub(super) fn preds(&self, next: &Next) -> &[u32] {
        next.at.map_or_else(|| self.order.next_preds(next.id.thread), |at| self.order.preds(at))
    }

    /// Whether a thread that next takes `value` from this write would complete an iteration that changes nothing.
    pub(super) fn repeats(&self, looks: &Looks, next: &Next, value: u64, write: Option<EventId>) -> bool {
        let write = || write.and_then(|write| self.trace.position(write));
        !looks.is_empty() && looks.completes(&self.standing(next), value, write(), &self.tried).is_some()
    }

    /// A thread before its next read, with what it knows there.
    pub(super) fn standing(&self, next: &Next) -> Standing<'_> {
        Standing { trace: &self.trace, histories: &self.histories, id: next.id, op: next.op }
    }

    /// The waits of a thread before its next read, at which it may wait for ever because it is in a loop.
    pub(super) fn waits(&self, next: &Next) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(move |wait| wait.next == next.id)
    }

    pub(super) fn loc(&self, op: &Op) -> &LocInfo {
        &self.trace.locs[op.loc]
    }
}

fn all_in(preds: &[u32], inside: &[bool]) -> bool {
    preds.iter().all(|&pred| inside[pred as usize])
}

fn any_in(preds: &[u32], events: &[bool]) -> bool {
    preds.iter().any(|&pred| events[pred as usize])
}
