//! Happens-before and races of an execution under SC, for explorers that reverse races.
//!
//! Two events conflict if they are of one location and one of them writes. An event happens before another one if a
//! chain of conflicts, program order, spawns and joins leads there. A *race* is a conflict of two threads' events with
//! nothing between them, which could have come the other way round.
//!
//! What could not: an acquire behind the release by which it became possible. Its race is with the acquire before that
//! release. In general an operation that can be blocked has its race with the last event before which it was not. The
//! same holds for an operation that is still blocked at the end of the execution.

use rsmc_core::base::{Id, LocId, ThreadId};
use rsmc_core::step::Run;
use rsmc_core::trace::{Action, Event, Op, ProgramOrder, Trace};
use rustc_hash::FxHashMap;

use super::access::Access;

/// By thread: the number of its events that happened before.
type Clock = Vec<u32>;

/// Two events that could be the other way round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Race {
    /// The position of the first.
    pub(super) first: usize,
    /// That of the second; the number of events for an operation that is blocked at the end.
    pub(super) second: usize,
    /// The thread of the second.
    pub(super) thread: ThreadId,
}

/// A step of a sequence.
#[derive(Clone, Debug)]
pub(super) struct Later {
    pub(super) access: Access,
    /// The places in the sequence of those that happen before it.
    pub(super) after: Vec<usize>,
}

/// Happens-before over the events of an execution, and its races.
#[derive(Debug, Default)]
pub(super) struct Races {
    /// By event: what happened before it, itself included.
    clocks: Vec<Clock>,
    order: ProgramOrder,
    threads: usize,
    /// By location: its events so far, with the value that each found.
    events_of: FxHashMap<LocId, Vec<(usize, u64)>>,
    found: Vec<Race>,
}

impl Races {
    /// Finds those whose second event is at `from` or behind it, before `end`. The operations that are blocked at the
    /// end count if `end` is that of the execution.
    pub(super) fn compute(&mut self, run: &Run, from: usize, end: usize) -> Vec<Race> {
        let trace = &run.trace;
        self.order.compute(trace);
        self.threads = trace.thread_bound();
        self.clocks.clear();
        self.events_of.clear();
        let mut values: FxHashMap<LocId, u64> = FxHashMap::default();
        for (at, event) in trace.events[..end].iter().enumerate() {
            let Event { id, op, written, .. } = *event;
            let value = values.entry(op.loc).or_insert(trace.locs[op.loc].init);
            let past = self.join(self.order.preds(at));
            if at >= from {
                let second = (at, id.thread);
                self.find(trace, second, &op, written.is_some(), &past);
            }
            self.push(trace, at, past);
            self.events_of.entry(op.loc).or_default().push((at, *value));
            *value = written.unwrap_or(*value);
        }
        if end == trace.events.len() {
            for pending in &run.waiting {
                let Some(op) = pending.op else { continue };
                let thread = pending.id.thread;
                let past = self.join(self.order.next_preds(thread));
                self.find(trace, (end, thread), &op, true, &past);
            }
        }
        std::mem::take(&mut self.found)
    }

    /// The clock that has all that of these events.
    fn join(&self, events: &[u32]) -> Clock {
        let mut joined = vec![0; self.threads];
        events.iter().for_each(|&at| add(&mut joined, &self.clocks[at as usize]));
        joined
    }

    fn push(&mut self, trace: &Trace, at: usize, mut clock: Clock) {
        let Event { id, op, written, .. } = trace.events[at];
        for before in conflicts(trace, self.events_of.get(&op.loc), written.is_some()) {
            add(&mut clock, &self.clocks[before]);
        }
        clock[id.thread.index()] = id.index + 1;
        self.clocks.push(clock);
    }

    /// Whether an event has happened before what has this clock.
    fn is_in(trace: &Trace, event: usize, clock: &Clock) -> bool {
        let id = trace.events[event].id;
        id.index < clock[id.thread.index()]
    }

    /// Finds the races of an event, or of an operation that is blocked: `past` has what happened before by program
    /// order.
    fn find(&mut self, trace: &Trace, (at, thread): (usize, ThreadId), op: &Op, writes: bool, past: &Clock) {
        let before = self.events_of.get(&op.loc);
        let is_open = |&first: &usize| !Self::is_in(trace, first, past);
        if matches!(op.action, Action::Acquire | Action::Park) {
            let enabled = before.into_iter().flatten().rev().find(|&&(_, found)| !op.action.is_blocked(found));
            let first = enabled.map(|&(first, _)| first).filter(is_open);
            self.found.extend(first.map(|first| Race { first, second: at, thread }));
            return;
        }
        let candidates: Vec<usize> = conflicts(trace, before, writes).filter(is_open).collect();
        for &first in &candidates {
            let is_between = |&other: &usize| other != first && Self::is_in(trace, first, &self.clocks[other]);
            if !candidates.iter().any(is_between) {
                self.found.push(Race { first, second: at, thread });
            }
        }
    }

    /// The events that come instead where the second event of a race comes before the first: those in between that do
    /// not depend on the first one, and then the second.
    pub(super) fn reversal(&self, run: &Run, race: Race) -> Vec<Later> {
        let (trace, Race { first, second, thread }) = (&run.trace, race);
        let between: Vec<usize> =
            (first + 1..second).filter(|&at| !Self::is_in(trace, first, &self.clocks[at])).collect();
        let is_before = |other: usize, clock: &Clock| Self::is_in(trace, between[other], clock);
        let mut sequence: Vec<Later> = Vec::new();
        for (number, &at) in between.iter().enumerate() {
            let after = (0..number).filter(|&other| is_before(other, &self.clocks[at])).collect();
            sequence.push(Later { access: Access::of(&trace.events[at]), after });
        }
        let (op, past) = match trace.events.get(second) {
            Some(event) => (event.op, self.join(self.order.preds(second))),
            None => {
                let pending = run.waiting.iter().find(|pending| pending.id.thread == thread);
                let op = pending.and_then(|pending| pending.op).expect("it waits for an operation");
                (op, self.join(self.order.next_preds(thread)))
            }
        };
        // It may do something else where it is now.
        let earlier = (0..first).chain(between.iter().copied()).rev();
        let mut written = earlier.map(|at| &trace.events[at]).filter(|event| event.op.loc == op.loc);
        let value = written.find_map(|event| event.written).unwrap_or(trace.locs[op.loc].init);
        let writes = op.action.with_alternative(0).effect(value).written().is_some();
        let access = Access { thread, which: 0, loc: op.loc, writes, alone: op.action.alternatives() == 1 };
        let comes_before = |&other: &usize| is_before(other, &past) || sequence[other].access.conflicts(&access);
        let after = (0..sequence.len()).filter(comes_before).collect();
        sequence.push(Later { access, after });
        sequence
    }
}

/// Adds what another clock has.
fn add(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(own, &other)| *own = (*own).max(other));
}

/// The last events that conflict with one that comes next: the last write, and the reads behind it if that one writes.
fn conflicts<'a>(
    trace: &'a Trace,
    events: Option<&'a Vec<(usize, u64)>>,
    writes: bool,
) -> impl Iterator<Item = usize> + 'a {
    let events = events.map_or(&[][..], |events| events);
    let is_write = move |at: usize| trace.events[at].written.is_some();
    let last = events.iter().rposition(|&(at, _)| is_write(at));
    let since = last.unwrap_or(0);
    events[since..].iter().map(|&(at, _)| at).filter(move |&at| writes || is_write(at))
}
