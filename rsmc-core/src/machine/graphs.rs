//! C11: the writes that a read may take, and the newest of them.
//!
//! Memory holds, for each location, the last write of some modification order of the execution so far: taking it is
//! always possible, and so is adding a write behind it. So a plan that says what every forced read takes, and gives a
//! modification order at its end, needs no axiom, and neither does an execution whose reads take what is newest. Where
//! a read takes something else, [`sources`](super::sources) says whether the order of memory stays a witness. Where it
//! does not, the graph of the execution says whether the read can take it, and what is the newest then. A plan that
//! forces a whole execution that is stuck says what is the newest at its end: what waits for ever depends on it.
//!
//! Where everything so far is `SeqCst` or the use of a lock, reads that are `SeqCst` take the newest only. That loses
//! no execution: what is before an event that is neither, in program order and reads-from, can be run like that first.

use std::sync::atomic::Ordering;

use crate::base::{EventId, IdVec, LocId, ThreadId};
use crate::consistency::VerifyC11;
use crate::machine::Machine;
use crate::machine::choose::alternative;
use crate::machine::sources::{Accesses, OldRead, Order, Prefix};
use crate::model::Cell;
use crate::model::c11::{Graph, Node};
use crate::step::{SchedulingPolicy, Step};
use crate::trace::{Action, Effect, NoteKind, Op, Row, Source, Trace};

/// The graph of the execution so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Graphs {
    graph: Graph,
    /// By event: its node.
    numbers: Vec<u32>,
    /// All nodes.
    nodes: Vec<u32>,
    /// The number of notes in the graph.
    notes: usize,
    accesses: Accesses,
    /// The nodes of `SeqCst` fences.
    fences: Vec<u32>,
    /// Some event or fence is neither `SeqCst` nor the use of a lock.
    mixed: bool,
    /// A read took another write than the newest, and the order of memory is no witness any more.
    outdated: bool,
    known: Order,
    verifier: VerifyC11,
    order: Vec<usize>,
    sources: Vec<Source>,
}

impl Machine {
    /// Whether every read is a choice of its own.
    pub(super) fn reads_are_choices(&self) -> bool {
        self.rules.memory.is_graph() && (self.plan.record_choices || self.plan.policy != SchedulingPolicy::RunOn)
    }

    /// Forgets the graph, as an execution starts. Other models have none.
    #[inline]
    pub(super) fn forget_graph(&mut self) {
        if self.rules.memory.is_graph() {
            self.graphs.clear();
        }
    }

    /// Forgets the graph, since events were left out of it. Whether memory holds the newest writes stays as it was.
    pub(super) fn rebuild_graph(&mut self) {
        let (outdated, known) = (self.graphs.outdated, std::mem::take(&mut self.graphs.known));
        self.graphs.clear();
        self.graphs.outdated = outdated;
        self.graphs.known = if matches!(known, Order::Executed) { known } else { Order::Unknown };
    }

    /// Notes that the operation of a thread takes this source.
    #[inline(never)]
    pub(super) fn takes(&mut self, thread: ThreadId, op: &Op, source: Source) {
        if self.graphs.outdated || self.memory.shared(op.loc).writer == source {
            return;
        }
        self.graphs.outdated = !self.reads_are_choices() || {
            self.graphs.catch_up(&self.run.trace);
            !self.keeps_order(thread, op, source)
        };
    }

    /// Makes memory hold the newest writes, before something is chosen. False if the forced reads took what no
    /// execution allows, or the plan orders events that are no writes: a seed of another program may do so.
    pub(super) fn find_newest(&mut self) -> bool {
        if !self.rules.memory.is_graph() {
            return true;
        }
        let at_last = self.steps == self.plan.forced.len();
        if at_last && let Some(newest) = self.plan.newest.take() {
            return self.keep_order(&newest);
        }
        if at_last && !self.plan.modification.is_empty() {
            let modification = std::mem::take(&mut self.plan.modification);
            let are_writes = modification.iter().all(|&write| self.put_last(write));
            self.plan.modification = modification;
            (self.graphs.outdated, self.graphs.known) = (false, Order::Unknown);
            return are_writes;
        } else if self.graphs.outdated {
            return self.order_writes();
        }
        true
    }

    /// Makes a write the newest of its location. False if no such write has happened: a plan that another process made
    /// may name one.
    fn put_last(&mut self, write: EventId) -> bool {
        let Some(at) = self.run.trace.position(write) else { return false };
        let event = &self.run.trace.events[at];
        let Some(written) = event.written else { return false };
        self.memory.write(event.op.loc, written, at as u32);
        true
    }

