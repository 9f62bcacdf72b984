//! Deviation (6): loops that only wait.
//!
//! Problem. An iteration that changes nothing is no part of an execution, so revisits that complete one are refused.
//! But such a read may be the only thing that tells in which order two writes happened: the thread looks, sees the old
//! value again, and so the write that would have let it go on came before. What other threads do then would be lost,
//! and so would a thread that waits for ever.
//!
//! A failure without cause that completes an iteration needs no more than the refusal. Without its iteration the
//! execution is one of the program in which the operation does not fail there, and the thread goes on with another
//! outcome.
//!
//! Method. The decision at such a read has the answer "stays where it is", if another write may have come between what
//! it read and the end of waiting, or two updates may be reversed. The explorer gives it when all others were
//! explored. It explores that part of the tree with the thread frozen; the runs in it are no classes, but they show at
//! the decision what else the thread could read. Of every such run it also asks whether the frozen threads can wait
//! for ever: whether the run's events have an execution in which the locations they watch end with values at which
//! they wait, those that they saw or others that are known. If so, it runs that execution, once for each livelock.
//! Where another thread has seen a lock that a frozen thread holds, the thread's iteration is part of that execution,
//! and it waits behind it.
//!
//! A read is not refused where the iteration takes a lock that some thread tries to take. The thread is held back
//! behind the iteration, and a thread that would find the lock held stands at a decision, whose answers show who sees
//! it. Where an event has completed an iteration that others see, its thread may stay there too, contested or not:
//! others need not have seen it.
//!
//! Which reads complete an iteration is learned in any order ([`Looks`]), from other explorers as well. When a decision
//! meets one that was not known when its thread stayed, that answer is given again: its runs are asked once more
//! whether the thread can wait for ever.
//!
//! An update may complete an iteration only where it comes before an update that its decision has before it. Its
//! decision then has that answer, too: what others do before these updates shows only where its thread stays. But that
//! the iteration changes nothing may become known in the run that reverses the two, when that decision is explored.
//! So a [`preview`](super::preview) shows it before. Where there was none, the exploration starts over with the reads
//! that are known: when it has made as many runs as those before it, or is over, since more reads may become known too
//! late until then.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{Digest, EventId, LocId, Spill, Spilled, ThreadId};
use crate::consistency::{Instance, Move, Shape, Verifier};
use crate::explore::looks::{Looks, Standing, Way, together};
use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::c11_witness::C11Witness;
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::entry::RevisedEntry;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::preview::Previews;
use crate::explore::rf_smc::revisit::{Asked, OpRef, Revisit, source_of};
use crate::explore::rf_smc::witness::Witness;
use crate::model::MemoryModel;
use crate::step::{Forced, Pending, Run, Why};
use crate::trace::spin::Watched;
use crate::trace::{Action, Effect, Event, Histories, Op, Source, reads_from_class};

/// The threads that wait in a loop at the end, before an operation for which there is no decision yet. Empty if the run
/// repeated an iteration.
pub(super) fn undecided<'a>(run: &'a Run, decisions: &[Decision]) -> Vec<&'a Pending> {
    if run.repeated.is_some() && !run.halfway {
        return Vec::new();
    }
    let spins = run.waiting.iter().filter(|pending| matches!(pending.why, Why::Spin { .. }) && pending.op.is_some());
    let known = |id: EventId| decisions.iter().any(|decision| decision.frozen && decision.id == id);
    spins.filter(|pending| !known(pending.id)).collect()
}

/// Whether a thread waits behind an iteration that saw two values of one location. It does not wait for ever in that
/// way, but maybe in another: it was held back before it came round once more, since its first events were forced.
pub(super) fn saw_a_change(pending: &Pending) -> bool {
    let Why::Spin { watched, .. } = &pending.why else { return false };
    let mut values = FxHashMap::default();
    watched.iter().any(|one| *values.entry(one.loc).or_insert(one.value) != one.value)
}

/// The ways to wait that a run shows of a thread at its end: none if it was held back. No way is known where an
/// iteration began with a failure without cause.
fn shown_ways(run: &Run, pending: &Pending) -> Vec<Way> {
    let is_held_back = matches!(&pending.why, Why::Spin { watched, .. } if watched.is_empty());
    let own = run.waits.iter().filter(|wait| wait.next == pending.id && !is_held_back);
    own.filter_map(|wait| Way::of(wait, &run.trace)).collect()
}

