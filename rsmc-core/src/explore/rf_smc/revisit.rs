//! The revisits of a decision: the other sources that it could have.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::base::{BitSet, EventId, LocId, ThreadId};
use crate::explore::rf_smc::delta::Delta;
use crate::explore::rf_smc::graph::{Graph, Reader, Visible};
use crate::step::{Pending, Run, Why};
use crate::trace::{Action, Effect, Event, Op, Source};

/// An operation of a run that a revisit can put at the place of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpRef {
    /// An event of the run, by its position.
    Event(usize),
    /// The operation that a waiting thread stands before, by its place in [`Run::waiting`].
    Waiting(usize),
}

impl OpRef {
    /// The event that it is, or would be.
    #[inline]
    pub(super) fn id(self, run: &Run) -> EventId {
        match self {
            OpRef::Event(at) => run.trace.events[at].id,
            OpRef::Waiting(i) => run.waiting[i].id,
        }
    }

    /// Its position, if it is an event of the run.
    #[inline]
    pub(super) fn event(self) -> Option<usize> {
        if let OpRef::Event(at) = self { Some(at) } else { None }
    }

    /// Its number among the operations of a run with `events` events: events come first, then pending operations.
    pub(super) fn number(self, events: usize) -> usize {
        match self {
            OpRef::Event(at) => at,
            OpRef::Waiting(i) => events + i,
        }
    }
}

/// A decision with another answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Revisit {
    /// The operation at the decision's place.
    pub(super) actor: OpRef,
    /// Its action, or an alternative of it.
    pub(super) action: Action,
    /// The write that it takes; `None` is the initial value.
    pub(super) source: Option<OpRef>,
    /// The value it reads.
    pub(super) value: u64,
    /// Its effect with that value.
    pub(super) effect: Effect,
    /// The event that is reversed with it: it comes first now and takes the decision's old source.
    pub(super) reversed: Option<OpRef>,
}

/// The question of a decision. It stays as long as the decision does, whichever event stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Question {
    /// The write that the event reads from.
    Source,
    /// The thread that takes the lock next.
    LockOwner,
}

impl Question {
    /// The question that an event asks when it is first seen, if it is a decision at all.
    pub(super) fn of(event: &Event) -> Option<Self> {
        match event.op.action {
            Action::Acquire => Some(Question::LockOwner),
            action => action.reads().then_some(Question::Source),
        }
    }
}

/// Finds the revisits of decisions of a run; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(super) struct RevisitFinder {
    visible: Visible,
    /// Whether `visible` is that of the decision that was asked about last.
    has_looked: bool,
    /// Writes of the location of that decision, where the run is long.
    writes: Vec<u32>,
    /// The revisits of the decision that was asked about last.
    pub(super) found: Vec<Revisit>,
}

/// A question about a decision.
pub(super) struct Asked<'a> {
    pub(super) run: &'a Run,
    pub(super) graph: &'a Graph,
    /// The events that are before the decision in `τ`, or stand there.
    pub(super) ahead: &'a BitSet,
    /// The threads that a decision above makes stay where they are: what else they could do is asked there.
    pub(super) frozen: &'a [ThreadId],
    pub(super) extent: Extent<'a>,
}

/// The revisits that are asked for.
#[derive(Clone, Copy)]
pub(super) enum Extent<'a> {
    All,
    /// Revisits that need a new event.
    New(&'a Delta),
    /// Revisits that need a write that is not ahead.
    Behind,
}

impl RevisitFinder {
    /// Collects the revisits that the causal order does not rule out, at a decision at which this event stands.
    #[inline]
    pub(super) fn at_event(&mut self, asked: &Asked<'_>, question: Question, at: usize) {
        self.found.clear();
        if asked.may_concern(asked.run.trace.events[at].op.loc) {
            self.look_at(asked, question, at);
        }
    }

    fn look_at(&mut self, asked: &Asked<'_>, question: Question, at: usize) {
        let event = &asked.run.trace.events[at];
        match question {
            Question::LockOwner => other_lock_owners(asked, at, &mut self.found),
            Question::Source => {
                self.sources_of_alternatives(asked, OpRef::Event(at), &event.op);
                if event.updates() {
                    reversals(asked, at, &mut self.found);
                }
            }
        }
    }

    /// Collects the revisits at a decision at which no event stands since its thread is frozen.
    pub(super) fn at_frozen(&mut self, asked: &Asked<'_>, id: EventId) {
        self.found.clear();
        let is_it = |pending: &Pending| pending.id == id && pending.op.is_some();
        if let Some(i) = asked.run.waiting.iter().position(is_it) {
            let op = asked.run.waiting[i].op.as_ref().expect("it stands before an operation");
            self.sources_of_alternatives(&Asked { extent: Extent::All, ..*asked }, OpRef::Waiting(i), op);
        }
    }

