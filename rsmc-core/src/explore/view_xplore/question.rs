//! From a cut and one read more to a question for ConstructWitness, and from its answer to a plan.

use crate::base::{LocId, ThreadId};
use crate::consistency::{ConstructWitness, Decided, Instance, Move, Shape};
use crate::explore::view_xplore::cuts::Extension;
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
        inside: &[usize],
        extension: &Extension,
        forced: &mut Vec<Forced>,
    ) -> bool {
        self.select(snapshot, inside);
        self.add_events(snapshot);
        self.add_new(snapshot, extension);
        if !self.add_good_writes(snapshot, Some(extension)) {
            return false;
        }
        self.guide_by(snapshot);
        self.witness.clear();
        let found = self.construct.construct(&self.instance, &self.guide, &mut self.witness);
        if found {
            forced.extend(self.witness.iter().map(|&step| self.step(snapshot, extension, step)));
        }
        found
    }

    /// Writes the steps of an execution of the cut in which the watched locations end with the values that were seen;
    /// false if there is none.
    pub(super) fn ask_whether_it_ends(
        &mut self,
        snapshot: &Snapshot,
        inside: &[usize],
        watched: &[(LocId, u64)],
        forced: &mut Vec<Forced>,
    ) -> bool {
        self.select(snapshot, inside);
        self.add_events(snapshot);
        if !self.add_good_writes(snapshot, None) || !watched.iter().all(|&look| self.add_look(snapshot, look)) {
            return false;
        }
        self.witness.clear();
        let found = self.construct.search(&self.instance, &mut self.witness);
        if found {
            let events = self.witness.iter().filter_map(|&step| self.event_step(snapshot, step));
            forced.extend(events);
        }
        found
    }

    /// A read at the end of everything, by nobody; false if it has no good write.
    fn add_look(&mut self, snapshot: &Snapshot, (loc, value): (LocId, u64)) -> bool {
        let nobody = ThreadId(u32::MAX);
        let look = self.instance.push(Shape { thread: nobody, ..Shape::direct(loc, true, false) });
        let mut any = snapshot.loc(loc).init == value;
        if any {
            self.instance.good(look, None);
        }
        for (number, &at) in self.members.iter().enumerate() {
            let event = &snapshot.trace.events[at];
            if event.op.loc != loc || event.written.is_none() {
                continue;
            }
            self.instance.edge(number, look);
            if event.buffered {
                self.instance.fence(number, look);
            }
            if event.written == Some(value) {
                self.instance.good(look, Some(number));
                any = true;
            }
        }
        any
    }

    /// The events of the cut.
    fn select(&mut self, snapshot: &Snapshot, inside: &[usize]) {
        self.members.clear();
        self.members.extend_from_slice(inside);
        self.numbers.clear();
        self.numbers.resize(snapshot.trace.events.len(), OUTSIDE);
        for (number, &at) in inside.iter().enumerate() {
            self.numbers[at] = number as u32;
        }
    }

    fn number(&self, at: u32) -> usize {
        let number = self.numbers[at as usize];
        debug_assert_ne!(number, OUTSIDE, "a cut is closed under program order");
        number as usize
    }

    /// The events of the cut, and their order.
    fn add_events(&mut self, snapshot: &Snapshot) {
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
        for (number, &at) in self.members.iter().enumerate() {
            for &pred in snapshot.order.preds(at) {
                self.instance.edge(self.number(pred), number);
            }
            for &store in snapshot.order.fenced(at) {
                self.instance.fence(self.number(store), number);
            }
        }
    }

    /// The event that the cut does not have, and what is before it.
    fn add_new(&mut self, snapshot: &Snapshot, extension: &Extension) {
        let writes = extension.next.op.action.effect(extension.value).written().is_some();
        let shape = Shape::direct(extension.next.op.loc, true, writes);
        let new = self.instance.push(Shape { thread: extension.thread, ..shape });
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
    fn add_good_writes(&mut self, snapshot: &Snapshot, extension: Option<&Extension>) -> bool {
        let new = self.members.len();
        let written = extension.and_then(|new| new.next.op.action.effect(new.value).written());
        for reader in 0..new + usize::from(extension.is_some()) {
            let (loc, seen) = match (self.members.get(reader), extension) {
                (Some(&at), _) => {
                    let event = &snapshot.trace.events[at];
                    if event.source == Source::None {
                        continue;
                    }
                    (event.op.loc, snapshot.seen(event))
                }
                (None, Some(extension)) => (extension.next.op.loc, extension.seen),
                (None, None) => continue,
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
            if let Some(extension) = extension.filter(|new| new.next.op.loc == loc && written.is_some()) {
                let fits = match seen {
                    Seen::Value(value) => written == Some(value),
                    Seen::Write(write) => Some(extension.next.id) == write,
                };
                if reader != new && fits {
                    good(&mut self.instance, Some(new));
                }
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
        self.event_step(snapshot, step).unwrap_or_else(|| {
            let op = &extension.next.op;
            let expect = Expect { read: Some(extension.value), ..Expect::of_op(op, snapshot.loc(op.loc)) };
            Forced { step: Step::Run(extension.thread), expect: Some(expect) }
        })
    }

    /// The step of an event of the cut.
    fn event_step(&self, snapshot: &Snapshot, step: Move) -> Option<Forced> {
        let event = |number: usize| self.members.get(number).map(|&at| &snapshot.trace.events[at]);
        match step {
            Move::Flush(number) => Some(Forced { step: Step::Flush(event(number)?.id), expect: None }),
            Move::Perform(number) => {
                let event = event(number)?;
                let expect = Expect::of(event, snapshot.loc(event.op.loc));
                Some(Forced { step: Step::Run(event.id.thread), expect: Some(expect) })
            }
        }
    }
}
