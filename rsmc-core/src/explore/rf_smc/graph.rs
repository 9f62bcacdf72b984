//! The graph of a run: the causal past of each event, and the writes and readers of each location.
//!
//! Which events are certainly before an event depends on the memory model: see `sc_tso`, `pso` and `c11`.

mod c11;
mod columns;
mod pso;
mod sc_tso;

use std::borrow::Cow;

use crate::base::{BitMatrix, BitSet, EventId, IdVec, LocId, ThreadId};
use crate::explore::rf_smc::graph::c11::{ExecutionGraph, Sight};
use crate::explore::rf_smc::graph::columns::Columns;
use crate::explore::rf_smc::graph::pso::Stored;
use crate::model::{MemoryModel, StoreBuffers};
use crate::step::Run;
use crate::trace::{Action, Event, ProgramOrder, Source, Trace};

/// An event, or the operation that a thread stands before.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    pub(super) id: EventId,
    /// Its predecessors in program order.
    pub(super) preds: &'a [u32],
    /// The stores that are in memory before it.
    pub(super) fenced: Cow<'a, [u32]>,
}

/// Rules that exclude sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rules {
    /// An event that is causally before another is before it in memory: see `sc_tso`.
    #[default]
    Causal,
    /// Stores count from where they are known to be in memory: see `pso`.
    Stored,
    /// Happens-before, and coherence: see `c11`.
    HappensBefore,
}

impl Rules {
    fn of(model: MemoryModel) -> Self {
        match model.store_buffers() {
            _ if model.is_graph() => Rules::HappensBefore,
            StoreBuffers::None | StoreBuffers::PerThread => Rules::Causal,
            StoreBuffers::PerThreadAndLocation => Rules::Stored,
        }
    }
}

/// The causal order (program order and reads-from) of a run, and tables of its writes.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) order: ProgramOrder,
    /// Row of an event: all events causally before it.
    past: BitMatrix,
    /// Where the rules are `Rules::Stored`: the events that are certainly in memory.
    stored: Stored,
    /// Under a model of graphs: the execution graph.
    pub(super) c11: ExecutionGraph,
    model: MemoryModel,
    /// The rules that exclude sources: the model's, or those of SC where a model of graphs is SC whatever is read.
    rules: Rules,
    /// Every execution of these events is one under SC, whatever is read.
    is_sc: bool,
    /// Every read took what was written last.
    is_in_order: bool,
    /// The non-SC events: with one of them an execution may be none under SC.
    weak: BitSet,
    /// By event.
    links: Vec<Links>,
    locs: IdVec<LocId, AtLoc>,
    columns: Columns,
}

/// No event.
const NOBODY: u32 = u32::MAX;

/// The readers of a value.
#[derive(Clone, Copy, Debug)]
struct Readers {
    first: u32,
    last: u32,
    /// The one of them that is an update.
    update: u32,
}

impl Readers {
    const NONE: Self = Self { first: NOBODY, last: NOBODY, update: NOBODY };
}

/// The list of an event's readers, and the next events in the lists that the event is in; [`NOBODY`] ends a list.
#[derive(Clone, Copy, Debug)]
struct Links {
    /// The readers of what it writes.
    readers: Readers,
    /// The next event that read from the same write.
    next_reader: u32,
    /// The next write of the same location.
    next_write: u32,
}

impl Links {
    const NONE: Self = Self { readers: Readers::NONE, next_reader: NOBODY, next_write: NOBODY };
}

/// The first and the last write of a location, and the readers of its initial value.
#[derive(Clone, Copy, Debug)]
struct AtLoc {
    first_write: u32,
    last_write: u32,
    initial: Readers,
}

impl AtLoc {
    const NONE: Self = Self { first_write: NOBODY, last_write: NOBODY, initial: Readers::NONE };
}

/// The writes that are visible to a reader; keeps its memory from one reader to the next.
#[derive(Debug, Default)]
pub(super) struct Visible {
    /// The writes that the reader certainly sees or finds overwritten, perhaps among other events.
    seen: BitSet,
    /// By write, the initial value behind all events: whether another write must come between it and the reader.
    hidden: BitSet,
    sight: Sight,
}

impl Visible {
    /// Whether the reader can see `write` (`None`: the initial value) at all, in a run with `events` events.
    #[inline]
    pub(super) fn includes(&self, write: Option<usize>, events: usize) -> bool {
        !self.hidden.contains(write.unwrap_or(events))
    }
}

impl Graph {
    pub(super) fn new(model: MemoryModel) -> Self {
        Self { model, ..Self::default() }
    }

