//! Read-cuts: their names and their extensions.

use crate::base::{Digest, EventId, ThreadId};
use crate::explore::looks::{Looks, Way, together};
use crate::explore::view_xplore::snapshot::{Next, Seen, Snapshot};
use crate::trace::{Action, Effect, Source};

/// A read-cut: the number of observations that each thread of a run has made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut<'a> {
    pub(super) made: &'a [u32],
    pub(super) name: Digest,
}

/// Cuts of one run, one after the other.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// The number of threads that observe.
    width: usize,
    made: Vec<u32>,
    names: Vec<Digest>,
    /// The number of them that were shortened to find others.
    pub(super) shortened: usize,
}

impl Cuts {
    /// Forgets all; the next ones are those of a run with so many threads that observe.
    pub(super) fn clear(&mut self, width: usize) {
        self.width = width;
        self.made.clear();
        self.names.clear();
        self.shortened = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn at(&self, number: usize) -> Cut<'_> {
        Cut { made: &self.made[number * self.width..(number + 1) * self.width], name: self.names[number] }
    }

    pub(super) fn first(&self) -> Option<Cut<'_>> {
        (self.len() > 0).then(|| self.at(0))
    }

    pub(super) fn last(&self) -> Option<Cut<'_>> {
        self.len().checked_sub(1).map(|last| self.at(last))
    }

    pub(super) fn pop(&mut self) {
        self.names.pop();
        self.made.truncate(self.names.len() * self.width);
    }

    /// Adds a cut.
    pub(super) fn push(&mut self, made: &[u32], name: Digest) {
        self.made.extend_from_slice(made);
        self.names.push(name);
    }
}

/// A thread observes something that it does not observe in the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extension {
    pub(super) thread: ThreadId,
    pub(super) next: Next,
    /// The value it reads.
    pub(super) value: u64,
    pub(super) seen: Seen,
}

/// The part of a cut's name that one observation makes.
pub(super) fn part(id: EventId, action: Action, seen: Seen) -> Digest {
    let (kind, a, b) = match seen {
        Seen::Value(value) => (0, value, 0),
        Seen::Write(None) => (1, 0, 0),
        Seen::Write(Some(write)) => (2, u64::from(write.thread.0), u64::from(write.index)),
    };
    Digest::of(&[u64::from(id.thread.0), u64::from(id.index), kind, a, b, action.alternative()])
}

/// The name of a cut with one observation more.
pub(super) fn longer(cut: Cut<'_>, extension: &Extension) -> Digest {
    cut.name.with(part(extension.next.id, extension.next.op.action, extension.seen))
}

/// The positions of the events of a cut.
pub(super) fn find_inside(snapshot: &Snapshot, cut: Cut<'_>, inside: &mut Vec<usize>) {
    inside.clear();
    inside.extend((0..snapshot.trace.events.len()).filter(|&at| snapshot.is_in(at, cut.made)));
}

/// Collects the observations that each thread could make next by the writes of the cut.
pub(super) fn extensions(
    snapshot: &Snapshot,
    looks: &Looks,
    cut: Cut<'_>,
    inside: &[usize],
    found: &mut Vec<Extension>,
) {
    let mut looked = Vec::new();
    for (number, &thread) in snapshot.threads.iter().enumerate() {
        let Some(next) = snapshot.next(number, cut.made[number]) else { continue };
        if comes_to_next(snapshot, cut, number) {
            for next in snapshot.alternatives(next, inside) {
                looked.clear();
                extend((snapshot, looks), inside, thread, next, &mut looked, found);
            }
        }
    }
}

/// Whether all that must be observed before the next observation of a thread is observed in the cut.
fn comes_to_next(snapshot: &Snapshot, cut: Cut<'_>, thread: usize) -> bool {
    snapshot.next_needs(thread, cut.made[thread]).iter().zip(cut.made).all(|(need, made)| need <= made)
}

/// Collects the observations that a thread could make next, except those in `looked`.
fn extend(
    (snapshot, looks): (&Snapshot, &Looks),
    inside: &[usize],
    thread: ThreadId,
    next: Next,
    looked: &mut Vec<Seen>,
    found: &mut Vec<Extension>,
) {
    let mut add = |value: u64, write: Option<EventId>| {
        let seen = snapshot.would_see(&next.op, value, write);
        if looked.contains(&seen) {
            return;
        }
        looked.push(seen);
        if next.op.action.effect(value) != Effect::Blocked && !snapshot.repeats(looks, &next, value, write) {
            found.push(Extension { thread, next, value: next.op.action.returns(value), seen });
        }
    };
    add(snapshot.loc(next.op.loc).init, None);
    for event in inside.iter().map(|&at| &snapshot.trace.events[at]) {
        if let Some(value) = event.written
            && event.op.loc == next.op.loc
        {
            add(value, Some(event.id));
        }
    }
}

/// The ways in which the threads that stand before something at the end of a cut wait for ever, in loops or otherwise:
/// each lists what the locations must hold in the end. Empty if some thread goes on whatever they hold.
pub(super) fn ways_to_wait(snapshot: &Snapshot, looks: &Looks, cut: Cut<'_>, inside: &[usize]) -> Vec<Way> {
    if looks.is_empty() && snapshot.waits.is_empty() {
        return Vec::new();
    }
    let (mut all, mut blocked) = (Vec::new(), Vec::new());
    for (number, &made) in cut.made.iter().enumerate() {
        let Some(next) = snapshot.next(number, made) else { continue };
        let observes = || made < snapshot.observing(number).len() as u32 && comes_to_next(snapshot, cut, number);
        let writes = inside.iter().filter(|&&at| snapshot.trace.events[at].op.loc == next.op.loc);
        let offers = writes.filter_map(|&at| Some((snapshot.trace.events[at].written?, Some(at))));
        let init = (snapshot.loc(next.op.loc).init, None);
        let mut ways = looks.ways_to_wait(&snapshot.standing(&next), offers.chain([init]));
        let mut waits = snapshot.waits.iter().filter(|wait| wait.next == next.id).peekable();
        let is_in_a_loop = waits.peek().is_some();
        ways.extend(waits.filter_map(|wait| Way::of(wait, &snapshot.trace)));
        match ways.is_empty() {
            false => all.push(ways),
            true if is_in_a_loop || observes() => return Vec::new(),
            true => blocked.push(next.op),
        }
    }
    if all.is_empty() { Vec::new() } else { together(&all, &blocked) }
}

/// The name of a cut without the events that a way has begun, and the name of the question about it.
pub(super) fn names(snapshot: &Snapshot, cut: Cut<'_>, way: &Way) -> (Digest, Digest) {
    let events = way.begun.iter().filter_map(|&id| snapshot.trace.position(id)).map(|at| &snapshot.trace.events[at]);
    let observing = events.filter(|event| event.source != Source::None);
    let parts = observing.map(|event| part(event.id, event.op.action, snapshot.seen(event)));
    let name = parts.fold(cut.name, Digest::without);
    (name, way.watched.iter().fold(name, |name, watched| name.with(watched.name())))
}
