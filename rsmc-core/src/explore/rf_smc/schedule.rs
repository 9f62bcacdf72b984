//! From a revisit to a schedule: what is retained, how it is named, and a witness of it.

use std::time::Instant;

use crate::base::{BitSet, Digest, EventId};
use crate::consistency::near_sc::{Answer, NearSc, Part};
use crate::consistency::{Instance, Move, Verifier, check_witness};
use crate::explore::rf_smc::c11_witness::C11Witness;
use crate::explore::rf_smc::entry::{RevisedEntry, key_of};
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, Revisit, reader, source_of};
use crate::explore::rf_smc::splice::{Place, Splicer};
use crate::explore::rf_smc::steps::{Numbered, Packed, Packer, Steps};
use crate::explore::rf_smc::{Decision, Effort, Entry, NamedEntry};
use crate::model::MemoryModel;
use crate::step::{Forced, Plan, Run};
use crate::trace::{Action, Op};

/// An execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Witness {
    pub(super) steps: Vec<Forced>,
    /// Under C11: all writes, those of each location in modification order.
    pub(super) modification: Vec<EventId>,
}

impl Witness {
    /// Makes a plan force it.
    pub(super) fn force(&self, plan: &mut Plan) {
        plan.forced.extend_from_slice(&self.steps);
        plan.modification.extend_from_slice(&self.modification);
    }
}

/// A sequence that is possible, and an execution of it.
#[derive(Debug)]
pub(super) struct Schedule {
    /// What is seen: [`Builder::key`], or nothing if the thread stays where it is.
    pub(super) key: Digest,
    pub(super) packed: Packed,
}

impl Schedule {
    /// What a schedule of so many events from the decision's place on, and so many steps, takes in memory, in bytes, roughly.
    pub(super) fn size_of(events: usize, steps: usize) -> usize {
        size_of::<Self>() + 2 * events + 3 * steps
    }

    /// What it takes.
    pub(super) fn size(&self) -> usize {
        let (events, steps) = self.packed.counts();
        Self::size_of(events, steps)
    }
}

/// Sees questions and answers.
type Observer = Box<dyn FnMut(&Instance, bool)>;

/// Sees what was answered without the verifier, and what that says.
type Comparison = Box<dyn FnMut(bool, bool)>;

/// The members that a revisit changes, with their numbers as actors ([`Part`]).
struct Changed([Option<(usize, RevisedEntry)>; 2]);

impl Changed {
    fn at(&self, number: usize) -> Option<&RevisedEntry> {
        self.0.iter().flatten().find(|(other, _)| *other == number).map(|(_, member)| member)
    }
}

/// Builds schedules; keeps its memory from one to the next.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) observe: Option<Observer>,
    pub(super) compare: Option<Comparison>,
    pub(super) effort: Effort,
    /// By entry of `τ`: its position in the run.
    places: Vec<u32>,
    /// By event of the run: the name of it and its source.
    keys: Vec<Digest>,
    /// By event of the run, if there is a question about it: the step in which it happens again.
    described: Vec<Numbered>,
    pub(super) steps: Steps,
    packer: Packer,
    /// The steps that the run was made to take, if a schedule said so.
    forced: Vec<Numbered>,
    /// The events of the entries before `behind_from`: the others are behind the decision's place.
    ahead: BitSet,
    behind_from: usize,
    /// What stands at the decision's place, what is reversed with it, and what of the rest they need.
    actor: Option<RevisedEntry>,
    second: Option<RevisedEntry>,
    needed: BitSet,
    /// The members that are events of the run and stay as they are.
    unchanged: BitSet,
    /// The members at the decision's place and after it.
    suffix: Vec<RevisedEntry>,
    members: Vec<RevisedEntry>,
    numbers: Vec<u32>,
    splicer: Splicer,
    near_sc: NearSc,
    instance: Instance,
    verifier: Verifier,
    witness: Vec<Move>,
    /// An execution that was found.
    found: Vec<Numbered>,
    c11_witness: C11Witness,
}

impl Builder {
    pub(super) fn new(model: MemoryModel) -> Self {
        Self { verifier: Verifier::new(model), ..Self::default() }
    }

    /// Makes a plan force this schedule, if it comes from one.
    pub(super) fn force(&mut self, schedule: Option<&Schedule>, plan: &mut Plan) {
        self.forced.clear();
        if let Some(schedule) = schedule {
            schedule.packed.for_each_step(|step| self.forced.push(step), &mut plan.modification);
            plan.forced.extend(self.forced.iter().map(|&step| self.steps.forced(step)));
        }
    }

