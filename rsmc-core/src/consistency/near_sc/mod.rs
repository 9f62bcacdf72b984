//! Near SC: a quick answer where an execution under SC is known of most of the events.
//!
//! Problem. Given events with a source for each read, in the order of an execution of nearly all of them: find an
//! execution under SC, or show that there is none, or say nothing.
//!
//! Method. Take the events in the given order, each as soon as it can happen: what is before it in program order has
//! happened, memory holds what it reads, and no event still has to read what it overwrites. An event that cannot happen
//! is tried again in the next pass. Where this gets stuck, an event waits also for all that comes before it in every
//! execution under SC (`saturate`). If no order has all that, there is no execution under SC.
//!
//! Cost. Events times passes; a pass that takes nothing ends it. Where it gets stuck, the saturation and the passes
//! again: a fraction of the cost of a verifier, which is asked where nothing is shown. Under SC that is where the
//! saturation leaves a choice between writes, and the choice of the given order is wrong.
//!
//! The result is an execution under SC, which is one under every model: every store leaves its buffer at once, and
//! under C11 the modification order is the order in which writes happen.
//!
//! Source. The rules of the closure ([`close`](crate::consistency::close)), where every read has one good write.

mod saturate;

use crate::base::{Cycle, LocId};
use crate::consistency::near_sc::saturate::Order;
use crate::trace::{Event, Source};

/// The writer of the initial values.
pub const NOBODY: u32 = u32::MAX;

/// An event. Events have numbers: those of the run come first, then pending operations.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    who: u32,
    /// The write that it reads, if it `reads`.
    source: u32,
    loc: u32,
    reads: bool,
    writes: bool,
}

impl Part {
    /// An event that is as it was in the run.
    pub fn of(at: usize, event: &Event) -> Self {
        let source = if let Source::At(write) = event.source { write } else { NOBODY };
        let (reads, writes) = (event.source != Source::None, event.written.is_some());
        Self { who: at as u32, source, loc: event.op.loc.0, reads, writes }
    }

    /// An event or a pending operation that differs from the run; `source` is the write that it reads from, if it
    /// reads.
    pub fn changed(who: u32, source: Option<Option<u32>>, loc: LocId, writes: bool) -> Self {
        Self { who, source: source.flatten().unwrap_or(NOBODY), loc: loc.0, reads: source.is_some(), writes }
    }

    /// This part with another source, if it reads, and another answer to whether it writes.
    pub fn taking(self, source: u32, writes: bool) -> Self {
        Self { source, writes, ..self }
    }
}

/// The answer of [`NearSc`].
#[derive(Debug)]
pub enum Answer {
    /// [`NearSc::order`] is an execution.
    Possible,
    /// No execution has these sources; said only where every execution is one under SC.
    Impossible,
    /// Neither was shown: the verifier of the memory model decides.
    Unknown,
}

/// Answers questions; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub struct NearSc {
    parts: Vec<Part>,
    /// The events that have not happened yet.
    left: Vec<u32>,
    /// By number of an event.
    states: Vec<State>,
    locs: Vec<Loc>,
    order: Vec<u32>,
    /// The order of every execution under SC.
    must: Order,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    done: bool,
    /// The number of events that still have to read what it writes.
    wanted: u32,
}

#[derive(Clone, Copy, Debug)]
struct Loc {
    /// The write whose value memory holds.
    writer: u32,
    /// The number of events that still have to read the initial value.
    wanted: u32,
}

impl NearSc {
    /// Begins a question about a run with these numbers of events, waiting threads, and locations.
    pub fn clear(&mut self, events: usize, waiting: usize, locs: usize) {
        self.parts.clear();
        self.states.clear();
        self.states.resize(events + waiting, State::default());
        self.locs.clear();
        self.locs.resize(locs, Loc { writer: NOBODY, wanted: 0 });
    }

    /// Adds an event; they come in the order of the run, and those that did not happen in it last.
    pub fn push(&mut self, part: Part) {
        if part.reads {
            *self.wanted(part) += 1;
        }
        self.parts.push(part);
    }

    /// The number of events that still have to read what an event reads.
    fn wanted(&mut self, part: Part) -> &mut u32 {
        match part.source {
            NOBODY => &mut self.locs[part.loc as usize].wanted,
            write => &mut self.states[write as usize].wanted,
        }
    }