    pub(super) fn compute(&mut self, run: &Run) {
        let trace = &run.trace;
        let n = trace.events.len();
        self.order.compute(trace);
        self.past.reset(n);
        self.rules = Rules::of(self.model);
        self.stored.reset(if self.rules == Rules::Stored { n } else { 0 });
        self.locs.values_mut().for_each(|loc| *loc = AtLoc::NONE);
        if let Some(last) = trace.locs.ids().next_back() {
            self.locs.grow_to(last, || AtLoc::NONE);
        }
        self.links.clear();
        self.columns.clear(n);
        self.is_in_order = true;
        for (at, event) in trace.events.iter().enumerate() {
            self.enter(at, event);
            if self.rules == Rules::Stored {
                self.stored.add(&self.order, trace, at, event);
            }
        }
        self.find_weak(trace);
        self.is_sc = self.model.is_sequential();
        if self.rules == Rules::HappensBefore {
            self.c11.compare_with_sc(trace);
            if self.c11.is_sequential && run.waiting.is_empty() && self.weak.is_empty() {
                (self.rules, self.is_sc) = (Rules::Causal, true);
            } else {
                self.c11.read(trace);
            }
        }
    }

    fn find_weak(&mut self, trace: &Trace) {
        self.weak.reset(trace.events.len());
        if !self.model.is_sequential() {
            let is_graph = self.model.is_graph();
            let is_weak = |event: &Event| if is_graph { c11::is_weak(event) } else { event.buffered };
            let events = trace.events.iter().enumerate();
            events.filter(|(_, event)| is_weak(event)).for_each(|(at, _)| self.weak.insert(at));
        }
    }

    /// The memory model that runs follow.
    pub(super) fn model(&self) -> MemoryModel {
        self.model
    }

    /// Whether executions of these events, whatever they read, are executions under SC.
    #[inline]
    pub(super) fn are_sc(&self, events: &BitSet) -> bool {
        !events.meets(&self.weak)
    }

    /// Whether an event is an SC event.
    pub(super) fn is_sc_event(&self, event: usize) -> bool {
        !self.weak.contains(event)
    }

    #[inline]
    fn enter(&mut self, at: usize, event: &Event) {
        for &pred in self.order.preds(at) {
            self.past.add_with_lower_row(at, pred as usize);
        }
        self.links.push(Links::NONE);
        let write = match event.source {
            Source::At(write) => {
                self.past.add_with_lower_row(at, write as usize);
                write
            }
            Source::Init | Source::None => NOBODY,
        };
        if event.source != Source::None {
            self.is_in_order &= write == self.locs[event.op.loc].last_write;
            self.add_reader(write, at as u32, event);
        }
        if event.written.is_some() {
            self.add_write(at as u32, event.op.loc);
            self.columns.add(at as u32, event);
        }
    }

    #[inline]
    fn add_reader(&mut self, write: u32, reader: u32, event: &Event) {
        let readers = match self.links.get_mut(write as usize) {
            Some(links) => &mut links.readers,
            None => &mut self.locs[event.op.loc].initial,
        };
        if event.written.is_some() {
            readers.update = reader;
        }
        match std::mem::replace(&mut readers.last, reader) {
            NOBODY => readers.first = reader,
            last => self.links[last as usize].next_reader = reader,
        }
    }

    #[inline]
    fn add_write(&mut self, write: u32, loc: LocId) {
        let loc = &mut self.locs[loc];
        match std::mem::replace(&mut loc.last_write, write) {
            NOBODY => loc.first_write = write,
            last => self.links[last as usize].next_write = write,
        }
    }

    /// The events of a list, from its first one on.
    #[inline]
    fn list(&self, first: u32, next: impl Fn(&Links) -> u32) -> impl Iterator<Item = usize> {
        let mut at = first;
        std::iter::from_fn(move || {
            let links = self.links.get(at as usize)?;
            Some(std::mem::replace(&mut at, next(links)) as usize)
        })
    }

    /// Whether the order of the run is that of an execution under SC.
    pub(super) fn is_in_order(&self) -> bool {
        self.is_in_order
    }

    /// Whether every execution of these events is one under SC, whatever is read.
    pub(super) fn is_sc(&self) -> bool {
        self.is_sc
    }

    /// Whether `a` is causally before `b`.
    #[inline]
    pub(super) fn precedes(&self, a: usize, b: usize) -> bool {
        self.past.get(b, a)
    }

    /// Adds to `set` the event and all events causally before it.
    #[inline]
    pub(super) fn add_past(&self, at: usize, set: &mut BitSet) {
        set.insert(at);
        set.union(self.past.row(at));
    }

    /// Adds the events before this one in program order, and the events causally before those.
    #[inline]
    pub(super) fn add_program_past(&self, preds: &[u32], set: &mut BitSet) {
        for &pred in preds {
            self.add_past(pred as usize, set);
        }
    }

    /// Whether `a` is causally before an event with these predecessors, its own source aside.
    #[inline]
    pub(super) fn precedes_by_program(&self, a: usize, preds: &[u32]) -> bool {
        preds.iter().any(|&pred| pred as usize == a || self.precedes(a, pred as usize))
    }

