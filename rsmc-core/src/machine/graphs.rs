//! C11: which writes a read may take, and which one is the newest.
//!
//! Memory holds, for each location, the last write of some modification order of the execution so far: taking it is
//! always possible, and so is adding a write behind it. So a plan that says what every forced read takes, and gives a
//! modification order at its end, needs no axiom. Where no plan says so, all sources of a read are tried on the graph of
//! the execution.

use crate::base::{EventId, LocId, ThreadId};
use crate::consistency::VerifyC11;
use crate::machine::core::Machine;
use crate::model::c11::{Graph, Node};
use crate::model::{Cell, MemoryModel};
use crate::step::{Step, Tail};
use crate::trace::{Effect, Source};

/// The graph of the execution so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Graphs {
    graph: Graph,
    numbers: Vec<u32>,
    verifier: VerifyC11,
    order: Vec<usize>,
}

impl Machine {
    /// Whether every read is a choice of its own.
    fn reads_are_choices(&self) -> bool {
        self.plan.record_choices || self.plan.tail != Tail::RunOn
    }

    /// Makes memory hold the newest writes, before something is chosen.
    pub(super) fn find_newest(&mut self) {
        if self.rules.memory != MemoryModel::C11 {
            return;
        }
        let forced = self.plan.forced.len();
        if self.reads_are_choices() {
            self.order_writes();
        } else if forced > 0 && self.steps == forced {
            let modification = std::mem::take(&mut self.plan.modification);
            if modification.is_empty() {
                self.order_writes();
            }
            modification.iter().for_each(|&write| self.put_last(write));
            self.plan.modification = modification;
        }
    }

    fn put_last(&mut self, write: EventId) {
        let at = self.run.trace.position(write).expect("a plan orders writes of its forced steps");
        let event = &self.run.trace.events[at];
        self.memory.write(event.op.loc, event.written.expect("a plan orders writes"), at as u32);
    }

    /// Finds a modification order of the execution so far, as close to its own order as can be.
    fn order_writes(&mut self) {
        let Graphs { graph, numbers, verifier, order } = &mut self.graphs;
        graph.read(&self.run.trace, 1, numbers);
        order.clear();
        let found = verifier.verify(graph, |node| node as u32, order);
        assert!(found, "this is a bug in rsmc: an execution has no modification order");
        for at in 0..self.graphs.order.len() {
            let node = self.graphs.order[at] as u32;
            let position = self.graphs.numbers.binary_search(&node).expect("a write is an event");
            self.put_last(self.run.trace.events[position].id);
        }
    }

    /// Adds the steps that a thread can take which stands before an operation: under C11, where reads are choices, one
    /// for each write that it may take, the newest first.
    pub(super) fn add_steps(&self, thread: ThreadId, steps: &mut Vec<Step>) {
        let c11 = self.rules.memory == MemoryModel::C11 && self.reads_are_choices();
        let Some(&op) = self.possible_op(thread).filter(|op| c11 && op.action.reads()) else {
            return steps.push(Step::Run(thread));
        };
        let trace = &self.run.trace;
        let writes = trace.events.iter().enumerate().rev();
        let writes = writes.filter(|(_, event)| event.op.loc == op.loc && event.written.is_some());
        let sources = writes.map(|(at, _)| Source::At(at as u32)).chain([Source::Init]);
        let newest = self.memory.shared(op.loc).writer;
        let possible = |&source: &Source| {
            let effect = op.action.effect(self.cell_of(op.loc, source).value);
            let of_node = match source {
                Source::At(at) => Source::At(self.graphs.numbers[at as usize]),
                other => other,
            };
            let node = Node {
                loc: Some(op.loc),
                source: of_node,
                writes: effect.written().is_some(),
                order: op.effective_order(effect),
            };
            // What is last in the modification order is possible anyway.
            effect != Effect::Blocked && (newest == source || self.graphs.allows(thread, node))
        };
        steps.extend(sources.filter(possible).map(|source| Step::Take(thread, self.write_of(source))));
    }

    /// The step of a thread that can go on, with the newest write if it reads.
    pub(super) fn newest(&self, thread: ThreadId) -> Step {
        match self.possible_op(thread) {
            Some(op) if self.rules.memory == MemoryModel::C11 && self.reads_are_choices() && op.action.reads() => {
                Step::Take(thread, self.write_of(self.memory.shared(op.loc).writer))
            }
            _ => Step::Run(thread),
        }
    }

    fn write_of(&self, source: Source) -> Option<EventId> {
        match source {
            Source::At(at) => Some(self.run.trace.events[at as usize].id),
            Source::Init | Source::None => None,
        }
    }

    /// What a write left in a location.
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
    /// Whether the execution may go on like this.
    fn allows(&self, thread: ThreadId, node: Node) -> bool {
        let mut graph = self.graph.clone();
        graph.access(thread, node);
        self.verifier.clone().verify(&graph, |node| node as u32, &mut Vec::new())
    }
}
