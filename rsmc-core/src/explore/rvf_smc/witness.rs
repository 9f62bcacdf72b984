//! From a node and one read more to a question for VerifySC, and from its answer to a plan.

use crate::base::EventId;
use crate::consistency::{Instance, Move, Shape, Verifier};
use crate::explore::looks::Way;
use crate::explore::rvf_smc::Options;
use crate::explore::rvf_smc::known::Next;
use crate::explore::rvf_smc::node::{Choice, Node};
use crate::step::Forced;
use crate::trace::Source;
use crate::trace::spin::Watched;

/// Asks questions; keeps its memory from one to the next.
#[derive(Debug)]
pub(super) struct Asker {
    verifier: Verifier,
    guidance: bool,
    instance: Instance,
    /// The positions of the events of the question, without the new read.
    members: Vec<usize>,
    /// By position: the number in the question.
    numbers: Vec<usize>,
    witness: Vec<Move>,
}

impl Asker {
    pub(super) fn new(options: Options) -> Self {
        let verifier = Verifier::sequential();
        Self {
            verifier: if options.closure { verifier } else { verifier.without_closure() },
            guidance: options.guidance,
            instance: Instance::default(),
            members: Vec::new(),
            numbers: Vec::new(),
            witness: Vec::new(),
        }
    }

    /// Writes the steps of an execution of the node in which the watched locations end with the values that were seen;
    /// false if there is none.
    pub(super) fn ask_whether_it_ends(&mut self, node: &Node, way: &Way, forced: &mut Vec<Forced>) -> bool {
        self.add_events_without(node, &way.begun);
        self.add_order(node);
        self.add_good_writes(node);
        way.watched.iter().for_each(|watched| self.add_look(node, watched));
        self.witness.clear();
        let found = self.verifier.verify(&self.instance, |number| number as u32, &mut self.witness);
        let performed = |step: &&Move| matches!(step, Move::Perform(number) if *number < self.members.len());
        forced.extend(self.witness.iter().filter(performed).map(|&step| self.step(node, None, step)));
        found
    }

    /// Adds a read at the end of everything, by no thread of the run.
    fn add_look(&mut self, node: &Node, &Watched { loc, value, writer }: &Watched) {
        let look = self.instance.push(Shape::direct(loc, true, false));
        if node.known.trace.locs[loc].init == value && writer.is(&node.known.trace, Source::Init) {
            self.instance.good(look, None);
        }
        for (number, &at) in self.members.iter().enumerate() {
            let event = &node.known.trace.events[at];
            self.instance.edge(number, look);
            let is_it = writer.is(&node.known.trace, Source::At(at as u32));
            if event.op.loc == loc && event.written == Some(value) && is_it {
                self.instance.good(look, Some(number));
            }
        }
    }

    /// Writes the steps of an execution of the node in which the read returns the value; false if there is none.
    pub(super) fn ask(&mut self, node: &Node, read: &Next, choice: &Choice, forced: &mut Vec<Forced>) -> bool {
        self.add_events(node);
        self.add_order(node);
        self.add_good_writes(node);
        self.add_new(node, read, choice);
        self.witness.clear();
        let Self { verifier, guidance, instance, members, witness, .. } = self;
        // Without guidance: thread by thread.
        let by_thread = |number: usize| match members.get(number) {
            Some(&at) => node.known.trace.events[at].id.thread.0,
            None => read.id.thread.0,
        };
        let rank = |number: usize| if *guidance { number as u32 } else { by_thread(number) };
        if !verifier.verify(instance, rank, witness) {
            return false;
        }
        forced.extend(self.witness.iter().map(|&step| self.step(node, Some((read, choice)), step)));
        true
    }

    /// Adds the events of the node in the order of its run.
    fn add_events(&mut self, node: &Node) {
        self.add_events_without(node, &[]);
    }

    fn add_events_without(&mut self, node: &Node, begun: &[EventId]) {
        self.instance.clear();
        self.members.clear();
        self.numbers.clear();
        for (event, &inside) in node.known.trace.events.iter().zip(&node.extent.inside) {
            self.numbers.push(self.members.len());
            if inside && !begun.contains(&event.id) {
                self.members.push(self.numbers.len() - 1);
                self.instance.push(Shape::of(event, 0));
            }
        }
    }

    fn add_order(&mut self, node: &Node) {
        for (number, &at) in self.members.iter().enumerate() {
            for &pred in node.known.preds_of(at) {
                self.instance.edge(self.numbers[pred as usize], number);
            }
        }
    }

    fn add_good_writes(&mut self, node: &Node) {
        for number in 0..self.members.len() {
            if let Some(good) = node.good.get(&node.known.trace.events[self.members[number]].id) {
                self.add_good(node, number, good);
            }
        }
    }

    /// Adds the good writes of a read, without those that are left out.
    fn add_good(&mut self, node: &Node, reader: usize, good: &[Option<EventId>]) {
        let trace = &node.known.trace;
        for write in good {
            let position = write.map(|id| trace.position(id).expect("a node has the good writes of its reads"));
            let number = position.map(|at| self.numbers[at]);
            if position.is_none_or(|at| self.members.get(self.numbers[at]) == Some(&at)) {
                self.instance.good(reader, number);
            }
        }
    }

    /// Adds the read that is decided.
    fn add_new(&mut self, node: &Node, read: &Next, choice: &Choice) {
        let writes = choice.op.action.effect(choice.value).written().is_some();
        let new = self.instance.push(Shape::direct(choice.op.loc, true, writes));
        for &pred in node.known.preds(read) {
            self.instance.edge(self.numbers[pred as usize], new);
        }
        self.add_good(node, new, &choice.good);
    }

    fn step(&self, node: &Node, new: Option<(&Next, &Choice)>, step: Move) -> Forced {
        let Move::Perform(number) = step else { unreachable!("there are no buffers under SC") };
        match self.members.get(number) {
            Some(&at) => {
                let event = &node.known.trace.events[at];
                Forced::of(event, node.known.loc(&event.op))
            }
            None => {
                let (read, choice) = new.expect("only the new read is no event of the node");
                Forced::operation(read.id.thread, &choice.op, node.known.loc(&choice.op), Some(choice.value))
            }
        }
    }
}
