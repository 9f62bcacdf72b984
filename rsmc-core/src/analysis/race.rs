//! Data races on tracked cells, by Rust's own happens-before.
//!
//! Problem. In a recorded execution, are there two accesses of one cell, at least one a write, that happens-before
//! does not order? The order comes from the orderings written in the source, never from the explored memory model.
//!
//! Method. One pass with vector clocks. A write carries a message clock: all its thread knew, if it is a release;
//! what the thread knew at its last release fence, if not. An update adds its message to the one it read (the
//! release sequence of C++20: a write, then the updates that read from it in a chain). A read that acquires learns
//! the message; another keeps it for the next acquire fence. Locks, park tokens, spawn, join and dropped references
//! are releases and acquires of their own.
//!
//! Cost. O(rows × threads). Nothing at all for an execution that touches no cell.
//!
//! Guarantees. In the given execution it finds a race if there is one. Since happens-before is the same in all
//! executions of a reads-from class, one execution per class is enough.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::base::{IdVec, LocId, ThreadId, VectorClock};
use crate::model::c11::{acquires, releases};
use crate::trace::{Event, Note, NoteKind, Row, Site, Source, Trace};

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Who.
    pub thread: ThreadId,
    /// Whether it writes.
    pub writes: bool,
    /// Where.
    pub site: Site,
    /// Its place in [`Trace::notes`].
    pub note: usize,
}

/// Two accesses of one cell that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The cell.
    pub loc: LocId,
    /// The access that came first in this execution.
    pub first: Access,
    /// The one that came second.
    pub second: Access,
}

/// The first race of an execution, if there is one.
pub fn find_race(trace: &Trace) -> Option<Race> {
    let mut cells: FxHashMap<LocId, Cell> = FxHashMap::default();
    each_access(trace, |now, loc, access| {
        let first = cells.entry(loc).or_default().access(now, access)?;
        Some(Race { loc, first, second: access })
    })
}

/// All races of an execution: every pair of conflicting accesses that nothing orders. Quadratic.
pub fn all_races(trace: &Trace) -> Vec<Race> {
    let (mut cells, mut races) = (FxHashMap::<LocId, Vec<Dated>>::default(), Vec::new());
    each_access(trace, |now, loc, access| {
        let before = cells.entry(loc).or_default();
        let racing = before.iter().filter(|earlier| earlier.races_with(now, &access));
        races.extend(racing.map(|earlier| Race { loc, first: earlier.access, second: access }));
        before.push(Dated::new(now, access));
        None::<()>
    });
    races
}

/// Shows every access of a cell with what its thread knows then, until `take` has an answer.
fn each_access<R>(trace: &Trace, mut take: impl FnMut(&VectorClock, LocId, Access) -> Option<R>) -> Option<R> {
    let touches_cell = |note: &Note| matches!(note.kind, NoteKind::CellRead(_) | NoteKind::CellWrite(_));
    if !trace.notes.iter().any(touches_cell) {
        return None;
    }
    let mut pass = Pass::default();
    pass.messages.resize(trace.events.len(), VectorClock::new());
    pass.threads.grow_to(ThreadId(trace.thread_bound() as u32), Knowledge::default);
    let mut number = 0;
    for row in trace.rows() {
        let note = match row {
            Row::Event(at, event) => {
                pass.event(at, event);
                continue;
            }
            Row::Note(note) => note,
        };
        let (thread, site) = (note.thread, note.site);
        if let NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) = note.kind {
            let writes = note.kind == NoteKind::CellWrite(loc);
            let answer = take(pass.now(thread), loc, Access { thread, writes, site, note: number });
            if answer.is_some() {
                return answer;
            }
        } else {
            pass.note(note);
        }
        number += 1;
    }
    None
}

/// What a thread knows.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    now: VectorClock,
    /// At its last release fence.
    fenced: VectorClock,
    /// Read by relaxed loads: becomes known at the next acquire fence.
    unacquired: VectorClock,
}

/// An access with the time of its thread.
#[derive(Clone, Copy, Debug)]
struct Dated {
    time: u32,
    access: Access,
}

impl Dated {
    fn new(now: &VectorClock, access: Access) -> Self {
        Self { time: now.get(access.thread), access }
    }

    /// Whether a later access, by a thread that knows `now`, conflicts with it and is not ordered after it.
    fn races_with(&self, now: &VectorClock, later: &Access) -> bool {
        (self.access.writes || later.writes) && now.get(self.access.thread) < self.time
    }
}

/// The accesses of a cell without a race that a later one can race with, unless it also races with another of them.
#[derive(Debug, Default)]
struct Cell {
    write: Option<Dated>,
    reads: Vec<Dated>,
}

impl Cell {
    /// Adds an access, or returns one that it races with.
    fn access(&mut self, now: &VectorClock, access: Access) -> Option<Access> {
        let mut earlier = self.write.iter().chain(&self.reads);
        if let Some(first) = earlier.find(|earlier| earlier.races_with(now, &access)) {
            return Some(first.access);
        }
        if access.writes {
            self.write = Some(Dated::new(now, access));
            self.reads.clear();
        } else {
            self.reads.retain(|earlier| earlier.access.thread != access.thread);
            self.reads.push(Dated::new(now, access));
        }
        None
    }
}

#[derive(Debug, Default)]
struct Pass {
    threads: IdVec<ThreadId, Knowledge>,
    messages: Vec<VectorClock>,
    references: FxHashMap<LocId, VectorClock>,
}

impl Pass {
    fn event(&mut self, at: usize, event: &Event) {
        let mut message = VectorClock::new();
        let knowledge = &mut self.threads[event.id.thread];
        if let Source::At(source) = event.source {
            let received = &self.messages[source as usize];
            let learner = if acquires(event.order()) { &mut knowledge.now } else { &mut knowledge.unacquired };
            learner.join(received);
            if event.written.is_some() {
                message = received.clone();
            }
        }
        if event.written.is_some() {
            message.join(if releases(event.order()) { &knowledge.now } else { &knowledge.fenced });
            self.messages[at] = message;
        }
        knowledge.now.tick(event.id.thread);
    }

    fn note(&mut self, note: &Note) {
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
            NoteKind::ArcRelease(loc) => {
                let knowledge = &mut self.threads[thread].now;
                self.references.entry(loc).or_default().join(knowledge);
                knowledge.tick(thread);
            }
            NoteKind::ArcAcquire(loc) => {
                if let Some(dropped) = self.references.get(&loc) {
                    self.threads[thread].now.join(dropped);
                }
            }
            NoteKind::CellRead(_) | NoteKind::CellWrite(_) => {}
            NoteKind::End | NoteKind::Flush(_) | NoteKind::Counted | NoteKind::Hint | NoteKind::Panic(_) => {}
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

    /// What a thread knows, itself included.
    fn now(&mut self, thread: ThreadId) -> &VectorClock {
        let now = &mut self.threads[thread].now;
        if now.get(thread) == 0 {
            now.tick(thread);
        }
        now
    }
}
