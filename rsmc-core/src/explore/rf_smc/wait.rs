//! Deviation (6): loops that only wait.
//!
//! Problem. A repeated iteration of a waiting loop is no class, so mutations that complete one are refused. But such
//! a read may be the only thing that tells in which order two writes happened: the thread looks, sees the old value
//! again, and so the write that would have let it go on came before. What other threads do then would be lost, and
//! so would a thread that waits for ever.
//!
//! Method. The decision at such a read, and at the first event after a wait, has the answer "stays where it is". Its
//! part of the tree is explored with the thread frozen; the runs in it are no classes, but they show at the decision
//! what else the thread could read. Every such run is also asked whether the frozen threads can wait for ever:
//! whether its events have an execution in which the locations they watch end with the values they saw. If so that
//! execution is run.

use rustc_hash::FxHashSet;

use crate::base::{Digest, EventId, LocId, ThreadId};
use crate::consistency::{Instance, Move, Shape, Verifier};
use crate::explore::rf_smc::Decision;
use crate::explore::rf_smc::arrange::Arranger;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::member::Member;
use crate::explore::rf_smc::mutate::{Actor, Mutation};
use crate::explore::rf_smc::schedule::Witness;
use crate::model::MemoryModel;
use crate::step::{Forced, Pending, Run, Why};
use crate::trace::{Action, Event, Op, Source, reads_from_class, repeats_iteration};

/// Whether an event comes right after a wait.
pub(super) fn follows_a_wait(run: &Run, id: EventId) -> bool {
    run.waits.iter().any(|wait| wait.next == id)
}

/// What threads that wait in a loop at the end would do next, where no decision is about it yet. Nothing behind a
/// repeated iteration.
pub(super) fn undecided(run: &Run, decisions: &[Decision]) -> Vec<EventId> {
    if run.repeated.is_some() {
        return Vec::new();
    }
    let spins = run.waiting.iter().filter(|pending| matches!(pending.why, Why::Spin { .. }) && pending.op.is_some());
    let known = |id: EventId| decisions.iter().any(|decision| decision.frozen && decision.id == id);
    spins.map(|pending| pending.id).filter(|&id| !known(id)).collect()
}

/// Whether the mutation makes a waiting loop repeat an iteration.
pub(super) fn repeats(run: &Run, mutation: &Mutation) -> bool {
    if run.waiting_loops.is_empty() {
        return false;
    }
    let old = |actor| match actor {
        Actor::Event(at) => run.trace.events[at].read,
        Actor::Waiting(_) => 0,
    };
    repeats_at(run, mutation.actor, Some(mutation.action), mutation.value)
        || mutation.reversed.is_some_and(|second| repeats_at(run, second, None, old(mutation.actor)))
}

/// Whether an event that reads `value` instead, or does something else, completes a repeated iteration.
fn repeats_at(run: &Run, actor: Actor, other: Option<Action>, value: u64) -> bool {
    let (id, op) = match actor {
        Actor::Event(at) => (run.trace.events[at].id, run.trace.events[at].op),
        Actor::Waiting(i) => {
            let waiting = &run.waiting[i];
            let Some(op) = waiting.op else { return false };
            (waiting.id, op)
        }
    };
    let op = Op { action: other.unwrap_or(op.action), ..op };
    repeats_iteration(&run.trace, id, &op, value, &run.waiting_loops, run.spin_bound)
}

/// Livelocks: those that are still to be run, each with the class of the run that shows it, and those classes.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub(super) livelocks: Vec<(Digest, Witness)>,
    pub(super) known: FxHashSet<Digest>,
    instance: Instance,
    verifier: Verifier,
    arranger: Arranger,
}

impl Waits {
    pub(super) fn new(model: MemoryModel) -> Self {
        Self { verifier: Verifier::new(model), ..Self::default() }
    }

    /// Asks whether the threads that are frozen at the end of a run can wait for ever, and if so plans that.
    pub(super) fn look_for_livelock(&mut self, run: &Run, graph: &mut Graph) {
        let between = |why: &Why| matches!(why, Why::Spin { watched, .. } if watched.is_empty());
        if run.repeated.is_some() || run.waiting.iter().any(|pending| between(&pending.why)) {
            return;
        }
        let class = reads_from_class(&run.trace);
        if !self.known.insert(class) {
            return;
        }
        let looks: Vec<Look> = run
            .waiting
            .iter()
            .filter_map(watched_by)
            .flatten()
            .map(|&(loc, value)| look(run, graph, loc, value))
            .collect();
        let witness = self.end_with(run, graph, &looks);
        self.livelocks.extend(witness.map(|witness| (class, witness)));
    }

