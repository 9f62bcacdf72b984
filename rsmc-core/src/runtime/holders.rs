//! The threads that have the objects for which others wait by a token. They are for reports only: an event on a token
//! does not say what it is for, and the events on the object do not say how many threads have it.

use rustc_hash::FxHashMap;

use crate::base::{LocId, ThreadId};
use crate::step::{Pending, Why};

/// A thread that has an object.
struct Holder {
    object: LocId,
    thread: ThreadId,
    /// The least number that no other of its thread has.
    place: Place,
    /// The position in the trace of the event that gave it the object.
    since: usize,
}

/// The place of an object among those that a thread has: the same in each iteration of a loop, where a number that
/// counts would make the thread look as if it were never where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

/// The objects of one execution that threads have, and the objects that tokens are for.
#[derive(Default)]
pub(super) struct Holders {
    holders: Vec<Holder>,
    objects: FxHashMap<LocId, LocId>,
}

impl Holders {
    pub(super) fn clear(&mut self) {
        self.holders.clear();
        self.objects.clear();
    }

    /// Notes that a thread has got an object by the event at this position in the trace.
    pub(super) fn takes(&mut self, object: LocId, thread: ThreadId, since: usize) -> Place {
        let own = || self.holders.iter().filter(|holder| holder.thread == thread);
        let is_free = |place: &Place| own().all(|holder| holder.place != *place);
        let place = (0..).map(Place).find(is_free).expect("a thread has finitely many objects");
        self.holders.push(Holder { object, thread, place, since });
        place
    }

    /// Notes that a thread has given back the object at this place.
    pub(super) fn gives_back(&mut self, thread: ThreadId, place: Place) {
        self.holders.retain(|holder| (holder.thread, holder.place) != (thread, place));
    }

    /// The threads that have an object.
    pub(super) fn of(&self, object: LocId) -> Vec<ThreadId> {
        self.holders.iter().filter(|holder| holder.object == object).map(|holder| holder.thread).collect()
    }

    /// Notes that a thread which waits for this token waits for this object.
    pub(super) fn waits(&mut self, token: LocId, object: LocId) {
        self.objects.insert(token, object);
    }

    /// Says of threads that wait for tokens which objects these are for, and which thread has each: the waiting one, if
    /// it is among them.
    pub(super) fn explain(&self, waiting: &mut [Pending]) {
        for pending in waiting.iter_mut().filter(|pending| pending.why == Why::Park) {
            let Some(&loc) = pending.op.and_then(|op| self.objects.get(&op.loc)) else { continue };
            let has = |holder: &&Holder| holder.object == loc;
            let itself = |holder: &&Holder| has(holder) && holder.thread == pending.id.thread;
            let holder = self.holders.iter().find(itself).or_else(|| self.holders.iter().find(has));
            let since = holder.map(|holder| holder.since);
            pending.why = Why::Lock { loc, holder: holder.map(|holder| holder.thread), since };
        }
    }
}
