//! The question to the verifier of the memory model: is there an execution of these entries?

use crate::consistency::{Instance, Move, Verifier, check_witness};
use crate::explore::rf_smc::c11_witness::C11Witness;
use crate::explore::rf_smc::entry::RevisedEntry;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, reader};
use crate::explore::rf_smc::witness::Witness;
use crate::model::MemoryModel;
use crate::step::{Forced, Run};

/// A callback that gets each question and its answer.
pub(super) type Observer = Box<dyn FnMut(&Instance, bool)>;

/// Asks the verifier; keeps its memory from one question to the next.
#[derive(Default)]
pub(super) struct Question {
    pub(super) observe: Option<Observer>,
    entries: Vec<RevisedEntry>,
    /// By event of the run: its number among the entries.
    numbers: Vec<u32>,
    instance: Instance,
    verifier: Verifier,
    moves: Vec<Move>,
    c11_witness: C11Witness,
}

impl Question {
    pub(super) fn new(model: MemoryModel) -> Self {
        // A model of graphs is asked about instances only where it is SC.
        Self { verifier: Verifier::of(model).unwrap_or_else(Verifier::sequential), ..Self::default() }
    }

    /// A witness of some events of the run, as they were there, and of the suffix that follows them.
    pub(super) fn ask(
        &mut self,
        run: &Run,
        graph: &mut Graph,
        before: impl Iterator<Item = usize>,
        suffix: impl Iterator<Item = RevisedEntry>,
    ) -> Option<Witness> {
        self.entries.clear();
        self.entries.extend(before.map(|at| RevisedEntry::of(run, OpRef::Event(at))));
        let first = self.entries.len();
        self.entries.extend(suffix);
        let is_sequential = |entry: &RevisedEntry| entry.op.is_sequential(entry.writes);
        let is_graph =
            graph.model().is_graph() && !(graph.c11.is_sequential && self.entries[first..].iter().all(is_sequential));
        match is_graph {
            true => self.c11_witness.witness(run, graph, &self.entries),
            false => self.verify(run, graph),
        }
    }

    /// A witness under a model with a memory, or under a model of graphs where that is SC.
    fn verify(&mut self, run: &Run, graph: &Graph) -> Option<Witness> {
        self.number_entries(run);
        self.build_instance(run, graph);
        let entries = &self.entries;
        let rank = |number: usize| match entries[number].who {
            OpRef::Event(position) => position as u32,
            OpRef::Waiting(_) => u32::MAX,
        };
        self.moves.clear();
        let possible = self.verifier.verify(&self.instance, rank, &mut self.moves);
        if let Some(observe) = &mut self.observe {
            observe(&self.instance, possible);
        }
        if !possible {
            return None;
        }
        debug_assert_eq!(check_witness(&self.instance, self.verifier.model(), &self.moves), Ok(()));
        let steps = self.moves.iter().map(|&step| match step {
            Move::Perform(number) => entries[number].forced(run),
            Move::Flush(number) => Forced::flush(entries[number].id),
        });
        // Where a model of graphs is SC, writes are in the order in which they happen.
        let happened = self.moves.iter().filter_map(|&step| match step {
            Move::Perform(number) if graph.model().is_graph() => Some(&entries[number]),
            _ => None,
        });
        let modification = happened.filter(|entry| entry.writes).map(|entry| entry.id).collect();
        Some(Witness { steps: steps.collect(), modification })
    }

    /// Notes the numbers of the entries that are events of the run.
    fn number_entries(&mut self, run: &Run) {
        self.numbers.clear();
        self.numbers.resize(run.trace.events.len(), u32::MAX);
        for (number, entry) in self.entries.iter().enumerate() {
            if let OpRef::Event(at) = entry.who {
                self.numbers[at] = number as u32;
            }
        }
    }

    fn build_instance(&mut self, run: &Run, graph: &Graph) {
        self.instance.clear();
        for entry in &self.entries {
            self.instance.push(entry.shape(run, graph));
        }
        for number in 0..self.entries.len() {
            self.add_order(run, graph, number);
        }
        for (number, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.op.action.reads()) {
            let write = entry.source.map(|source| self.number_of(source));
            self.instance.good(number, write);
        }
    }

    /// Adds the edges to an entry from the events before it in program order, and from the stores that are flushed
    /// before it.
    fn add_order(&mut self, run: &Run, graph: &Graph, number: usize) {
        let entry = reader(run, graph, self.entries[number].who);
        for &pred in entry.preds {
            self.instance.edge(self.number_of(OpRef::Event(pred as usize)), number);
        }
        for &store in &*entry.fenced {
            self.instance.fence(self.number_of(OpRef::Event(store as usize)), number);
        }
    }

    fn number_of(&self, who: OpRef) -> usize {
        let number = match who {
            OpRef::Event(at) => Some(self.numbers[at]).filter(|&number| number != u32::MAX).map(|n| n as usize),
            OpRef::Waiting(_) => self.entries.iter().position(|entry| entry.who == who),
        };
        number.expect("this is a bug in rsmc: the new sequence is not closed under program order and reads-from")
    }
}