    /// The other sources of an operation and of its alternatives. Spurious outcomes are counted when the sequence is
    /// built.
    fn sources_of_alternatives(&mut self, asked: &Asked<'_>, actor: OpRef, op: &Op) {
        self.has_looked = false;
        if asked.has_nothing_new(op.loc) {
            return;
        }
        for which in 0..op.action.alternatives() {
            let action = op.action.with_alternative(which);
            if asked.run.spurious > 0 || !action.is_spurious() {
                self.other_sources(asked, Reading { actor, loc: op.loc, action });
            }
        }
    }

    /// Deviation (1): every conflicting write and the initial value.
    fn other_sources(&mut self, asked: &Asked<'_>, reading: Reading) {
        let own = reading.own();
        let event = own.map(|own| &asked.run.trace.events[own]).filter(|event| event.op.action == reading.action);
        let now = event.map(source_of);
        if asked.graph.is_long() {
            self.other_sources_of_long(asked, reading, now);
        } else {
            for write in asked.sources(reading) {
                if now != Some(Some(write)) {
                    self.other_source(asked, reading, Some(write));
                }
            }
        }
        if matches!(asked.extent, Extent::All) && now != Some(None) {
            self.other_source(asked, reading, None);
        }
    }

    /// Every conflicting write, in a long run.
    #[inline(never)]
    fn other_sources_of_long(&mut self, asked: &Asked<'_>, reading: Reading, now: Option<Option<usize>>) {
        let mut writes = std::mem::take(&mut self.writes);
        asked.graph.find_between(reading.loc, |write| asked.knows(write), reading.own(), &mut writes);
        debug_assert!(writes.iter().map(|&write| write as usize).eq(asked.sources(reading)), "the index has all");
        for write in writes.iter().map(|&write| write as usize).filter(|&write| now != Some(Some(write))) {
            self.other_source(asked, reading, Some(write));
        }
        self.writes = writes;
    }

    /// Adds the revisit with another source, if it is possible. Mostly it is not.
    fn other_source(&mut self, asked: &Asked<'_>, reading: Reading, source: Option<usize>) {
        let Reading { actor, loc, action } = reading;
        let is_taken = asked.is_taken(loc, source, reading.own());
        if is_taken && matches!(action, Action::Rmw(_)) {
            return; // It updates whatever it reads.
        }
        let value = value_of(asked.run, loc, source);
        let effect = action.effect(value);
        let updates_again = is_taken && matches!(effect, Effect::Update(_));
        if effect == Effect::Blocked || updates_again || !self.sees(asked, reading, source) {
            return;
        }
        let (source, value) = (source.map(OpRef::Event), action.returns(value));
        self.found.push(Revisit { actor, action, source, value, effect, reversed: None });
    }

    /// Whether the causal order lets an event take a source.
    pub(super) fn may_take(&mut self, asked: &Asked<'_>, at: usize, source: Option<usize>) -> bool {
        let op = asked.run.trace.events[at].op;
        self.has_looked = false;
        self.sees(asked, Reading { actor: OpRef::Event(at), loc: op.loc, action: op.action }, source)
    }

    /// Whether the causal order lets a reader take a source. All alternatives of an operation see the same.
    fn sees(&mut self, asked: &Asked<'_>, reading: Reading, source: Option<usize>) -> bool {
        let &Asked { run, graph, .. } = asked;
        if !std::mem::replace(&mut self.has_looked, true) {
            graph.find_visible(&run.trace, &reader(run, graph, reading.actor), reading.loc, &mut self.visible);
        }
        self.visible.includes(source, run.trace.events.len())
    }
}

/// A reader and its action.
#[derive(Clone, Copy)]
struct Reading {
    actor: OpRef,
    loc: LocId,
    action: Action,
}

impl Reading {
    /// The event that it is, if it happened.
    #[inline]
    fn own(&self) -> Option<usize> {
        self.actor.event()
    }
}

impl Asked<'_> {
    /// Whether an update before the decision, which `own` is not, has read this source: no execution has another that
    /// does.
    pub(super) fn is_taken(&self, loc: LocId, source: Option<usize>, own: Option<usize>) -> bool {
        let is_before = |update: usize| self.ahead.contains(update) && own != Some(update);
        self.graph.update_of(loc, source).is_some_and(is_before)
    }

    /// The sources that updates before the decision take and this event does not, with their values.
    pub(super) fn taken_before(&self, at: usize) -> impl Iterator<Item = (u64, Option<usize>)> {
        let (loc, events) = (self.run.trace.events[at].op.loc, &self.run.trace.events);
        let written = |write: usize| events[write].written.expect("it is a write");
        let writes = self.graph.writes(loc).map(move |write| (written(write), Some(write)));
        let all = writes.chain([(self.run.trace.locs[loc].init, None)]);
        all.filter(move |&(_, source)| self.is_taken(loc, source, Some(at)))
    }

    /// Whether the extent excludes an event.
    #[inline]
    fn knows(&self, event: usize) -> bool {
        match self.extent {
            Extent::All => false,
            Extent::New(delta) => !delta.has(event),
            Extent::Behind => self.ahead.contains(event),
        }
    }

    /// Whether the extent may include an event at a location.
    #[inline]
    fn may_concern(&self, loc: LocId) -> bool {
        if let Extent::New(delta) = self.extent { delta.are_at(loc) } else { true }
    }

    /// Whether the extent includes no source at a location.
    #[inline]
    fn has_nothing_new(&self, loc: LocId) -> bool {
        if let Extent::New(delta) = self.extent { delta.first_write(loc).is_none() } else { false }
    }

    /// The writes that the extent includes and a reader could take, as far as the causal order of the run says.
    #[inline]
    fn sources(&self, reading: Reading) -> impl Iterator<Item = usize> {
        let first = match self.extent {
            Extent::New(delta) => delta.first_write(reading.loc),
            Extent::All | Extent::Behind => self.graph.first_write(reading.loc),
        };
        let writes = self.graph.writes_since(first).filter(|&write| !self.knows(write));
        let is_after = move |write| reading.own().is_some_and(|own| write == own || self.graph.precedes(own, write));
        writes.filter(move |&write| !is_after(write))
    }
}

