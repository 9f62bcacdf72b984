//! Rounds that are counted: such a loop waits, or gives up.
//!
//! Problem. A loop that changes something and takes it back has an execution for every number of rounds. If its thread
//! is where it was behind a round, [`rounds`](super::rounds) bounds it. A thread that counts its rounds never is, nor
//! is one that allocates in each, or clones an `Arc`.
//!
//! Method. A round is a period of the thread's history: the same operations at the same places with the same values, of
//! which one changes an atomic or alters an object. The end of a round is where the thread holds the fewest changes and
//! claims, so that it does not wait while it has a lock, be it one of its own. When a round has repeated as often in a
//! row as the bound of loops that count says, the thread chooses whether it waits or gives up
//! ([`patience`](super::patience)).
//!
//! As behind other rounds, a thread that waits goes on if it could take something over. If it reads the same in this
//! round, too, it waits again, without a choice. What it took over in the middle of a round may concern what it had
//! done before: so it goes one more round first.
//!
//! Cost. For every eighth event of a thread that has so many, and for every 64th behind the 256th, a comparison with 64
//! others; two events are compared for each event of what repeats.
//!
//! Loss. As that of loops that count: others see no more rounds than the bound says, and what comes in the middle of
//! the last round is not seen. `reads-from` misses a few classes of threads that have chosen: where the last two rounds
//! read from different writes, whether a thread may give up depends on the order at hand. Not bounded are rounds of
//! more than 64 operations, those in which an atomic is made, and those that begin to change a location by a store.

use crate::base::{EventId, LocId};
use crate::machine::altered::Altered;
use crate::machine::patience::Terms;
use crate::machine::rounds::Changed;
use crate::machine::{Machine, SpinWait, Thread};
use crate::trace::spin::{Watched, Writer};
use crate::trace::{Event, Known, Source};

/// The longest round, in operations.
const LONGEST: usize = 64;

/// The operations of a thread that equal those before them. All of it follows from the thread's operations, without
/// those of iterations that were left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    equal: Equal,
    /// The number of operations behind which that is so.
    known: usize,
    /// The number of operations behind which rounds are counted. Those before are bounded in another way, or not at
    /// all.
    since: usize,
    /// Its changes so far, as the first `seen` operations show them.
    changed: Changed,
    seen: usize,
    /// The fewest changes and claims that the thread held behind one of the operations of its last round.
    fewest: usize,
}

/// The number of operations of a round, and the number of last ones each of which equals the one a round before.
#[derive(Clone, Copy, Debug, Default)]
struct Equal {
    length: usize,
    count: usize,
}

impl Repeats {
    /// Forgets everything: a new execution starts.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.known + self.since > 0 {
            *self = Self::default();
        }
    }

    /// Notes that rounds up to this number of operations are bounded in another way.
    pub(super) fn begin_behind(&mut self, operations: usize) {
        self.since = operations;
    }

    /// Adds the last one of so many operations. Returns what equals, if it ends a round that has repeated often enough.
    fn ends_round<'t>(
        &mut self,
        operations: usize,
        bound: usize,
        altered: &Altered,
        event: impl Fn(usize) -> &'t Event,
    ) -> Option<Equal> {
        let is_equal = |number: usize, length: usize| {
            let (before, now) = (event(number - length), event(number));
            let claims = |event: &Event| altered.claims_behind(event.id.index + 1);
            (before.op, before.read, before.written) == (now.op, now.read, now.written) && claims(before) == claims(now)
        };
        if self.known + 1 != operations {
            // Operations were removed, or not looked at.
            *self = Self { since: self.since, ..Self::default() };
        }
        for last in self.known..operations {
            let Equal { length, count } = self.equal;
            if length > 0 && is_equal(last, length) {
                self.equal.count = count + 1;
                continue;
            }
            // A round has been gone twice.
            let so_far = last + 1;
            let longest = if is_looked_for(last as u32) { LONGEST.min(so_far / 2) } else { 0 };
            let repeats_all = |&length: &usize| (0..length).all(|back| is_equal(last - back, length));
            let length = (1..=longest).find(repeats_all).unwrap_or(0);
            let count = (0..so_far - length).take_while(|back| length > 0 && is_equal(last - back, length)).count();
            self.equal = Equal { length, count };
        }
        self.known = operations;
        let Equal { length, count } = self.equal;
        let is_often = length > 0 && count.min(operations.saturating_sub(self.since)) >= bound * length;
        let holds = if is_often { self.sees(operations, length, altered, event) } else { None };
        (holds == Some(self.fewest)).then_some(self.equal)
    }

    /// Adds what the thread has changed with its first `count` operations, of which the last ones are a round. Returns
    /// the number of changes and claims that it holds, if that is known.
    fn sees<'t>(
        &mut self,
        count: usize,
        length: usize,
        altered: &Altered,
        event: impl Fn(usize) -> &'t Event,
    ) -> Option<usize> {
        let first = count - length;
        let (mut is_known, mut holds) = (true, 0);
        if self.seen <= first {
            self.fewest = usize::MAX;
        }
        for number in self.seen..count {
            let event = event(number);
            let counts = event.written.is_some() && (event.changes() || self.changed.has(event.op.loc));
            is_known &= !counts || self.changed.add(event) || number < first;
            if number >= first {
                holds = self.changed.len() + altered.claims_behind(event.id.index + 1);
                self.fewest = self.fewest.min(holds);
            }
        }
        self.seen = count;
        if !is_known {
            self.since = count;
        }
        is_known.then_some(holds)
    }
}

