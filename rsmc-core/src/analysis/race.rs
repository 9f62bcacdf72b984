//! Data races on tracked cells, by Rust's own happens-before.
//!
//! Problem. In a recorded execution, are there two accesses of one cell, at least one a write, that happens-before
//! does not order? The order comes from the orderings written in the source, never from the explored memory model. An
//! atomic may be accessed like a cell as well (`get_mut` through a raw pointer); its atomic operations are then
//! accesses, which race with those but not with each other.
//!
//! Method. One pass with the clocks of [`HappensBefore`].
//!
//! An access whose end has a note of its own (`NoteKind::CellEnd`) lasts until that end, or until the last operation of
//! its thread before it, which then may release it (`early`). It races with another access
//! unless the end of one happens before the start of the other. So no clock contains an access that has not ended, not
//! even that of its own thread: the thread conflicts with itself if it accesses the cell again meanwhile.
//!
//! The making of an object is a write of it (`Makings`), for atomics, too: whoever uses it has to know of that.
//!
//! Cost. O(rows × threads), and for an atomic that is accessed like a cell the square of the threads. No pass for an
//! execution that touches no cell, and in which no thread uses what another one has made behind the first spawn.
//!
//! Guarantees. In the given execution it finds a race if there is one. Since happens-before is the same in all
//! executions of a reads-from class, one execution per class is enough.

use rustc_hash::FxHashMap;

use crate::analysis::happens_before::{Drops, HappensBefore};
use crate::base::{IdVec, LocId, ThreadId, VectorClock};
use crate::trace::{Done, Event, Making, Note, NoteKind, Row, Site, Trace};

/// The position of an access in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// An access of a cell, in [`Trace::notes`].
    Note(usize),
    /// An atomic operation, in [`Trace::events`].
    Event(usize),
    /// The making of the object, after so many events.
    Made(usize),
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

    /// Whether it is the making of the object.
    pub fn is_making(&self) -> bool {
        matches!(self.position, Position::Made(_))
    }

    /// The access in a sentence: `reads`, `writes`, and other words for atomic operations.
    pub fn verb(&self) -> &'static str {
        if self.is_making() {
            return "makes";
        }
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
            Position::Event(at) | Position::Made(at) => at,
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
    let mut makings = Makings::of(trace);
    each_access(trace, &mut makings, |now, loc, step| {
        let cell = cells.entry(loc).or_default();
        match step {
            Step::Begins(access) => cell.access(now, access).map(|first| Race { loc, first, second: access }),
            Step::Ends { note, early } => {
                cell.0.iter_mut().for_each(|access| access.end(now, note, early));
                None
            }
            Step::Races { first, second } => Some(Race { loc, first, second }),
        }
    })
}