/// Whether another write may have come between what an event read and the event's end of waiting. Otherwise runs in
/// which its thread stays where it is show nothing.
pub(super) fn is_contested(run: &Run, graph: &Graph, at: usize) -> bool {
    let source = source_of(&run.trace.events[at]);
    let is_behind = |write: usize| write == at || graph.precedes(at, write);
    let is_before = |write: usize| source.is_some_and(|source| graph.reaches_memory_before(write, source));
    let mut others = graph.writes(run.trace.events[at].op.loc).filter(|&write| Some(write) != source);
    others.any(|write| !is_behind(write) && !is_before(write))
}

/// Whether a revisit is about two updates of which either may come first: a run shows that they are reversed only where
/// the second one waits.
pub(super) fn may_be_reversed(run: &Run, revisit: &Revisit) -> bool {
    let source = revisit.source.and_then(OpRef::event).map(|at| &run.trace.events[at]);
    revisit.reversed.is_some() || (revisit.action != Action::Load && source.is_some_and(Event::updates))
}

/// Whether the thread of a revisit that completes an iteration need not wait: it failed without cause, and its
/// operation has other outcomes with the same source.
pub(super) fn goes_on_anyway(revisit: &Revisit) -> bool {
    revisit.action.is_spurious() && revisit.reversed.is_none()
}

/// As [`goes_on_anyway`], for a run that shows the iteration: the event of the decision failed without cause.
fn went_on_anyway(run: &Run, decision: &Decision) -> bool {
    let event = run.trace.events.iter().rfind(|event| event.id == decision.id);
    event.is_some_and(|event| event.op.action.is_spurious())
}

/// Whether the event of the decision is an update that reads from one of this thread: the two are reversed.
fn is_reversed_with(run: &Run, decision: &Decision, thread: ThreadId) -> bool {
    let event = run.trace.events.iter().rfind(|event| event.id == decision.id);
    let source = event.filter(|event| event.updates()).and_then(source_of).map(|at| &run.trace.events[at]);
    thread != decision.id.thread && source.is_some_and(|source| source.id.thread == thread && source.updates())
}

impl RfSmc {
    /// Observes a run that was cut short, since the answer of a decision completes an iteration that changes nothing:
    /// its thread waits instead.
    pub(super) fn observe_wait(&mut self, run: &Run) {
        let Some(number) = self.decisions.len().checked_sub(1) else { return };
        let decision = &self.decisions[number];
        let is_planned = decision.plans_to_stay();
        let Some(waiting) = run.waits.last().map(|wait| wait.next.thread) else { return };
        let is_its_own = waiting == decision.id.thread;
        let is_new = decision.stays.is_some() && self.waits.looks.has_newer(run, decision.asked);
        let may_stay = (decision.contested || is_new) && !decision.frozen && !went_on_anyway(run, decision);
        if is_reversed_with(run, decision, waiting) && self.waits.looks.became_known(run) {
            self.waits.looks.note_late();
        } else if is_its_own && !is_planned && may_stay {
            self.graph.compute(run);
            self.find_entries(run);
            self.frame.turn_to(&self.decisions[number]);
            self.discover_waiting(run, number);
        }
    }

    /// Starts over with the reads that are known, if it is time to.
    pub(super) fn start_over(&mut self) -> bool {
        let runs = self.waits.looks.runs_before().saturating_add(self.runs);
        // A worker says so in what it found.
        if self.inherited > 0 || !self.waits.looks.start_over(runs, self.waits.is_over) {
            return false;
        }
        let model = self.graph.model();
        let Self { finder, waits, budget, bound, .. } = std::mem::take(self);
        *self = Self { finder, budget: budget.anew(), bound: bound.anew(), ..Self::new(model) };
        self.waits.looks = waits.looks.replaced(&waits.looks.to_start_over(runs));
        self.waits.known = waits.known.anew();
        true
    }
}

/// Livelocks: those that are still to be run, each with the class of the run that shows it, those classes, and the
/// livelocks that were found.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub(super) livelocks: Vec<(Digest, Witness)>,
    pub(super) known: Spilled<Digest>,
    pub(super) looks: Looks,
    pub(super) previews: Previews,
    /// There is no further plan.
    pub(super) is_over: bool,
    /// The locks of the run at which threads look without waiting for them.
    tried: Vec<LocId>,
    /// The events of the run that are part of the livelock that is asked about.
    stay: Vec<usize>,
    /// The histories of the threads in that run.
    histories: Histories,
    instance: Instance,
    /// For instances. Where executions are graphs, `c11_witness` answers.
    verifier: Option<Verifier>,
    c11_witness: C11Witness,
}

