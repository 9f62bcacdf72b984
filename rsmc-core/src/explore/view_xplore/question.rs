//! From a cut and one read more to a question for ConstructWitness, and from its answer to a plan.

use std::borrow::Cow;

use crate::base::{EventId, LocId, ThreadId};
use crate::consistency::{ConstructWitness, Decided, Instance, Move, Shape};
use crate::explore::looks::Way;
use crate::explore::view_xplore::cuts::Extension;
use crate::explore::view_xplore::snapshot::{Seen, Snapshot};
use crate::model::MemoryModel;
use crate::step::{Forced, Step};
use crate::trace::Source;
use crate::trace::spin::Watched;

/// Asks questions; keeps its memory from one to the next.
#[derive(Default)]
pub(super) struct Asker {
    construct: ConstructWitness,
    instance: Instance,
    /// The positions of the events of the question.
    members: Vec<usize>,
    /// By position: the number in the question.
    numbers: Vec<u32>,
    writes: Vec<Write>,
    guide: Vec<Move>,
    witness: Vec<Move>,
}

const OUTSIDE: u32 = u32::MAX;

/// A write of a question.
#[derive(Clone, Copy, Debug)]
struct Write {
    number: usize,
    loc: LocId,
    value: u64,
    id: EventId,
}

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
        way: &Way,
        forced: &mut Vec<Forced>,
    ) -> bool {
        let stays = |&&at: &&usize| !way.begun.contains(&snapshot.trace.events[at].id);
        let inside: Vec<usize> = inside.iter().filter(stays).copied().collect();
        self.select(snapshot, &inside);
        self.add_events(snapshot);
        if !self.add_good_writes(snapshot, None) || !way.watched.iter().all(|watched| self.add_look(snapshot, watched))
        {
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

    /// Adds a read at the end of everything, by no thread of the run; false if it has no good write.
    fn add_look(&mut self, snapshot: &Snapshot, &Watched { loc, value, writer }: &Watched) -> bool {
        let nobody = ThreadId(u32::MAX);
        let look = self.instance.push(Shape { thread: nobody, ..Shape::direct(loc, true, false) });
        let mut any = snapshot.loc(loc).init == value && writer.is(&snapshot.trace, Source::Init);
        if any {
            self.instance.good(look, None);
        }
        for write in self.writes.iter().filter(|write| write.loc == loc) {
            self.instance.edge(write.number, look);
            if snapshot.trace.events[self.members[write.number]].buffered {
                self.instance.fence(write.number, look);
            }
            let source = Source::At(self.members[write.number] as u32);
            if write.value == value && writer.is(&snapshot.trace, source) {
                self.instance.good(look, Some(write.number));
                any = true;
            }
        }
        any
    }

    /// Selects the events of the cut.
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

    /// Adds the events of the cut, and their order.
    fn add_events(&mut self, snapshot: &Snapshot) {
        self.instance.clear();
        for &at in &self.members {
            self.instance.push(Shape::of(&snapshot.trace.events[at], snapshot.order.epoch(at)));
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

    /// Adds the event that the cut does not have, and the order before it.
    fn add_new(&mut self, snapshot: &Snapshot, extension: &Extension) {
        let writes = extension.next.op.action.effect(extension.value).written().is_some();
        let shape = Shape::direct(extension.next.op.loc, true, writes);
        let new = self.instance.push(Shape { thread: extension.thread, ..shape });
        let (order, thread) = (&snapshot.order, extension.thread);
        let (preds, fenced): (_, Cow<'_, [u32]>) = match snapshot.trace.position(extension.next.id) {
            Some(at) => (order.preds(at), order.fenced(at).into()),
            None => (order.next_preds(thread), order.next_fenced(thread, &extension.next.op).collect()),
        };
        preds.iter().for_each(|&pred| self.instance.edge(self.number(pred), new));
        fenced.iter().for_each(|&store| self.instance.fence(self.number(store), new));
    }

    /// Finds the writes of the cut, and that of the event that it does not have.
    fn find_writes(&mut self, snapshot: &Snapshot, extension: Option<&Extension>) {
        self.writes.clear();
        for (number, &at) in self.members.iter().enumerate() {
            let event = &snapshot.trace.events[at];
            let write = event.written.map(|value| Write { number, loc: event.op.loc, value, id: event.id });
            self.writes.extend(write);
        }
        if let Some(Extension { next, value, .. }) = extension
            && let Some(value) = next.op.action.effect(*value).written()
        {
            self.writes.push(Write { number: self.members.len(), loc: next.op.loc, value, id: next.id });
        }
    }

    /// Adds every write of the value that a read must return; false if some read has none.
    fn add_good_writes(&mut self, snapshot: &Snapshot, extension: Option<&Extension>) -> bool {
        self.find_writes(snapshot, extension);
        for number in 0..self.members.len() {
            let event = &snapshot.trace.events[self.members[number]];
            if event.source != Source::None
                && !self.add_good_writes_of(snapshot, number, event.op.loc, snapshot.seen(event))
            {
                return false;
            }
        }
        extension.is_none_or(|new| self.add_good_writes_of(snapshot, self.members.len(), new.next.op.loc, new.seen))
    }

    fn add_good_writes_of(&mut self, snapshot: &Snapshot, reader: usize, loc: LocId, seen: Seen) -> bool {
        let mut any = seen.is_of(snapshot.loc(loc).init, None);
        if any {
            self.instance.good(reader, None);
        }
        let good =
            |write: &&Write| write.loc == loc && write.number != reader && seen.is_of(write.value, Some(write.id));
        for write in self.writes.iter().filter(good) {
            self.instance.good(reader, Some(write.number));
            any = true;
        }
        any
    }

    /// Makes the run the guide, as far as it is in the cut.
    fn guide_by(&mut self, snapshot: &Snapshot) {
        self.guide.clear();
        let mut events = 0;
        for step in &snapshot.steps {
            let (at, flush) = match step {
                Step::Flush(store) => (snapshot.trace.position(*store).expect("it was stored"), true),
                Step::Run(_) | Step::Take(..) | Step::Choose { .. } => {
                    events += 1;
                    (events - 1, false)
                }
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
            Forced::operation(extension.thread, op, snapshot.loc(op.loc), Some(extension.value))
        })
    }

    /// The step of an event of the cut.
    fn event_step(&self, snapshot: &Snapshot, step: Move) -> Option<Forced> {
        let event = |number: usize| self.members.get(number).map(|&at| &snapshot.trace.events[at]);
        match step {
            Move::Flush(number) => Some(Forced::flush(event(number)?.id)),
            Move::Perform(number) => event(number).map(|event| Forced::of(event, snapshot.loc(event.op.loc))),
        }
    }
}