/// All races of an execution: every pair of conflicting accesses that happens-before does not order, but for the
/// making of objects. Quadratic.
pub fn all_races(trace: &Trace) -> Vec<Race> {
    let (mut cells, mut races) = (FxHashMap::<LocId, Vec<Dated>>::default(), Vec::new());
    each_access(trace, &mut Makings::default(), |now, loc, step| {
        let before = cells.entry(loc).or_default();
        match step {
            Step::Begins(access) => {
                let racing = before.iter().filter(|earlier| earlier.races_with(now, &access));
                races.extend(racing.map(|earlier| Race { loc, first: earlier.access, second: access }));
                before.push(Dated::new(now, access));
            }
            Step::Ends { note, early } => before.iter_mut().for_each(|access| access.end(now, note, early)),
            Step::Races { .. } => {}
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
    /// A thread uses an object of whose making it does not know.
    Races { first: Access, second: Access },
}

/// Shows `take` the beginning of every access of a cell, and the end of every lasting one, with the clock of its
/// thread, until `take` returns an answer.
fn each_access<R>(
    trace: &Trace,
    makings: &mut Makings,
    mut take: impl FnMut(&VectorClock, LocId, Step) -> Option<R>,
) -> Option<R> {
    let touches_cell = |note: &Note| matches!(note.kind, NoteKind::CellRead(_) | NoteKind::CellWrite(_));
    if makings.of_loc.is_empty() && !trace.notes.iter().any(touches_cell) {
        return None;
    }
    let (lasting, cells) = (Lasting::of(trace), cells(trace));
    let mut pass = HappensBefore::new(trace, Drops::AsTheyWere);
    let mut number = 0;
    for row in trace.rows() {
        let note = match row {
            Row::Event(at, event) => {
                makings.come_to(event.id.thread, &mut pass);
                let races = makings.races(trace, event.op.loc, &mut pass, || Access::of_event(at, event));
                if let Some(answer) = races.and_then(|races| take(&VectorClock::new(), event.op.loc, races)) {
                    return Some(answer);
                }
                pass.receive(event);
                let object = trace.object_at(event.op.loc);
                if cells.get(object) == Some(&true) {
                    let answer = take(pass.now(event.id.thread), object, Step::Begins(Access::of_event(at, event)));
                    if answer.is_some() {
                        return answer;
                    }
                }
                pass.send(at, event);
                makings.passes(event.id.thread, |done| done.events += 1);
                continue;
            }
            Row::Note(note) => note,
        };
        let (thread, site) = (note.thread, note.site);
        makings.come_to(thread, &mut pass);
        if let NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) = note.kind {
            let writes = note.kind == NoteKind::CellWrite(loc);
            let until = lasting.ends.get(&number).copied();
            let access = Access { thread, writes, site, position: Position::Note(number), until };
            let races = makings.races(trace, loc, &mut pass, || access);
            if let Some(answer) = races.and_then(|races| take(&VectorClock::new(), trace.object_at(loc), races)) {
                return Some(answer);
            }
            let answer = take(pass.now(thread), trace.object_at(loc), Step::Begins(access));
            if answer.is_some() {
                return answer;
            }
        } else if let NoteKind::CellEnd { early, .. } = note.kind {
            if let Some(&loc) = lasting.locs.get(&number) {
                take(pass.now(thread), trace.object_at(loc), Step::Ends { note: number, early });
            }
        } else {
            pass.note(note);
            makings.passes_note(note);
        }
        number += 1;
    }
    None
}

/// The making of those objects that a thread uses which has not made them.
///
/// The runtime knows it by the block of memory ([`Trace::made`]): who made that, and after which of its events.
#[derive(Debug, Default)]
struct Makings {
    of_loc: FxHashMap<LocId, Made>,
    /// By thread: what it had done when it made them, the latest first, until the pass comes there.
    to_come: FxHashMap<ThreadId, Vec<(Done, LocId)>>,
    /// By thread: what it has done so far.
    done: FxHashMap<ThreadId, Done>,
}

/// The making of an object.
#[derive(Clone, Copy, Debug)]
struct Made {
    making: Making,
    /// The time of its thread, if the pass has come there.
    time: Option<u32>,
}

impl Makings {
    fn of(trace: &Trace) -> Self {
        let mut makings = Self::default();
        if trace.made.is_empty() {
            return makings;
        }
        let making = |loc: LocId| trace.made.binary_search_by_key(&loc, |making| making.loc).map(|at| trace.made[at]);
        let events = trace.events.iter().map(|event| (event.op.loc, event.id.thread));
        let cells = trace.notes.iter().filter_map(|note| match note.kind {
            NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) => Some((loc, note.thread)),
            _ => None,
        });
        for (loc, thread) in events.chain(cells) {
            if let Ok(making) = making(loc)
                && making.thread != thread
                && makings.of_loc.insert(loc, Made { making, time: None }).is_none()
            {
                makings.to_come.entry(making.thread).or_default().push((making.done, loc));
            }
        }
        makings.to_come.values_mut().for_each(|of_thread| of_thread.sort_unstable_by(|one, other| other.cmp(one)));
        makings
    }

    /// The pass has come behind an act of a thread.
    fn passes(&mut self, thread: ThreadId, add: impl FnOnce(&mut Done)) {
        if !self.to_come.is_empty() {
            add(self.done.entry(thread).or_default());
        }
    }

    /// The pass has come behind a note.
    fn passes_note(&mut self, note: &Note) {
        match note.kind {
            NoteKind::Spawn(_) => self.passes(note.thread, |done| done.spawns += 1),
            NoteKind::Fence(_) => self.passes(note.thread, |done| done.fences += 1),
            _ => {}
        }
    }

    /// The pass comes to what a thread does next, or uses. Notes the time of what the thread has made before.
    fn come_to(&mut self, thread: ThreadId, pass: &mut HappensBefore<'_>) {
        if self.to_come.is_empty() {
            return;
        }
        let now = self.done.get(&thread).copied().unwrap_or_default();
        let Some(to_come) = self.to_come.get_mut(&thread) else { return };
        while let Some((_, loc)) = to_come
            .pop_if(|(done, _)| done.events <= now.events && done.spawns <= now.spawns && done.fences <= now.fences)
        {
            let time = pass.now(thread).get(thread);
            self.of_loc.entry(loc).and_modify(|made| made.time = Some(time));
        }
    }

    /// The race of an access with the making of its object, if there is one.
    fn races(
        &mut self,
        trace: &Trace,
        loc: LocId,
        pass: &mut HappensBefore<'_>,
        access: impl FnOnce() -> Access,
    ) -> Option<Step> {
        let making = self.of_loc.get(&loc)?.making;
        let second = access();
        if second.thread == making.thread {
            return None;
        }
        self.come_to(making.thread, pass);
        let time = self.of_loc[&loc].time?;
        if pass.now(second.thread).get(making.thread) >= time {
            return None;
        }
        let events = trace.of_thread(making.thread);
        let before = making.done.events.checked_sub(1).and_then(|last| events.get(last as usize));
        let position = Position::Made(before.map_or(0, |&last| last as usize + 1));
        let site = trace.locs[loc].created;
        Some(Step::Races { first: Access { thread: making.thread, writes: true, site, position, until: None }, second })
    }
}

/// By object: whether it is accessed like a cell.
pub(super) fn cells(trace: &Trace) -> IdVec<LocId, bool> {
    let mut cells = IdVec::default();
    for note in &trace.notes {
        if let NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) = note.kind {
            let object = trace.object_at(loc);
            cells.grow_to(object, || false);
            cells[object] = true;
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