    /// Leaves writes in the order in which they happened, but for these, which are the newest of their locations.
    /// False if the forced reads took what no execution allows, or these are no writes.
    fn keep_order(&mut self, newest: &[EventId]) -> bool {
        if self.graphs.outdated && !self.find_order() {
            return false;
        }
        (self.graphs.outdated, self.graphs.known) = (false, Order::Unknown);
        newest.iter().all(|&write| self.put_last(write))
    }

    /// Notes the writes that are newest though another happened later.
    pub(super) fn collect_newest(&mut self) {
        if !self.rules.memory.is_graph() {
            return;
        }
        let trace = &self.run.trace;
        let mut last: IdVec<LocId, Source> = trace.locs.ids().map(|_| Source::Init).collect();
        let writes = trace.events.iter().enumerate().filter(|(_, event)| event.written.is_some());
        writes.for_each(|(at, event)| last[event.op.loc] = Source::At(at as u32));
        let newest = last.iter().map(|(loc, &last)| (self.memory.shared(loc).writer, last));
        self.run.newest =
            newest.filter(|(newest, last)| newest != last).filter_map(|(newest, _)| self.write_of(newest)).collect();
    }

    /// Puts the writes of the execution so far in a modification order. False if there is none.
    fn order_writes(&mut self) -> bool {
        if !self.find_order() {
            return false;
        }
        let mut ranks = vec![0; self.graphs.numbers.len()];
        for at in 0..self.graphs.order.len() {
            let node = self.graphs.order[at] as u32;
            let position = self.graphs.numbers.binary_search(&node).expect("a write is an event");
            let is_write = self.put_last(self.run.trace.events[position].id);
            debug_assert!(is_write, "it was found among the writes");
            ranks[position] = at as u32;
        }
        (self.graphs.outdated, self.graphs.known) = (false, Order::Ranked(ranks));
        true
    }

    /// Finds a modification order of the execution so far, as close to its own order as can be. False if there is none.
    fn find_order(&mut self) -> bool {
        self.graphs.catch_up(&self.run.trace);
        let Graphs { graph, nodes, verifier, order, .. } = &mut self.graphs;
        order.clear();
        let found = verifier.verify(graph, nodes, |node| node as u32, order);
        if !found {
            let is_seed = self.plan.forced.last().is_some_and(|forced| forced.expect.is_none());
            assert!(is_seed, "this is a bug in rsmc: an execution has no modification order");
        }
        found
    }

    /// Adds the steps that a thread can take which stands before a possible operation: for each of its alternatives
    /// one, or under C11, where reads are choices, one for each write that it may take, the newest first.
    pub(super) fn add_steps(&mut self, thread: ThreadId, steps: &mut Vec<Step>) {
        let op = *self.possible_op(thread).expect("it is possible");
        for which in 0..op.action.alternatives() {
            let other = alternative(op, which);
            if which == 0 || self.has_alternative(thread, &other) {
                steps.push(self.newest_of(thread, &other));
            }
            // A spurious failure with what is old may be possible where one with what is newest is not.
            if self.chooses_source(&other) && (which == 0 || self.may_be(&other)) {
                self.add_sources(thread, other, steps);
            }
        }
    }

    fn add_sources(&mut self, thread: ThreadId, op: Op, steps: &mut Vec<Step>) {
        self.find_sources(thread, op);
        let sources = std::mem::take(&mut self.graphs.sources);
        for &source in &sources {
            if self.can_take(thread, op, source) {
                steps.push(Step::perform(thread, op.action, Some(self.write_of(source))));
            }
        }
        self.graphs.sources = sources;
    }

    /// The step in which a thread performs this, with a random write if it reads: as often the newest as another.
    pub(super) fn any_source(&mut self, thread: ThreadId, op: Op) -> Step {
        let newest = self.newest_of(thread, &op);
        if !self.chooses_source(&op) || self.dice.below(2) > 0 {
            return newest;
        }
        self.find_sources(thread, op);
        if self.graphs.sources.is_empty() {
            return newest;
        }
        let source = self.graphs.sources[self.dice.below(self.graphs.sources.len())];
        let step = Step::perform(thread, op.action, Some(self.write_of(source)));
        if self.can_take(thread, op, source) { step } else { newest }
    }

    /// The step of a thread that can go on, with the newest write if it reads.
    pub(super) fn newest(&self, thread: ThreadId) -> Step {
        self.newest_of(thread, self.possible_op(thread).expect("it can go on"))
    }

    fn newest_of(&self, thread: ThreadId, op: &Op) -> Step {
        let takes = self.chooses_source(op).then(|| self.write_of(self.memory.shared(op.loc).writer));
        Step::perform(thread, op.action, takes)
    }

    fn chooses_source(&self, op: &Op) -> bool {
        self.reads_are_choices() && op.action.reads()
    }

