//! Read-cuts: their names, those of a run that no earlier run has had, and how a cut can become longer.

use rustc_hash::FxHashSet;

use crate::base::{Digest, EventId, LocId, ThreadId};
use crate::explore::view_xplore::snapshot::{Next, Seen, Snapshot};
use crate::trace::{Action, Effect};

/// How many observations each thread of a run has made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) made: Vec<u32>,
    pub(super) name: Digest,
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
fn part(id: EventId, action: Action, seen: Seen) -> Digest {
    let (kind, a, b) = match seen {
        Seen::Value(value) => (0, value, 0),
        Seen::Write(None) => (1, 0, 0),
        Seen::Write(Some(write)) => (2, u64::from(write.thread.0), u64::from(write.index)),
    };
    Digest::of(&[u64::from(id.thread.0), u64::from(id.index), kind, a, b, action.alternative()])
}

/// By thread: the parts of a cut's name that its observations make.
fn parts(snapshot: &Snapshot) -> Vec<Vec<Digest>> {
    let part = |&at: &u32| {
        let event = &snapshot.trace.events[at as usize];
        part(event.id, event.op.action, snapshot.seen(event))
    };
    snapshot.observing.iter().map(|observing| observing.iter().map(part).collect()).collect()
}

/// The name of a cut with one observation more.
pub(super) fn longer(cut: &Cut, extension: &Extension) -> Digest {
    cut.name.with(part(extension.next.id, extension.next.op.action, extension.seen))
}

/// The cuts of a run that no earlier run has had, which are entered in `had`: from the longest down to known ones.
pub(super) fn new_cuts(snapshot: &Snapshot, had: &mut FxHashSet<Digest>) -> Vec<Cut> {
    let parts = parts(snapshot);
    let mut cuts = Vec::new();
    let name = parts.iter().flatten().fold(Digest::EMPTY, |name, &part| name.with(part));
    let full = Cut { made: parts.iter().map(|parts| parts.len() as u32).collect(), name };
    if had.insert(full.name) {
        cuts.push(full);
    }
    let mut next = 0;
    while next < cuts.len() {
        for (thread, parts) in parts.iter().enumerate() {
            let Some(last) = (cuts[next].made[thread] as usize).checked_sub(1) else { continue };
            let name = cuts[next].name.without(parts[last]);
            if is_closed_without(snapshot, &cuts[next].made, thread) && had.insert(name) {
                let mut made = cuts[next].made.clone();
                made[thread] -= 1;
                cuts.push(Cut { made, name });
            }
        }
        next += 1;
    }
    cuts
}

/// Whether all that is observed in a cut still has what must be observed before it, without the last observation of a
/// thread.
fn is_closed_without(snapshot: &Snapshot, made: &[u32], thread: usize) -> bool {
    let needs_it = |(other, &own): (usize, &u32)| {
        own > 0 && other != thread && {
            let last = snapshot.observing[other][own as usize - 1];
            snapshot.needs(last as usize)[thread] == made[thread]
        }
    };
    !made.iter().enumerate().any(needs_it)
}

/// The positions of the events of a cut.
pub(super) fn find_inside(snapshot: &Snapshot, cut: &Cut, inside: &mut Vec<usize>) {
    inside.clear();
    inside.extend((0..snapshot.trace.events.len()).filter(|&at| snapshot.is_in(at, &cut.made)));
}

/// Whether every read of the cut has a write in the cut that it can take. A cut without cannot be the beginning of an
/// execution, and then neither can a longer one by one more read.
pub(super) fn is_plausible(snapshot: &Snapshot, cut: &Cut, inside: &[usize]) -> bool {
    let events = &snapshot.trace.events;
    let reads = snapshot.observing.iter().zip(&cut.made).flat_map(|(observing, &made)| &observing[..made as usize]);
    reads.into_iter().all(|&read| {
        let event = &events[read as usize];
        let seen = snapshot.seen(event);
        let is_good = |&at: &usize| {
            let write = &events[at];
            write.op.loc == event.op.loc
                && at != read as usize
                && write.written.is_some_and(|value| seen.is_of(value, Some(write.id)))
        };
        seen.is_of(snapshot.loc(event.op.loc).init, None) || inside.iter().any(is_good)
    })
}

/// Collects what each thread could observe next by the writes of the cut.
pub(super) fn extensions(snapshot: &Snapshot, cut: &Cut, inside: &[usize], found: &mut Vec<Extension>) {
    let mut looked = Vec::new();
    for (number, &thread) in snapshot.threads.iter().enumerate() {
        let Some(next) = snapshot.next(number, cut.made[number]) else { continue };
        if comes_to_next(snapshot, cut, number) {
            for next in snapshot.alternatives(next, inside) {
                looked.clear();
                extend(snapshot, inside, thread, next, &mut looked, found);
            }
        }
    }
}

/// Whether all that must be observed before the next observation of a thread is observed in the cut.
fn comes_to_next(snapshot: &Snapshot, cut: &Cut, thread: usize) -> bool {
    snapshot.next_needs(thread, cut.made[thread]).iter().zip(&cut.made).all(|(need, made)| need <= made)
}

/// What a thread could observe next, except what was looked at.
fn extend(
    snapshot: &Snapshot,
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
        if next.op.action.effect(value) != Effect::Blocked && !snapshot.repeats(&next, value) {
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

/// What is watched by the threads that wait in a loop at the end of a cut, if nobody else can go on: they may wait for
/// ever, and no longer cut shows that.
pub(super) fn watched(snapshot: &Snapshot, cut: &Cut) -> Vec<(LocId, u64)> {
    let mut watched = Vec::new();
    if snapshot.waits.is_empty() {
        return watched;
    }
    for (number, &made) in cut.made.iter().enumerate() {
        let Some(next) = snapshot.next(number, made) else { continue };
        let observes = || made < snapshot.observing[number].len() as u32 && comes_to_next(snapshot, cut, number);
        match snapshot.waits.iter().rfind(|wait| wait.next == next.id) {
            Some(wait) => watched.extend_from_slice(&wait.watched),
            None if observes() => return Vec::new(),
            None => {}
        }
    }
    watched
}