    /// An execution of the run's events that ends as the looks say. But under SC a read has one good write, so every
    /// choice of them is a question of its own.
    fn end_with(&mut self, run: &Run, graph: &mut Graph, looks: &[Look]) -> Option<Witness> {
        let open = looks.iter().position(|look| look.last.len() != 1);
        if let Some(open) = open.filter(|_| self.verifier.model() != MemoryModel::Sc) {
            return looks[open].last.iter().find_map(|&write| {
                let mut looks = looks.to_vec();
                looks[open].last = vec![write];
                self.end_with(run, graph, &looks)
            });
        }
        if self.verifier.model() == MemoryModel::C11 {
            return self.end_with_reads(run, graph, looks);
        }
        self.build_instance(run, graph, looks);
        let mut witness = Vec::new();
        let found = self.verifier.verify(&self.instance, |event| event as u32, &mut witness);
        let events = &run.trace.events;
        let again = |event: &Event| Forced::of(event, &run.trace.locs[event.op.loc]);
        let forced = |step: Move| match step {
            Move::Perform(number) => events.get(number).map(again),
            Move::Flush(number) => Some(Forced::flush(events[number].id)),
        };
        let steps = || witness.into_iter().filter_map(forced).collect();
        found.then(|| Witness { steps: steps(), modification: Vec::new() })
    }

    /// The same under C11.
    fn end_with_reads(&mut self, run: &Run, graph: &mut Graph, looks: &[Look]) -> Option<Witness> {
        let members: Vec<Member> = (0..run.trace.events.len()).map(|at| Member::of(run, Actor::Event(at))).collect();
        let looks: Vec<_> = looks.iter().map(|look| (look.loc, look.last[0])).collect();
        self.arranger.witness(run, graph, &members, &looks)
    }

    /// The events of the run with their sources, and at the end a read of every location that is watched.
    fn build_instance(&mut self, run: &Run, graph: &Graph, looks: &[Look]) {
        let (instance, events) = (&mut self.instance, &run.trace.events);
        instance.clear();
        for (at, event) in events.iter().enumerate() {
            instance.push(Shape::of(event, graph.order.epoch(at)));
        }
        for (number, event) in events.iter().enumerate() {
            graph.order.preds(number).iter().for_each(|&pred| instance.edge(pred as usize, number));
            graph.order.fenced(number).iter().for_each(|&store| instance.fence(store as usize, number));
            match event.source {
                Source::None => {}
                Source::Init => instance.good(number, None),
                Source::At(write) => instance.good(number, Some(write as usize)),
            }
        }
        for Look { loc, last } in looks {
            let look = instance.push(Shape { thread: NOBODY, ..Shape::direct(*loc, true, false) });
            last.iter().for_each(|&write| instance.good(look, write));
            for write in graph.writes(*loc) {
                instance.edge(write, look);
                if events[write].buffered {
                    instance.fence(write, look);
                }
            }
        }
    }
}

/// Who looks at memory when everything is over.
const NOBODY: ThreadId = ThreadId(u32::MAX);

/// A location that is watched, and the writes of the value that was seen that could be its last (`None`: nobody
/// writes it).
#[derive(Clone, Debug)]
struct Look {
    loc: LocId,
    last: Vec<Option<usize>>,
}

fn look(run: &Run, graph: &Graph, loc: LocId, value: u64) -> Look {
    let overwritten = |write: usize| graph.writes(loc).any(|other| graph.reaches_memory_before(write, other));
    let ends = |&write: &usize| run.trace.events[write].written == Some(value) && !overwritten(write);
    let is_unwritten = graph.writes(loc).next().is_none() && run.trace.locs[loc].init == value;
    let last = graph.writes(loc).filter(ends).map(Some);
    Look { loc, last: last.chain(is_unwritten.then_some(None)).collect() }
}

fn watched_by(pending: &Pending) -> Option<&Vec<(LocId, u64)>> {
    match &pending.why {
        Why::Spin { watched, .. } => Some(watched),
        _ => None,
    }
}
