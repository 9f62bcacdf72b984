//! What threads change in objects of which the machine sees the turns only.
//!
//! Problem. The operations on a reader-writer lock or a channel take turns under a lock of the object, which holds the
//! same before and behind each. So a thread that takes and gives back a reader-writer lock looks as if it changed
//! nothing, though others can find the object taken in between; and where it has the lock, it looks as if it had none.
//!
//! Method. The object says when its thread has altered it, and whether the thread has one more claim to it, or one
//! less. What a thread alters and takes back is a round ([`rounds`](super::rounds)), which stays in the execution. No
//! round begins or ends while a thread has a claim that it gives back in the round: it would wait with it.

use crate::base::{LocId, ThreadId};
use crate::machine::Machine;

/// The alterations and claims of a thread. They stay in the execution, so the counts of events stay as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Altered {
    list: Vec<Alteration>,
    /// The claims that the thread has, with the number of its events at which it came to each.
    claims: Vec<(LocId, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Alteration {
    /// The number of the thread's events, with that which ends the turn.
    events: u32,
    /// The number of claims that it has from then on.
    claims: usize,
}

impl Altered {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.claims.clear();
    }

    /// Whether the thread has altered something with its events from this number on.
    pub(super) fn is_since(&self, events: u32) -> bool {
        self.list.last().is_some_and(|last| last.events > events)
    }

    /// The number of claims that it had behind its first events.
    #[inline]
    pub(super) fn claims_behind(&self, events: u32) -> usize {
        if self.list.is_empty() {
            return 0;
        }
        let known = self.list.partition_point(|alteration| alteration.events <= events);
        self.list[..known].last().map_or(0, |last| last.claims)
    }
}

impl Machine {
    /// Notes that a thread has altered an object in a turn that it has.
    pub fn alters(&mut self, thread: ThreadId) {
        self.may_take_back = true;
        let events = self.run.trace.count(thread) + 1;
        let altered = &mut self.threads[thread].altered;
        altered.list.push(Alteration { events, claims: altered.claims.len() });
    }

    /// Notes that a thread makes a claim to an object, which it has or for which it waits.
    pub fn claims(&mut self, thread: ThreadId, object: LocId) {
        let events = self.run.trace.count(thread);
        self.threads[thread].altered.claims.push((object, events));
        self.alters(thread);
    }

    /// Notes that a thread gives up a claim to an object.
    pub fn gives_up_claim(&mut self, thread: ThreadId, object: LocId) {
        let claims = &mut self.threads[thread].altered.claims;
        if let Some(claim) = claims.iter().position(|&(claimed, _)| claimed == object) {
            let (_, since) = claims.remove(claim);
            self.threads[thread].visits.forget_since(since);
        }
        self.alters(thread);
    }
}
