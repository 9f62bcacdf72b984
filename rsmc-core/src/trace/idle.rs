//! The events by which a thread hands nothing over to others.
//!
//! Memory that no location stands for, as the data that a spin lock of the user's guards, changes without an event. A
//! thread may read changed memory once it has read a write of the thread that changed it. So a write counts, also where
//! it leaves the same value as before, except if it is *idle*: its thread is where it was one round of its loop
//! earlier, has taken back what it changed of any memory, and has read nothing of the kind from others in this round.

use crate::base::{EventId, ThreadId};

/// The idle events of an execution: by thread, the index of the first one and that behind the last one.
#[derive(Clone, Debug, Default)]
pub struct Idle(Vec<(ThreadId, u32, u32)>);

impl Idle {
    /// Forgets all events.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the event of a thread with this index.
    pub fn add(&mut self, EventId { thread, index }: EventId) {
        match self.0.iter_mut().find(|&&mut (other, _, end)| (other, end) == (thread, index)) {
            Some((.., end)) => *end += 1,
            None => self.0.push((thread, index, index + 1)),
        }
    }

    /// Whether an event is one of them.
    pub fn has(&self, event: EventId) -> bool {
        self.0.iter().any(|&(thread, first, end)| thread == event.thread && (first..end).contains(&event.index))
    }
}
