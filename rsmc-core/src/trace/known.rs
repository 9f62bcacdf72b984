//! What each thread knows of what others did.
//!
//! Problem. Memory that no location stands for, as the data that a spin lock of the user's guards, changes without an
//! event. A thread may read changed memory once it has read a write of the thread that changed it, or of one that has
//! read such a write. So a write of the same value matters, too, if its thread knew of something that the reader does
//! not know. But a thread that goes a *round* is where it was and has taken back what it changed of any memory, so
//! there is nothing new to know: two threads that go rounds would otherwise wake each other for ever.
//!
//! Method. The knowledge of a thread is a clock: for each thread the number of its last event that may matter. An event
//! is one until it turns out to be the last one of a round. That one has the knowledge with which the round began, and
//! what the thread has learned of others meanwhile.
//!
//! Cost. O(events · threads) for all clocks of an execution. They are asked for where threads wait behind rounds only.

use crate::base::{EventId, Id, ThreadId};
use crate::trace::{Source, Trace};

/// The clocks of all events of an execution.
#[derive(Debug)]
pub struct Known<'t> {
    trace: &'t Trace,
    /// The number of entries of a clock.
    threads: usize,
    clocks: Vec<u32>,
}

impl<'t> Known<'t> {
    /// The clocks of an execution.
    pub fn of(trace: &'t Trace) -> Self {
        let threads = trace.events.iter().map(|event| event.id.thread.index() + 1).max().unwrap_or(0);
        let mut known = Self { trace, threads, clocks: Vec::with_capacity(threads * trace.events.len()) };
        for event in &trace.events {
            let EventId { thread, index } = event.id;
            let own = match trace.rounds.ended_by(event.id) {
                Some(first) => known.entry(thread, first, thread.index()),
                None => index + 1,
            };
            for entry in 0..threads {
                let before = known.entry(thread, index, entry);
                let read = if let Source::At(source) = event.source { known.at(source, entry) } else { 0 };
                known.clocks.push(if entry == thread.index() { own } else { before.max(read) });
            }
        }
        known
    }

    /// An entry of the clock of an event.
    fn at(&self, event: u32, entry: usize) -> u32 {
        self.clocks[event as usize * self.threads + entry]
    }

    /// An entry of the clock of a thread behind its first `count` events.
    fn entry(&self, thread: ThreadId, count: u32, entry: usize) -> u32 {
        let last = count.checked_sub(1).map(|last| self.trace.of_thread(thread)[last as usize]);
        last.map_or(0, |last| self.at(last, entry))
    }

    /// Whether a thread learns something of others if it reads from this source behind its first `count` events.
    pub fn learns(&self, thread: ThreadId, source: Source, count: u32) -> bool {
        let Source::At(source) = source else { return false };
        let mut others = (0..self.threads).filter(|&entry| entry != thread.index());
        others.any(|entry| self.at(source, entry) > self.entry(thread, count, entry))
    }
}
