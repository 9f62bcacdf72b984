//! The rounds that threads have gone in an execution, as far as the machine has found them: see `machine::rounds`.

use crate::base::{EventId, IdVec, ThreadId};

/// The rounds of an execution: by thread, the indices of the first and the last event of each, in its order.
#[derive(Clone, Debug, Default)]
pub struct Rounds(IdVec<ThreadId, Vec<(u32, u32)>>);

impl Rounds {
    /// Forgets all rounds.
    pub fn clear(&mut self) {
        self.0.values_mut().for_each(Vec::clear);
    }

    /// Adds a round of a thread, the last one so far.
    pub fn add(&mut self, first: EventId, last: EventId) {
        self.0.grow_to(first.thread, Vec::new);
        self.0[first.thread].push((first.index, last.index));
    }

    /// Forgets those of a thread that end behind its first `count` events.
    pub(super) fn cut(&mut self, thread: ThreadId, count: u32) {
        if let Some(own) = self.0.get_mut(thread) {
            own.truncate(own.partition_point(|&(_, last)| last < count));
        }
    }

    /// The index of the first event of the round that this event ends, if it ends one.
    pub(super) fn ended_by(&self, EventId { thread, index }: EventId) -> Option<u32> {
        let own = self.0.get(thread)?;
        own.binary_search_by_key(&index, |&(_, last)| last).ok().map(|number| own[number].0)
    }
}
