//! The fewest preemptions of events with their sources.
//!
//! Problem. Executions of one class differ in how often they take the processor from a thread. Given events, program
//! order, and the source of each read: the fewest *preemptions* of an order of these events. A preemption is a switch
//! from a thread whose next event could happen. A switch is none where the thread has no next event among the given
//! ones, or that event waits: for a lock that is held, for a token, for the end of a thread, or at a hint of a loop
//! that waits.
//!
//! A thread that gives a hint offers the processor. If it goes on itself though the next event of another thread could
//! happen, whatever it would read, that counts like a preemption: it takes from the other what was offered. A thread
//! that may wait in a loop takes up no offer: what it did in vain is no part of the execution. A read of an old value
//! that its thread has seen before a hint counts, too, if a newer one is there; which reads these are is given.
//!
//! Under a model of graphs a `SeqCst` read counts like a preemption if it takes a `SeqCst` write, or the initial value,
//! and another `SeqCst` write of the location has happened since. So a class of an execution of `SeqCst` operations has
//! as many preemptions as under SC; without that price it had none.
//!
//! Method. A state says how many events of each thread have happened, which write of each location is the last, and
//! which thread performed the last event. The search visits the states that need no preemption, then those that need
//! one, and so on. A thread performs an event at once where that takes nothing from any other order: an event that
//! writes nothing, and a write that no other event has to read or to come before. It does not if another thread waits
//! for that event: then a switch from the other thread is a preemption from here on.
//!
//! Where a switch is no preemption, any thread performs such events at once, those behind a hint included, if a switch
//! from it is no preemption afterwards. In an order in which they come later, they can be put here, and no other switch
//! becomes a preemption. While other threads give hints, an event may have to wait for one, to take it up. Then a
//! thread performs it at once only if the thread could not be left behind it.
//!
//! Reads. The source of a read has happened, as in every execution under every model. A read whose source did not
//! happen last is a *delay*. With a bound of 0 delays the orders are those of SC. Without such a bound there are more
//! orders than executions under TSO and PSO, so the number is a lower bound of theirs.
//!
//! Monotone. The events may be a part of an execution that has, with an event, what comes before it in program order
//! and its source. Then the execution, with the order restricted to the part, has no fewer preemptions. Therefore an
//! offer is not refused where a thread has no more events in the part, and may have some in the execution: one of
//! these may be in between.
//!
//! Cost. In the worst case exponential in the number of threads, as the question is NP-hard. Events times states, and
//! the number of states is limited: a search that has too many returns the number that it has reached, which is a lower
//! bound.
//!
//! Source. Musuvathi and Qadeer, "Iterative context bounding for systematic testing of multithreaded programs", PLDI
//! 2007, count preemptions of executions. Marmanis, Kokologiannakis and Vafeiadis, "Reconciling preemption bounding
//! with DPOR", TACAS 2023, count those of a class.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;

use crate::base::{Digest, LocId, ThreadId};
use crate::consistency::preemptions::events::{Known, Links, Location, NONE, Needs};
use crate::trace::Action;

pub use crate::consistency::preemptions::events::{Member, Takes};

mod events;

/// The number of states after which the search gives up.
const MOST_STATES: usize = 4_000;

/// A write that no event has to read any more.
const UNREAD: u32 = NONE - 1;

/// In a state: the place of the number of delays, and the place for the first thread.
const LATE: usize = 1;
const FIRST: usize = 2;

/// The search; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub struct Preemptions {
    events: Vec<Known>,
    preds: Vec<u32>,
    /// By thread: its events.
    threads: Vec<(ThreadId, Vec<u32>)>,
    /// By thread: whether it has no further events in any execution that has these.
    over: Vec<bool>,
    /// By thread: the number of events up to the last one behind a hint.
    hints_until: Vec<u32>,
    /// A thread without events may have some in an execution that has these.
    others_may_come: bool,
    locs: Vec<Location>,
    /// Reads that count like a preemption if the write has happened.
    outdated: Vec<(u32, u32)>,
    /// The largest number of delays.
    delays: Option<u32>,
    /// The model is one of graphs.
    is_graph: bool,
    /// Digests of states.
    visited: FxHashSet<Digest>,
    /// The states that are visited with no more preemptions, and those with one more, one behind the other. A state is
    /// the thread of the last event, the number of delays, by thread the number of events that have happened, and the
    /// last write and the last `SeqCst` write of each location where they matter.
    now: Vec<u32>,
    later: Vec<u32>,
    /// Memory for the bytes of a state.
    bytes: Vec<u8>,
}

