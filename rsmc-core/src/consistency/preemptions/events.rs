//! Events and locations as the search for the fewest preemptions keeps them.

use crate::base::{LocId, ThreadId};
use crate::trace::Op;

/// No event.
pub(super) const NONE: u32 = u32::MAX;

/// The source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Takes {
    /// It reads nothing.
    Nothing,
    /// It reads the initial value.
    Initial,
    /// It reads from the event with this number.
    From(u32),
}

/// An event; see the module.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its thread.
    pub thread: ThreadId,
    /// Its operation.
    pub op: Op,
    /// The value that its location held before, if it reads.
    pub takes: Takes,
    /// Whether it writes.
    pub writes: bool,
    /// Whether its thread may wait in a loop before it.
    pub waits: bool,
    /// Whether its thread gives a hint before it, and so waits.
    pub hinted: bool,
}

/// The state of its location without which an event cannot happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// The lock is free.
    Lock,
    /// A token is there.
    Token,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) thread: u32,
    /// Its place in its thread.
    pub(super) place: u32,
    pub(super) loc: u32,
    pub(super) takes: Takes,
    pub(super) writes: bool,
    /// Its thread may wait in a loop before it.
    pub(super) loops: bool,
    /// Its thread gives a hint before it.
    pub(super) hinted: bool,
    pub(super) needs: Needs,
    /// A lock is held after it.
    pub(super) holds: bool,
    /// The number of its predecessors in other threads, up to this event.
    pub(super) preds_end: u32,
    /// Another thread waits for it.
    pub(super) leads: bool,
    /// It is in [`Preemptions::outdated`], as a read or as a write.
    pub(super) is_dated: bool,
    /// A `SeqCst` read that takes a `SeqCst` write or the initial value, under a model of graphs.
    pub(super) reads_in_order: bool,
    /// A `SeqCst` write, under a model of graphs.
    pub(super) writes_in_order: bool,
    pub(super) links: Links,
}

/// Lists of events that go through an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    /// The next reader of the value that it reads.
    pub(super) next_reader: u32,
    /// The first reader of the value that it writes.
    pub(super) first_reader: u32,
    /// The next write of its location.
    pub(super) next_write: u32,
}

impl Known {
    /// Whether a switch from its thread is free where it comes next.
    pub(super) fn waits(&self) -> bool {
        self.loops || self.hinted
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    /// Its name.
    pub(super) id: LocId,
    pub(super) first_reader: u32,
    pub(super) first_write: u32,
    /// Events wait for what it holds.
    pub(super) blocks: bool,
    /// Where states keep its last write; `NONE` if it does not matter.
    pub(super) place: u32,
    /// It has reads and writes for which the order of `SeqCst` operations counts.
    pub(super) has_ordered_reads: bool,
    pub(super) has_ordered_writes: bool,
    /// Where states keep its last `SeqCst` write; `NONE` if it does not matter.
    pub(super) ordered_place: u32,
}

impl Location {
    pub(super) fn new(id: LocId) -> Self {
        Self {
            id,
            first_reader: NONE,
            first_write: NONE,
            blocks: false,
            place: NONE,
            has_ordered_reads: false,
            has_ordered_writes: false,
            ordered_place: NONE,
        }
    }
}
