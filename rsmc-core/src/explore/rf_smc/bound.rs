//! The bounds of preemptions and delays.
//!
//! Problem. Run every class that has an execution with at most `k` preemptions and at most `d` delays (reads of old
//! values) once, and as few others as possible. A schedule leads to runs that have its events, and also to what these
//! runs discover at the decisions above, in classes that need not have its events.
//!
//! Method. Of a schedule's events the fewest preemptions of an order are computed
//! ([`Preemptions`](crate::consistency::Preemptions)). The revisited event counts if it is a load; the one that is
//! reversed with it does not. A spurious outcome counts like a preemption. A schedule is explored for two reasons, and
//! left out if neither is within the bound:
//!
//! - For the classes that have its events. They have at least as many preemptions as it.
//! - For what its runs discover at a decision above. There an event `r` is to take a write `w` that some run of this
//!   schedule shows. The new class has the events before `r` in `τ`, and the past of `w`, which schedules on the way to
//!   that run put into `τ`. It has nothing that depends on `r`. So of this schedule's events only these count: those
//!   before `r`, and those that schedules on the path require, without those that depend on `r`. If `r` is an update,
//!   it does not count either, since it may be reversed with another update. Where the revised events themselves depend
//!   on `r`, the schedule is nothing to that decision; but an update that takes its value from `r` by way of other
//!   updates can be reversed with these one after the other, and come before `r`.
//!
//! Slack. For the second reason, a schedule is explored only if it exceeds the bound by no more than the number of
//! threads with events, less two: in the order that the new class has, threads are interrupted once more before their
//! next event, but not that of `r`, nor the one that is last. A main thread that only starts and joins the others does
//! not count. Where threads give hints the slack is one more: an offer
//! that the thread of `r` refuses in this schedule need not be one in the new class. Under a model of graphs it is one
//! more where there are `SeqCst` reads and not all operations are `SeqCst`: `r` may be out of order here and not there.
//! Orders with more than `d` delays and the slack do not count; of 150 programs of each mix without hints none needed
//! slack for delays.
//!
//! All this is an argument, no proof: `tests/bound_oracle.rs` compares the classes with brute force, and has programs
//! in which classes are missed if only the first reason counts, and without the chains of updates.
//!
//! Cost. For a schedule within the slack, a search for each decision above it at which something may be discovered.
//!
//! Sets of names are not bounded while preemptions are: the run that is the canonical parent of a schedule may be left
//! out.
//!
//! Hints. An offer that is refused counts like a preemption, and so does a read of an old value behind a hint under a
//! model of graphs ([`Outdated`]).
//!
//! Waiting loops. A switch is free where the thread may wait in a loop: before an operation behind a hint, and before
//! each operation at a line where a thread was seen to wait ([`Run::loops`]). If a run shows another such line, the
//! exploration starts over ([`Plan::names_loops`](crate::step::Plan::names_loops)).
//!
//! Source. Coons, Musuvathi, McKinley, "Bounded partial-order reduction", OOPSLA 2013; Marmanis, Kokologiannakis,
//! Vafeiadis, "Reconciling preemption bounding with DPOR", TACAS 2023: explorations of graphs need such a slack.

use std::sync::atomic::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{BitSet, EventId, ThreadId};
use crate::consistency::{Member, Preemptions, Takes};
use crate::explore::rf_smc::aside::Aside;
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::entry::RevisedEntry;
use crate::explore::rf_smc::frame::Frame;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::outdated::Outdated;
use crate::explore::rf_smc::revisit::{OpRef, preds_of, source_of};
use crate::explore::rf_smc::sequence::NewSequence;
use crate::explore::rf_smc::tau::NamedEntry;
use crate::step::{Observed, Run};
use crate::trace::{Action, NoteKind, Site, Trace};

/// The number of bounds above the current one that are told apart before they are reached.
const LOOK_AHEAD: u32 = 3;

