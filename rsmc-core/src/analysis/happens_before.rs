//! Rust's happens-before in a recorded execution, as vector clocks.
//!
//! Method. A write carries a message clock: the clock of its thread, if the write is a release; otherwise that of the
//! thread's last release fence. An update adds its message to the one it read (the release sequence of C++20: a write,
//! then the updates that read from it in a chain). An acquire read joins the message to its thread's clock; another
//! read keeps the message for the next acquire fence. Locks, park tokens, spawn, join and dropped references are
//! releases and acquires of their own.
//!
//! Condition variables. Std does not say that what comes before a notification happens before what comes after the wait
//! that it ends: only the mutex orders that. So operations on a `Condvar` carry no messages, although they are those of
//! a lock and of tokens.
//!
//! Dropped references. A drop is an update of a count that releases, as in std's `Arc`: a later fence of its thread
//! acquires the drops before it. The thread that drops the last reference passes such a fence, then the destructor.
//! The order of the drops is no part of a class. With [`Drops::InAnyOrder`] nothing follows from it: whoever is the
//! last, the destructor of the value comes after all drops, but its thread passes no fence, and what it does after the
//! destructor is ordered as if another thread had run that.
//!
//! Cost. O(rows × threads).

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::base::{IdVec, LocId, ThreadId, VectorClock};
use crate::model::c11::{acquires, releases};
use crate::trace::{CONDVAR, Event, Note, NoteKind, Source, Trace};

/// The order of the drops of references to one value.
#[derive(Clone, Copy)]
pub enum Drops<'a> {
    /// The one of the execution.
    AsTheyWere,
    /// Of these `Arc`s any other may have been the last.
    InAnyOrder(&'a dyn Fn(LocId) -> bool),
}

impl Drops<'_> {
    fn are_in_any_order(self, value: LocId) -> bool {
        matches!(self, Self::InAnyOrder(is_such) if is_such(value))
    }
}

/// The order of the rows that it was shown so far.
pub struct HappensBefore<'a> {
    threads: IdVec<ThreadId, Knowledge>,
    messages: Vec<VectorClock>,
    references: FxHashMap<LocId, References>,
    drops: Drops<'a>,
    /// The locations of which the operations order nothing.
    unordered: Vec<LocId>,
}

/// The clocks of a thread.
#[derive(Debug, Default)]
struct Knowledge {
    now: VectorClock,
    /// The clock at its last release fence.
    fenced: VectorClock,
    /// The messages read by relaxed loads: `now` takes them at the next acquire fence.
    unacquired: VectorClock,
    /// The destructors in which it is, which another thread could have run.
    destructors: Vec<Destructor>,
}

/// A destructor that is running.
#[derive(Debug)]
struct Destructor {
    value: LocId,
    /// The clock of its thread before.
    before: VectorClock,
    /// The drops after which it comes, whoever runs it.
    drops: VectorClock,
}

/// The dropped references to one value.
#[derive(Debug, Default)]
struct References {
    /// The clocks of those who dropped them, together.
    known: VectorClock,
    /// The times of the drops; for one in a destructor those after which that comes.
    drops: VectorClock,
}

impl<'a> HappensBefore<'a> {
    /// The order in an execution, before its first row.
    pub fn new(trace: &Trace, drops: Drops<'a>) -> Self {
        let mut threads = IdVec::default();
        threads.grow_to(ThreadId(trace.thread_bound() as u32), Knowledge::default);
        let messages = vec![VectorClock::new(); trace.events.len()];
        let unordered = trace.locs.ids().filter(|&loc| trace.locs[loc].kind == CONDVAR).collect();
        Self { threads, messages, references: FxHashMap::default(), drops, unordered }
    }

    /// Passes the part of an event that reads.
    pub fn receive(&mut self, event: &Event) {
        if let Source::At(source) = event.source
            && !self.unordered.contains(&event.op.loc)
        {
            let knowledge = &mut self.threads[event.id.thread];
            let learner = if acquires(event.order()) { &mut knowledge.now } else { &mut knowledge.unacquired };
            learner.join(&self.messages[source as usize]);
        }
    }

