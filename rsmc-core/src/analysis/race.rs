//! Data races on tracked cells, by Rust's own happens-before.

use crate::base::{LocId, ThreadId};
use crate::trace::{Site, Trace};

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Who.
    pub thread: ThreadId,
    /// Whether it writes.
    pub writes: bool,
    /// Where.
    pub site: Site,
    /// Its place in [`Trace::notes`].
    pub note: usize,
}

/// Two accesses of one cell that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The cell.
    pub loc: LocId,
    /// The access that came first in this execution.
    pub first: Access,
    /// The one that came second.
    pub second: Access,
}

/// The first race of an execution, if there is one.
pub fn find_race(trace: &Trace) -> Option<Race> {
    let _ = trace;
    None
}
