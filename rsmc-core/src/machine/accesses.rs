//! Accesses of tracked cells that last.
//!
//! An access lasts until its closure or guard ends. Mostly its thread does nothing else meanwhile, and one note records
//! all of the access. Where the thread does something else, the end of the access has a note as well. So has the end of
//! an access that goes on when the execution ends.

use crate::base::{IdVec, ThreadId};
use crate::machine::Machine;
use crate::trace::{Note, NoteKind, Site};

/// An access that goes on, as the guard in the user's memory knows it. It is the same in each iteration of a loop: a
/// number that counts would make the thread look as if it were never where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    thread: ThreadId,
    /// Its place among the accesses of its thread that go on.
    place: u32,
}

/// An access that goes on, as the machine knows it.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Its number among the accesses of its thread.
    number: u32,
    /// The numbers of events that its thread had performed when it began, and when it was last used.
    events: u32,
    used: u32,
    kind: NoteKind,
    site: Site,
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
    /// The accesses that go on. `None` where one has ended: the next access that begins takes its place.
    open: Vec<Option<Open>>,
}

impl Machine {
    /// Notes that a thread accesses a cell. Returns the number of the access among those of the thread; `None` where
    /// the thread is tested, so that the access is no part of the execution.
    pub fn access(&mut self, thread: ThreadId, kind: NoteKind, site: Site) -> Option<u32> {
        if self.is_tested(thread) {
            return None;
        }
        self.note(thread, kind, site);
        self.accesses.are_some = true;
        self.accesses.by_thread.grow_to(thread, OfThread::default);
        let begun = &mut self.accesses.by_thread[thread].begun;
        *begun += 1;
        Some(*begun - 1)
    }

    /// As [`access`](Self::access), for one that lasts until [`access_ends`](Self::access_ends).
    pub fn access_begins(&mut self, thread: ThreadId, kind: NoteKind, site: Site) -> Option<Begun> {
        let number = self.access(thread, kind, site)?;
        let events = self.run.trace.count(thread);
        let open = &mut self.accesses.by_thread[thread].open;
        let place = open.iter().position(Option::is_none).unwrap_or(open.len());
        if place == open.len() {
            open.push(None);
        }
        open[place] = Some(Open { number, events, used: events, kind, site });
        Some(Begun { thread, place: place as u32 })
    }

    /// Notes that a thread uses what it accesses.
    pub fn access_is_used(&mut self, thread: ThreadId, begun: Begun) {
        let now = self.run.trace.count(thread);
        if let Some(open) = self.open_access(thread, begun).and_then(Option::as_mut) {
            open.used = now;
        }
    }

    /// An access that goes on, if this thread has begun it.
    fn open_access(&mut self, thread: ThreadId, begun: Begun) -> Option<&mut Option<Open>> {
        let of = self.accesses.by_thread.get_mut(begun.thread).filter(|_| begun.thread == thread)?;
        of.open.get_mut(begun.place as usize)
    }

    /// The number of accesses that a thread has begun.
    pub(super) fn accesses_begun(&self, thread: ThreadId) -> u32 {
        self.accesses.by_thread.get(thread).map_or(0, |of| of.begun)
    }

    /// Ends an access. If it `may_end_early` and its thread has performed operations since it was last used, it ended
    /// with the last of them, which may release it. Returns the note of its beginning, if the thread has begun it.
    pub fn access_ends(&mut self, thread: ThreadId, begun: Begun, may_end_early: bool) -> Option<NoteKind> {
        let open = self.open_access(thread, begun).and_then(Option::take)?;
        let early = may_end_early && self.run.trace.count(thread) > open.used;
        if self.has_lasted(thread, &open, early) {
            self.note(thread, NoteKind::CellEnd { access: open.number, early }, open.site);
        }
        Some(open.kind)
    }

    /// The execution is over: accesses that go on have no end in it.
    pub(super) fn leave_accesses_open(&mut self) {
        let at = self.run.trace.events.len() as u32;
        for thread in 0..self.accesses.by_thread.len() {
            let thread = ThreadId(thread as u32);
            while let Some(open) = self.accesses.by_thread[thread].open.pop() {
                if let Some(open) = open.filter(|open| self.has_lasted(thread, open, false)) {
                    let kind = NoteKind::CellEnd { access: open.number, early: false };
                    self.run.trace.notes.push(Note { at, thread, kind, site: open.site });
                }
            }
            self.accesses.by_thread[thread].begun = 0;
        }
        self.accesses.are_some = false;
    }

    /// Whether the thread of an access has done anything since, but for the operation that ends it.
    fn has_lasted(&self, thread: ThreadId, open: &Open, early: bool) -> bool {
        let trace = &self.run.trace;
        let last =
            trace.notes.iter().rev().find(|note| note.thread == thread && !matches!(note.kind, NoteKind::Flush(_)));
        let is_start = last.is_some_and(|note| matches!(note.kind, NoteKind::CellRead(_) | NoteKind::CellWrite(_)));
        let is_last = self.accesses.by_thread[thread].begun == open.number + 1;
        !is_start || !is_last || trace.count(thread) > open.events + u32::from(early)
    }
}