impl Waits {
    /// Has the files of what is too much for memory in this place.
    pub(super) fn spill_to(&mut self, spill: Option<&Spill>) {
        self.known.spill_to(spill.cloned());
        self.looks.spill_to(spill.cloned());
    }

    /// Learns from a run which iterations change nothing.
    pub(super) fn learn(&mut self, run: &Run) {
        self.looks.learn(run);
    }

    /// Turns to a run.
    pub(super) fn begin(&mut self, run: &Run) {
        if run.has_waits() {
            self.histories.compute(&run.trace);
            self.tried = run.tried();
        }
    }

    /// If the revisit completes an iteration that changes nothing: the number of reads that were known before this one.
    pub(super) fn repeats(&self, run: &Run, revisit: &Revisit) -> Option<u32> {
        if self.looks.is_empty() {
            return None;
        }
        let standing = self.standing(run, revisit.actor, Some(revisit.action))?;
        self.looks.completes(&standing, revisit.value, revisit.source.and_then(OpRef::event), &self.tried)
    }

    /// Whether the event that is reversed with another one completes such an iteration: it takes what that one takes.
    pub(super) fn reversed_repeats(&self, run: &Run, revisit: &Revisit) -> bool {
        let (Some(second), OpRef::Event(first)) = (revisit.reversed, revisit.actor) else { return false };
        let first = &run.trace.events[first];
        let completes = |standing| self.looks.completes(&standing, first.read, source_of(first), &self.tried).is_some();
        !self.looks.is_empty() && self.standing(run, second, None).is_some_and(completes)
    }

    /// The sources that an update could take if it came before one that its decision has before it, and would leave
    /// there as they are. Only those of which nobody knows whether that completes such an iteration, each with what the
    /// thread knows then.
    pub(super) fn unknown_earlier(&self, asked: &Asked<'_>, at: usize) -> Vec<(u64, Revisit)> {
        let run = asked.run;
        let event = &run.trace.events[at];
        let Some(standing) = self.standing(run, OpRef::Event(at), None).filter(|_| event.updates()) else {
            return Vec::new();
        };
        let action = event.op.action;
        let unknown = asked.taken_before(at).filter_map(|(value, source)| {
            let effect = action.effect(value);
            let look = self.looks.unknown(&standing, value, source).filter(|_| effect == Effect::Update(value))?;
            let (actor, source) = (OpRef::Event(at), source.map(OpRef::Event));
            Some((look, Revisit { actor, action, source, value: action.returns(value), effect, reversed: None }))
        });
        unknown.collect()
    }

    /// If an update would complete such an iteration if it came before one that its decision has before it, and so
    /// took what that one takes: the number of reads that were known before the newest of these.
    pub(super) fn repeats_earlier(&self, asked: &Asked<'_>, at: usize) -> Option<u32> {
        let &Asked { run, .. } = asked;
        if self.looks.is_empty() || !run.trace.events[at].updates() {
            return None;
        }
        let standing = self.standing(run, OpRef::Event(at), None)?;
        let taken = asked.taken_before(at);
        taken.filter_map(|(value, source)| self.looks.completes(&standing, value, source, &self.tried)).max()
    }

    /// If the event completes an iteration that is in the run only since other threads have seen a lock that it takes:
    /// the number of reads that were known before this one.
    pub(super) fn was_seen(&self, run: &Run, at: usize) -> Option<u32> {
        if self.tried.is_empty() || self.looks.is_empty() {
            return None;
        }
        let (event, done) = (&run.trace.events[at], self.standing(run, OpRef::Event(at), None)?);
        self.looks.was_seen(&done, event.read, source_of(event))
    }

    /// A thread before one of its events or its pending operation, with this action or another one.
    fn standing<'a>(&'a self, run: &'a Run, actor: OpRef, other: Option<Action>) -> Option<Standing<'a>> {
        let (id, op) = match actor {
            OpRef::Event(at) => (run.trace.events[at].id, run.trace.events[at].op),
            OpRef::Waiting(i) => (run.waiting[i].id, run.waiting[i].op?),
        };
        let op = Op { action: other.unwrap_or(op.action), ..op };
        Some(Standing { trace: &run.trace, histories: &self.histories, id, op })
    }

    pub(super) fn new(model: MemoryModel) -> Self {
        Self { verifier: Verifier::of(model), ..Self::default() }
    }