/// The bound of preemptions where only delays are bounded.
pub(super) const NONE: u32 = NEVER - 1;

/// The level of a sequence that is within no bound of preemptions.
pub(super) const NEVER: u32 = u32::MAX;

/// The bound; keeps its memory from one schedule to the next.
#[derive(Debug, Default)]
pub(super) struct Bound {
    /// The largest number of preemptions; `None`: no bound.
    pub(super) most: Option<u32>,
    /// The largest number of delays; `None`: no bound.
    pub(super) delays: Option<u32>,
    /// It rises when all schedules within it have been explored.
    pub(super) rises: bool,
    /// The number of preemptions that a schedule may have beyond the bound.
    slack: u32,
    /// The schedules that are beyond it, if it rises.
    pub(super) aside: Aside,
    search: Preemptions,
    /// By event of the run: its number in the search.
    numbers: Vec<u32>,
    /// By number in the search: the event of the run. The revisited event has the number behind them.
    events: Vec<usize>,
    outdated: Outdated,
    /// The events behind a hint, those that threads wait to perform included.
    hinted: FxHashSet<EventId>,
    /// The threads that have ended.
    ended: FxHashSet<ThreadId>,
    /// The places of operations, with their numbers in [`Run::loops`].
    lines: FxHashMap<Site, u32>,
    /// Memory of [`Bound::fewest_above`].
    required: BitSet,
    part: BitSet,
}

/// The schedule that is judged: a new sequence at a decision.
pub(super) struct Candidate<'a> {
    pub(super) run: &'a Run,
    pub(super) graph: &'a Graph,
    pub(super) frame: &'a Frame,
    pub(super) sequence: &'a NewSequence,
    pub(super) tau: &'a [NamedEntry],
    pub(super) decision: &'a Decision,
    pub(super) above: &'a [Decision],
}

/// A part of a new sequence.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// The events that it has unchanged.
    events: &'a BitSet,
    /// It has the revisited event.
    has_first: bool,
}

impl Candidate<'_> {
    /// Finds the events that schedules on the path require, this one included.
    fn find_required(&self, required: &mut BitSet) {
        let &Self { run, graph, frame, sequence, tau, decision, .. } = self;
        required.reset(run.trace.events.len());
        sequence.add_required(run, graph, required);
        let marked = frame.before(decision).zip(tau).filter(|(_, entry)| entry.marked);
        marked.for_each(|(at, _)| graph.add_past(at, required));
    }

    /// The part that a decision needs; nothing if both revised events depend on it.
    fn part_for<'a>(&self, decision: &Decision, required: &BitSet, part: &'a mut BitSet) -> Option<Part<'a>> {
        let &Self { run, graph, frame, sequence, .. } = self;
        let reader = frame.stands_at(decision);
        let depends = |at: usize| reader.is_some_and(|reader| graph.precedes(reader, at));
        let is_reader = |at: usize| reader == Some(at);
        let is_behind = |at: usize| is_reader(at) || depends(at);
        // An update that takes the reader's value, or an update's that does, can take what the reader takes.
        let may_leave = |entry: &RevisedEntry| {
            let mut preds = preds_of(run, graph, entry.who).iter().map(|&pred| pred as usize);
            let write = |at: usize| source_of(&run.trace.events[at]);
            let mut chain = std::iter::successors(entry.source.and_then(OpRef::event), |&at| write(at));
            !preds.any(is_behind) && (chain.any(is_reader) || !entry.source.and_then(OpRef::event).is_some_and(depends))
        };
        if !sequence.first.iter().chain(&sequence.second).any(may_leave) {
            return None;
        }
        let is_update = |at: usize| run.trace.events[at].written.is_some();
        part.clone_from(required);
        frame.before(decision).for_each(|at| part.insert(at));
        for at in 0..run.trace.events.len() {
            let is_changed = !sequence.unchanged().contains(at);
            if is_changed || depends(at) || (is_reader(at) && is_update(at)) {
                part.remove(at);
            }
        }
        let takes_other = |first: &RevisedEntry| !first.source.and_then(OpRef::event).is_some_and(is_behind);
        let has_first = sequence.first.is_some_and(|first| may_leave(&first) && takes_other(&first));
        Some(Part { events: part, has_first })
    }
}

