//! PSO: other threads see the stores of a thread in any order, so the causal order is too strong.
//!
//! A buffered store counts from where it is known to be in memory: another thread has read it, or it is behind a full
//! fence.

use crate::base::{BitMatrix, BitSet, LocId, unite};
use crate::explore::rf_smc::graph::{Graph, Reader, Visible, sc_tso};
use crate::trace::{Event, ProgramOrder, Source, Trace};

/// The events that are certainly in memory, by event and by write.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Row of an event: all events whose effect is certainly in memory when it is performed.
    in_memory: BitMatrix,
    /// Row of a write: all events whose effect is certainly in memory when the write reaches memory.
    stored: BitMatrix,
}

impl Stored {
    /// Clears all, with room for this many events.
    pub(super) fn reset(&mut self, events: usize) {
        self.in_memory.reset(events);
        self.stored.reset(events);
    }

    /// Adds the event at position `at`, which comes after all that were added.
    pub(super) fn add(&mut self, order: &ProgramOrder, trace: &Trace, at: usize, event: &Event) {
        let (in_memory, stored) = (&mut self.in_memory, &mut self.stored);
        for &pred in order.preds(at) {
            in_memory.union_rows(at, pred as usize);
            if !trace.events[pred as usize].buffered {
                in_memory.set(at, pred as usize);
            }
        }
        let mut receive = |write: usize| {
            unite(in_memory.row_mut(at), stored.row(write));
            in_memory.set(at, write);
        };
        order.fenced(at).iter().for_each(|&store| receive(store as usize));
        if let Source::At(write) = event.source
            && trace.events[write as usize].id.thread != event.id.thread
        {
            receive(write as usize);
        }
        unite(stored.row_mut(at), in_memory.row(at));
        if !event.buffered {
            return;
        }
        // An older store of the same queue brings along those before it.
        let mut queued = false;
        for &earlier in trace.of_thread(event.id.thread)[..event.id.index as usize].iter().rev() {
            let (earlier, own) = (earlier as usize, &trace.events[earlier as usize]);
            let same = !queued && own.op.loc == event.op.loc;
            if own.buffered && (same || order.epoch(earlier) < order.epoch(at)) {
                stored.union_rows(at, earlier);
                stored.set(at, earlier);
                queued |= same;
            }
            if queued && order.epoch(at) == 0 {
                break;
            }
        }
    }

    /// Whether one write certainly reaches memory before another.
    pub(super) fn reaches_memory_before(&self, a: usize, b: usize) -> bool {
        self.stored.get(b, a)
    }

    /// The writes that a reader certainly sees or finds overwritten, whatever it reads from: those before it but for
    /// its own source.
    fn find_seen(&self, trace: &Trace, who: &Reader<'_>, seen: &mut BitSet) {
        seen.reset(trace.events.len());
        for &pred in who.preds {
            seen.union(self.in_memory.row(pred as usize));
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
}

/// Finds the writes of a location that are visible to a reader; as [`sc_tso::find_visible`].
pub(super) fn find_visible(graph: &Graph, trace: &Trace, who: &Reader<'_>, loc: LocId, visible: &mut Visible) {
    graph.stored.find_seen(trace, who, &mut visible.seen);
    sc_tso::hide(graph, trace.events.len(), loc, &graph.stored.stored, visible);
}
