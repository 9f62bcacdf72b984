//! Read-cuts: their names, those of a run that no earlier run has had, and how a cut can become longer.

use rustc_hash::FxHashSet;

use crate::base::{Digest, EventId, LocId, ThreadId};
use crate::explore::view_xplore::snapshot::{Next, Seen, Snapshot};
use crate::trace::Effect;

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
fn add(name: &mut Digest, id: EventId, seen: Seen) {
    let (kind, a, b) = match seen {
        Seen::Value(value) => (0, value, 0),
        Seen::Write(None) => (1, 0, 0),
        Seen::Write(Some(write)) => (2, u64::from(write.thread.0), u64::from(write.index)),
    };
    name.add(&[u64::from(id.thread.0), u64::from(id.index), kind, a, b]);
}

/// By thread: the parts of a cut's name that its observations make.
fn parts(snapshot: &Snapshot) -> Vec<Vec<Digest>> {
    let part = |&at: &u32| {
        let event = &snapshot.trace.events[at as usize];
        let mut part = Digest::EMPTY;
        add(&mut part, event.id, snapshot.seen(event));
        part
    };
    snapshot.observing.iter().map(|observing| observing.iter().map(part).collect()).collect()
}

/// The name of the longest cut of a run.
fn full_name(snapshot: &Snapshot) -> Digest {
    let mut name = Digest::EMPTY;
    for &at in snapshot.observing.iter().flatten() {
        let event = &snapshot.trace.events[at as usize];
        add(&mut name, event.id, snapshot.seen(event));
    }
    name
}

/// The name of a cut with one observation more.
pub(super) fn longer(cut: &Cut, extension: &Extension) -> Digest {
    let mut name = cut.name;
    add(&mut name, extension.next.id, extension.seen);
    name
}

/// The cuts of a run that no earlier run has had, which are entered in `had`: from the longest down to known ones.
pub(super) fn new_cuts(snapshot: &Snapshot, had: &mut FxHashSet<Digest>) -> Vec<Cut> {
    let parts = parts(snapshot);
    let mut cuts = Vec::new();
    let full = Cut { made: parts.iter().map(|parts| parts.len() as u32).collect(), name: full_name(snapshot) };
    if had.insert(full.name) {
        cuts.push(full);
    }
    let mut next = 0;
    while next < cuts.len() {
        for (thread, parts) in parts.iter().enumerate() {
            let Some(last) = (cuts[next].made[thread] as usize).checked_sub(1) else { continue };
            let mut made = cuts[next].made.clone();
            made[thread] -= 1;
            let name = cuts[next].name.without(parts[last]);
            if is_closed(snapshot, &made) && had.insert(name) {
                cuts.push(Cut { made, name });
            }
        }
        next += 1;
    }
    cuts
}

/// Whether all that is observed has what must be observed before it.
fn is_closed(snapshot: &Snapshot, made: &[u32]) -> bool {
    let fits = |(thread, &own): (usize, &u32)| {
        own == 0 || {
            let last = snapshot.observing[thread][own as usize - 1];
            snapshot.needs(last as usize).iter().zip(made).all(|(need, made)| need <= made)
        }
    };
    made.iter().enumerate().all(fits)
}

/// The positions of the events of a cut.
pub(super) fn inside(snapshot: &Snapshot, cut: &Cut) -> Vec<usize> {
    (0..snapshot.trace.events.len()).filter(|&at| snapshot.is_in(at, &cut.made)).collect()
}

/// Whether every read of the cut has a write in the cut that it can take. A cut without cannot be the beginning of an
/// execution, and then neither can a longer one by one more read.
pub(super) fn is_plausible(snapshot: &Snapshot, cut: &Cut, inside: &[usize]) -> bool {
    let events = &snapshot.trace.events;
    let reads = snapshot.observing.iter().zip(&cut.made).flat_map(|(observing, &made)| &observing[..made as usize]);
    reads.into_iter().all(|&read| {
        let event = &events[read as usize];
        let seen = snapshot.seen(event);
        let takes = |value: u64, write: Option<EventId>| match seen {
            Seen::Value(other) => value == other,
            Seen::Write(other) => write == other,
        };
        let is_good = |&at: &usize| {
            let write = &events[at];
            write.op.loc == event.op.loc
                && at != read as usize
                && write.written.is_some_and(|v| takes(v, Some(write.id)))
        };
        takes(snapshot.loc(event.op.loc).init, None) || inside.iter().any(is_good)
    })
}

/// What each thread could observe next by the writes of the cut.
pub(super) fn extensions(snapshot: &Snapshot, cut: &Cut, inside: &[usize]) -> Vec<Extension> {
    let mut found = Vec::new();
    for (number, &thread) in snapshot.threads.iter().enumerate() {
        let made = cut.made[number];
        let Some(next) = snapshot.next(number, made) else { continue };
        let before = snapshot.next_needs(number, made).iter().zip(&cut.made).all(|(need, made)| need <= made);
        if before {
            extend(snapshot, inside, thread, next, &mut found);
        }
    }
    found
}

fn extend(snapshot: &Snapshot, inside: &[usize], thread: ThreadId, next: Next, found: &mut Vec<Extension>) {
    let from = found.len();
    let mut add = |value: u64, write: Option<EventId>| {
        let seen = snapshot.would_see(&next.op, value, write);
        let possible = next.op.action.effect(value) != Effect::Blocked && !snapshot.repeats(&next, value);
        if possible && found[from..].iter().all(|other| other.seen != seen) {
            found.push(Extension { thread, next, value, seen });
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
    for (number, &made) in cut.made.iter().enumerate() {
        let Some(next) = snapshot.next(number, made) else { continue };
        let comes_to_it = snapshot.next_needs(number, made).iter().zip(&cut.made).all(|(need, made)| need <= made);
        match snapshot.waits.iter().rfind(|wait| wait.next == next.id) {
            Some(wait) => watched.extend_from_slice(&wait.watched),
            None if comes_to_it && made < snapshot.observing[number].len() as u32 => return Vec::new(),
            None => {}
        }
    }
    watched
}
