//! Programs that observe the order in which threads drop their references to the value of an `Arc`.
//!
//! Problem. A drop of a reference is no event, so explorers do not order the drops of one value, and one execution of a
//! class stands for all of their orders. But the last drop acquires what the others release, and as it is a fence, what
//! its thread has read elsewhere by relaxed loads: what its thread does next is ordered behind them, and where another
//! thread is the last it may be in a data race, or under C11 read an older value. The destructor of the value is
//! ordered before what its thread does next, too. And any fence that acquires orders the drops of a value before what
//! follows the fence, if its thread has dropped a reference to the value after them.
//!
//! Method. Two passes side by side over an execution, one with the order that it has and one in which nothing follows
//! from the order of drops ([`Drops`]). Where two accesses of one cell that conflict are ordered in the first and not
//! in the second, the program observes the order. Under C11 the same goes for any two operations on one atomic, and for
//! any two that are `SeqCst`. The counts of such `Arc`s then become events, and the exploration starts again. To say
//! which, one `Arc` after another is taken out of the second pass while a pair is left.
//!
//! Cost. Two vector clocks a row, for executions in which a thread that is not alone drops a last reference, or drops
//! one and a fence acquires; accesses are looked up only where the clocks differ. Where a program observes such an
//! order, the executions are as many as if it counted its references by hand.
//!
//! Guarantees. An `Arc` that is observed in some execution of a class is observed in each of them where its drops
//! order a pair; where none does, each execution has the races, and the values, that the others have.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::analysis::happens_before::{Drops, HappensBefore};
use crate::analysis::race::cells;
use crate::base::{LocId, ThreadId, VectorClock};
use crate::model::c11::acquires;
use crate::trace::{NoteKind, Row, Trace};

/// The `Arc`s of which an execution observes the order of drops; `is_graph` says that it is one of C11.
pub fn observed_drops(trace: &Trace, is_graph: bool) -> Vec<LocId> {
    let notes = || trace.notes.iter().map(|note| note.kind);
    let passes_fence = |kind| match kind {
        NoteKind::ArcAcquire(_) => true,
        NoteKind::Fence(order) => acquires(order),
        _ => false,
    };
    let has_accesses = || is_graph || notes().any(NoteKind::is_of_cell);
    if !notes().any(passes_fence) || !has_accesses() || !is_observed(trace, is_graph, &|_| true) {
        return Vec::new();
    }
    let is_drop = |kind| if let NoteKind::ArcRelease(value) = kind { Some(value) } else { None };
    let mut observed: Vec<LocId> = notes().filter_map(is_drop).collect();
    observed.sort_unstable();
    observed.dedup();
    for value in observed.clone() {
        if is_observed(trace, is_graph, &|other| other != value && observed.contains(&other)) {
            observed.retain(|&other| other != value);
        }
    }
    observed
}

/// Whether two accesses are ordered only by the order of the drops of these.
fn is_observed(trace: &Trace, is_graph: bool, may_be_another: &dyn Fn(LocId) -> bool) -> bool {
    let mut passes = Passes {
        real: HappensBefore::new(trace, Drops::AsTheyWere),
        sure: HappensBefore::new(trace, Drops::InAnyOrder(may_be_another)),
        accesses: FxHashMap::default(),
        in_destructors: FxHashMap::default(),
        of_cells: FxHashMap::default(),
        accesses_begun: FxHashMap::default(),
    };
    let cells = cells(trace);
    trace.rows().any(|row| match row {
        Row::Event(at, event) => {
            let (thread, loc) = (event.id.thread, trace.object_at(event.op.loc));
            let counts = is_graph || cells.get(loc) == Some(&true);
            // Under C11, what an operation may read depends on what is known before it.
            let place = Place { object: Object::Location(loc), thread, writes: is_graph || event.written.is_some() };
            let mut is_observed = counts && passes.accesses(place);
            if is_graph && event.order() == Ordering::SeqCst {
                is_observed |= passes.accesses(Place { object: Object::SeqCst, thread, writes: true });
            }
            passes.each(|pass| {
                pass.receive(event);
                pass.send(at, event);
            });
            is_observed
        }
        Row::Note(note) => {
            let is_observed = match note.kind {
                NoteKind::CellRead(loc) => passes.accesses_cell(trace.object_at(loc), note.thread, false),
                NoteKind::CellWrite(loc) => passes.accesses_cell(trace.object_at(loc), note.thread, true),
                NoteKind::CellEnd { access, .. } => {
                    passes.goes_on_to_here(note.thread, access);
                    false
                }
                NoteKind::Fence(Ordering::SeqCst) if is_graph => {
                    passes.accesses(Place { object: Object::SeqCst, thread: note.thread, writes: true })
                }
                _ => false,
            };
            passes.each(|pass| pass.note(note));
            is_observed
        }
    })
}