    /// Finds the writes that an operation may take besides the newest, as far as coherence with what happened before it
    /// tells.
    fn find_sources(&mut self, thread: ThreadId, op: Op) {
        self.graphs.catch_up(&self.run.trace);
        let newest = self.memory.shared(op.loc).writer;
        let Graphs { graph, numbers, accesses, sources, .. } = &mut self.graphs;
        let prefix = Prefix { events: &self.run.trace.events, graph, numbers };
        accesses.find_sources(op.loc, prefix, graph.known_next(thread), sources);
        let is_update = matches!(op.action, Action::Rmw(_));
        sources.retain(|&source| source != newest && !(is_update && accesses.is_updated(op.loc, source)));
    }

    /// Whether the operation of a thread can take this source, which is not the newest.
    fn can_take(&mut self, thread: ThreadId, op: Op, source: Source) -> bool {
        let effect = op.action.effect(self.cell_of(op.loc, source).value);
        let writes = effect.written().is_some();
        let takes_newest = !self.graphs.mixed && op.is_sequential(writes);
        let is_second = writes && self.graphs.accesses.is_updated(op.loc, source);
        if effect == Effect::Blocked || takes_newest || is_second {
            return false;
        }
        if self.keeps_order(thread, &op, source) {
            return true;
        }
        let node_source = match source {
            Source::At(at) => Source::At(self.graphs.numbers[at as usize]),
            other => other,
        };
        let node = Node { loc: Some(op.loc), source: node_source, writes, order: op.effective_order(writes) };
        self.graphs.allows(thread, node)
    }

    /// Whether the order of memory stays a witness if the operation of a thread takes this source, which is not the
    /// newest. The graph has caught up.
    fn keeps_order(&self, thread: ThreadId, op: &Op, source: Source) -> bool {
        let Graphs { graph, numbers, accesses, fences, known, .. } = &self.graphs;
        let writes = op.action.effect(self.cell_of(op.loc, source).value).written().is_some();
        let read = OldRead { thread, loc: op.loc, order: op.effective_order(writes), source };
        let prefix = Prefix { events: &self.run.trace.events, graph, numbers };
        !writes && known.stays(accesses, prefix, read, fences)
    }

    pub(super) fn write_of(&self, source: Source) -> Option<EventId> {
        match source {
            Source::At(at) => Some(self.run.trace.events[at as usize].id),
            Source::Init | Source::None => None,
        }
    }

    /// The contents of a location after a write.
    pub(super) fn cell_of(&self, loc: LocId, source: Source) -> Cell {
        let value = match source {
            Source::At(at) => self.run.trace.events[at as usize].written.expect("it is a write"),
            Source::Init | Source::None => self.run.trace.locs[loc].init,
        };
        Cell { value, writer: source }
    }

    /// The source that a step names, if it is there: a write of that location.
    pub(super) fn source_for(&self, loc: LocId, write: Option<EventId>) -> Option<Source> {
        let Some(write) = write else { return Some(Source::Init) };
        let at = self.run.trace.position(write)?;
        let event = &self.run.trace.events[at];
        (event.op.loc == loc && event.written.is_some()).then_some(Source::At(at as u32))
    }
}

impl Graphs {
    fn clear(&mut self) {
        self.graph.clear();
        self.numbers.clear();
        self.nodes.clear();
        self.notes = 0;
        self.accesses.clear();
        self.fences.clear();
        self.mixed = false;
        self.outdated = false;
        self.known = Order::Executed;
    }

    /// Adds what happened since the last call.
    fn catch_up(&mut self, trace: &Trace) {
        for row in trace.rows_since(self.numbers.len(), self.notes) {
            self.mixed |= match row {
                Row::Event(at, event) => {
                    self.accesses.add(at as u32, event);
                    !event.op.is_sequential(event.written.is_some())
                }
                Row::Note(note) => {
                    self.notes += 1;
                    if note.kind == NoteKind::Fence(Ordering::SeqCst) {
                        self.fences.push(self.graph.nodes().len() as u32);
                    }
                    matches!(note.kind, NoteKind::Fence(order) if order != Ordering::SeqCst)
                }
            };
            self.graph.pass_row(row, &mut self.numbers);
        }
        self.nodes.extend(self.nodes.len() as u32..self.graph.nodes().len() as u32);
    }

    /// Whether the execution may go on with this node.
    fn allows(&mut self, thread: ThreadId, node: Node) -> bool {
        let mark = self.graph.mark();
        let node = self.graph.suppose_next(thread, node);
        self.nodes.push(node as u32);
        self.order.clear();
        let allowed = self.verifier.verify(&self.graph, &self.nodes, |node| node as u32, &mut self.order);
        self.nodes.pop();
        self.graph.forget_since(mark);
        allowed
    }
}
