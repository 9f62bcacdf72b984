//! Which other sources a decision could have.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::base::{BitSet, LocId};
use crate::explore::rf_smc::Decision;
use crate::explore::rf_smc::graph::{Graph, Reader};
use crate::explore::rf_smc::news::News;
use crate::step::{Run, Why};
use crate::trace::{Action, Effect, Event, Op, Source};

/// An event that a mutation puts at the place of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Actor {
    /// An event of the run, by its position.
    Event(usize),
    /// The operation that a waiting thread stands before, by its place in [`Run::waiting`].
    Waiting(usize),
}

impl Actor {
    /// Its number among the actors of a run with so many events: these come first, then who waits.
    pub(super) fn number(self, events: usize) -> usize {
        match self {
            Actor::Event(at) => at,
            Actor::Waiting(i) => events + i,
        }
    }
}

/// A decision taken differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mutation {
    /// Who stands at the decision's place.
    pub(super) actor: Actor,
    /// What it does: its operation, or an alternative of it.
    pub(super) action: Action,
    /// Whose write it takes; `None` is the initial value.
    pub(super) source: Option<Actor>,
    /// The value it reads.
    pub(super) value: u64,
    /// What it does with that.
    pub(super) effect: Effect,
    /// The event that is reversed with it: it comes first now and takes the decision's old source.
    pub(super) reversed: Option<Actor>,
}

/// What a decision decides. It keeps its kind as long as it stands, whoever stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Question {
    /// Which write does this event read?
    Source,
    /// Which thread takes the lock next?
    Holder,
}

impl Question {
    /// The question that an event asks when it is first seen, if it is a decision at all.
    pub(super) fn of(event: &Event) -> Option<Self> {
        match event.op.action {
            Action::Acquire => Some(Question::Holder),
            action => action.reads().then_some(Question::Source),
        }
    }
}

/// Collects the mutations of a decision that the causal order does not rule out; where there are `news`, those only that
/// need something of them. What `seen` holds does not matter.
pub(super) fn mutations(
    run: &Run,
    graph: &Graph,
    decision: &Decision,
    news: Option<&News>,
    seen: &mut BitSet,
    found: &mut Vec<Mutation>,
) {
    if decision.frozen {
        let waiting = run.waiting.iter().position(|pending| pending.id == decision.id && pending.op.is_some());
        if let Some(i) = waiting {
            sources_of_alternatives(run, graph, Actor::Waiting(i), None, seen, found);
        }
        return;
    }
    let at = run.trace.position(decision.id).expect("a decision of τ is in the run");
    if news.is_some_and(|news| !news.are_at(run.trace.events[at].op.loc)) {
        return;
    }
    match decision.question {
        Question::Holder => other_holders(run, graph, at, news, found),
        Question::Source => {
            sources_of_alternatives(run, graph, Actor::Event(at), news, seen, found);
            reversals(run, graph, at, news, found);
        }
    }
}

pub(super) fn source_of(event: &Event) -> Option<usize> {
    match event.source {
        Source::At(at) => Some(at as usize),
        Source::Init | Source::None => None,
    }
}

fn value_of(run: &Run, loc: LocId, write: Option<usize>) -> u64 {
    match write {
        None => run.trace.locs[loc].init,
        Some(write) => run.trace.events[write].written.expect("a source writes"),
    }
}

/// The other sources of an operation and of its alternatives. What is spurious is counted where it is retained.
fn sources_of_alternatives(
    run: &Run,
    graph: &Graph,
    actor: Actor,
    news: Option<&News>,
    seen: &mut BitSet,
    found: &mut Vec<Mutation>,
) {
    let op = match actor {
        Actor::Event(at) => run.trace.events[at].op,
        Actor::Waiting(i) => run.waiting[i].op.expect("it stands before an operation"),
    };
    for which in 0..op.action.alternatives() {
        let action = op.action.with_alternative(which);
        if run.spurious > 0 || !action.is_spurious() {
            other_sources(run, graph, actor, Op { action, ..op }, news, seen, found);
        }
    }
}