impl Bound {
    /// A bound like this one, for an exploration that starts over.
    pub(super) fn anew(&self) -> Self {
        Self { most: self.most, delays: self.delays, rises: self.rises, ..Self::default() }
    }

    /// Turns to a run.
    pub(super) fn begin(&mut self, run: &Run) {
        self.hinted.clear();
        self.ended.clear();
        if self.most.is_some() {
            let present = run.trace.present().filter(|(thread, _)| run.trace.count(*thread) > 0);
            let counted = present.count() - usize::from(main_only_waits(&run.trace));
            self.slack = counted.saturating_sub(2) as u32;
            let hints = run.trace.notes.iter().filter(|note| note.kind == NoteKind::Hint);
            self.hinted.extend(hints.map(|note| next_event(&run.trace, note.thread, note.at)));
            let ends = run.trace.notes.iter().filter(|note| note.kind == NoteKind::End);
            self.ended.extend(ends.map(|note| note.thread));
            self.slack += u32::from(!self.hinted.is_empty());
            self.slack += u32::from(run.model.is_graph() && is_partly_sequential(run));
        }
    }

    /// The lowest bound within which a schedule is explored, if that is not the current one; [`NEVER`] if it has too
    /// many delays.
    pub(super) fn beyond(&mut self, candidate: &Candidate<'_>) -> Option<u32> {
        let most = self.most?;
        let whole = Part { events: candidate.sequence.unchanged(), has_first: true };
        let ahead = if self.rises { LOOK_AHEAD } else { 0 };
        let limit = most.saturating_add(self.slack + ahead);
        let own = self.fewest(candidate, whole, limit);
        let least = own.saturating_sub(self.slack).max(most);
        if own <= most || least > most + ahead || own == NEVER {
            return (own > most).then_some(if own == NEVER { NEVER } else { least });
        }
        let level = self.fewest_above(candidate, least, own).max(least);
        (level > most).then_some(level)
    }

    /// The fewest preemptions of what a decision above needs of a schedule, between `least` and `most`.
    fn fewest_above(&mut self, candidate: &Candidate<'_>, least: u32, most: u32) -> u32 {
        let mut required = std::mem::take(&mut self.required);
        let mut part = std::mem::take(&mut self.part);
        candidate.find_required(&mut required);
        let mut fewest = most;
        for decision in candidate.above {
            if fewest <= least {
                break;
            }
            if let Some(part) = candidate.part_for(decision, &required, &mut part) {
                fewest = fewest.min(self.fewest(candidate, part, fewest));
            }
        }
        (self.required, self.part) = (required, part);
        fewest
    }

    /// The fewest preemptions of a part of a sequence, if there are at most `limit`; [`NEVER`] if it has too many
    /// delays.
    fn fewest(&mut self, candidate: &Candidate<'_>, part: Part<'_>, limit: u32) -> u32 {
        let &Candidate { run, graph, sequence, .. } = candidate;
        let delays = self.delays.map(|most| most.saturating_add(self.slack));
        let delays = if graph.model().is_sequential() { Some(0) } else { delays };
        self.search.clear(delays, graph.model().is_graph());
        self.numbers.resize(run.trace.events.len(), 0);
        self.events.clear();
        self.outdated.clear();
        let mut spurious = 0;
        for at in part.events.iter() {
            let entry = RevisedEntry::of(run, OpRef::Event(at));
            self.numbers[at] = self.push(run, graph, &entry);
            self.events.push(at);
            spurious += u32::from(entry.op.action.is_spurious());
        }
        if let Some(first) = sequence.first.filter(|_| part.has_first) {
            spurious += u32::from(first.op.action.is_spurious());
            if first.op.action == Action::Load {
                self.push(run, graph, &first);
            }
        }
        for (thread, _) in run.trace.present() {
            let own = run.trace.of_thread(thread);
            let has_all = own.last().is_none_or(|&last| part.events.contains(last as usize));
            self.search.ends(thread, has_all && self.ended.contains(&thread));
        }
        self.find_outdated(graph);
        self.search.fewest(limit.saturating_sub(spurious)).map_or(NEVER, |fewest| fewest + spurious)
    }

