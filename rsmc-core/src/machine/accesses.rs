//! Accesses of tracked cells that last.
//!
//! An access lasts until its closure or guard ends. Mostly its thread does nothing else meanwhile, and one note records
//! all of the access. Where the thread does something else, the end of the access has a note as well. So has the end of
//! an access that goes on when the execution ends.

use crate::base::{IdVec, ThreadId};
use crate::machine::Machine;
use crate::trace::{Note, NoteKind, Site};

/// An access that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its number among the accesses of its thread.
    number: u32,
    /// The number of events that its thread had performed.
    events: u32,
}

/// The accesses of an execution.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    /// There are accesses.
    pub(super) are_some: bool,
    by_thread: IdVec<ThreadId, OfThread>,
}

#[derive(Debug, Default)]
struct OfThread {
    /// The number of accesses that it has begun.
    begun: u32,
    /// The accesses that go on, with their places.
    open: Vec<(Begun, Site)>,
}

impl Machine {
    /// Notes that a thread accesses a cell. `None` where the thread is tested, so that the access is no part of the
    /// execution.
    pub fn access(&mut self, thread: ThreadId, kind: NoteKind, site: Site) -> Option<Begun> {
        if self.is_tested(thread) {
            return None;
        }
        self.note(thread, kind, site);
        self.accesses.are_some = true;
        self.accesses.by_thread.grow_to(thread, OfThread::default);
        let begun = &mut self.accesses.by_thread[thread].begun;
        *begun += 1;
        Some(Begun { number: *begun - 1, events: self.run.trace.count(thread) })
    }

    /// As [`access`](Self::access), for one that lasts until [`access_ends`](Self::access_ends).
    pub fn access_begins(&mut self, thread: ThreadId, kind: NoteKind, site: Site) -> Option<Begun> {
        let begun = self.access(thread, kind, site)?;
        self.accesses.by_thread[thread].open.push((begun, site));
        Some(begun)
    }

    /// The number of accesses that a thread has begun.
    pub(super) fn accesses_begun(&self, thread: ThreadId) -> u32 {
        self.accesses.by_thread.get(thread).map_or(0, |of| of.begun)
    }

    /// Ends an access: now, or `early`, with the last operation of its thread.
    pub fn access_ends(&mut self, thread: ThreadId, begun: Begun, early: bool) {
        self.accesses.by_thread.grow_to(thread, OfThread::default);
        let open = &mut self.accesses.by_thread[thread].open;
        let Some(place) = open.iter().rposition(|(other, _)| *other == begun) else { return };
        let (_, site) = open.remove(place);
        if self.has_lasted(thread, begun, early) {
            self.note(thread, NoteKind::CellEnd { access: begun.number, early }, site);
        }
    }

    /// The execution is over: accesses that go on have no end in it.
    pub(super) fn leave_accesses_open(&mut self) {
        let at = self.run.trace.events.len() as u32;
        for thread in 0..self.accesses.by_thread.len() {
            let thread = ThreadId(thread as u32);
            while let Some((begun, site)) = self.accesses.by_thread[thread].open.pop() {
                if self.has_lasted(thread, begun, false) {
                    let kind = NoteKind::CellEnd { access: begun.number, early: false };
                    self.run.trace.notes.push(Note { at, thread, kind, site });
                }
            }
            self.accesses.by_thread[thread].begun = 0;
        }
        self.accesses.are_some = false;
    }

    /// Whether the thread of an access has done anything since, but for the operation that ends it.
    fn has_lasted(&self, thread: ThreadId, begun: Begun, early: bool) -> bool {
        let trace = &self.run.trace;
        let last =
            trace.notes.iter().rev().find(|note| note.thread == thread && !matches!(note.kind, NoteKind::Flush(_)));
        let is_start = last.is_some_and(|note| matches!(note.kind, NoteKind::CellRead(_) | NoteKind::CellWrite(_)));
        let is_last = self.accesses.by_thread[thread].begun == begun.number + 1;
        !is_start || !is_last || trace.count(thread) > begun.events + u32::from(early)
    }
}