    /// Begins with a run that followed the plan of [`Builder::force`]. All of it is to be placed.
    pub(super) fn begin(&mut self, run: &Run) {
        let events = run.trace.events.len();
        self.places.clear();
        self.keys.resize(events, Digest::EMPTY);
        self.described.clear();
        self.ahead.reset(events);
        self.behind_from = events;
    }

    /// The event at this position is the next entry of `τ`.
    #[inline]
    pub(super) fn place(&mut self, run: &Run, at: usize, entry: &NamedEntry) {
        debug_assert_eq!(entry.key, key_of(&run.trace, &run.trace.events[at]));
        self.places.push(at as u32);
        self.ahead.insert(at);
        self.keys[at] = entry.key;
    }

    /// Turns to a decision, and says which event stands there: none where its thread is frozen. They come from the last
    /// to the first.
    pub(super) fn turn_to(&mut self, decision: &Decision) -> Option<usize> {
        let rest = decision.at + usize::from(!decision.frozen);
        self.behind_from = self.behind_from.min(self.places.len());
        let next = rest.min(self.behind_from);
        self.places[next..self.behind_from].iter().for_each(|&place| self.ahead.remove(place as usize));
        self.behind_from = next;
        (!decision.frozen).then(|| self.places[decision.at] as usize)
    }

    /// The events that are before the decision in `τ`, or stand there.
    pub(super) fn ahead(&self) -> &BitSet {
        &self.ahead
    }

    /// Finds what stands at the decision's place and after it: the actor and what it needs.
    pub(super) fn retain(&mut self, run: &Run, graph: &Graph, decision: &Decision, revisit: &Revisit) {
        self.find_needed(run, graph, revisit);
        self.needed.subtract(&self.ahead);
        let actor = RevisedEntry::of(run, revisit.actor);
        let actor = actor.takes(revisit.source, revisit.value, revisit.effect.written().is_some());
        let actor = RevisedEntry { op: Op { action: revisit.action, ..actor.op }, ..actor };
        if let OpRef::Event(at) = revisit.actor {
            self.needed.remove(at);
        }
        let is_behind = |who: &OpRef| !matches!(who, OpRef::Event(at) if !self.needed.contains(*at));
        let old = run.trace.position(decision.id).map(|at| &run.trace.events[at]);
        let second = revisit.reversed.filter(is_behind).zip(old);
        self.second = second.map(|(who, old)| RevisedEntry::of(run, who).reversed_with(old));
        self.actor = Some(actor);
    }

    /// The causal past of the new sources.
    fn find_needed(&mut self, run: &Run, graph: &Graph, revisit: &Revisit) {
        let needed = &mut self.needed;
        needed.reset(run.trace.events.len());
        let program_past = |who: OpRef, needed: &mut BitSet| match who {
            OpRef::Event(at) => graph.add_program_past(graph.order.preds(at), needed),
            OpRef::Waiting(i) => graph.add_program_past(graph.next_preds(run.waiting[i].id.thread), needed),
        };
        program_past(revisit.actor, needed);
        let Some(second) = revisit.reversed else {
            if let Some(OpRef::Event(write)) = revisit.source {
                graph.add_past(write, needed);
            }
            return;
        };
        program_past(second, needed);
        if let OpRef::Event(first) = revisit.actor
            && let Some(write) = source_of(&run.trace.events[first])
        {
            graph.add_past(write, needed);
        }
        if let OpRef::Event(at) = second {
            needed.insert(at);
        }
    }

    /// The name of what was retained: the set of (event, source) pairs.
    pub(super) fn key(&self, run: &Run) -> Digest {
        let changed = self.actor.iter().chain(&self.second);
        let key = changed.fold(Digest::EMPTY, |key, member| key.with(member.key(run)));
        let second = self.second.map(|member| member.who);
        let unchanged = self.needed.iter().filter(|&at| second != Some(OpRef::Event(at)));
        unchanged.fold(key, |key, at| key.with(self.keys[at]))
    }

    /// An actor of the new sequence.
    fn member(&self, run: &Run, who: OpRef) -> RevisedEntry {
        let changed = self.actor.iter().chain(&self.second).find(|member| member.who == who);
        changed.copied().unwrap_or_else(|| RevisedEntry::of(run, who))
    }