impl Preemptions {
    /// Forgets all events, and bounds delays. `is_graph` says that the model is one of graphs.
    pub fn clear(&mut self, delays: Option<u32>, is_graph: bool) {
        self.events.clear();
        self.preds.clear();
        self.threads.clear();
        self.over.clear();
        self.hints_until.clear();
        self.locs.clear();
        self.outdated.clear();
        self.delays = delays;
        self.is_graph = is_graph;
        self.others_may_come = false;
    }

    /// Says, when all events are added, whether a thread has no further events in any execution that has these.
    pub fn ends(&mut self, thread: ThreadId, is_over: bool) {
        match self.threads.iter().position(|(other, _)| *other == thread) {
            Some(number) => self.over[number] = is_over,
            None => self.others_may_come |= !is_over,
        }
    }

    /// Says, when all events are added, that a read counts like a preemption if this write has happened.
    pub fn outdates(&mut self, write: u32, read: u32) {
        self.outdated.push((read, write));
        for event in [read, write] {
            self.events[event as usize].is_dated = true;
        }
    }

    /// Adds an event and returns its number; `preds` are the events before it in program order. Events are added in an
    /// order in which they could happen.
    pub fn push(&mut self, member: &Member, preds: impl Iterator<Item = u32>) -> u32 {
        let number = self.events.len() as u32;
        let thread = self.thread_of(member.thread);
        let loc = self.location(member.op.loc);
        let events = &self.events;
        let first = self.preds.len();
        self.preds.extend(preds.filter(|&pred| events[pred as usize].thread != thread));
        for &pred in &self.preds[first..] {
            self.events[pred as usize].leads = true;
        }
        let own = &mut self.threads[thread as usize].1;
        let place = own.len() as u32;
        own.push(number);
        if member.hinted {
            self.hints_until[thread as usize] = place + 1;
        }
        let action = member.op.action;
        let needs = match action {
            Action::Acquire => Needs::Lock,
            Action::Park => Needs::Token,
            _ => Needs::Nothing,
        };
        let (reads_in_order, writes_in_order) = self.takes_part_in_order(member);
        let at = &mut self.locs[loc as usize];
        at.has_ordered_reads |= reads_in_order;
        at.has_ordered_writes |= writes_in_order;
        at.blocks |= needs != Needs::Nothing;
        let first_reader = match member.takes {
            Takes::Nothing => None,
            Takes::Initial => Some(&mut at.first_reader),
            Takes::From(source) => Some(&mut self.events[source as usize].links.first_reader),
        };
        let next_reader = first_reader.map_or(NONE, |first| std::mem::replace(first, number));
        let next_write = if member.writes { std::mem::replace(&mut at.first_write, number) } else { NONE };
        self.events.push(Known {
            thread,
            place,
            loc,
            takes: member.takes,
            writes: member.writes,
            loops: member.waits,
            hinted: member.hinted,
            needs,
            holds: action.locks() && member.writes,
            preds_end: self.preds.len() as u32,
            leads: false,
            is_dated: false,
            reads_in_order,
            writes_in_order,
            links: Links { next_reader, first_reader: NONE, next_write },
        });
        number
    }

    /// Whether the order of `SeqCst` operations counts for what an event reads, and for what it writes.
    fn takes_part_in_order(&self, member: &Member) -> (bool, bool) {
        let is_ordered = self.is_graph && member.op.effective_order(member.writes) == Ordering::SeqCst;
        let reads = match member.takes {
            Takes::Nothing => false,
            Takes::Initial => true,
            Takes::From(source) => self.events[source as usize].writes_in_order,
        };
        (is_ordered && reads, is_ordered && member.writes)
    }

    fn thread_of(&mut self, id: ThreadId) -> u32 {
        let known = self.threads.iter().position(|(other, _)| *other == id);
        known.unwrap_or_else(|| {
            self.threads.push((id, Vec::new()));
            self.over.push(true);
            self.hints_until.push(0);
            self.threads.len() - 1
        }) as u32
    }

    fn location(&mut self, id: LocId) -> u32 {
        let known = self.locs.iter().position(|other| other.id == id);
        known.unwrap_or_else(|| {
            self.locs.push(Location::new(id));
            self.locs.len() - 1
        }) as u32
    }

