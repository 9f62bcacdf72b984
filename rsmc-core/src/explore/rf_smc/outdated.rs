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
use crate::consistency::{Member, Takes};

/// An event with its number in the search.
type Access = (u32, Member);

/// Finds these reads; keeps its memory from one search to the next.
#[derive(Debug, Default)]
pub(super) struct Outdated {
    /// The events of the search, in an order in which they can happen.
    accesses: Vec<Access>,
    /// The number of hints of a thread until it first wrote or took this.
    seen: FxHashMap<(ThreadId, LocId, Takes), u32>,
    /// By thread: the number of its hints so far.
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

    /// Adds an event with its number in the search.
    pub(super) fn push(&mut self, number: u32, member: Member) {
        let Member { thread, op, takes, writes, hinted, .. } = member;
        let hints = self.hints.entry(thread).or_default();
        *hints += u32::from(hinted);
        if takes != Takes::Nothing && *self.seen.entry((thread, op.loc, takes)).or_insert(*hints) < *hints {
            self.again.push((number, member));
        }
        if writes {
            self.seen.insert((thread, op.loc, Takes::From(number)), *hints);
        }
        self.accesses.push((number, member));
    }

    /// Calls `found` with each of these reads and each write that is newer than what it takes. `happens_before` takes
    /// two events by their numbers.
    pub(super) fn find(&mut self, happens_before: impl Fn(u32, u32) -> bool, mut found: impl FnMut(u32, u32)) {
        let mut loc = None;
        self.again.sort_unstable_by_key(|(_, read)| read.op.loc);
        for &(number, Member { op, takes, .. }) in &self.again {
            if loc.replace(op.loc) != Some(op.loc) {
                self.newer.clear();
                order_writes(&self.accesses, op.loc, &happens_before, &mut self.newer);
            }
            let (mut writes, mut open) = (Vec::new(), vec![takes]);
            while let Some(old) = open.pop() {
                for &(_, write) in self.newer.iter().filter(|&&(known, write)| known == old && write != number) {
                    if !writes.contains(&write) {
                        writes.push(write);
                        open.push(Takes::From(write));
                    }
                }
            }
            writes.into_iter().for_each(|write| found(number, write));
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
    let own = || accesses.iter().filter(|(_, access)| access.op.loc == loc);
    for (at, &(write, second)) in own().enumerate().filter(|(_, (_, second))| second.writes) {
        newer.extend([(Takes::Initial, write), (second.takes, write)]);
        for &(number, first) in own().take(at) {
            if first.thread == second.thread || happens_before(number, write) {
                newer.push((if first.writes { Takes::From(number) } else { first.takes }, write));
            }
        }
    }
    newer.sort_unstable();
    newer.dedup();
}
