//! The reads that are known to complete an iteration that changes nothing.
//!
//! Such an iteration is left out of an execution (`machine::pure`), so a value that completes it is no answer of the
//! read: the thread waits. A run that is made to read such a value shows this and is no class of its own; a known read
//! is not tried again. But the thread may wait there for ever, if the locations hold in the end what it read. Explorers
//! ask for that.
//!
//! Memory. 16 bytes for each known read; what is too much for memory goes to files (`base::spilled`).

use serde::{Deserialize, Serialize};

use crate::base::{EventId, LocId, Record, Spill, Spilled};
use crate::step::{Run, Wait};
use crate::trace::spin::{Watched, Writer};
use crate::trace::{Effect, Event, Histories, Op, Source, Trace};

/// The known reads, by what their threads know then.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    known: Spilled<Look>,
    /// The number of these when the exploration started.
    at_start: u32,
    late: Late,
}

/// Whether a read became known when it was too late, so that the exploration has to start over; and the number of runs
/// before it started.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Late {
    is_some: bool,
    runs_before: u64,
}

/// The known reads, as data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SavedLooks {
    /// In the order in which they became known: what the thread knows, the number of events before, and whether it
    /// became known in time.
    reads: Vec<(u64, u32, bool)>,
    at_start: u32,
    late: Late,
}

impl SavedLooks {
    /// The number of known reads.
    pub(super) fn count(&self) -> u32 {
        self.reads.len() as u32
    }
}

/// A known read.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// The number of events before it that belong to the iteration.
    before: u32,
    /// The number of reads that were known before, less than 2³¹.
    since: u32,
    /// It became known before the answer was needed.
    in_time: bool,
}

impl Record for Look {
    type Key = u64;
    type Value = Self;
    const VALUE: u32 = 64;

    fn key(key: u64) -> u128 {
        key.into()
    }

    fn value(Self { before, since, in_time }: Self) -> u128 {
        (u64::from(before) << 32 | u64::from(since) << 1 | u64::from(in_time)).into()
    }

    fn unpack(key: u128, value: u128) -> (u64, Self) {
        let (before, since) = ((value >> 32) as u32, value as u32 >> 1);
        (key as u64, Self { before, since, in_time: value & 1 > 0 })
    }
}

impl Looks {
    /// Has the files of what is too much for memory in this place.
    pub(super) fn spill_to(&mut self, spill: Option<Spill>) {
        self.known.spill_to(spill);
    }

    /// Adds the reads that a run shows.
    pub(super) fn learn(&mut self, run: &Run) {
        run.looks.iter().for_each(|&(key, before)| self.add(key, before, false));
    }

    /// The number of known reads.
    pub(super) fn count(&self) -> u32 {
        self.known.len() as u32
    }

    /// Whether one of the reads that a run shows was not known while only `count` reads were.
    pub(super) fn has_newer(&self, run: &Run, count: u32) -> bool {
        run.looks.iter().any(|(look, _)| self.known.get(*look).is_some_and(|look| look.since >= count))
    }

    /// Whether the last one of the reads that a run shows was not known when the exploration started, nor in time.
    pub(super) fn became_known(&self, run: &Run) -> bool {
        let is_late = |look: &Look| look.since >= self.at_start && !look.in_time;
        run.looks.last().is_some_and(|(look, _)| self.known.get(*look).is_some_and(|look| is_late(&look)))
    }

    /// Notes that a read became known in time, if it is known. Returns whether it is.
    pub(super) fn note_in_time(&mut self, look: u64) -> bool {
        let known = self.known.get(look);
        if let Some(known) = known.filter(|known| !known.in_time) {
            self.known.replace(look, Look { in_time: true, ..known });
        }
        known.is_some()
    }

    /// Notes that one of these became known when it was too late.
    pub(super) fn note_late(&mut self) {
        self.late.is_some = true;
    }

    /// Whether one of these became known when it was too late.
    pub(super) fn are_late(&self) -> bool {
        self.late.is_some
    }

    /// The number of runs before the exploration started.
    pub(super) fn runs_before(&self) -> u64 {
        self.late.runs_before
    }

    /// Whether the exploration, which has made so many runs in all, has to start over now. It does not before it has
    /// made as many runs as all before it, or is over: so it starts over a few times only, however many reads become
    /// known.
    pub(super) fn start_over(&self, runs: u64, is_over: bool) -> bool {
        self.are_late() && (is_over || runs >= self.late.runs_before.saturating_mul(2))
    }

    /// The known reads, as data.
    pub(super) fn save(&self) -> SavedLooks {
        let mut all = self.known.entries();
        all.sort_unstable_by_key(|(_, look)| look.since);
        SavedLooks {
            reads: all.into_iter().map(|(key, look)| (key, look.before, look.in_time)).collect(),
            at_start: self.at_start,
            late: self.late,
        }
    }