impl Machine {
    /// Notes an event of a thread. If the thread has gone as many equal rounds as the bound says, it chooses before the
    /// next one.
    #[inline]
    pub(super) fn counts_rounds(&mut self, event: &Event) {
        let EventId { thread, index } = event.id;
        if !self.may_take_back || index < 2 * self.rules.spin_bound {
            return;
        }
        let Thread { repeats, patience, .. } = &mut self.threads[thread];
        let is_next = repeats.known == index as usize && !patience.has_asked();
        if is_next && repeats.equal.length == 0 && !is_looked_for(index) {
            repeats.known += 1;
        } else {
            self.looks_for_rounds(event.id);
        }
    }

    fn looks_for_rounds(&mut self, id: EventId) {
        let thread = id.thread;
        let Thread { repeats, altered, patience, .. } = &mut self.threads[thread];
        let own = patience.operations(self.run.trace.of_thread(thread));
        let event = |number: usize| &self.run.trace.events[own.at(number) as usize];
        let bound = self.rules.spin_bound as usize;
        let Some(equal) = repeats.ends_round(own.len(), bound, altered, event) else { return };
        let (operations, length) = (own.len(), equal.length);
        let iteration = &(operations - length..operations).map(|number| own.at(number)).collect::<Vec<u32>>();
        if !self.has_taken_back(thread, self.run.trace.events[iteration[0] as usize].id.index) {
            return;
        }
        let trace = &mut self.run.trace;
        let Event { id: first, op, .. } = trace.events[iteration[0] as usize];
        let known = Known::of(trace);
        let learns = |&at: &u32| known.learns(thread, trace.events[at as usize].source, first.index);
        let (at_first, later) = (learns(&iteration[0]), iteration[1..].iter().any(learns));
        trace.rounds.add(first, id);
        let wait = SpinWait { exact: false, ..SpinWait::new(self.watched_behind(iteration), true, op.site) };
        let patience = &mut self.threads[thread].patience;
        let has_chosen = patience.has_chosen(operations, equal.count);
        if wait.watched.is_empty() {
            // It waits for nobody.
        } else if !has_chosen {
            // An explorer by value may run an execution in which others wrote what the thread has read: the thread must
            // choose there, too.
            self.asks(thread, length, wait, Terms::Rounds { operations, goes_on: later });
        } else if later {
            patience.owes_round(true);
        } else if patience.owes_round(false) || at_first {
            self.asks(thread, length, wait, Terms::WaitsAgain);
        } else {
            self.repeats_itself(thread, wait);
        }
    }

    /// The locations that a round read, with what they held, but for reads of what the thread had just written there.
    fn watched_behind(&self, iteration: &[u32]) -> Vec<Watched> {
        let (mut watched, mut own): (Vec<Watched>, Vec<(LocId, u64)>) = (Vec::new(), Vec::new());
        for event in iteration.iter().map(|&at| &self.run.trace.events[at as usize]) {
            let loc = event.op.loc;
            let one = Watched { loc, value: event.read, writer: Writer::Known(event.id.thread) };
            if event.source != Source::None && !own.contains(&(loc, event.read)) && !watched.contains(&one) {
                watched.push(one);
            }
            if let Some(written) = event.written {
                own.retain(|&(other, _)| other != loc);
                own.push((loc, written));
            }
        }
        watched
    }
}

/// Whether a round is looked for behind this event of a thread, if none is known.
#[inline]
fn is_looked_for(index: u32) -> bool {
    index.is_multiple_of(if index < 256 { 8 } else { 64 })
}
