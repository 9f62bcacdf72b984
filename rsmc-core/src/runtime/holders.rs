//! Who has the objects that threads wait for by a token. Only for reports: an event on a token does not tell what it is
//! for, and those on the object do not tell how many have it.

use rustc_hash::FxHashMap;

use crate::base::{LocId, ThreadId};
use crate::step::{Pending, Why};

/// A thread that has an object.
struct Holder {
    object: LocId,
    thread: ThreadId,
    /// The position in the trace of the event that gave it the object.
    since: usize,
}

/// The objects of one execution that somebody has, and what tokens are for.
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

    /// A thread has got an object by the event at this position in the trace.
    pub(super) fn takes(&mut self, object: LocId, thread: ThreadId, since: usize) {
        self.holders.push(Holder { object, thread, since });
    }

    /// A thread has given back an object that it has had since this event.
    pub(super) fn gives_back(&mut self, object: LocId, thread: ThreadId, since: usize) {
        self.holders.retain(|holder| (holder.object, holder.thread, holder.since) != (object, thread, since));
    }

    /// Who waits for a token waits for an object.
    pub(super) fn waits(&mut self, token: LocId, object: LocId) {
        self.objects.insert(token, object);
    }

    /// Says of threads that wait for tokens what they are for, and who has that: the thread itself, if it is among
    /// them.
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