    /// Whether all events that were added can happen. `preds` gives the events before an actor in program order;
    /// `is_sc` says whether every execution is one under SC.
    pub fn follow<'a>(&mut self, preds: impl Fn(u32) -> &'a [u32], is_sc: bool) -> Answer {
        if self.follows(&preds) {
            return Answer::Possible;
        }
        self.rewind();
        self.follow_saturated(preds, is_sc)
    }

    /// Whether all events that were added can happen, in the given order as far as that is possible.
    pub fn follow_as_is<'a>(&mut self, preds: impl Fn(u32) -> &'a [u32]) -> Answer {
        if self.follows(preds) { Answer::Possible } else { Answer::Unknown }
    }

    /// Whether all events that were added can happen, each as soon as none before it is missing. False proves nothing.
    fn follows<'a>(&mut self, preds: impl Fn(u32) -> &'a [u32]) -> bool {
        self.order.clear();
        self.take_all(|states, _, who| preds(who).iter().all(|&pred| states[pred as usize].done))
    }

    /// Whether all events that were added, thread after thread, can happen: each thread goes on as far as it can in its
    /// turn. False proves nothing. `ends` has the number of events that were added up to the end of each thread.
    pub fn follows_in_turn<'a>(&mut self, ends: &[u32], preds: impl Fn(u32) -> &'a [u32]) -> bool {
        self.order.clear();
        let is_ready = |states: &[State], _: &[u32], who| preds(who).iter().all(|&pred| states[pred as usize].done);
        // By thread: its next event.
        let mut next = std::mem::take(&mut self.left);
        next.clear();
        next.extend(std::iter::once(&0).chain(ends).take(ends.len()));
        let mut before = usize::MAX;
        while self.order.len() != before {
            before = self.order.len();
            for (next, &end) in next.iter_mut().zip(ends) {
                while *next < end && self.take(*next, is_ready) {
                    *next += 1;
                }
            }
        }
        self.left = next;
        self.order.len() == self.parts.len()
    }

    /// Whether all events that were added can happen, where the given order alone is known to lead nowhere.
    pub fn follow_saturated<'a>(&mut self, preds: impl Fn(u32) -> &'a [u32], is_sc: bool) -> Answer {
        self.order.clear();
        let mut must = std::mem::take(&mut self.must);
        let closed = must.saturate((self.states.len(), self.locs.len()), &self.parts, preds);
        let found = closed.is_ok() && self.take_all(|_, order, who| must.is_met(who, order));
        self.must = must;
        match closed {
            Ok(()) if found => Answer::Possible,
            Err(Cycle) if is_sc => Answer::Impossible,
            _ => Answer::Unknown,
        }
    }

    /// The events in an order in which they can happen.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Lets every event happen as soon as it can. Returns whether all of them could. `is_ready` gets the states of all
    /// events, the events that have happened, in their order, and one that has not; it returns whether that one need
    /// not wait for another.
    fn take_all(&mut self, mut is_ready: impl FnMut(&[State], &[u32], u32) -> bool) -> bool {
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        left.extend((0..self.parts.len() as u32).filter(|&part| !self.take(part, &mut is_ready)));
        let mut before = usize::MAX;
        while !left.is_empty() && left.len() < before {
            before = left.len();
            left.retain(|&part| !self.take(part, &mut is_ready));
        }
        let found = left.is_empty();
        self.left = left;
        found
    }

    /// Lets an event happen if it can.
    fn take(&mut self, part: u32, mut is_ready: impl FnMut(&[State], &[u32], u32) -> bool) -> bool {
        let Part { who, source, loc, reads, writes } = self.parts[part as usize];
        let loc = &mut self.locs[loc as usize];
        if reads && source != loc.writer {
            return false;
        }
        if !is_ready(&self.states, &self.order, who) {
            return false;
        }
        let wanted = match loc.writer {
            NOBODY => &mut loc.wanted,
            writer => &mut self.states[writer as usize].wanted,
        };
        if writes && *wanted != u32::from(reads) {
            return false;
        }
        *wanted -= u32::from(reads);
        if writes {
            loc.writer = who;
        }
        self.states[who as usize].done = true;
        self.order.push(who);
        true
    }

    /// Takes back all that has happened.
    fn rewind(&mut self) {
        for i in 0..self.parts.len() {
            let part = self.parts[i];
            self.locs[part.loc as usize].writer = NOBODY;
            let happened = std::mem::take(&mut self.states[part.who as usize].done);
            if part.reads && happened {
                *self.wanted(part) += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: u32 = 0;
    const Y: u32 = 1;

    /// The location; the write that it reads, if it reads; whether it writes.
    type Access = (u32, Option<u32>, bool);

    fn write(loc: u32) -> Access {
        (loc, None, true)
    }

    fn read(loc: u32, source: u32) -> Access {
        (loc, Some(source), false)
    }

    fn update(loc: u32, source: u32) -> Access {
        (loc, Some(source), true)
    }

    /// Follows a run with these accesses, each thread of which has some of them. Returns the answer, and the events
    /// that happened.
    fn follow(threads: &[&[u32]], accesses: &[Access], is_sc: bool) -> (Answer, Vec<u32>) {
        let mut preds = vec![Vec::new(); accesses.len()];
        for pair in threads.iter().flat_map(|thread| thread.windows(2)) {
            preds[pair[1] as usize].push(pair[0]);
        }
        let mut near_sc = NearSc::default();
        near_sc.clear(accesses.len(), 0, 2);
        for (who, &(loc, source, writes)) in accesses.iter().enumerate() {
            let (who, reads) = (who as u32, source.is_some());
            near_sc.push(Part { who, source: source.unwrap_or(NOBODY), loc, reads, writes });
        }
        let answer = near_sc.follow(|who| &preds[who as usize], is_sc);
        (answer, near_sc.order().to_vec())
    }

    fn assert_possible(threads: &[&[u32]], accesses: &[Access], order: &[u32]) {
        for is_sc in [true, false] {
            let (answer, found) = follow(threads, accesses, is_sc);
            assert!(matches!(answer, Answer::Possible), "{answer:?}");
            assert_eq!(found, order);
        }
    }

    fn assert_refuted(threads: &[&[u32]], accesses: &[Access]) {
        let answer = |is_sc| follow(threads, accesses, is_sc).0;
        assert!(matches!(answer(true), Answer::Impossible));
        assert!(matches!(answer(false), Answer::Unknown), "under other models it may be possible");
    }

    #[test]
    fn the_order_of_the_run_is_followed_where_it_can_be() {
        assert_possible(&[&[0, 2], &[1]], &[write(X), read(X, 0), read(X, 0)], &[0, 1, 2]);
        assert_possible(&[&[0], &[1]], &[read(X, 1), write(X)], &[1, 0]);
    }

    #[test]
    fn a_write_waits_for_one_that_its_reader_has_seen() {
        assert_possible(&[&[0], &[1, 2]], &[write(X), write(X), read(X, 0)], &[1, 0, 2]);
    }

    #[test]
    fn a_write_waits_for_what_has_to_be_before_it_for_another_reason() {
        // 3 is before 4, the initial value of y is read before 0, and so 3 is before 1, which reads 2.
        let threads: [&[u32]; 4] = [&[0, 1], &[2], &[3, 4], &[5, 6]];
        let accesses = [write(Y), read(X, 2), write(X), write(X), read(Y, NOBODY)];
        assert_possible(&threads[..3], &accesses, &[3, 4, 0, 2, 1]);
        // A thread has seen 2 before 3.
        let accesses = [&accesses[..], &[read(X, 2), read(X, 3)]].concat();
        assert_refuted(&threads, &accesses);
    }

    #[test]
    fn two_who_miss_each_others_writes_are_refuted() {
        assert_refuted(&[&[0, 1], &[2, 3]], &[write(X), read(Y, NOBODY), write(Y), read(X, NOBODY)]);
    }

    #[test]
    fn two_who_see_two_writes_in_different_orders_are_refuted() {
        let accesses = [write(X), write(X), read(X, 0), read(X, 1), read(X, 1), read(X, 0)];
        assert_refuted(&[&[0], &[1], &[2, 3], &[4, 5]], &accesses);
    }

    #[test]
    fn what_is_read_from_a_later_event_is_before_what_comes_after() {
        // Each of two threads reads what the other one writes afterwards.
        assert_refuted(&[&[0, 1], &[2, 3]], &[read(X, 3), write(Y), read(Y, 1), write(X)]);
    }

    #[test]
    fn two_updates_of_one_write_are_refuted() {
        assert_refuted(&[&[0], &[1]], &[update(X, NOBODY), update(X, NOBODY)]);
        assert_refuted(&[&[0], &[1], &[2]], &[write(X), update(X, 0), update(X, 0)]);
    }

    #[test]
    fn an_update_and_what_it_reads_have_nothing_between_them() {
        // 1 is after 0, so after 2, which reads 0; but 4, which reads 2, knows of 1.
        let accesses = [write(X), write(X), update(X, 0), read(X, 1), read(X, 2)];
        assert_refuted(&[&[0, 1], &[2], &[3, 4]], &accesses);
    }
}
