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
//! Cost. For locations with such a read only: the square of the number of accesses, and the cube of that of writes
//! over 64.
//!
//! Source. loom never takes an old value in this case. Here it may, at a price.

use rustc_hash::FxHashMap;

use crate::base::{BitMatrix, LocId, ThreadId, ones};
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
    newer: Newer,
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

    /// Calls `found` with each of these reads and the writes that are newer than what it takes, but not newer than
    /// another one that is: where one of the others has happened, one of these has. `happens_before` takes two events
    /// by their numbers.
    pub(super) fn find(&mut self, happens_before: impl Fn(u32, u32) -> bool, mut found: impl FnMut(u32, u32)) {
        self.again.sort_unstable_by_key(|(_, read)| read.op.loc);
        for reads in self.again.chunk_by(|(_, one), (_, other)| one.op.loc == other.op.loc) {
            self.newer.order(&self.accesses, reads[0].1.op.loc, &happens_before);
            for &(number, Member { takes, .. }) in reads {
                self.newer.next(takes).filter(|&write| write != number).for_each(|write| found(number, write));
            }
        }
    }
}

/// The writes of a location, and which is newer than which.
#[derive(Debug, Default)]
struct Newer {
    /// The numbers of the writes, in order. The first has place 1, and the initial value has place 0.
    writes: Vec<u32>,
    /// The accesses of the location, each with the place of the write that it makes known.
    known: Vec<(u32, ThreadId, usize)>,
    /// By place: the writes that are newer.
    all: BitMatrix,
    /// By place: those of the newer writes that are not newer than another one of them.
    next: BitMatrix,
}

impl Newer {
    fn place_of(&self, takes: Takes) -> Option<usize> {
        match takes {
            Takes::Nothing => None,
            Takes::Initial => Some(0),
            Takes::From(write) => self.writes.iter().position(|&other| other == write).map(|place| place + 1),
        }
    }

    /// Turns to a location.
    fn order(&mut self, accesses: &[Access], loc: LocId, happens_before: impl Fn(u32, u32) -> bool) {
        let own = || accesses.iter().filter(|(_, access)| access.op.loc == loc);
        self.writes.clear();
        self.writes.extend(own().filter(|(_, access)| access.writes).map(|(number, _)| number));
        self.known.clear();
        self.all.reset(self.writes.len() + 1);
        self.next.reset(self.writes.len() + 1);
        let mut place = 0;
        for &(number, Member { thread, takes, writes, .. }) in own() {
            let taken = self.place_of(takes);
            if writes {
                place += 1;
                self.all.set(0, place);
                taken.into_iter().for_each(|taken| self.all.set(taken, place));
                for &(first, other, known) in &self.known {
                    if !self.all.get(known, place) && (other == thread || happens_before(first, number)) {
                        self.all.set(known, place);
                    }
                }
            }
            self.known.extend(if writes { Some(place) } else { taken }.map(|known| (number, thread, known)));
        }
        // A newer write comes later.
        for place in (0..=self.writes.len()).rev() {
            self.next.row_mut(place).copy_from_slice(self.all.row(place));
            for newer in place + 1..=self.writes.len() {
                if self.next.get(place, newer) {
                    let behind = self.all.row(newer);
                    self.next.row_mut(place).iter_mut().zip(behind).for_each(|(own, behind)| *own &= !behind);
                    self.all.union_rows(place, newer);
                }
            }
        }
    }

    /// The writes that are newer than this one, but not newer than another one that is.
    fn next(&self, takes: Takes) -> impl Iterator<Item = u32> + '_ {
        let places = self.place_of(takes).into_iter().flat_map(|place| ones(self.next.row(place)));
        places.map(|place| self.writes[place - 1])
    }
}
