//! Data races on tracked cells, by Rust's own happens-before.
//!
//! Problem. In a recorded execution, are there two accesses of one cell, at least one a write, that happens-before
//! does not order? The order comes from the orderings written in the source, never from the explored memory model. An
//! atomic may be accessed like a cell as well (`get_mut` through a raw pointer); its atomic operations are then
//! accesses, which race with those but not with each other.
//!
//! Method. One pass with vector clocks. A write carries a message clock: the clock of its thread, if the write is a
//! release; otherwise that of the thread's last release fence. An update adds its message to the one it read (the
//! release sequence of C++20: a write, then the updates that read from it in a chain). An acquire read joins the
//! message to its thread's clock; another read keeps the message for the next acquire fence. Locks, park tokens, spawn,
//! join and dropped references are releases and acquires of their own.
//!
//! An access whose end has a note of its own (`NoteKind::CellEnd`) lasts until that end, or until the last operation of
//! its thread before it, which then may release it (`early`). It races with another access
//! unless the end of one happens before the start of the other. So no clock contains an access that has not ended, not
//! even that of its own thread: the thread conflicts with itself if it accesses the cell again meanwhile.
//!
//! Cost. O(rows × threads), and for an atomic that is accessed like a cell the square of the threads. No pass for an
//! execution that touches no cell.
//!
//! Guarantees. In the given execution it finds a race if there is one. Since happens-before is the same in all
//! executions of a reads-from class, one execution per class is enough.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::base::{IdVec, LocId, ThreadId, VectorClock};
use crate::model::c11::{acquires, releases};
use crate::trace::{Event, Note, NoteKind, Row, Site, Source, Trace};

/// The position of an access in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// An access of a cell, in [`Trace::notes`].
    Note(usize),
    /// An atomic operation, in [`Trace::events`].
    Event(usize),
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The thread that accesses the cell.
    pub thread: ThreadId,
    /// Whether it writes.
    pub writes: bool,
    /// The place of the access in the source.
    pub site: Site,
    /// The position of the access.
    pub position: Position,
    /// The position of its end in [`Trace::notes`], if it lasts.
    pub until: Option<usize>,
}

impl Access {
    /// Whether it is an atomic operation.
    pub fn is_atomic(&self) -> bool {
        matches!(self.position, Position::Event(_))
    }

    /// The access in a sentence: `reads`, `writes`, and other words for atomic operations.
    pub fn verb(&self) -> &'static str {
        match (self.is_atomic(), self.writes) {
            (false, false) => "reads",
            (false, true) => "writes",
            (true, false) => "loads",
            (true, true) => "stores to",
        }
    }

    fn of_event(at: usize, event: &Event) -> Self {
        let (thread, writes) = (event.id.thread, event.written.is_some());
        Self { thread, writes, site: event.op.site, position: Position::Event(at), until: None }
    }

    /// The number of events before it.
    pub fn events_before(&self, trace: &Trace) -> usize {
        match self.position {
            Position::Note(at) => trace.notes[at].at as usize,
            Position::Event(at) => at,
        }
    }
}

/// Two accesses of one cell that happens-before does not order, or one within the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The cell.
    pub loc: LocId,
    /// The access that came first in this execution.
    pub first: Access,
    /// The access that came second.
    pub second: Access,
}

impl Race {
    /// Whether it is a conflict of a thread with itself.
    pub fn is_of_one_thread(&self) -> bool {
        self.first.thread == self.second.thread
    }
}

/// The first race of an execution, if there is one.
pub fn find_race(trace: &Trace) -> Option<Race> {
    let mut cells: FxHashMap<LocId, Cell> = FxHashMap::default();
    each_access(trace, |now, loc, step| {
        let cell = cells.entry(loc).or_default();
        match step {
            Step::Begins(access) => cell.access(now, access).map(|first| Race { loc, first, second: access }),
            Step::Ends { note, early } => {
                cell.0.iter_mut().for_each(|access| access.end(now, note, early));
                None
            }
        }
    })
}