/// An object of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Object {
    Location(LocId),
    /// The order of all that is `SeqCst`.
    SeqCst,
}

/// An access.
#[derive(Clone, Copy, Debug)]
struct Place {
    object: Object,
    thread: ThreadId,
    writes: bool,
}

/// The times of the accesses of an object by a thread, in order.
#[derive(Debug, Default)]
struct Times {
    all: Vec<u32>,
    writes: Vec<u32>,
}

/// An access in a destructor that another thread could have run.
#[derive(Debug)]
struct InDestructor {
    thread: ThreadId,
    time: u32,
    writes: bool,
    /// The drops after which it comes, whoever runs the destructor.
    drops: VectorClock,
}

/// The two passes, and the accesses so far.
struct Passes<'a> {
    real: HappensBefore<'static>,
    sure: HappensBefore<'a>,
    accesses: FxHashMap<(Object, ThreadId), Times>,
    in_destructors: FxHashMap<Object, Vec<InDestructor>>,
    /// By the thread and number of the access of a cell.
    of_cells: FxHashMap<(ThreadId, u32), Place>,
    accesses_begun: FxHashMap<ThreadId, u32>,
}

impl Passes<'_> {
    fn each(&mut self, act: impl Fn(&mut HappensBefore<'_>)) {
        act(&mut self.real);
        act(&mut self.sure);
    }

    fn accesses_cell(&mut self, loc: LocId, thread: ThreadId, writes: bool) -> bool {
        let number = self.accesses_begun.entry(thread).or_default();
        let place = Place { object: Object::Location(loc), thread, writes };
        self.of_cells.insert((thread, *number), place);
        *number += 1;
        self.accesses(place)
    }

    /// Adds an access; whether one before it is ordered before it only by who dropped the last reference.
    fn accesses(&mut self, place: Place) -> bool {
        let is_observed = self.is_observed(place);
        self.add(place);
        is_observed
    }

    fn is_observed(&mut self, place: Place) -> bool {
        let (real, sure) = (self.real.now(place.thread), self.sure.now(place.thread));
        let in_destructors = self.in_destructors.get(&place.object).map_or(&[][..], Vec::as_slice);
        let of_destructor = |before: &InDestructor| {
            (before.writes || place.writes) && before.time <= real.get(before.thread) && !sure.includes(&before.drops)
        };
        if in_destructors.iter().any(of_destructor) {
            return true;
        }
        if sure.includes(real) {
            return false;
        }
        real.entries().any(|(thread, time)| {
            let surely = sure.get(thread);
            let Some(times) = (surely < time).then(|| self.accesses.get(&(place.object, thread))).flatten() else {
                return false;
            };
            let times = if place.writes { &times.all } else { &times.writes };
            times.get(times.partition_point(|&before| before <= surely)).is_some_and(|&before| before <= time)
        })
    }

    fn add(&mut self, Place { object, thread, writes }: Place) {
        let time = self.real.now(thread).get(thread);
        if let Some(drops) = self.sure.drops_before(thread) {
            let drops = drops.clone();
            self.in_destructors.entry(object).or_default().push(InDestructor { thread, time, writes, drops });
            return;
        }
        let times = self.accesses.entry((object, thread)).or_default();
        times.all.push(time);
        if writes {
            times.writes.push(time);
        }
    }

    /// The access of a cell that a thread has begun as this one ends here.
    fn goes_on_to_here(&mut self, thread: ThreadId, access: u32) {
        if let Some(&place) = self.of_cells.get(&(thread, access)) {
            self.add(place);
        }
    }
}