    /// The fewest preemptions of an order of the events; `limit + 1` if there are more than `limit`, and `None` if
    /// there is no order.
    pub fn fewest(&mut self, limit: u32) -> Option<u32> {
        self.visited.clear();
        self.now.clear();
        self.later.clear();
        let mut state = vec![NONE];
        state.resize(FIRST + self.threads.len(), 0);
        let mut place = |matters: bool| {
            if !matters {
                return NONE;
            }
            state.push(NONE);
            state.len() as u32 - 1
        };
        for location in &mut self.locs {
            location.place = place(location.blocks || self.delays.is_some());
            location.ordered_place = place(location.has_ordered_reads && location.has_ordered_writes);
        }
        self.now.extend_from_slice(&state);
        let mut spare = state.clone();
        for reached in 0..=limit {
            while let Some(rest) = self.now.len().checked_sub(state.len()) {
                state.copy_from_slice(&self.now[rest..]);
                self.now.truncate(rest);
                if self.visited.len() >= MOST_STATES || self.expand(&mut state, &mut spare) {
                    return Some(reached);
                }
            }
            if self.later.is_empty() {
                return None;
            }
            std::mem::swap(&mut self.now, &mut self.later);
        }
        Some(limit.saturating_add(1))
    }

    /// Visits a state. Returns whether all events have happened; `spare` is memory for a state.
    fn expand(&mut self, state: &mut [u32], spare: &mut [u32]) -> bool {
        loop {
            let next = |state: &[u32]| self.next_of(state, state[0]).filter(|&next| self.is_harmless(state, next));
            while let Some(next) = next(state) {
                self.perform(state, next);
            }
            if self.has_hints(state, NONE) || !self.may_leave(state, state[0]) || !self.run_to_leave(state, spare) {
                break;
            }
        }
        if (0..self.threads.len()).all(|thread| self.next_of(state, thread as u32).is_none()) {
            return true;
        }
        self.forget_unread(state);
        if !self.visited.insert(Digest::of_words(state, &mut self.bytes)) {
            return false;
        }
        let current = state[0];
        let is_preemption = !self.may_leave(state, current);
        for thread in 0..self.threads.len() as u32 {
            let Some(next) = self.next_of(state, thread).filter(|&next| self.may_happen(state, next)) else {
                continue;
            };
            spare.copy_from_slice(state);
            self.perform(spare, next);
            let takes_turn = if thread == current { self.refuses(state, next) } else { is_preemption };
            let costs = takes_turn || self.has_price(state, next);
            let after = if costs { &mut self.later } else { &mut self.now };
            after.extend_from_slice(spare);
        }
        false
    }

    /// Whether a switch from this thread is no preemption.
    fn may_leave(&self, state: &[u32], thread: u32) -> bool {
        self.next_of(state, thread).is_none_or(|next| !self.could_happen(state, next))
    }

    /// Whether the thread of this event goes on with it right after a hint, though another thread could go on.
    fn refuses(&self, state: &[u32], event: u32) -> bool {
        let Known { thread, hinted, .. } = self.events[event as usize];
        if !hinted || state[0] != thread || self.others_may_come {
            return false;
        }
        let others = || (0..self.threads.len() as u32).filter(|&other| other != thread);
        let next = |other: u32| self.next_of(state, other);
        others().all(|other| next(other).is_some() || self.over[other as usize])
            && others().filter_map(next).any(|next| !self.events[next as usize].loops && self.is_enabled(state, next))
    }

    /// Whether an event takes an old value at a price.
    fn has_price(&self, state: &[u32], event: u32) -> bool {
        self.is_outdated(state, event) || self.is_out_of_order(state, event)
    }

    /// Whether a `SeqCst` read takes what was there before the last `SeqCst` write.
    fn is_out_of_order(&self, state: &[u32], event: u32) -> bool {
        let Known { loc, takes, reads_in_order, .. } = self.events[event as usize];
        let last = || state.get(self.locs[loc as usize].ordered_place as usize);
        let source = if let Takes::From(source) = takes { source } else { NONE };
        reads_in_order && last().is_some_and(|&last| last != source)
    }

    /// Whether an event takes a value that its thread has seen before a hint, and a newer one is there.
    fn is_outdated(&self, state: &[u32], event: u32) -> bool {
        let mut writes = self.outdated.iter().filter(|&&(read, _)| read == event);
        self.events[event as usize].is_dated && writes.any(|&(_, write)| self.has_happened(state, write))
    }

    /// Whether, behind this event, a read to come takes an old value at a price.
    fn makes_outdated(&self, state: &[u32], event: u32) -> bool {
        let mut reads = self.outdated.iter().filter(|&&(read, write)| write == event && read != event);
        self.events[event as usize].is_dated && reads.any(|&(read, _)| !self.has_happened(state, read))
    }