/// All races of an execution: every pair of conflicting accesses that happens-before does not order. Quadratic.
pub fn all_races(trace: &Trace) -> Vec<Race> {
    let (mut cells, mut races) = (FxHashMap::<LocId, Vec<Dated>>::default(), Vec::new());
    each_access(trace, |now, loc, step| {
        let before = cells.entry(loc).or_default();
        match step {
            Step::Begins(access) => {
                let racing = before.iter().filter(|earlier| earlier.races_with(now, &access));
                races.extend(racing.map(|earlier| Race { loc, first: earlier.access, second: access }));
                before.push(Dated::new(now, access));
            }
            Step::Ends { note, early } => before.iter_mut().for_each(|access| access.end(now, note, early)),
        }
        None::<()>
    });
    races
}

/// The beginning or the end of an access of a cell.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A thread begins this access.
    Begins(Access),
    /// A thread ends the access that lasts until a note.
    Ends {
        /// The position of the note.
        note: usize,
        /// Whether it ended with the last operation before.
        early: bool,
    },
}

/// Shows `take` the beginning of every access of a cell, and the end of every lasting one, with the clock of its
/// thread, until `take` returns an answer.
fn each_access<R>(trace: &Trace, mut take: impl FnMut(&VectorClock, LocId, Step) -> Option<R>) -> Option<R> {
    let touches_cell = |note: &Note| matches!(note.kind, NoteKind::CellRead(_) | NoteKind::CellWrite(_));
    if !trace.notes.iter().any(touches_cell) {
        return None;
    }
    let (lasting, cells) = (Lasting::of(trace), cells(trace));
    let mut pass = Pass::default();
    pass.messages.resize(trace.events.len(), VectorClock::new());
    pass.threads.grow_to(ThreadId(trace.thread_bound() as u32), Knowledge::default);
    let mut number = 0;
    for row in trace.rows() {
        let note = match row {
            Row::Event(at, event) => {
                pass.receive(event);
                if cells.get(event.op.loc) == Some(&true) {
                    let answer =
                        take(pass.now(event.id.thread), event.op.loc, Step::Begins(Access::of_event(at, event)));
                    if answer.is_some() {
                        return answer;
                    }
                }
                pass.send(at, event);
                continue;
            }
            Row::Note(note) => note,
        };
        let (thread, site) = (note.thread, note.site);
        if let NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) = note.kind {
            let writes = note.kind == NoteKind::CellWrite(loc);
            let until = lasting.ends.get(&number).copied();
            let access = Access { thread, writes, site, position: Position::Note(number), until };
            let answer = take(pass.now(thread), loc, Step::Begins(access));
            if answer.is_some() {
                return answer;
            }
        } else if let NoteKind::CellEnd { early, .. } = note.kind {
            if let Some(&loc) = lasting.locs.get(&number) {
                take(pass.now(thread), loc, Step::Ends { note: number, early });
            }
        } else {
            pass.note(note);
        }
        number += 1;
    }
    None
}

/// By location: whether it is accessed like a cell.
fn cells(trace: &Trace) -> IdVec<LocId, bool> {
    let mut cells = IdVec::default();
    for note in &trace.notes {
        if let NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) = note.kind {
            cells.grow_to(loc, || false);
            cells[loc] = true;
        }
    }
    cells
}

/// The accesses that last.
#[derive(Debug, Default)]
struct Lasting {
    /// By the note of its beginning: the note of its end.
    ends: FxHashMap<usize, usize>,
    /// By the note of an end: the cell.
    locs: FxHashMap<usize, LocId>,
}