    /// The known reads, for an exploration that starts over after so many runs.
    pub(super) fn to_start_over(&self, runs: u64) -> SavedLooks {
        SavedLooks { at_start: self.count(), late: Late { is_some: false, runs_before: runs }, ..self.save() }
    }

    /// The reads that were saved.
    pub(super) fn restore(saved: &SavedLooks) -> Self {
        Self::default().replaced(saved)
    }

    /// The reads that were saved, instead of these.
    pub(super) fn replaced(&self, saved: &SavedLooks) -> Self {
        let mut looks = Self { at_start: saved.at_start, late: saved.late, known: self.known.anew() };
        looks.add_all(saved);
        looks
    }

    /// Adds the reads that another explorer knows.
    pub(super) fn adopt(&mut self, saved: &SavedLooks) {
        self.late.is_some |= saved.late.is_some;
        self.add_all(saved);
    }

    fn add_all(&mut self, saved: &SavedLooks) {
        saved.reads.iter().for_each(|&(key, before, in_time)| self.add(key, before, in_time));
    }

    fn add(&mut self, key: u64, before: u32, in_time: bool) {
        let since = self.count();
        self.known.insert(key, Look { before, since, in_time });
    }

    /// Whether no read is known.
    pub(super) fn is_empty(&self) -> bool {
        self.known.len() == 0
    }

    /// If a thread completes such an iteration by taking `value` from this write (`None`: the initial value): the
    /// number of reads that were known before this one. `None` if the iteration takes a lock that is `tried`: other
    /// threads may see it held, and then the iteration is a part of the execution.
    pub(super) fn completes(
        &self,
        next: &Standing<'_>,
        value: u64,
        write: Option<usize>,
        tried: &[LocId],
    ) -> Option<u32> {
        let look = self.iteration(next, value, write)?;
        let begun = next.begun(look.before).iter().map(|&at| next.trace.events[at as usize]);
        let mut changed = begun.filter(Event::changes).map(|event| event.op.loc);
        let may_be_seen = !tried.is_empty()
            && (changed.any(|lock| tried.contains(&lock)) || next.op.action.locks() && tried.contains(&next.op.loc));
        (!may_be_seen).then_some(look.since)
    }

    /// If a thread has completed such an iteration by an event, which is in the execution since other threads have seen
    /// a lock held that it takes: the number of reads that were known before this one.
    pub(super) fn was_seen(&self, done: &Standing<'_>, value: u64, write: Option<usize>) -> Option<u32> {
        let look = self.iteration(done, value, write)?;
        done.is_seen(look.before).then_some(look.since)
    }

    /// The history of a thread that takes `value` from this write, if it is not known that this completes an iteration.
    pub(super) fn unknown(&self, next: &Standing<'_>, value: u64, write: Option<usize>) -> Option<u64> {
        Some(next.look(value, write)).filter(|&look| !self.known.contains(look))
    }

    /// The known read, if it is one.
    fn iteration(&self, next: &Standing<'_>, value: u64, write: Option<usize>) -> Option<Look> {
        let known = self.known.get(next.look(value, write));
        known.filter(|_| next.op.action.effect(value) != Effect::Blocked)
    }

    /// The ways in which a thread may wait for ever, given the values that it may take.
    pub(super) fn ways_to_wait(
        &self,
        next: &Standing<'_>,
        offers: impl Iterator<Item = (u64, Option<usize>)>,
    ) -> Vec<Way> {
        let mut ways = Vec::new();
        if self.is_empty() {
            return ways;
        }
        // Where it chose otherwise, it may wait as well.
        let op = Op { action: next.op.action.with_alternative(0), ..next.op };
        let next = &Standing { op, ..*next };
        for (value, write) in offers {
            let Some(Look { before, .. }) = self.iteration(next, value, write) else { continue };
            let begun = next.begun(before).iter().map(|&at| &next.trace.events[at as usize]);
            if begun.clone().any(|event| replaces(event) || event.op.action.alternative() > 0) {
                continue; // Others may have seen that, or the thread did not choose to wait; if it does, it is earlier.
            }
            let reads = begun.clone().filter(|event| event.source != Source::None);
            let reads = reads.map(|event| watched(&event.op, event.read, next.trace.source_id(event)));
            let last = watched(&next.op, value, write.map(|at| next.trace.events[at].id));
            let way = Way::new(reads.chain([last]), begun.map(|event| event.id).collect());
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        ways
    }
}

/// Whether an event replaces what it read by another value, and is no lock.
fn replaces(event: &Event) -> bool {
    event.source != Source::None && event.changes() && !event.op.action.locks()
}

fn watched(op: &Op, value: u64, writer: Option<EventId>) -> Watched {
    let writer = if op.action.locks() { Writer::One(writer) } else { Writer::Any };
    Watched { loc: op.loc, value, writer }
}

/// A way in which threads may wait for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// The values that the locations must hold in the end.
    pub(super) watched: Vec<Watched>,
    /// The events with which the threads have begun an iteration that changes nothing: they are no part of that
    /// execution.
    pub(super) begun: Vec<EventId>,
}