/// Deviation (1): every conflicting write and the initial value.
fn other_sources(
    run: &Run,
    graph: &Graph,
    actor: Actor,
    op: Op,
    news: Option<&News>,
    seen: &mut BitSet,
    found: &mut Vec<Mutation>,
) {
    let (own, now) = match actor {
        Actor::Event(at) => {
            let event = &run.trace.events[at];
            (Some(at), (event.op.action == op.action).then(|| source_of(event)))
        }
        Actor::Waiting(_) => (None, None),
    };
    let is_known = |source: Option<usize>| news.is_some_and(|news| !source.is_some_and(|write| news.has(write)));
    let writes = graph.writes(op.loc).iter().map(|&write| Some(write as usize));
    let mut sources = writes.chain([None]).filter(|&source| !is_known(source)).peekable();
    if sources.peek().is_none() {
        return;
    }
    graph.seen_before(&run.trace, &reader(run, graph, actor), op.loc, seen);
    for source in sources {
        let impossible = |write: usize| own.is_some_and(|own| write == own || graph.precedes(own, write));
        if now == Some(source) || source.is_some_and(impossible) || !graph.is_visible(&run.trace, op.loc, source, seen)
        {
            continue;
        }
        let value = value_of(run, op.loc, source);
        let effect = op.action.effect(value);
        if effect != Effect::Blocked {
            let (source, value) = (source.map(Actor::Event), op.action.returns(value));
            found.push(Mutation { actor, action: op.action, source, value, effect, reversed: None });
        }
    }
}

/// What is before an actor, its own source aside.
pub(super) fn reader<'a>(run: &Run, graph: &'a Graph, actor: Actor) -> Reader<'a> {
    match actor {
        Actor::Event(at) => {
            let (preds, fenced) = (graph.order.preds(at), Cow::Borrowed(graph.order.fenced(at)));
            Reader { id: run.trace.events[at].id, preds, fenced }
        }
        Actor::Waiting(i) => {
            let (id, op) = (run.waiting[i].id, run.waiting[i].op.expect("it stands before an operation"));
            let fenced = graph.order.next_fenced(id.thread, &op).collect();
            Reader { id, preds: graph.next_preds(id.thread), fenced }
        }
    }
}

/// Deviation (2): an update and the update, or failed compare-exchange, that reads from it; for a lock attempt that
/// succeeded also the next holder, or who waits.
fn reversals(run: &Run, graph: &Graph, at: usize, news: Option<&News>, found: &mut Vec<Mutation>) {
    let event = &run.trace.events[at];
    if event.written.is_none() {
        return;
    }
    for_each_successor(run, graph, at, news, |second, action| {
        let Effect::Update(value) = action.effect(event.read) else { return };
        let effect = event.op.action.effect(value);
        if effect != Effect::Blocked {
            let (source, reversed) = (Some(second), Some(second));
            found.push(Mutation { actor: Actor::Event(at), action: event.op.action, source, value, effect, reversed });
        }
    });
}

/// Deviation (3): the acquires that could take the release which this one takes.
fn other_holders(run: &Run, graph: &Graph, at: usize, news: Option<&News>, found: &mut Vec<Mutation>) {
    let event = &run.trace.events[at];
    let (source, value) = (source_of(event).map(Actor::Event), event.read);
    for_each_successor(run, graph, at, news, |actor, action| {
        if let effect @ Effect::Update(_) = action.effect(value) {
            found.push(Mutation { actor, action, source, value, effect, reversed: None });
        }
    });
}

/// Visits what could come in place of the update at `at`: the updates and failed attempts that read from it, who waits
/// in a loop that looks at it, and if it took a lock, who takes the lock after it, or who waits for it if it is never
/// released.
fn for_each_successor(run: &Run, graph: &Graph, at: usize, news: Option<&News>, mut visit: impl FnMut(Actor, Action)) {
    let event = &run.trace.events[at];
    let locked = event.locked();
    let release = if locked { graph.release_of(&run.trace, at) } else { None };
    let next_holders = release.map_or(&[][..], |release| graph.readers(release));
    for &other in graph.readers(at).iter().chain(next_holders) {
        let other = other as usize;
        let is_known = news.is_some_and(|news| !news.has(other));
        if !is_known && !graph.precedes_by_program(at, graph.order.preds(other)) {
            visit(Actor::Event(other), run.trace.events[other].op.action);
        }
    }
    // Who is left waiting for the lock could have had it; and who waits in a loop has read what the update wrote,
    // though that iteration is no event (`wait`).
    let held = locked && release.is_none();
    for (i, waiting) in run.waiting.iter().enumerate() {
        if let Some(op) = waiting.op
            && op.loc == event.op.loc
            && (held || matches!(waiting.why, Why::Spin { .. }))
            && !graph.precedes_by_program(at, graph.next_preds(waiting.id.thread))
        {
            visit(Actor::Waiting(i), op.action);
        }
    }
}