    /// Asks whether the threads that wait in loops at the end of a run, or are frozen, can wait for ever, and if so
    /// plans that livelock.
    pub(super) fn look_for_livelock(&mut self, run: &Run, graph: &Graph) {
        let spins = || run.waiting.iter().filter(|pending| matches!(pending.why, Why::Spin { .. }));
        let ways: Vec<Vec<Way>> = spins().map(|pending| self.ways(run, graph, pending)).collect();
        let others = run.waiting.iter().filter(|pending| !matches!(pending.why, Why::Spin { .. }));
        let blocked: Vec<Op> = others.filter_map(|pending| pending.op).collect();
        let did_whole_round = spins().any(|pending| pending.op.is_none());
        let class = reads_from_class(&run.trace);
        for way in together(&ways, &blocked) {
            let is_seen = way.is_seen(&run.trace, |_| true);
            if is_seen && did_whole_round {
                continue; // That livelock shows in a run without the iteration.
            }
            let way = if is_seen { finished(way, run) } else { way };
            let Way { watched, begun } = way;
            let question = watched.iter().fold(class, |name, watched| name.with(watched.name()));
            if !self.known.insert(question, ()) {
                continue;
            }
            self.stay = (0..run.trace.events.len()).filter(|&at| !begun.contains(&run.trace.events[at].id)).collect();
            let livelock = self.class_of_stay(run);
            if self.known.contains(livelock) {
                continue;
            }
            let looks: Vec<Look> = watched.iter().map(|watched| look(run, graph, &self.stay, watched)).collect();
            let witness = self.end_with(run, graph, &looks);
            if let Some(witness) = witness {
                self.known.insert(livelock, ());
                self.livelocks.push((question, witness));
            }
        }
    }

    /// The name of the livelock in which these events stay: what each of them reads from.
    fn class_of_stay(&self, run: &Run) -> Digest {
        let id = |at: usize| run.trace.events[at].id;
        let number = |id: EventId| [u64::from(id.thread.0), u64::from(id.index)];
        let mut class = Digest::EMPTY;
        for &at in &self.stay {
            let [thread, index] = number(id(at));
            let [from, write] = source_among(run, &self.stay, at).map_or([u64::MAX, 0], |source| number(id(source)));
            class.add(&[thread, index, from, write, run.trace.events[at].op.action.alternative(), 1]);
        }
        class
    }

    /// The ways in which a thread may wait for ever. The run need not show them: what the thread saw last need not be
    /// there when all wait.
    fn ways(&self, run: &Run, graph: &Graph, pending: &Pending) -> Vec<Way> {
        let mut ways = shown_ways(run, pending);
        if let Some(op) = pending.op {
            let next = Standing { trace: &run.trace, histories: &self.histories, id: pending.id, op };
            let written = |at: usize| run.trace.events[at].written.expect("it is a write");
            let offers = graph.writes(op.loc).map(|at| (written(at), Some(at)));
            let offers = offers.chain([(run.trace.locs[op.loc].init, None)]);
            ways.splice(..0, self.looks.ways_to_wait(&next, offers));
        }
        ways
    }

    /// An execution of the run's events that ends as the looks say. Except under SC, a read has one good write, so
    /// every choice of these writes is a question of its own.
    fn end_with(&mut self, run: &Run, graph: &Graph, looks: &[Look]) -> Option<Witness> {
        let open = looks.iter().position(|look| look.last.len() != 1);
        if let Some(open) = open.filter(|_| !graph.model().is_sequential()) {
            return looks[open].last.iter().find_map(|&write| {
                let mut looks = looks.to_vec();
                looks[open].last = vec![write];
                self.end_with(run, graph, &looks)
            });
        }
        if graph.model().is_graph() {
            return self.end_with_reads(run, looks);
        }
        self.build_instance(run, graph, looks);
        let mut witness = Vec::new();
        let verifier = self.verifier.as_mut().expect("a model without graphs has a verifier of instances");
        let found = verifier.verify(&self.instance, |event| event as u32, &mut witness);
        let event = |number: usize| self.stay.get(number).map(|&at| &run.trace.events[at]);
        let again = |event: &Event| Forced::of(event, &run.trace.locs[event.op.loc]);
        let forced = |step: Move| match step {
            Move::Perform(number) => event(number).map(again),
            Move::Flush(number) => event(number).map(|event| Forced::flush(event.id)),
        };
        let steps = || witness.into_iter().filter_map(forced).collect();
        found.then(|| Witness { steps: steps(), modification: Vec::new() })
    }

