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

fn name(snapshot: &Snapshot, made: &[u32]) -> Digest {
    let mut name = Digest::EMPTY;
    for (observing, &made) in snapshot.observing.iter().zip(made) {
        for &at in &observing[..made as usize] {
            let event = &snapshot.trace.events[at as usize];
            add(&mut name, event.id, snapshot.seen(event));
        }
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
    let full: Vec<u32> = snapshot.observing.iter().map(|observing| observing.len() as u32).collect();
    let mut cuts = Vec::new();
    let enter = |made: Vec<u32>, cuts: &mut Vec<Cut>, had: &mut FxHashSet<Digest>| {
        let name = name(snapshot, &made);
        if had.insert(name) {
            cuts.push(Cut { made, name });
        }
    };
    enter(full, &mut cuts, had);
    let mut next = 0;
    while next < cuts.len() {
        for thread in 0..snapshot.threads.len() {
            let mut made = cuts[next].made.clone();
            if made[thread] > 0 {
                made[thread] -= 1;
                if is_closed(snapshot, &made) {
                    enter(made, &mut cuts, had);
                }
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

/// What each thread could observe next by the writes of the cut.
pub(super) fn extensions(snapshot: &Snapshot, cut: &Cut) -> Vec<Extension> {
    let mut found = Vec::new();
    for (number, &thread) in snapshot.threads.iter().enumerate() {
        let made = cut.made[number];
        let Some(next) = snapshot.next(number, made) else { continue };
        let before = snapshot.next_needs(number, made).iter().zip(&cut.made).all(|(need, made)| need <= made);
        if before {
            extend(snapshot, cut, thread, next, &mut found);
        }
    }
    found
}

fn extend(snapshot: &Snapshot, cut: &Cut, thread: ThreadId, next: Next, found: &mut Vec<Extension>) {
    let from = found.len();
    let mut add = |value: u64, write: Option<EventId>| {
        let seen = snapshot.would_see(&next.op, value, write);
        let possible = next.op.action.effect(value) != Effect::Blocked && !snapshot.repeats(&next, value);
        if possible && found[from..].iter().all(|other| other.seen != seen) {
            found.push(Extension { thread, next, value, seen });
        }
    };
    add(snapshot.loc(next.op.loc).init, None);
    for (at, event) in snapshot.trace.events.iter().enumerate() {
        if let Some(value) = event.written
            && event.op.loc == next.op.loc
            && snapshot.is_in(at, &cut.made)
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