    /// In a state in which a switch is no preemption: lets a thread perform events that are free, up to where a switch
    /// from it is no preemption either. Returns whether one did; `spare` is memory for a state.
    fn run_to_leave(&self, state: &mut [u32], spare: &mut [u32]) -> bool {
        spare.copy_from_slice(state);
        (0..self.threads.len() as u32).any(|thread| {
            while let Some(next) = self.next_of(state, thread).filter(|&next| self.is_free(state, next)) {
                self.perform(state, next);
                if self.may_leave(state, thread) {
                    return true;
                }
            }
            state.copy_from_slice(spare);
            false
        })
    }

    /// Whether a thread other than `but` still gives a hint. Then an event that happens at once is not there to take up
    /// the hint.
    fn has_hints(&self, state: &[u32], but: u32) -> bool {
        let hints = self.hints_until.iter().zip(&state[FIRST..]).enumerate();
        hints.filter(|&(thread, _)| thread as u32 != but).any(|(_, (until, happened))| happened < until)
    }

    /// Whether an event may happen at once, whoever is at work: no other thread can go on because of it.
    fn is_free(&self, state: &[u32], event: u32) -> bool {
        let Known { loc, writes, .. } = self.events[event as usize];
        !(writes && self.locs[loc as usize].blocks) && self.loses_nothing(state, event)
    }

    /// The next event of a thread.
    fn next_of(&self, state: &[u32], thread: u32) -> Option<u32> {
        let own = &self.threads.get(thread as usize)?.1;
        own.get(state[FIRST + thread as usize] as usize).copied()
    }

    fn perform(&self, state: &mut [u32], event: u32) {
        let Known { thread, loc, writes, writes_in_order, .. } = self.events[event as usize];
        if self.delays.is_some() && !self.takes_last(state, event) {
            state[LATE] += 1;
        }
        state[0] = thread;
        state[FIRST + thread as usize] += 1;
        let Location { place, ordered_place, .. } = self.locs[loc as usize];
        for (place, writes) in [(place, writes), (ordered_place, writes_in_order)] {
            if let Some(last) = state.get_mut(place as usize).filter(|_| writes) {
                *last = event;
            }
        }
    }

    fn has_happened(&self, state: &[u32], event: u32) -> bool {
        let Known { thread, place, .. } = self.events[event as usize];
        state[FIRST + thread as usize] > place
    }

    /// The write of a location that happened last, where it matters.
    fn last_write(&self, state: &[u32], loc: u32) -> u32 {
        state.get(self.locs[loc as usize].place as usize).map_or(NONE, |&last| last)
    }

    /// Whether what is before an event in other threads has happened.
    fn is_reached(&self, state: &[u32], event: u32) -> bool {
        let first = event.checked_sub(1).map_or(0, |before| self.events[before as usize].preds_end);
        let preds = &self.preds[first as usize..self.events[event as usize].preds_end as usize];
        preds.iter().all(|&pred| self.has_happened(state, pred))
    }

    /// Whether an event is enabled, and its thread neither gives a hint before it nor may wait in a loop there.
    fn could_happen(&self, state: &[u32], event: u32) -> bool {
        !self.events[event as usize].waits() && self.is_enabled(state, event)
    }

    /// Whether nothing that an event waits for is missing, whatever it would read, and wherever its thread comes from.
    fn is_enabled(&self, state: &[u32], event: u32) -> bool {
        let Known { loc, needs, .. } = self.events[event as usize];
        let has_token = || {
            let last = self.events.get(self.last_write(state, loc) as usize);
            last.is_some_and(|last| last.needs != Needs::Token)
        };
        self.is_reached(state, event) && !self.is_locked_out(state, event) && (needs != Needs::Token || has_token())
    }

    /// Whether an event takes a lock that is held.
    fn is_locked_out(&self, state: &[u32], event: u32) -> bool {
        let Known { loc, needs, .. } = self.events[event as usize];
        needs == Needs::Lock && self.events.get(self.last_write(state, loc) as usize).is_some_and(|last| last.holds)
    }

    /// Whether what an event needs has happened, and the lock that it takes is free.
    fn is_possible(&self, state: &[u32], event: u32) -> bool {
        let has_source = match self.events[event as usize].takes {
            Takes::From(source) => self.has_happened(state, source),
            Takes::Nothing | Takes::Initial => true,
        };
        has_source && self.is_reached(state, event) && !self.is_locked_out(state, event)
    }