impl Lasting {
    fn of(trace: &Trace) -> Self {
        let mut lasting = Self::default();
        if !trace.notes.iter().any(|note| matches!(note.kind, NoteKind::CellEnd { .. })) {
            return lasting;
        }
        let mut begun: FxHashMap<(ThreadId, u32), (usize, LocId)> = FxHashMap::default();
        let mut numbers: FxHashMap<ThreadId, u32> = FxHashMap::default();
        for (at, note) in trace.notes.iter().enumerate() {
            match note.kind {
                NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) => {
                    let number = numbers.entry(note.thread).or_default();
                    begun.insert((note.thread, *number), (at, loc));
                    *number += 1;
                }
                NoteKind::CellEnd { access: number, .. } => {
                    if let Some(&(start, loc)) = begun.get(&(note.thread, number)) {
                        lasting.ends.insert(start, at);
                        lasting.locs.insert(at, loc);
                    }
                }
                _ => {}
            }
        }
        lasting
    }
}

/// The clocks of a thread.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    now: VectorClock,
    /// The clock at its last release fence.
    fenced: VectorClock,
    /// The messages read by relaxed loads: `now` takes them at the next acquire fence.
    unacquired: VectorClock,
}

/// An access with the time of its thread.
#[derive(Clone, Copy, Debug)]
struct Dated {
    /// The time of its beginning.
    begun: u32,
    /// The time of its end.
    time: u32,
    access: Access,
}

impl Dated {
    fn new(now: &VectorClock, access: Access) -> Self {
        let begun = now.get(access.thread);
        Self { begun, time: if access.until.is_some() { u32::MAX } else { begun }, access }
    }

    /// Ends the access, if it lasts until this note.
    fn end(&mut self, now: &VectorClock, note: usize, early: bool) {
        if self.access.until == Some(note) {
            // Each operation advances the time by one.
            self.time = self.begun.max(now.get(self.access.thread) - u32::from(early));
        }
    }

    /// Whether it has not ended.
    fn goes_on(&self) -> bool {
        self.time == u32::MAX
    }

    /// Whether a later access, by a thread with the clock `now`, conflicts with it and is not ordered after it.
    fn races_with(&self, now: &VectorClock, later: &Access) -> bool {
        (self.access.writes || later.writes)
            && now.get(self.access.thread) < self.time
            && !(self.access.is_atomic() && later.is_atomic())
    }
}

/// The race-free accesses of a cell so far, without those that need no check: an access that races with one of these
/// also races with one that is kept.
#[derive(Debug, Default)]
struct Cell(Vec<Dated>);

impl Cell {
    /// Adds an access, or returns one that it races with.
    fn access(&mut self, now: &VectorClock, access: Access) -> Option<Access> {
        if let Some(first) = self.0.iter().find(|earlier| earlier.races_with(now, &access)) {
            return Some(first.access);
        }
        if access.writes && !access.is_atomic() {
            // All of the others are ordered before it.
            self.0.clear();
        } else {
            // Those of its kind and thread are.
            let kind = |access: &Access| (access.thread, access.writes, access.is_atomic());
            self.0.retain(|earlier| kind(&earlier.access) != kind(&access) || earlier.goes_on());
        }
        self.0.push(Dated::new(now, access));
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
    /// The part of an event that reads.
    fn receive(&mut self, event: &Event) {
        if let Source::At(source) = event.source {
            let knowledge = &mut self.threads[event.id.thread];
            let learner = if acquires(event.order()) { &mut knowledge.now } else { &mut knowledge.unacquired };
            learner.join(&self.messages[source as usize]);
        }
    }

    /// The part of an event that writes.
    fn send(&mut self, at: usize, event: &Event) {
        let knowledge = &mut self.threads[event.id.thread];
        if event.written.is_some() {
            let mut message = match event.source {
                Source::At(source) => self.messages[source as usize].clone(),
                _ => VectorClock::new(),
            };
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

    /// The clock of a thread, its own time included.
    fn now(&mut self, thread: ThreadId) -> &VectorClock {
        let now = &mut self.threads[thread].now;
        if now.get(thread) == 0 {
            now.tick(thread);
        }
        now
    }
}
