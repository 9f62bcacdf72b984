//! Reads behind hints that take an old value once more.
//!
//! Problem. A thread gives a hint because it has seen what it cannot use, and expects something newer. Under C11 it may
//! read the same write again, however long ago another one has replaced it. A loop that changes something in each
//! iteration, as one that takes a flag and gives it back, would have an execution for each number of such looks.
//!
//! Method. Such a read counts like a preemption if a *newer* write has happened. A thread has seen a write if it wrote
//! it, or has read from it, before its last hint. A write is newer than another if it was made with knowledge of that:
//! an access of the other one, a read or the write, happens before it. An update is newer than its source, the initial
//! value is oldest, and one newer than a newer one is newer. What a thread finds out later, by reading both, does not
//! count: when it read, nobody knew.
//!
//! Monotone. More events only add to what happens before and to what is newer, so a part of an execution has no more
//! such reads than the execution.
//!
//! Cost. For locations with such a read only: the square of the number of accesses.
//!
//! Source. loom never takes an old value in this case. Here it may, at a price.

use rustc_hash::FxHashMap;

use crate::base::{LocId, ThreadId};
use crate::consistency::Takes;

/// An access among the events that count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Its number among them.
    pub(super) number: u32,
    pub(super) thread: ThreadId,
    pub(super) loc: LocId,
    pub(super) takes: Takes,
    pub(super) writes: bool,
    /// Its thread gives a hint right before it.
    pub(super) hinted: bool,
}

impl Access {
    /// The write that it writes or else takes.
    fn last(&self) -> Takes {
        if self.writes { Takes::From(self.number) } else { self.takes }
    }
}

/// Finds these reads; keeps its memory from one search to the next.
#[derive(Debug, Default)]
pub(super) struct Outdated {
    /// The events that count, in an order in which they can happen.
    accesses: Vec<Access>,
    /// The number of hints of a thread until it first wrote or took this.
    seen: FxHashMap<(ThreadId, LocId, Takes), u32>,
    hints: FxHashMap<ThreadId, u32>,
    /// The reads of what was seen before a hint.
    again: Vec<Access>,
    /// Each write with one that is newer.
    newer: Vec<(Takes, u32)>,
}

impl Outdated {
    pub(super) fn clear(&mut self) {
        self.accesses.clear();
        self.seen.clear();
        self.hints.clear();
        self.again.clear();
    }

    /// Adds an event.
    pub(super) fn push(&mut self, access: Access) {
        let hints = self.hints.entry(access.thread).or_default();
        *hints += u32::from(access.hinted);
        let name = |takes: Takes| (access.thread, access.loc, takes);
        if access.takes != Takes::Nothing && *self.seen.entry(name(access.takes)).or_insert(*hints) < *hints {
            self.again.push(access);
        }
        if access.writes {
            self.seen.insert(name(access.last()), *hints);
        }
        self.accesses.push(access);
    }

    /// Calls `found` with each of these reads and each write that is newer than what it takes. `happens_before` takes
    /// two events by their numbers.
    pub(super) fn find(&mut self, happens_before: impl Fn(u32, u32) -> bool, mut found: impl FnMut(u32, u32)) {
        let mut loc = None;
        self.again.sort_unstable_by_key(|read| read.loc);
        for read in &self.again {
            if loc.replace(read.loc) != Some(read.loc) {
                self.newer.clear();
                order_writes(&self.accesses, read.loc, &happens_before, &mut self.newer);
            }
            let mut writes: Vec<u32> = Vec::new();
            let mut next = Some(read.takes);
            for done in 0.. {
                let Some(write) = next else { break };
                for &(_, newer) in self.newer.iter().filter(|&&(old, newer)| old == write && newer != read.number) {
                    if !writes.contains(&newer) {
                        writes.push(newer);
                    }
                }
                next = writes.get(done).map(|&write| Takes::From(write));
            }
            writes.into_iter().for_each(|write| found(read.number, write));
        }
    }
}

/// Finds which writes of a location are newer than which, from one access to those that it happens before.
fn order_writes(
    accesses: &[Access],
    loc: LocId,
    happens_before: impl Fn(u32, u32) -> bool,
    newer: &mut Vec<(Takes, u32)>,
) {
    let own = || accesses.iter().filter(|access| access.loc == loc);
    for access in own().filter(|access| access.writes) {
        newer.push((Takes::Initial, access.number));
        if access.takes != Takes::Nothing {
            newer.push((access.takes, access.number));
        }
    }
    for (number, first) in own().enumerate() {
        for second in own().skip(number + 1).filter(|second| second.writes) {
            if first.thread == second.thread || happens_before(first.number, second.number) {
                newer.push((first.last(), second.number));
            }
        }
    }
    newer.sort_unstable();
    newer.dedup();
}
