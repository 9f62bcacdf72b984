//! The data races of an execution, by the definition: happens-before as a set of rows for each row of the trace,
//! instead of the clocks of `rsmc_core::analysis::race`.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Release, SeqCst};

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::trace::{NoteKind, Row, Source, Trace};

/// The access of a thread, as its thread and how many the thread made before.
type Place = (u32, usize);

/// The pairs of accesses that race.
pub type Races = BTreeSet<(Place, Place)>;

/// An access of a cell, or of an atomic that some thread accesses like a cell.
struct Access {
    loc: LocId,
    place: Place,
    writes: bool,
    is_atomic: bool,
    /// The row of its beginning, and that of its end.
    rows: (usize, usize),
}

/// The rows of a trace, and for each the rows that happen before it or are it.
struct Order<'t> {
    trace: &'t Trace,
    rows: Vec<Row<'t>>,
    /// By the number of an event: its row.
    of_event: Vec<usize>,
    before: Vec<Vec<bool>>,
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Acquire | AcqRel | SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Release | AcqRel | SeqCst)
}

fn thread(row: &Row<'_>) -> ThreadId {
    match row {
        Row::Event(_, event) => event.id.thread,
        Row::Note(note) => note.thread,
    }
}

/// Whether a row is part of its thread: a buffer gives a store to all without it.
fn is_of_thread(row: &Row<'_>) -> bool {
    !matches!(row, Row::Note(note) if matches!(note.kind, NoteKind::Flush(_)))
}

impl<'t> Order<'t> {
    fn new(trace: &'t Trace) -> Self {
        let rows: Vec<Row<'t>> = trace.rows().collect();
        let of_event = (0..rows.len()).filter(|&at| matches!(rows[at], Row::Event(..))).collect();
        let mut order = Self { trace, rows, of_event, before: Vec::new() };
        for at in 0..order.rows.len() {
            let mut before = vec![false; order.rows.len()];
            for earlier in order.directly_before(at) {
                before.iter_mut().zip(&order.before[earlier]).for_each(|(known, &more)| *known |= more);
            }
            before[at] = true;
            order.before.push(before);
        }
        order
    }

    fn fences(&self, at: usize) -> Option<Ordering> {
        match &self.rows[at] {
            Row::Note(note) => {
                if let NoteKind::Fence(order) = note.kind {
                    Some(order)
                } else {
                    None
                }
            }
            Row::Event(..) => None,
        }
    }

    /// The last row of its thread before a row.
    fn previous(&self, at: usize) -> Option<usize> {
        let same = |&before: &usize| thread(&self.rows[before]) == thread(&self.rows[at]);
        (0..at).rev().filter(|&before| is_of_thread(&self.rows[before])).find(same)
    }

    /// The rows of the thread of a row before it, the last one first.
    fn previous_rows(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.previous(at), |&at| self.previous(at))
    }

    /// The rows that happen before a row with no other between them, and perhaps some more.
    fn directly_before(&self, at: usize) -> Vec<usize> {
        let mut before: Vec<usize> = self.previous(at).filter(|_| is_of_thread(&self.rows[at])).into_iter().collect();
        let earlier =
            |kind: NoteKind| (0..at).filter(move |&at| matches!(&self.rows[at], Row::Note(note) if note.kind == kind));
        if before.is_empty() {
            before.extend(earlier(NoteKind::Spawn(thread(&self.rows[at]))));
        }
        match &self.rows[at] {
            Row::Event(_, event) if acquires(event.order()) => before.extend(self.released_to(at)),
            Row::Note(note) => match note.kind {
                NoteKind::Fence(order) if acquires(order) => {
                    before.extend(self.previous_rows(at).flat_map(|read| self.released_to(read)));
                }
                NoteKind::Join(child) => {
                    let of_child = |&at: &usize| thread(&self.rows[at]) == child && is_of_thread(&self.rows[at]);
                    before.extend((0..at).rev().find(of_child));
                }
                NoteKind::ArcAcquire(loc) => before.extend(earlier(NoteKind::ArcRelease(loc))),
                _ => {}
            },
            Row::Event(..) => {}
        }
        before
    }

    /// The releases that the read at a row takes its value from: the writes of the release sequences that its source is
    /// part of, and the fences before them.
    fn released_to(&self, at: usize) -> Vec<usize> {
        let mut released = Vec::new();
        let source = |at: usize| match &self.rows[at] {
            Row::Event(_, event) => {
                if let Source::At(source) = event.source {
                    Some(self.of_event[source as usize])
                } else {
                    None
                }
            }
            Row::Note(_) => None,
        };
        let mut next = source(at);
        while let Some(write) = next {
            let Row::Event(_, event) = &self.rows[write] else { unreachable!("it is the row of an event") };
            if releases(event.order()) {
                released.push(write);
            }
            released.extend(self.previous_rows(write).find(|&at| self.fences(at).is_some_and(releases)));
            next = source(write);
        }
        released
    }

    fn accesses(&self) -> Vec<Access> {
        let is_cell = |loc| {
            let is_access = |kind| matches!(kind, NoteKind::CellRead(of) | NoteKind::CellWrite(of) if of == loc);
            self.trace.notes.iter().any(|note| is_access(note.kind))
        };
        let (mut accesses, mut begun) = (Vec::<Access>::new(), HashMap::<ThreadId, Vec<usize>>::new());
        for (at, row) in self.rows.iter().enumerate() {
            let of = thread(row);
            let nth = accesses.iter().filter(|access| access.place.0 == of.0).count();
            let access = |loc, writes, is_atomic| Access { loc, place: (of.0, nth), writes, is_atomic, rows: (at, at) };
            match row {
                Row::Event(_, event) if is_cell(event.op.loc) => {
                    accesses.push(access(event.op.loc, event.written.is_some(), true));
                }
                Row::Event(..) => {}
                Row::Note(note) => match note.kind {
                    NoteKind::CellRead(loc) | NoteKind::CellWrite(loc) => {
                        begun.entry(of).or_default().push(accesses.len());
                        accesses.push(access(loc, note.kind == NoteKind::CellWrite(loc), false));
                    }
                    NoteKind::CellEnd { access, early } => {
                        assert!(!early, "no pointer of this crate ends before it is dropped");
                        accesses[begun[&of][access as usize]].rows.1 = at;
                    }
                    _ => {}
                },
            }
        }
        accesses
    }
}

/// All races of an execution.
pub fn races(trace: &Trace) -> Races {
    if !trace.notes.iter().any(|note| note.kind.is_of_cell()) {
        return Races::new();
    }
    let order = Order::new(trace);
    let accesses = order.accesses();
    let is_before = |a: &Access, b: &Access| order.before[b.rows.0][a.rows.1];
    let race = |a: &Access, b: &Access| {
        let conflict = a.loc == b.loc && (a.writes || b.writes) && !(a.is_atomic && b.is_atomic);
        conflict && !is_before(a, b) && !is_before(b, a)
    };
    let mut races = Races::new();
    for (number, a) in accesses.iter().enumerate() {
        for b in accesses[number + 1..].iter().filter(|b| race(a, b)) {
            races.insert((a.place.min(b.place), a.place.max(b.place)));
        }
    }
    races
}