impl Way {
    /// The way of a thread. A lock that it took again after it had given it back is free in the end as before.
    fn new(watched: impl Iterator<Item = Watched>, begun: Vec<EventId>) -> Self {
        let is_left_out = |one: &Watched| one.writer.event().is_some_and(|writer| begun.contains(&writer));
        Self { watched: watched.filter(|one| !is_left_out(one)).collect(), begun }
    }

    /// Whether an event that counts has seen a change by one of the begun events: then that event cannot be left out.
    pub(super) fn is_seen(&self, trace: &Trace, counts: impl Fn(usize) -> bool) -> bool {
        let begun = |at: u32| Some(&trace.events[at as usize]).filter(|event| self.begun.contains(&event.id));
        let others =
            trace.events.iter().enumerate().filter(|(at, event)| counts(*at) && !self.begun.contains(&event.id));
        let mut sources =
            others.filter_map(|(_, event)| if let Source::At(at) = event.source { begun(at) } else { None });
        !self.begun.is_empty() && sources.any(Event::changes)
    }

    /// Whether an operation is not blocked where the locations hold these values.
    fn lets_go_on(&self, op: &Op) -> bool {
        let mut own = self.watched.iter().filter(|watched| watched.loc == op.loc);
        own.any(|watched| op.action.effect(watched.value) != Effect::Blocked)
    }

    /// The way of a thread that waited in a run; `None` if the thread did not choose to wait.
    pub(super) fn of(wait: &Wait, trace: &Trace) -> Option<Self> {
        let EventId { thread, index } = wait.next;
        let begun = || (index - wait.begun..index).map(|index| EventId { thread, index });
        let mut events = begun().filter_map(|id| trace.position(id)).map(|at| &trace.events[at]);
        let has_cause = events.all(|event| event.op.action.alternative() == 0);
        has_cause.then(|| Self::new(wait.watched.iter().copied(), begun().collect()))
    }
}

/// Every combination of one way for each thread that waits in a loop, but for those that need two values of a location,
/// and those in which one of the blocked operations would go on.
pub(super) fn together(threads: &[Vec<Way>], blocked: &[Op]) -> Vec<Way> {
    let mut all = vec![Way::default()];
    for ways in threads {
        let with = |one: &Way, way: &Way| Way {
            watched: [&one.watched[..], &way.watched].concat(),
            begun: [&one.begun[..], &way.begun].concat(),
        };
        let fits = |one: &Way, way: &Way| {
            let differs = |(a, b): (&Watched, &Watched)| a.loc == b.loc && a.value != b.value;
            !one.watched.iter().flat_map(|a| way.watched.iter().map(move |b| (a, b))).any(differs)
        };
        let added =
            |one: &Way| -> Vec<Way> { ways.iter().filter(|way| fits(one, way)).map(|way| with(one, way)).collect() };
        all = all.iter().flat_map(added).collect();
    }
    all.retain(|way| !blocked.iter().any(|op| way.lets_go_on(op)));
    all
}

/// An operation that a thread stands before, and what it knows there.
pub(super) struct Standing<'a> {
    pub(super) trace: &'a Trace,
    pub(super) histories: &'a Histories,
    pub(super) id: EventId,
    pub(super) op: Op,
}

impl Standing<'_> {
    /// The history of its thread when it has taken `value` from this write (`None`: the initial value).
    fn look(&self, value: u64, write: Option<usize>) -> u64 {
        let source = write.map_or(Source::Init, |at| Source::At(at as u32));
        let (read, written) = (self.op.action.returns(value), self.op.action.effect(value).written());
        let event = Event { id: self.id, op: self.op, source, read, written, buffered: false };
        self.histories.look(self.trace, &event)
    }

    /// The last `before` events of the thread.
    fn begun(&self, before: u32) -> &[u32] {
        let own = &self.trace.of_thread(self.id.thread)[..self.id.index as usize];
        &own[own.len().saturating_sub(before as usize)..]
    }

    /// Whether another thread has seen a change by the last `before` events: then they are a part of the execution.
    fn is_seen(&self, before: u32) -> bool {
        let (begun, events) = (self.begun(before), &self.trace.events);
        let is_change = |at: u32| begun.contains(&at) && events[at as usize].changes();
        let sees = |event: &Event| matches!(event.source, Source::At(at) if is_change(at));
        !begun.is_empty() && events.iter().any(|event| event.id.thread != self.id.thread && sees(event))
    }
}