    /// The schedule that ends before a decision: its thread stays where it is.
    pub(super) fn beginning(&mut self, run: &Run, graph: &mut Graph, decision: &Decision) -> Option<Schedule> {
        (self.actor, self.second) = (None, None);
        self.needed.reset(run.trace.events.len());
        self.schedule(run, graph, decision)
    }

    /// A schedule for what `retain` found, if it is possible.
    pub(super) fn schedule(&mut self, run: &Run, graph: &mut Graph, decision: &Decision) -> Option<Schedule> {
        if !self.is_within_bound(run, decision) {
            return None;
        }
        let start = self.effort.verifying.map(|_| Instant::now());
        // Whoever watches the questions sees all of them.
        let followed = if self.observe.is_none() { self.follow(run, graph, decision) } else { None };
        if let Some(answer) = &followed {
            self.compare(run, graph, decision, answer.is_some());
        }
        let modification = followed.unwrap_or_else(|| {
            self.collect_suffix(run);
            let witness = self.ask(run, graph, decision)?;
            self.found.clear();
            self.found.extend(witness.steps.iter().map(|forced| self.steps.number(forced)));
            Some(witness.modification)
        });
        self.effort.questions += 1;
        self.effort.refused += u64::from(modification.is_none());
        if let (Some(start), Some(verifying)) = (start, &mut self.effort.verifying) {
            *verifying += start.elapsed();
        }
        let modification = modification?;
        Some(Schedule { key: Digest::EMPTY, packed: self.pack(run, &modification) })
    }

    /// Asks the verifier, too, if somebody wants to know.
    fn compare(&mut self, run: &Run, graph: &mut Graph, decision: &Decision, answer: bool) {
        if let Some(mut compare) = self.compare.take() {
            self.collect_suffix(run);
            compare(answer, self.ask(run, graph, decision).is_some());
            self.compare = Some(compare);
        }
    }

    /// Packs what stands at the decision's place and behind it, and the execution that was found.
    fn pack(&mut self, run: &Run, modification: &[EventId]) -> Packed {
        let second = self.second.map(|second| second.who);
        let changed = |member: RevisedEntry| Entry { id: member.id, is_new: true };
        let (actor, waiting) = (self.actor.map(changed), self.second_waiting().map(changed));
        let mut packer = std::mem::take(&mut self.packer);
        let needed = self.needed_in_place().map(|at| {
            let is_new = second == Some(OpRef::Event(at));
            Entry { id: run.trace.events[at].id, is_new }
        });
        let packed = packer.pack(actor.into_iter().chain(needed).chain(waiting), &self.found, modification);
        self.packer = packer;
        packed
    }

    /// The events that the members at the decision's place need, in the order of `τ`.
    fn needed_in_place(&self) -> impl Iterator<Item = usize> {
        let behind = self.places[self.behind_from..].iter().map(|&at| at as usize);
        behind.filter(|&at| self.needed.contains(at))
    }

    /// What is reversed with the actor, if it comes last since it did not happen.
    fn second_waiting(&self) -> Option<RevisedEntry> {
        self.second.filter(|second| matches!(second.who, OpRef::Waiting(_)))
    }

    /// Finds the members at the decision's place and behind it.
    fn collect_suffix(&mut self, run: &Run) {
        let mut suffix = std::mem::take(&mut self.suffix);
        suffix.clear();
        suffix.extend(self.actor);
        suffix.extend(self.needed_in_place().map(|at| self.member(run, OpRef::Event(at))));
        suffix.extend(self.second_waiting());
        self.suffix = suffix;
    }

    /// Whether there are not more outcomes without cause than there may be. The events of the run are within the bound, so
    /// only what is changed can exceed it.
    fn is_within_bound(&self, run: &Run, decision: &Decision) -> bool {
        let is_spurious = |action: Action| action.is_spurious();
        if !self.actor.is_some_and(|actor| is_spurious(actor.op.action)) {
            return true;
        }
        let before = self.places[..decision.at].iter().map(|&at| at as usize);
        let unchanged = before.chain(self.needed_in_place()).map(|at| run.trace.events[at].op.action);
        unchanged.filter(|&action| is_spurious(action)).count() < run.spurious as usize
    }