    /// An execution under C11 that ends as the looks say.
    fn end_with_reads(&mut self, run: &Run, looks: &[Look]) -> Option<Witness> {
        let members: Vec<RevisedEntry> = self.stay.iter().map(|&at| self.member(run, at)).collect();
        let looks: Vec<_> = looks.iter().map(|look| (look.loc, look.last[0])).collect();
        self.c11_witness.end(run, &members, &looks)
    }

    /// An event that stays, with a source that stays.
    fn member(&self, run: &Run, at: usize) -> RevisedEntry {
        let member = RevisedEntry::of(run, OpRef::Event(at));
        match source_of(&run.trace.events[at]) {
            Some(source) if self.stay.binary_search(&source).is_err() => {
                let source = source_among(run, &self.stay, at).map(OpRef::Event);
                member.takes(source, run.trace.events[at].read, run.trace.events[at].written.is_some())
            }
            _ => member,
        }
    }

    /// The events of the run with their sources, and at the end a read of every location that is watched.
    fn build_instance(&mut self, run: &Run, graph: &Graph, looks: &[Look]) {
        let (instance, events, stay) = (&mut self.instance, &run.trace.events, &self.stay);
        let number =
            |at: usize| stay.binary_search(&at).expect("nothing that stays needs what an iteration begins with");
        instance.clear();
        for &at in stay {
            instance.push(Shape::of(&events[at], graph.order.epoch(at)));
        }
        for (own, &at) in stay.iter().enumerate() {
            graph.order.preds(at).iter().for_each(|&pred| instance.edge(number(pred as usize), own));
            graph.order.fenced(at).iter().for_each(|&store| instance.fence(number(store as usize), own));
            match events[at].source {
                Source::None => {}
                Source::Init => instance.good(own, None),
                Source::At(_) => instance.good(own, source_among(run, stay, at).map(number)),
            }
        }
        for Look { loc, last } in looks {
            let look = instance.push(Shape { thread: NOBODY, ..Shape::direct(*loc, true, false) });
            last.iter().for_each(|&write| instance.good(look, write.map(number)));
            for write in graph.writes(*loc).filter(|at| stay.binary_search(at).is_ok()) {
                instance.edge(number(write), look);
                if events[write].buffered {
                    instance.fence(number(write), look);
                }
            }
        }
    }
}

/// A way whose begun events others have seen: they stay, and the threads finish their iterations, of which this is all
/// that others can see, and wait behind them. A lock that they hold they give back.
fn finished(way: Way, run: &Run) -> Way {
    let events = way.begun.iter().filter_map(|&id| run.trace.position(id)).map(|at| &run.trace.events[at]);
    let changed: FxHashSet<LocId> = events.filter(|event| event.changes()).map(|event| event.op.loc).collect();
    let watched = way.watched.into_iter().filter(|watched| !changed.contains(&watched.loc)).collect();
    Way { watched, begun: Vec::new() }
}

/// The source of an event, if only these events stay: updates that are left out left the value as it was.
fn source_among(run: &Run, stay: &[usize], at: usize) -> Option<usize> {
    let mut source = source_of(&run.trace.events[at]);
    while let Some(write) = source.filter(|write| stay.binary_search(write).is_err()) {
        source = source_of(&run.trace.events[write]);
    }
    source
}

/// The thread that reads memory when all others are over.
const NOBODY: ThreadId = ThreadId(u32::MAX);

/// A location that is watched, and the writes of the value that was seen that could be its last (`None`: no event
/// writes it).
#[derive(Clone, Debug)]
struct Look {
    loc: LocId,
    last: Vec<Option<usize>>,
}

fn look(run: &Run, graph: &Graph, stay: &[usize], &Watched { loc, value, writer }: &Watched) -> Look {
    let writes = || graph.writes(loc).filter(|at| stay.binary_search(at).is_ok());
    let overwritten = |write: usize| writes().any(|other| graph.reaches_memory_before(write, other));
    let is_it = |write: usize| writer.is(&run.trace, Source::At(write as u32));
    let ends = |&write: &usize| run.trace.events[write].written == Some(value) && is_it(write) && !overwritten(write);
    let is_unwritten = writes().next().is_none() && run.trace.locs[loc].init == value;
    let last = writes().filter(ends).map(Some);
    Look { loc, last: last.chain(is_unwritten.then_some(None)).collect() }
}
