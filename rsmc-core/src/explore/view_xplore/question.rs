//! From a cut and one read more to a question for ConstructWitness, and from its answer to a plan.

use crate::consistency::{ConstructWitness, Decided, Instance, Move, Shape};
use crate::explore::view_xplore::cuts::{Cut, Extension};
use crate::explore::view_xplore::snapshot::{Seen, Snapshot, drains};
use crate::model::MemoryModel;
use crate::step::{Expect, Forced, Step};
use crate::trace::{Event, Source};

/// Asks questions; keeps its memory from one to the next.
#[derive(Default)]
pub(super) struct Asker {
    construct: ConstructWitness,
    instance: Instance,
    /// The positions of the events of the question.
    members: Vec<usize>,
    /// By position: the number in the question.
    numbers: Vec<u32>,
    guide: Vec<Move>,
    witness: Vec<Move>,
}

const OUTSIDE: u32 = u32::MAX;

impl Asker {
    pub(super) fn new(model: MemoryModel) -> Self {
        Self { construct: ConstructWitness::new(model), ..Self::default() }
    }

    pub(super) fn decided(&self) -> Decided {
        self.construct.decided()
    }

    /// Writes the steps of an execution of the cut with the extension; false if there is none.
    pub(super) fn ask(
        &mut self,
        snapshot: &Snapshot,
        cut: &Cut,
        extension: &Extension,
        forced: &mut Vec<Forced>,
    ) -> bool {
        self.select(snapshot, cut);
        self.add_events(snapshot, extension);
        self.add_order(snapshot, extension);
        if !self.add_good_writes(snapshot, extension) {
            return false;
        }
        self.guide_by(snapshot);
        self.witness.clear();
        if !self.construct.construct(&self.instance, &self.guide, &mut self.witness) {
            return false;
        }
        forced.extend(self.witness.iter().map(|&step| self.step(snapshot, extension, step)));
        true
    }

    /// The events of the cut.
    fn select(&mut self, snapshot: &Snapshot, cut: &Cut) {
        self.members.clear();
        self.numbers.clear();
        for at in 0..snapshot.trace.events.len() {
            let inside = snapshot.is_in(at, &cut.made);
            self.numbers.push(if inside { self.members.len() as u32 } else { OUTSIDE });
            if inside {
                self.members.push(at);
            }
        }
    }

    fn number(&self, at: u32) -> usize {
        let number = self.numbers[at as usize];
        debug_assert_ne!(number, OUTSIDE, "a cut is closed under program order");
        number as usize
    }

    fn add_events(&mut self, snapshot: &Snapshot, extension: &Extension) {
        self.instance.clear();
        for &at in &self.members {
            let event = &snapshot.trace.events[at];
            self.instance.push(Shape {
                thread: event.id.thread,
                loc: event.op.loc,
                reads: event.op.action.reads(),
                writes: event.written.is_some(),
                buffered: event.buffered,
                epoch: if event.buffered { snapshot.order.epoch(at) } else { 0 },
            });
        }
        let writes = extension.next.op.action.effect(extension.value).written().is_some();
        let shape = Shape::direct(extension.next.op.loc, true, writes);
        self.instance.push(Shape { thread: extension.thread, ..shape });
    }

    fn add_order(&mut self, snapshot: &Snapshot, extension: &Extension) {
        for (number, &at) in self.members.iter().enumerate() {
            for &pred in snapshot.order.preds(at) {
                self.instance.edge(self.number(pred), number);
            }
            for &store in snapshot.order.fenced(at) {
                self.instance.fence(self.number(store), number);
            }
        }
        let new = self.members.len();
        let (preds, fenced): (&[u32], Vec<u32>) = match snapshot.trace.position(extension.next.id) {
            Some(at) => (snapshot.order.preds(at), snapshot.order.fenced(at).to_vec()),
            None => {
                let drains = drains(&extension.next.op);
                let fenced = snapshot.order.next_fenced(extension.thread, drains).collect();
                (snapshot.order.next_preds(extension.thread), fenced)
            }
        };
        preds.iter().for_each(|&pred| self.instance.edge(self.number(pred), new));
        fenced.iter().for_each(|&store| self.instance.fence(self.number(store), new));
    }

    /// Every write of the value that a read must return; false if some read has none.
    fn add_good_writes(&mut self, snapshot: &Snapshot, extension: &Extension) -> bool {
        let new = self.members.len();
        let written = extension.next.op.action.effect(extension.value).written();
        for reader in 0..=new {
            let (loc, seen) = match self.members.get(reader) {
                Some(&at) => {
                    let event = &snapshot.trace.events[at];
                    if event.source == Source::None {
                        continue;
                    }
                    (event.op.loc, snapshot.seen(event))
                }
                None => (extension.next.op.loc, extension.seen),
            };
            let mut any = false;
            let mut good = |instance: &mut Instance, write: Option<usize>| {
                instance.good(reader, write);
                any = true;
            };
            if seen == Seen::Value(snapshot.loc(loc).init) || seen == Seen::Write(None) {
                good(&mut self.instance, None);
            }
            for (number, &at) in self.members.iter().enumerate().filter(|&(number, _)| number != reader) {
                let event: &Event = &snapshot.trace.events[at];
                let fits = match seen {
                    Seen::Value(value) => event.written == Some(value),
                    Seen::Write(write) => Some(event.id) == write,
                };
                if event.op.loc == loc && event.written.is_some() && fits {
                    good(&mut self.instance, Some(number));
                }
            }
            let own = reader != new && extension.next.op.loc == loc;
            let fits = match seen {
                Seen::Value(value) => written == Some(value),
                Seen::Write(write) => written.is_some() && Some(extension.next.id) == write,
            };
            if own && fits {
                good(&mut self.instance, Some(new));
            }
            if !any {
                return false;
            }
        }
        true
    }

    /// The run, as far as it is in the cut.
    fn guide_by(&mut self, snapshot: &Snapshot) {
        self.guide.clear();
        let mut events = 0;
        for step in &snapshot.steps {
            let (at, flush) = match step {
                Step::Run(_) => {
                    events += 1;
                    (events - 1, false)
                }
                Step::Flush(store) => (snapshot.trace.position(*store).expect("it was stored"), true),
            };
            let number = self.numbers[at];
            if number != OUTSIDE {
                let number = number as usize;
                self.guide.push(if flush { Move::Flush(number) } else { Move::Perform(number) });
            }
        }
    }

    fn step(&self, snapshot: &Snapshot, extension: &Extension, step: Move) -> Forced {
        let event = |number: usize| self.members.get(number).map(|&at| &snapshot.trace.events[at]);
        match step {
            Move::Flush(number) => {
                let store = event(number).expect("only stores are flushed");
                Forced { step: Step::Flush(store.id), expect: None }
            }
            Move::Perform(number) => {
                let (thread, expect) = match event(number) {
                    Some(event) => (event.id.thread, Expect::of(event, snapshot.loc(event.op.loc))),
                    None => {
                        let op = &extension.next.op;
                        let expect = Expect::of_op(op, snapshot.loc(op.loc));
                        (extension.thread, Expect { read: Some(extension.value), ..expect })
                    }
                };
                Forced { step: Step::Run(thread), expect: Some(expect) }
            }
        }
    }
}