    /// The writes of a location, in order of happening.
    pub(super) fn writes(&self, loc: LocId) -> impl Iterator<Item = usize> {
        self.writes_since(self.first_write(loc))
    }

    /// The write of a location that happened first.
    #[inline]
    pub(super) fn first_write(&self, loc: LocId) -> Option<usize> {
        let first = self.locs[loc].first_write;
        (first != NOBODY).then_some(first as usize)
    }

    /// A write and those of its location that happened after it.
    #[inline]
    pub(super) fn writes_since(&self, write: Option<usize>) -> impl Iterator<Item = usize> {
        self.list(write.map_or(NOBODY, |write| write as u32), |links| links.next_write)
    }

    /// The writes of a location that happened after one of them (`None`: all).
    #[inline]
    pub(super) fn writes_after(&self, loc: LocId, write: Option<usize>) -> impl Iterator<Item = usize> {
        let first = write.map_or(self.locs[loc].first_write, |write| self.links[write].next_write);
        self.list(first, |links| links.next_write)
    }

    /// Whether the run is long, so that [`Graph::find_between`] is quicker than a look at all writes.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.columns.is_long()
    }

    /// Finds the writes of a location that are not known and not `own` or causally after it, in order of happening. Of
    /// each thread the first ones are known.
    pub(super) fn find_between(
        &self,
        loc: LocId,
        is_known: impl Fn(usize) -> bool,
        own: Option<usize>,
        found: &mut Vec<u32>,
    ) {
        found.clear();
        let is_after = |write: usize| own.is_some_and(|own| write == own || self.precedes(own, write));
        for writes in self.columns.of_loc(loc) {
            found.extend_from_slice(columns::between(writes, &is_known, is_after));
        }
        found.sort_unstable();
    }

    /// In a long run, the last writes of a location by each thread among events that have a beginning of each thread.
    fn last_writes_in(&self, loc: LocId, events: &BitSet) -> impl Iterator<Item = usize> {
        let last = |writes: &[u32]| {
            let among = writes.partition_point(|&write| events.contains(write as usize));
            writes[..among].last().map(|&write| write as usize)
        };
        self.columns.of_loc(loc).filter_map(last)
    }

    /// The events that read from a write.
    #[inline]
    pub(super) fn readers(&self, write: usize) -> impl Iterator<Item = usize> {
        self.list(self.links[write].readers.first, |links| links.next_reader)
    }

    /// The events that read from a write of a location (`None`: its initial value).
    #[inline]
    pub(super) fn readers_of(&self, loc: LocId, write: Option<usize>) -> impl Iterator<Item = usize> {
        let first = write.map_or(self.locs[loc].initial.first, |write| self.links[write].readers.first);
        self.list(first, |links| links.next_reader)
    }

    /// The update that reads from a write of a location (`None`: the initial value). There is no other in any
    /// execution.
    #[inline]
    pub(super) fn update_of(&self, loc: LocId, write: Option<usize>) -> Option<usize> {
        let update = write.map_or(self.locs[loc].initial.update, |write| self.links[write].readers.update);
        (update != NOBODY).then_some(update as usize)
    }

    /// Finds the writes of a location that are visible to a reader.
    pub(super) fn find_visible(&self, trace: &Trace, who: &Reader<'_>, loc: LocId, visible: &mut Visible) {
        match self.rules {
            Rules::Causal => sc_tso::find_visible(self, trace.events.len(), who, loc, visible),
            Rules::Stored => pso::find_visible(self, trace, who, loc, visible),
            Rules::HappensBefore => c11::find_visible(self, trace, who, loc, visible),
        }
    }

    /// Whether one event happens before another, under a model of graphs.
    pub(super) fn happens_before(&self, a: usize, b: usize) -> bool {
        match self.rules {
            Rules::HappensBefore => self.c11.happens_before(a, b),
            Rules::Causal | Rules::Stored => self.precedes(a, b),
        }
    }

    /// Whether one write certainly reaches memory before another.
    pub(super) fn reaches_memory_before(&self, a: usize, b: usize) -> bool {
        match self.rules {
            Rules::Causal => self.precedes(a, b),
            Rules::Stored => self.stored.reaches_memory_before(a, b),
            Rules::HappensBefore => self.c11.happens_before(a, b),
        }
    }

    /// The release of the lock that was acquired at `at`.
    pub(super) fn release_of(&self, trace: &Trace, at: usize) -> Option<usize> {
        let Event { id, op, .. } = trace.events[at];
        let is_release = |&later: &usize| {
            let event = &trace.events[later];
            later > at && event.id.thread == id.thread && matches!(event.op.action, Action::Release { .. })
        };
        self.writes(op.loc).find(is_release)
    }

    /// Program-order predecessors of the event that a waiting thread would do next.
    #[inline]
    pub(super) fn next_preds(&self, thread: ThreadId) -> &[u32] {
        self.order.next_preds(thread)
    }
}