    /// What is found by following the run: an execution, with its modification order, that there is none, or nothing.
    fn follow(&mut self, run: &Run, graph: &Graph, decision: &Decision) -> Option<Option<Vec<EventId>>> {
        self.describe(run);
        self.find_unchanged(decision);
        self.found.clear();
        if graph.is_in_order() {
            match self.insert(run, graph) {
                Place::Found => return Some(Some(Vec::new())),
                Place::Nowhere => return Some(None),
                Place::Unknown => {}
            }
        }
        self.list_parts(run);
        let (events, waiting) = (&run.trace.events, &run.waiting);
        let preds = |who: u32| match waiting.get((who as usize).wrapping_sub(events.len())) {
            Some(pending) => graph.next_preds(pending.id.thread),
            None => graph.order.preds(who as usize),
        };
        let answer = match graph.is_in_order() {
            true => self.near_sc.follow_saturated(preds, graph.is_sc()),
            false => self.near_sc.follow(preds, graph.is_sc()),
        };
        match answer {
            Answer::Possible => {
                self.note_followed(run);
                Some(Some(Vec::new()))
            }
            Answer::Impossible => Some(None),
            Answer::Unknown => None,
        }
    }

    /// The members of what was retained that stay as they are.
    pub(super) fn unchanged(&mut self, decision: &Decision) -> &BitSet {
        self.find_unchanged(decision);
        &self.unchanged
    }

    fn find_unchanged(&mut self, decision: &Decision) {
        self.unchanged.clone_from(&self.ahead);
        self.unchanged.union(self.needed.words());
        let stands_there = (!decision.frozen).then(|| self.places[decision.at] as usize);
        let reversed = self.second.and_then(|second| second.who.event());
        stands_there.iter().chain(&reversed).for_each(|&at| self.unchanged.remove(at));
    }

    /// Inserts the actor into the order of the run, and takes the execution that is found.
    fn insert(&mut self, run: &Run, graph: &Graph) -> Place {
        if let Some(actor) = &self.actor {
            let place = self.splicer.find(run, graph, &self.unchanged, (actor, self.second.as_ref()));
            if place != Place::Found {
                return place;
            }
        } else {
            self.splicer.clear(run);
        }
        for part in self.splicer.parts() {
            if part == 2 {
                for member in [self.second, self.actor].into_iter().flatten() {
                    let step = self.step_of(run, &member);
                    self.found.push(step);
                }
            }
            for at in self.unchanged.iter().filter(|&at| self.splicer.part_of(at) == part) {
                note_step(&mut self.found, self.described[at], run, at, &mut self.steps);
            }
        }
        Place::Found
    }

    /// The step of a member that is changed. Mostly it does what it did, and reads something else.
    fn step_of(&mut self, run: &Run, member: &RevisedEntry) -> Numbered {
        match member.who {
            OpRef::Event(at) if run.trace.events[at].op.action == member.op.action => {
                self.described[at].reading(member.read)
            }
            _ => self.steps.number(&member.forced(run)),
        }
    }

    /// Tells the near_sc what happens in the new sequence.
    fn list_parts(&mut self, run: &Run) {
        let (events, waiting) = (run.trace.events.len(), run.waiting.len());
        self.near_sc.clear(events, waiting, run.trace.locs.len());
        let changed = self.changed(events);
        for at in 0..events + waiting {
            if self.unchanged.contains(at) {
                self.near_sc.push(Part::of(at, &run.trace.events[at]));
            } else if let Some(entry) = changed.at(at) {
                self.near_sc.push(entry.part(run));
            }
        }
    }

    /// Takes the execution that was found by following.
    fn note_followed(&mut self, run: &Run) {
        let changed = self.changed(run.trace.events.len());
        for place in 0..self.near_sc.order().len() {
            let at = self.near_sc.order()[place] as usize;
            let step = match changed.at(at) {
                Some(member) => self.step_of(run, member),
                None => self.described[at],
            };
            note_step(&mut self.found, step, run, at, &mut self.steps);
        }
    }

    /// What is changed, in a run with so many events.
    fn changed(&self, events: usize) -> Changed {
        let number = |member: RevisedEntry| (member.who.number(events), member);
        Changed([self.actor.map(number), self.second.map(number)])
    }