#[inline]
pub(super) fn source_of(event: &Event) -> Option<usize> {
    match event.source {
        Source::At(at) => Some(at as usize),
        Source::Init | Source::None => None,
    }
}

#[inline]
fn value_of(run: &Run, loc: LocId, write: Option<usize>) -> u64 {
    match write {
        None => run.trace.locs[loc].init,
        Some(write) => run.trace.events[write].written.expect("a source writes"),
    }
}

/// The events right before an operation in program order.
#[inline]
pub(super) fn preds_of<'a>(run: &Run, graph: &'a Graph, actor: OpRef) -> &'a [u32] {
    match actor {
        OpRef::Event(at) => graph.order.preds(at),
        OpRef::Waiting(i) => graph.next_preds(run.waiting[i].id.thread),
    }
}

/// The events before an operation, its own source aside.
pub(super) fn reader<'a>(run: &Run, graph: &'a Graph, actor: OpRef) -> Reader<'a> {
    let fenced = match actor {
        OpRef::Event(at) => Cow::Borrowed(graph.order.fenced(at)),
        OpRef::Waiting(i) => {
            let waiting = &run.waiting[i];
            let op = waiting.op.expect("it stands before an operation");
            graph.order.next_fenced(waiting.id.thread, &op).collect()
        }
    };
    Reader { id: actor.id(run), preds: preds_of(run, graph, actor), fenced }
}

/// Deviation (2): an update and the update, or failed compare-exchange, that reads from it; for a lock attempt that
/// succeeded also the next owner, or a thread that waits.
fn reversals(asked: &Asked<'_>, at: usize, found: &mut Vec<Revisit>) {
    let event = &asked.run.trace.events[at];
    for_each_successor(asked, at, |second, action| {
        let Effect::Update(value) = action.effect(event.read) else { return };
        let effect = event.op.action.effect(value);
        if effect != Effect::Blocked {
            let (source, reversed) = (Some(second), Some(second));
            found.push(Revisit { actor: OpRef::Event(at), action: event.op.action, source, value, effect, reversed });
        }
    });
}

/// Deviation (3): the acquires that could take the release which this one takes.
fn other_lock_owners(asked: &Asked<'_>, at: usize, found: &mut Vec<Revisit>) {
    let event = &asked.run.trace.events[at];
    let (source, value) = (source_of(event).map(OpRef::Event), event.read);
    for_each_successor(asked, at, |actor, action| {
        if let effect @ Effect::Update(_) = action.effect(value) {
            found.push(Revisit { actor, action, source, value, effect, reversed: None });
        }
    });
}

/// Visits the operations that could come in place of the update at `at`: the updates and failed attempts that read from
/// it, those of threads that wait in a loop which looks at it, and if it took a lock, the next acquire, or those that
/// wait for the lock if it is never released.
fn for_each_successor(asked: &Asked<'_>, at: usize, mut visit: impl FnMut(OpRef, Action)) {
    let &Asked { run, graph, .. } = asked;
    let event = &run.trace.events[at];
    let locked = event.locked();
    let release = if locked { graph.release_of(&run.trace, at) } else { None };
    for write in [Some(at), release].into_iter().flatten() {
        for other in graph.readers(write) {
            if !asked.knows(other) && !graph.precedes_by_program(at, graph.order.preds(other)) {
                visit(OpRef::Event(other), run.trace.events[other].op.action);
            }
        }
    }
    // A thread that still waits for the lock could have taken it; and one that waits in a loop has read what the update
    // wrote, though that iteration is no event (`wait`).
    let held = locked && release.is_none();
    for (i, waiting) in run.waiting.iter().enumerate() {
        if let Some(op) = waiting.op
            && op.loc == event.op.loc
            && (held || matches!(waiting.why, Why::Spin { .. }))
            && !asked.frozen.contains(&waiting.id.thread)
            && !graph.precedes_by_program(at, graph.next_preds(waiting.id.thread))
        {
            visit(OpRef::Waiting(i), op.action);
        }
    }
}
