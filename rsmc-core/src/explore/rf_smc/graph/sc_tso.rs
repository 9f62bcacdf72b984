//! SC and TSO: what is causally before an event, in program order and reads-from, is before it in memory.
//!
//! A thread's stores reach memory in program order, and a thread that reads one of them does so after that.
//! So of the writes of a thread that are seen, the last one stands for all.

use crate::base::{BitMatrix, LocId};
use crate::explore::rf_smc::graph::{Graph, Reader, Visible};

/// Finds the writes of a location that are visible to a reader: those that are not before another write that it
/// certainly sees or finds overwritten.
#[inline]
pub(super) fn find_visible(graph: &Graph, events: usize, who: &Reader<'_>, loc: LocId, visible: &mut Visible) {
    visible.seen.reset(events);
    graph.add_program_past(who.preds, &mut visible.seen);
    match graph.is_long() {
        true => hide_in_long(graph, events, loc, visible),
        false => hide(graph, events, loc, &graph.past, visible),
    }
}

/// Hides what the last write of each thread that is seen hides.
#[inline(never)]
fn hide_in_long(graph: &Graph, events: usize, loc: LocId, visible: &mut Visible) {
    let Visible { seen, hidden, .. } = visible;
    hidden.reset(events + 1);
    for write in graph.last_writes_in(loc, seen) {
        hidden.union(graph.past.row(write));
        hidden.insert(events);
    }
}

/// Hides the writes of a location that are before one that is seen. `before`: the row of a write has the events that
/// are in memory before it.
pub(super) fn hide(graph: &Graph, events: usize, loc: LocId, before: &BitMatrix, visible: &mut Visible) {
    let Visible { seen, hidden, .. } = visible;
    hidden.reset(events + 1);
    for write in graph.writes(loc).filter(|&write| seen.contains(write)) {
        hidden.union(before.row(write));
        hidden.insert(events);
    }
}