    /// Describes the events of a run, once.
    fn describe(&mut self, run: &Run) {
        if self.described.is_empty() {
            let (steps, events) = (&mut self.steps, &run.trace.events);
            self.described.extend(steps.of_events(&self.forced).take(events.len()).map_while(|step| step));
            let rest = &events[self.described.len()..];
            self.described
                .extend(rest.iter().map(|event| steps.number(&Forced::of(event, &run.trace.locs[event.op.loc]))));
        }
    }

    /// An execution of the members, from the verifier of the memory model.
    fn ask(&mut self, run: &Run, graph: &mut Graph, decision: &Decision) -> Option<Witness> {
        self.members.clear();
        let before = self.places[..decision.at].iter();
        self.members.extend(before.map(|&at| RevisedEntry::of(run, OpRef::Event(at as usize))));
        self.members.extend_from_slice(&self.suffix);
        let is_graph = self.verifier.model() == MemoryModel::C11
            && !(graph.is_sequential && self.suffix.iter().all(|member| member.op.is_sequential(member.writes)));
        match is_graph {
            true => self.c11_witness.witness(run, graph, &self.members),
            false => self.verify(run, graph),
        }
    }

    /// An execution of the members under a model with a memory, or under C11 where that is SC.
    fn verify(&mut self, run: &Run, graph: &Graph) -> Option<Witness> {
        self.number_members(run);
        self.build_instance(run, graph);
        let members = &self.members;
        let rank = |number: usize| match members[number].who {
            OpRef::Event(position) => position as u32,
            OpRef::Waiting(_) => u32::MAX,
        };
        self.witness.clear();
        let possible = self.verifier.verify(&self.instance, rank, &mut self.witness);
        if let Some(observe) = &mut self.observe {
            observe(&self.instance, possible);
        }
        if !possible {
            return None;
        }
        debug_assert_eq!(check_witness(&self.instance, self.verifier.model(), &self.witness), Ok(()));
        let steps = self.witness.iter().map(|&step| match step {
            Move::Perform(number) => members[number].forced(run),
            Move::Flush(number) => Forced::flush(members[number].id),
        });
        // Where C11 is SC, writes are in the order in which they happen.
        let happened = self.witness.iter().filter_map(|&step| match step {
            Move::Perform(number) if self.verifier.model() == MemoryModel::C11 => Some(&members[number]),
            _ => None,
        });
        let modification = happened.filter(|member| member.writes).map(|member| member.id).collect();
        Some(Witness { steps: steps.collect(), modification })
    }

    /// Notes the numbers of the members that are events of the run.
    fn number_members(&mut self, run: &Run) {
        self.numbers.clear();
        self.numbers.resize(run.trace.events.len(), u32::MAX);
        for (number, member) in self.members.iter().enumerate() {
            if let OpRef::Event(at) = member.who {
                self.numbers[at] = number as u32;
            }
        }
    }

    fn build_instance(&mut self, run: &Run, graph: &Graph) {
        self.instance.clear();
        for member in &self.members {
            self.instance.push(member.shape(run, graph));
        }
        for number in 0..self.members.len() {
            self.add_order(run, graph, number);
        }
        for (number, member) in self.members.iter().enumerate().filter(|(_, member)| member.op.action.reads()) {
            let write = member.source.map(|source| self.number_of(source));
            self.instance.good(number, write);
        }
    }

    /// What is before a member in program order, and which stores are flushed before it.
    fn add_order(&mut self, run: &Run, graph: &Graph, number: usize) {
        let member = reader(run, graph, self.members[number].who);
        for &pred in member.preds {
            self.instance.edge(self.number_of(OpRef::Event(pred as usize)), number);
        }
        for &store in &*member.fenced {
            self.instance.fence(self.number_of(OpRef::Event(store as usize)), number);
        }
    }

    fn number_of(&self, who: OpRef) -> usize {
        let number = match who {
            OpRef::Event(at) => Some(self.numbers[at]).filter(|&number| number != u32::MAX).map(|n| n as usize),
            OpRef::Waiting(_) => self.members.iter().position(|member| member.who == who),
        };
        number.expect("this is a bug in rsmc: the new sequence is not closed under program order and reads-from")
    }
}

/// Adds the step of an actor; if that is a store that waits in a buffer, it leaves it at once.
#[inline]
fn note_step(found: &mut Vec<Numbered>, step: Numbered, run: &Run, who: usize, steps: &mut Steps) {
    found.push(step);
    if let Some(event) = run.trace.events.get(who).filter(|event| event.buffered) {
        found.push(steps.number(&Forced::flush(event.id)));
    }
}
