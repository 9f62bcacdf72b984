//! The cuts of a run that no earlier run has had.
//!
//! Problem. A cut is *plausible* if it has, with each observation, all that must be observed before it, and a write
//! that it can take. Another one is the beginning of no execution, and most of the cross-product are such. Find the
//! plausible cuts only.
//!
//! Method. From the cut that has all observations of the run, take away the last one of a thread, if the rest is
//! plausible, and go on from there. Every plausible cut is found: add to it what the run has besides, in the order of
//! the run. Each read that is added has its source before it, so all of these cuts are plausible. A cut that an earlier
//! run has had is not shortened: that run has had what it contains, too.
//!
//! Cost. For each plausible cut and thread: a look at the observations that may lose their write.
//!
//! Source. Stamos' thesis, section 4.7. Algorithm 2 there counts through the cross-product and passes over what is not
//! plausible; here it is never visited.

use crate::base::{Digest, IdVec, LocId, Spilled};
use crate::explore::view_xplore::cuts::{Cut, Cuts, part};
use crate::explore::view_xplore::snapshot::Snapshot;

/// The enumeration, and its knowledge of the observations of the newest run, which are numbered thread by thread.
#[derive(Debug, Default)]
pub(super) struct Enumeration {
    /// The parts of the names of cuts.
    parts: Vec<Digest>,
    /// The positions of the writes that each can take; empty if it can take one that every cut has.
    writes: Vec<Vec<u32>>,
    /// The observations, each as its thread and its place there, that can take a write which a cut without this one
    /// has not.
    takers: Vec<Vec<(u32, u32)>>,
    /// By location: the positions of its writes.
    by_loc: IdVec<LocId, Vec<u32>>,
    /// A cut that is being shortened.
    made: Vec<u32>,
}

impl Enumeration {
    /// Begins with the longest cut of a run. Cuts that are found are entered in `had`.
    pub(super) fn begin(&mut self, snapshot: &Snapshot, had: &mut Spilled<Digest>, cuts: &mut Cuts) {
        self.find_parts(snapshot);
        let threads = snapshot.threads.len();
        cuts.clear(threads);
        let name = self.parts.iter().fold(Digest::EMPTY, |name, &part| name.with(part));
        if had.insert(name, ()) {
            self.made.clear();
            self.made.extend((0..threads).map(|thread| snapshot.observing(thread).len() as u32));
            cuts.push(&self.made, name);
            self.find_takers(snapshot);
        }
    }

    /// Shortens `most` of the cuts at most; false if there are more.
    pub(super) fn find_more(
        &mut self,
        snapshot: &Snapshot,
        had: &mut Spilled<Digest>,
        cuts: &mut Cuts,
        most: usize,
    ) -> bool {
        let until = cuts.shortened + most;
        while cuts.shortened < cuts.len() {
            if cuts.shortened == until {
                return false;
            }
            for thread in 0..snapshot.threads.len() {
                if let Some(name) = self.shorten(snapshot, cuts.at(cuts.shortened), thread)
                    && had.insert(name, ())
                {
                    cuts.push(&self.made, name);
                }
            }
            cuts.shortened += 1;
        }
        true
    }

    /// Writes a cut without the last observation of a thread to `made`, and returns its name; `None` if the thread has
    /// none, or the rest is not plausible.
    fn shorten(&mut self, snapshot: &Snapshot, cut: Cut<'_>, thread: usize) -> Option<Digest> {
        let last = (cut.made[thread] as usize).checked_sub(1)?;
        if !is_closed_without(snapshot, cut.made, thread) {
            return None;
        }
        self.made.clear();
        self.made.extend_from_slice(cut.made);
        self.made[thread] -= 1;
        let removed = snapshot.first_of(thread) + last;
        let keeps = |&(thread, place): &(u32, u32)| {
            place >= self.made[thread as usize] || self.has_write(snapshot, thread as usize, place)
        };
        self.takers[removed].iter().all(keeps).then(|| cut.name.without(self.parts[removed]))
    }

    /// Whether `made` has a write that an observation can take.
    fn has_write(&self, snapshot: &Snapshot, thread: usize, place: u32) -> bool {
        let writes = &self.writes[snapshot.first_of(thread) + place as usize];
        writes.is_empty() || writes.iter().any(|&at| snapshot.is_in(at as usize, &self.made))
    }

    fn find_parts(&mut self, snapshot: &Snapshot) {
        let part = |&at: &u32| {
            let event = &snapshot.trace.events[at as usize];
            part(event.id, event.op.action, snapshot.seen(event))
        };
        self.parts.clear();
        self.parts.extend(snapshot.all_observing().iter().map(part));
    }

    /// Finds the writes that each observation can take, and the observations that can take each write.
    fn find_takers(&mut self, snapshot: &Snapshot) {
        let events = &snapshot.trace.events;
        self.by_loc.values_mut().for_each(Vec::clear);
        for (at, event) in events.iter().enumerate().filter(|(_, event)| event.written.is_some()) {
            self.by_loc.grow_to(event.op.loc, Vec::new);
            self.by_loc[event.op.loc].push(at as u32);
        }
        self.writes.resize_with(self.parts.len(), Vec::new);
        self.takers.resize_with(self.parts.len(), Vec::new);
        self.writes.iter_mut().for_each(Vec::clear);
        self.takers.iter_mut().for_each(Vec::clear);
        for thread in 0..snapshot.threads.len() {
            let first = snapshot.first_of(thread);
            for (place, &at) in snapshot.observing(thread).iter().enumerate() {
                find_writes(snapshot, at, &self.by_loc, &mut self.writes[first + place]);
                for &write in &self.writes[first + place] {
                    for needed in snapshot.needed(write as usize) {
                        self.takers[needed].push((thread as u32, place as u32));
                    }
                }
            }
        }
    }
}

/// Collects the writes that an observation can take; none if it can take the initial value or a write that every cut
/// has.
fn find_writes(snapshot: &Snapshot, at: u32, by_loc: &IdVec<LocId, Vec<u32>>, writes: &mut Vec<u32>) {
    let event = &snapshot.trace.events[at as usize];
    let seen = snapshot.seen(event);
    if seen.is_of(snapshot.loc(event.op.loc).init, None) {
        return;
    }
    for &write in by_loc.get(event.op.loc).into_iter().flatten().filter(|&&write| write != at) {
        let written = &snapshot.trace.events[write as usize];
        if written.written.is_some_and(|value| seen.is_of(value, Some(written.id))) {
            if snapshot.needed(write as usize).next().is_none() {
                writes.clear();
                return;
            }
            writes.push(write);
        }
    }
}

/// Whether a cut without the last observation of a thread still has, for each of its observations, all that must be
/// observed before it.
fn is_closed_without(snapshot: &Snapshot, made: &[u32], thread: usize) -> bool {
    let needs_it = |(other, &own): (usize, &u32)| {
        own > 0 && other != thread && {
            let last = snapshot.observing(other)[own as usize - 1];
            snapshot.needs(last as usize)[thread] == made[thread]
        }
    };
    !made.iter().enumerate().any(needs_it)
}