    /// Passes the part that writes of the event at a position of [`Trace::events`].
    pub fn send(&mut self, at: usize, event: &Event) {
        let knowledge = &mut self.threads[event.id.thread];
        if event.written.is_some() && !self.unordered.contains(&event.op.loc) {
            let mut message = match event.source {
                Source::At(source) => self.messages[source as usize].clone(),
                _ => VectorClock::new(),
            };
            message.join(if releases(event.order()) { &knowledge.now } else { &knowledge.fenced });
            self.messages[at] = message;
        }
        knowledge.now.tick(event.id.thread);
    }

    /// Passes a note.
    pub fn note(&mut self, note: &Note) {
        let thread = note.thread;
        match note.kind {
            NoteKind::Spawn(child) => {
                self.threads[child].now = self.threads[thread].now.clone();
                self.threads[child].now.tick(child);
                self.threads[thread].now.tick(thread);
            }
            NoteKind::Join(child) => {
                let last = std::mem::take(&mut self.threads[child].now);
                self.threads[thread].now.join(&last);
                self.threads[child].now = last;
            }
            NoteKind::Fence(order) => self.fence(thread, order),
            NoteKind::ArcRelease(value) => self.drops_reference(thread, value),
            NoteKind::ArcAcquire(value) => self.begins_destructor(thread, value),
            NoteKind::ArcGone(value) => self.ends_destructor(thread, value),
            NoteKind::CellRead(_)
            | NoteKind::CellWrite(_)
            | NoteKind::CellEnd { .. }
            | NoteKind::Freed(_)
            | NoteKind::Dropped(_)
            | NoteKind::FreedAny => {}
            NoteKind::End
            | NoteKind::Flush(_)
            | NoteKind::Counted
            | NoteKind::Hint
            | NoteKind::Pending
            | NoteKind::Called(_)
            | NoteKind::Returned(_)
            | NoteKind::Panic(_)
            | NoteKind::Explore(_) => {}
        }
    }

    fn fence(&mut self, thread: ThreadId, order: Ordering) {
        let knowledge = &mut self.threads[thread];
        if acquires(order) {
            knowledge.now.join(&knowledge.unacquired);
        }
        if releases(order) {
            knowledge.fenced = knowledge.now.clone();
            knowledge.now.tick(thread);
        }
    }

    fn drops_reference(&mut self, thread: ThreadId, value: LocId) {
        let time = self.now(thread).get(thread);
        let has_order = !self.drops.are_in_any_order(value);
        let Knowledge { now, unacquired, destructors, .. } = &mut self.threads[thread];
        let References { known, drops } = self.references.entry(value).or_default();
        if has_order {
            unacquired.join(known);
        }
        known.join(now);
        match destructors.last() {
            Some(outer) => drops.join(&outer.drops),
            None => drops.raise(thread, time),
        }
        now.tick(thread);
    }

    fn begins_destructor(&mut self, thread: ThreadId, value: LocId) {
        let Some(References { known, drops }) = self.references.get(&value) else { return };
        let Knowledge { now, unacquired, destructors, .. } = &mut self.threads[thread];
        if self.drops.are_in_any_order(value) {
            let mut drops = drops.clone();
            if let Some(outer) = destructors.last() {
                drops.join(&outer.drops);
            }
            destructors.push(Destructor { value, before: now.clone(), drops });
        } else {
            now.join(unacquired);
        }
        now.join(known);
    }

    fn ends_destructor(&mut self, thread: ThreadId, value: LocId) {
        let Knowledge { now, destructors, .. } = &mut self.threads[thread];
        if let Some(ended) = destructors.pop_if(|destructor| destructor.value == value) {
            let time = now.get(thread);
            *now = ended.before;
            now.raise(thread, time);
        }
    }

    /// The clock of a thread, its own time included.
    pub fn now(&mut self, thread: ThreadId) -> &VectorClock {
        let now = &mut self.threads[thread].now;
        if now.get(thread) == 0 {
            now.tick(thread);
        }
        now
    }

    /// The drops after which the destructor comes in which a thread is, whoever runs it.
    pub fn drops_before(&self, thread: ThreadId) -> Option<&VectorClock> {
        self.threads[thread].destructors.last().map(|destructor| &destructor.drops)
    }
}
