//! The writes of each location, thread by thread: an index of long runs.
//!
//! Of each thread, a set that is closed under the causal order has a beginning, and what is causally after an event is
//! an end. So the writes between the two are found without a look at the others.

use crate::base::{IdVec, LocId, ThreadId};
use crate::trace::Event;

/// A run with more events than this has an index. Without optimisation every run has one, so that all tests compare it.
const LONG: usize = if cfg!(debug_assertions) { 0 } else { 64 };

/// The index; keeps its memory from run to run.
#[derive(Debug, Default)]
pub(super) struct Columns {
    is_long: bool,
    of_loc: IdVec<LocId, Vec<Column>>,
}

/// The writes of a location by a thread, in its order.
#[derive(Debug)]
struct Column {
    thread: ThreadId,
    writes: Vec<u32>,
}

impl Columns {
    /// Begins with a run of so many events.
    pub(super) fn clear(&mut self, events: usize) {
        self.is_long = events > LONG;
        self.of_loc.values_mut().flatten().for_each(|column| column.writes.clear());
    }

    /// Whether the run has an index.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Adds the write that happened next.
    #[inline]
    pub(super) fn add(&mut self, at: u32, event: &Event) {
        if self.is_long {
            self.add_to_column(at, event);
        }
    }

    #[inline(never)]
    fn add_to_column(&mut self, at: u32, event: &Event) {
        self.of_loc.grow_to(event.op.loc, Vec::new);
        let (columns, thread) = (&mut self.of_loc[event.op.loc], event.id.thread);
        match columns.iter_mut().find(|column| column.thread == thread) {
            Some(column) => column.writes.push(at),
            None => columns.push(Column { thread, writes: vec![at] }),
        }
    }

    /// The writes of a location by each thread.
    pub(super) fn of_loc(&self, loc: LocId) -> impl Iterator<Item = &[u32]> {
        self.of_loc.get(loc).into_iter().flatten().map(|column| &column.writes[..])
    }
}

/// The part of a thread's writes, in its order, that begins where `is_before` ends and ends where `is_after` begins.
#[inline]
pub(super) fn between(writes: &[u32], is_before: impl Fn(usize) -> bool, is_after: impl Fn(usize) -> bool) -> &[u32] {
    // Mostly there is nothing between.
    if writes.last().is_none_or(|&last| is_before(last as usize)) {
        return &[];
    }
    let rest = &writes[writes.partition_point(|&write| is_before(write as usize))..];
    match is_after(rest[0] as usize) {
        true => &[],
        false => &rest[..rest.partition_point(|&write| !is_after(write as usize))],
    }
}