    /// Whether an event can happen now as it is given.
    fn may_happen(&self, state: &[u32], event: u32) -> bool {
        if !self.is_possible(state, event) {
            return false;
        }
        let Known { loc, writes, .. } = self.events[event as usize];
        let last = self.last_write(state, loc);
        let Some(most) = self.delays else { return true };
        let spent = state[LATE] + u32::from(!self.takes_last(state, event));
        // The readers of what it overwrites would be late.
        let is_too_early = || writes && spent == most && self.is_needed(state, self.first_reader(loc, last), event);
        spent <= most && !is_too_early()
    }

    /// Whether an event takes the write that happened last, or nothing.
    fn takes_last(&self, state: &[u32], event: u32) -> bool {
        let Known { loc, takes, .. } = self.events[event as usize];
        match takes {
            Takes::Nothing => true,
            Takes::Initial => self.last_write(state, loc) == NONE,
            Takes::From(source) => self.last_write(state, loc) == source,
        }
    }

    /// The first reader of what a location holds after this write.
    fn first_reader(&self, loc: u32, last: u32) -> u32 {
        match last {
            NONE => self.locs[loc as usize].first_reader,
            UNREAD => NONE,
            last => self.events[last as usize].links.first_reader,
        }
    }

    /// Whether one of these readers has not happened, other than this event.
    fn is_needed(&self, state: &[u32], first_reader: u32, but: u32) -> bool {
        let mut reader = first_reader;
        while let Some(known) = self.events.get(reader as usize) {
            if reader != but && !self.has_happened(state, reader) {
                return true;
            }
            reader = known.links.next_reader;
        }
        false
    }

    /// Whether the event of the thread that is at work may happen at once. If others give hints, it may have to wait
    /// for one, to take it up; but not where its thread could not be left behind it, either.
    fn is_harmless(&self, state: &[u32], event: u32) -> bool {
        let known = &self.events[event as usize];
        !known.waits()
            && self.loses_nothing(state, event)
            && (!self.has_hints(state, known.thread) || self.is_followed(state, event))
    }

    /// Whether the thread of an event has another one right behind it, which waits for nothing.
    fn is_followed(&self, state: &[u32], event: u32) -> bool {
        let Known { thread, place, .. } = self.events[event as usize];
        let next = self.threads[thread as usize].1.get(place as usize + 1);
        next.is_some_and(|&next| {
            let known = &self.events[next as usize];
            !known.waits() && known.needs == Needs::Nothing && self.is_reached(state, next)
        })
    }

    /// Whether an event can happen now, no order is lost, and no other thread waits for it.
    fn loses_nothing(&self, state: &[u32], event: u32) -> bool {
        let Known { loc, writes, leads, writes_in_order, .. } = self.events[event as usize];
        if leads || !self.may_happen(state, event) || self.has_price(state, event) || self.makes_outdated(state, event)
        {
            return false;
        }
        let Location { blocks, place, ordered_place, .. } = self.locs[loc as usize];
        (!writes || place == NONE || self.may_overwrite(state, event, place, blocks, self.delays.is_some()))
            && (!writes_in_order
                || ordered_place == NONE
                || self.may_overwrite(state, event, ordered_place, false, true))
    }

    /// Whether no order is lost if this write becomes the one that `state` has at `place`. An event may wait for what
    /// the location holds (`blocks`), or the readers of other writes may have a price (`readers`).
    fn may_overwrite(&self, state: &[u32], event: u32, place: u32, blocks: bool, readers: bool) -> bool {
        let Known { loc, links, .. } = self.events[event as usize];
        if readers && self.is_needed(state, self.first_reader(loc, state[place as usize]), event) {
            return false;
        }
        let mut write = self.locs[loc as usize].first_write;
        while let Some(known) = self.events.get(write as usize) {
            if write != event && !self.has_happened(state, write) {
                return !blocks && !self.is_needed(state, links.first_reader, NONE);
            }
            write = known.links.next_write;
        }
        true
    }

    /// Makes states equal that differ in writes only that no event has to read.
    fn forget_unread(&self, state: &mut [u32]) {
        for (loc, location) in self.locs.iter().enumerate() {
            let place = if location.blocks { NONE } else { location.place };
            for place in [place, location.ordered_place] {
                let Some(&last) = state.get(place as usize).filter(|last| **last != NONE) else { continue };
                if !self.is_needed(state, self.first_reader(loc as u32, last), NONE) {
                    state[place as usize] = UNREAD;
                }
            }
        }
    }
}