    /// Adds an event to the search. Returns its number there.
    fn push(&mut self, run: &Run, graph: &Graph, entry: &RevisedEntry) -> u32 {
        let reads = entry.op.action.reads();
        let takes = match entry.source.and_then(OpRef::event) {
            Some(write) => Takes::From(self.numbers[write]),
            None if reads => Takes::Initial,
            None => Takes::Nothing,
        };
        let (hinted, waits) = (self.hinted.contains(&entry.id), self.is_in_loop(run, entry.op.site));
        let thread = entry.id.thread;
        let member = Member { thread, op: entry.op, takes, writes: entry.writes, waits, hinted };
        let numbers = &self.numbers;
        let preds = preds_of(run, graph, entry.who).iter().map(|&pred| numbers[pred as usize]);
        let number = self.search.push(&member, preds);
        if graph.model().is_graph() && !self.hinted.is_empty() {
            self.outdated.push(number, member);
        }
        number
    }

    /// Tells the search which reads take an old value once more.
    fn find_outdated(&mut self, graph: &Graph) {
        let Self { outdated, events, search, .. } = self;
        // In the run the revisited event takes another write, so other events happen before it.
        let happens_before = |a: u32, b: u32| match (events.get(a as usize), events.get(b as usize)) {
            (Some(&a), Some(&b)) => graph.happens_before(a, b),
            _ => false,
        };
        outdated.find(happens_before, |read, write| search.outdates(write, read));
    }

    /// Whether threads wait in a loop before the operation at this place.
    fn is_in_loop(&mut self, run: &Run, site: Site) -> bool {
        if !run.has_waits() {
            return false;
        }
        let line = *self.lines.entry(site).or_insert_with(|| Observed::number_of(&site.to_string()));
        run.loops.lines.contains(&line)
    }
}

/// Whether the main thread has events, joins all others, and has no event between the first that it starts and the last
/// that it joins: nobody can interrupt it.
fn main_only_waits(trace: &Trace) -> bool {
    let (mut first, mut joined) = (u32::MAX, Vec::new());
    for note in trace.notes.iter().filter(|note| note.thread == ThreadId::MAIN) {
        match note.kind {
            NoteKind::Spawn(_) => first = first.min(note.at),
            NoteKind::Join(other) => joined.push((other, note.at)),
            _ => {}
        }
    }
    let last = joined.iter().map(|&(_, at)| at).max().unwrap_or_default();
    let is_joined = |other| other == ThreadId::MAIN || joined.iter().any(|&(joined, _)| joined == other);
    let own = trace.of_thread(ThreadId::MAIN);
    !own.is_empty()
        && !own.iter().any(|at| (first..last).contains(at))
        && trace.present().all(|(other, _)| is_joined(other))
}

/// Whether a run has reads that are `SeqCst`, and operations that are not sequential.
fn is_partly_sequential(run: &Run) -> bool {
    let events = &run.trace.events;
    let has_ordered_read = events.iter().any(|event| event.op.action.reads() && event.order() == Ordering::SeqCst);
    has_ordered_read && !events.iter().all(|event| event.op.is_sequential(event.written.is_some()))
}

/// The first event of a thread at this position or behind it, which it may not have performed.
fn next_event(trace: &Trace, thread: ThreadId, from: u32) -> EventId {
    EventId { thread, index: trace.of_thread(thread).partition_point(|&at| at < from) as u32 }
}
