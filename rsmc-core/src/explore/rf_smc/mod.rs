//! RF-SMC: one execution per reads-from class.
//!
//! Problem. Run every maximal execution of a program once up to reads-from equivalence: two executions are alike if
//! they have the same events and every read, update and lock acquire takes its value from the same write.
//!
//! Algorithm. A run follows a sequence `τ` of events that is known to be possible and extends it to the end. Every
//! read of the run that is not *marked* is a decision: for each other write that it could read from, a new sequence
//! is built from the events before it, the read with its new source, and the causal past of that source (whose reads
//! become marked). If the verifier of the memory model finds an execution of the new sequence, it is kept as a
//! *schedule* with the decision, once per distinct set of (event, source) pairs. Schedules are run depth first, the
//! deepest decision first; a decision dies with the prefix it stands behind.
//!
//! Cost. One run per class, plus per run a look at every decision, and one question for every new revisit that the causal
//! order does not rule out. Most questions are answered by following the run (`follow`), in time linear in its events; the
//! verifier of the memory model answers the rest. A decision that the run shares with the one from which it was made is
//! asked only about what is new (`delta`). Memory: the sets and schedules along one path; see (9).
//!
//! Source. Toman, "Improved Verification Techniques for Concurrent Systems" (thesis, ISTA 2021), algorithm 5.3 and remark
//! 5.1, after Abdulla, Atig, Jonsson, Lång, Ngo, Sagonas, "Optimal stateless model checking for reads-from equivalence
//! under sequential consistency", OOPSLA 2019.
//!
//! Deviations, each needed for programs with updates and locks (`revisit` has them in this order).
//! (1) *Which revisits.* At every unmarked decision every conflicting write and the initial value is considered,
//! not only the writes of the extension: a write whose causal past has changed is a new source. The set of a
//! decision is seeded with what the event does in the run in which it first appears.
//! (2) *Updates.* An update `e` and an update `f` that reads from it are reversed together; likewise a
//! compare-exchange `f` that failed on `e`'s value and would succeed on the value before. Success and written value
//! of both are computed anew.
//! (3) *Locks.* The decision at an acquire is which acquire takes this release: the next holder is seen in its
//! place, or every waiting thread if the lock is still held at the end. So every deadlock is found. An attempt
//! (`try_lock`) is a compare-exchange on the chain: its decision is its source, and where it took the lock, (2)
//! reverses it with the next holder, or with who waits for it.
//! (4) `τ` is no execution order: a revisited read stands before the causal past of its new source. A witness is.
//! (5) The recursion is a stack, and a call's sequence is the path in it.
//!
//! (6) *Waiting loops* (`wait`). A revisit that completes an iteration which changes nothing is refused. Where another write
//! may come in between, the decision has one more answer instead: the thread stays where it is. Its part of the tree is
//! explored with the thread frozen, to discover what the thread could read later, and whether it can wait for ever.
//!
//! (7) *Alternatives.* A decision at an operation that has alternatives (a choice, the failure of a weak compare-exchange)
//! has the sources of each of them as answers, which are told apart in its set. A sequence with more outcomes without
//! cause than there may be is not possible; what RF-SMC goes through on its way to a class is part of that class, so none
//! is missed.
//!
//! (8) *What comes last.* `τ` need not be in the order in which things happened, only causally closed at every place. So what
//! a run adds to it is added in the order of the run but for reads on which no write depends: they come after all else, where
//! every write stands before them and an answer is a source and no more. Where they happened first, a decision would
//! have an answer for every past of every later write, all of which are found, and kept, before the first of them is run:
//! 220 MB instead of less than one in the first million executions of `fib_bench(7)`.
//!
//! (9) *Bounded sets* (`budget`). The set of a decision, and the schedules that are left there, can be as many as a part of the
//! tree has runs. A set that has become too large takes no more names of schedules that one run alone proposes (`canonical_parent`).
//! These need no names, and are explored at once (`suspended`).
//!
//! Under TSO and PSO `τ` has the events only, at the moment at which a store enters its buffer; witnesses and plans
//! say when it leaves. Nothing else differs but what rules out a revisit (`graph`).
//!
//! Guarantees. Sound, complete and optimal for loads, stores, updates, compare-exchanges, locks, try-locks, park,
//! spawn and join; compared with [`super::Exhaustive`] on thousands of programs. For loops
//! that only wait (`trace::spin`) sound and complete, but not optimal: runs with a frozen thread, and runs that
//! turn out to repeat an iteration (whose thread then stops), are counted as blocked.

mod budget;
mod c11_witness;
mod canonical_parent;
mod checkpoint;
mod delta;
mod discover;
mod entry;
mod estimate;
mod graph;
mod revisit;
mod schedule;
mod seen;
mod sound;
mod splice;
mod steps;
mod subtree;
mod suspended;
mod tree;
mod wait;

pub use checkpoint::Checkpoint;
pub use estimate::Estimate;
pub use sound::MOST_COUNTED;
pub use subtree::{Branch, Found, Subtree};
pub use tree::{SavedTree, Ticket, Tree};

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::{BitSet, Digest, EventId};
use crate::consistency::Instance;
use crate::explore::rf_smc::budget::MemoryBudget;
use crate::explore::rf_smc::canonical_parent::{CanonicalParent, has_canonical_parents};
use crate::explore::rf_smc::delta::Delta;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{Question, RevisitFinder};
use crate::explore::rf_smc::schedule::{Builder, Schedule, Witness};
use crate::explore::rf_smc::seen::Seen;
use crate::explore::rf_smc::steps::Steps;
use crate::explore::rf_smc::suspended::Suspended;
use crate::explore::rf_smc::wait::Waits;
use crate::model::MemoryModel;
use crate::step::{End, Explorer, Plan, Purpose, Route, Run};
use crate::trace::Event;

/// An event of a new sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    id: EventId,
    /// It is in no run before the one for which it came into `τ`, or read something else in them.
    is_new: bool,
}

/// An event of `τ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NamedEntry {
    entry: Entry,
    /// The name of it and its source; nothing until the event has happened.
    key: Digest,
}

/// A decision: the event at place `at` of `τ`, what was seen there, and what is left to try.
#[derive(Debug)]
struct Decision {
    at: usize,
    /// Who stands there, or would stand there if it were not frozen.
    id: EventId,
    question: Question,
    /// The current answer is that the thread stays in its waiting loop: nobody stands there.
    frozen: bool,
    /// Who stays where it is, if that answer was given or is left to try.
    stays: Option<EventId>,
    seen: Seen,
    pending: Vec<Schedule>,
    /// What is left after that: another process planned it.
    received: Vec<Branch>,
    /// In some run, what it read may have been overwritten while it stood there: see `wait`.
    contested: bool,
    /// How many schedules were taken; the last of them is being explored.
    explored: u32,
    /// Its set is large enough: it takes no name of a schedule that has a canonical parent.
    full: bool,
    /// What its set and the schedules that are left take in memory, in bytes, roughly.
    bytes: usize,
}

impl Decision {
    fn new(at: usize, id: EventId, question: Question, seen: Seen) -> Self {
        let (pending, received) = (Vec::new(), Vec::new());
        Self {
            at,
            id,
            question,
            frozen: false,
            stays: None,
            seen,
            pending,
            received,
            contested: false,
            explored: 0,
            full: false,
            bytes: 0,
        }
    }
}

/// How much was asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// How many sequences the verifier of the memory model was asked about.
    pub questions: u64,
    /// How many of them are not possible.
    pub refused: u64,
    /// How long that took, if it was to be measured.
    pub verifying: Option<Duration>,
}

/// The explorer; see the module.
#[derive(Default)]
pub struct RfSmc {
    tau: Vec<NamedEntry>,
    decisions: Vec<Decision>,
    started: bool,
    /// How many runs were observed, livelocks apart.
    runs: u64,
    graph: Graph,
    builder: Builder,
    revisits: RevisitFinder,
    delta: Delta,
    /// By event: whether a write that is behind `τ` depends on it.
    matters: BitSet,
    waits: Waits,
    purpose: Purpose,
    /// In a subtree: how many of the decisions belong to who gave it away. Nothing is taken from these but what was given
    /// with the last of them.
    inherited: usize,
    /// What the plan that was given last is.
    current: Chosen,
    budget: MemoryBudget,
    canonical_parent: CanonicalParent,
    suspended: Suspended,
}

/// What a plan is made from.
#[derive(Debug, Default)]
enum Chosen {
    /// Nothing: the first plan.
    #[default]
    Nothing,
    Schedule(Schedule),
    Branch(Branch),
    Livelock(Digest, Witness),
}

impl Chosen {
    /// Visits the events from the decision's place on.
    fn for_each_entry(&self, mut visit: impl FnMut(Entry)) {
        match self {
            Chosen::Schedule(schedule) => schedule.packed.for_each_entry(visit),
            Chosen::Branch(branch) => branch.suffix.iter().for_each(|&entry| visit(entry)),
            Chosen::Nothing | Chosen::Livelock(..) => {}
        }
    }

    /// The same as data, if it is a schedule.
    fn branch(&self, steps: &Steps) -> Option<Branch> {
        match self {
            Chosen::Schedule(schedule) => Some(Branch::of(schedule, steps)),
            Chosen::Branch(branch) => Some(branch.clone()),
            Chosen::Nothing | Chosen::Livelock(..) => None,
        }
    }

    /// The name of these events and their sources.
    fn key(&self) -> Digest {
        match self {
            Chosen::Schedule(schedule) => schedule.key,
            Chosen::Branch(branch) => branch.key,
            Chosen::Nothing | Chosen::Livelock(..) => Digest::EMPTY,
        }
    }
}

impl RfSmc {
    /// An exploration under a memory model that has not started.
    pub fn new(model: MemoryModel) -> Self {
        let (graph, builder, waits) = (Graph::new(model), Builder::new(model), Waits::new(model));
        Self { graph, builder, waits, ..Self::default() }
    }

    /// The same with about so many bytes for the sets of decisions: see deviation (9). The classes are the same.
    pub fn with_memory_budget(mut self, bytes: usize) -> Self {
        self.budget.bound = bytes;
        self
    }

    /// Shows every question that is put to the verifier, and whether the answer was yes, to `observe`.
    pub fn on_question(&mut self, observe: impl FnMut(&Instance, bool) + 'static) {
        self.builder.observe = Some(Box::new(observe));
    }

    /// Puts to the verifier also what is answered without it, and shows both answers to `compare`, the quick one first.
    pub fn on_quick_answer(&mut self, compare: impl FnMut(bool, bool) + 'static) {
        self.builder.compare = Some(Box::new(compare));
    }

    /// Measures how much time the verifier takes, which costs some.
    pub fn measure_verifier(mut self) -> Self {
        self.builder.effort.verifying = Some(Duration::ZERO);
        self
    }

    /// What was asked so far.
    pub fn effort(&self) -> Effort {
        self.builder.effort
    }

    /// The number of decisions on the path.
    pub fn depth(&self) -> usize {
        self.decisions.len()
    }

    /// Finds the events of `τ` in the run, names those that have happened for the first time in their places, and notes
    /// what is new.
    fn find_placed(&mut self, run: &Run) {
        self.builder.begin(run);
        self.delta.begin(run);
        let since = self.decisions.last().map_or(0, |decision| decision.at);
        let mut sum = Digest::EMPTY;
        for (place, entry) in self.tau.iter_mut().enumerate() {
            let at = run.trace.position(entry.entry.id).expect("every event of τ is in the run");
            if place >= since {
                let event = &run.trace.events[at];
                entry.key = entry::key_of(&run.trace, event);
                sum = sum.with(entry.key);
                if entry.entry.is_new {
                    self.delta.add(at, event);
                }
            }
            self.builder.place(run, at, entry);
        }
        debug_assert_eq!(sum, self.current.key(), "a run reads what its schedule says");
    }

    /// Extends `τ` by what the run did after it, and makes its reads decisions; those on which nothing depends that is
    /// written come last (deviation (8)).
    fn extend(&mut self, run: &Run) {
        let events = &run.trace.events;
        let first = self.tau.len();
        self.matters.reset(events.len());
        let writes = (first..events.len()).filter(|&at| events[at].written.is_some());
        writes.for_each(|write| self.graph.add_past(write, &mut self.matters));
        for matters in [true, false] {
            for at in (first..events.len()).filter(|&at| self.matters.contains(at) == matters) {
                let event = &events[at];
                let key = entry::key_of(&run.trace, event);
                if let Some(question) = Question::of(event) {
                    let mut decision = Decision::new(self.tau.len(), event.id, question, Seen::one(key));
                    self.budget.note_name(&mut decision);
                    decision.full = self.budget.is_short(&decision)
                        && has_canonical_parents(run, &self.graph, self.builder.ahead(), question, at);
                    self.decisions.push(decision);
                }
                let entry = NamedEntry { entry: Entry { id: event.id, is_new: true }, key };
                self.delta.add(at, event);
                self.builder.place(run, at, &entry);
                self.tau.push(entry);
            }
        }
        // A thread that waits in a loop at the end has not decided anything else.
        for pending in wait::undecided(run, &self.decisions) {
            let decision = Decision::new(self.tau.len(), pending.id, Question::Source, Seen::default());
            let (stays, contested) = (Some(pending.id), wait::saw_a_change(pending));
            self.decisions.push(Decision { frozen: true, stays, contested, ..decision });
        }
    }

    /// The next livelock to run. Who gave a subtree away runs those that are found in it.
    fn next_livelock(&mut self) -> Option<(Digest, Witness)> {
        if self.inherited > 0 { None } else { self.waits.livelocks.pop() }
    }

    /// What the next plan is made from.
    fn take_next(&mut self) -> Option<Chosen> {
        if !self.started {
            return Some(Chosen::Nothing);
        }
        let livelock = self.next_livelock().map(|(class, witness)| Chosen::Livelock(class, witness));
        livelock.or_else(|| self.advance())
    }

    /// The next schedule, with its decision put into effect.
    fn advance(&mut self) -> Option<Chosen> {
        loop {
            if let Some((number, next)) = self.suspend_path().or_else(|| self.next_on_path()) {
                self.put_into_effect(number, &next);
                return Some(next);
            }
            if !self.resume_path() {
                return None;
            }
        }
    }

    /// The next schedule of the decisions below what is being explored, the deepest first, and its decision.
    fn next_on_path(&mut self) -> Option<(usize, Chosen)> {
        let above = self.suspended.above();
        while let Some(number) = self.decisions.len().checked_sub(1).filter(|&number| number >= above) {
            let decision = &mut self.decisions[number];
            let is_own = number >= self.inherited;
            let planned = if is_own { decision.pending.pop() } else { None };
            if let Some(schedule) = planned {
                self.budget.give_back(decision, schedule.size());
                return Some((number, Chosen::Schedule(schedule)));
            }
            if let Some(branch) = decision.received.pop() {
                self.budget.give_back(decision, branch.size());
                return Some((number, Chosen::Branch(branch)));
            }
            if !is_own {
                break;
            }
            self.budget.give_back(decision, decision.bytes);
            self.decisions.pop();
        }
        None
    }

    fn put_into_effect(&mut self, number: usize, next: &Chosen) {
        let decision = &mut self.decisions[number];
        self.tau.truncate(decision.at);
        next.for_each_entry(|entry| self.tau.push(NamedEntry { entry, key: Digest::EMPTY }));
        let first = self.tau.get(decision.at).map(|first| first.entry.id);
        decision.explored += 1;
        decision.frozen = first.is_none();
        decision.id = first.or(decision.stays).unwrap_or(decision.id);
    }
}

/// Whether no other execution is possible: there is one thread, and no operation has alternatives.
fn is_alone(run: &Run) -> bool {
    let chooses = |event: &Event| event.op.action.alternatives() > 1;
    run.trace.present().nth(1).is_none() && !run.trace.events.iter().any(chooses)
}

impl Explorer for RfSmc {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        plan.forced.clear();
        plan.modification.clear();
        plan.frozen.clear();
        let Some(next) = self.take_next() else { return false };
        (self.current, self.started) = (next, true);
        let schedule = if let Chosen::Schedule(schedule) = &self.current { Some(schedule) } else { None };
        self.builder.force(schedule, plan);
        match &self.current {
            Chosen::Nothing | Chosen::Schedule(_) => {}
            Chosen::Branch(branch) => branch.route.force(plan),
            Chosen::Livelock(_, witness) => {
                witness.force(plan);
                self.purpose = Purpose::Livelock;
                plan.purpose = self.purpose;
                return true;
            }
        }
        let frozen = self.decisions.iter().filter(|decision| decision.frozen);
        plan.frozen.extend(frozen.map(|decision| decision.id.thread));
        self.purpose = if plan.frozen.is_empty() { Purpose::Class } else { Purpose::Discovery };
        plan.purpose = self.purpose;
        true
    }

    fn retract(&mut self) {
        match std::mem::take(&mut self.current) {
            Chosen::Nothing => self.started = false,
            Chosen::Livelock(class, witness) => self.waits.livelocks.push((class, witness)),
            taken => {
                let bug = "this is a bug in rsmc: what was taken has no decision";
                self.decisions.last_mut().expect(bug).explored -= 1;
                let taken = self.retract_child(taken);
                let decision = self.decisions.last_mut().expect(bug);
                match taken {
                    Some(Chosen::Schedule(schedule)) => self.budget.leave(decision, schedule),
                    Some(Chosen::Branch(branch)) => self.budget.leave_branch(decision, branch),
                    _ => {}
                }
            }
        }
    }

    fn route(&self) -> Option<&Route> {
        if let Chosen::Branch(branch) = &self.current { Some(&branch.route) } else { None }
    }

    fn misplaced(&self, run: &Run) -> Option<usize> {
        self.misplaced_in(run)
    }

    fn observe(&mut self, run: &Run) {
        if matches!(run.end, End::Diverged { .. }) {
            return; // It is not what the plan says, so nothing follows from it. It may repeat an iteration nevertheless.
        }
        self.waits.learn(run);
        if run.repeated.is_some() && self.purpose != Purpose::Livelock {
            self.runs += 1;
            self.observe_wait(run);
        } else if run.is_maximal() && self.purpose != Purpose::Livelock {
            self.runs += 1;
            if is_alone(run) {
                return; // There is nothing to decide, however long it runs.
            }
            let known = self.decisions.len();
            self.graph.compute(run);
            self.waits.begin(run);
            self.find_placed(run);
            self.extend(run);
            self.discover(run, known);
            if !run.waiting.is_empty() && (run.has_waits || self.purpose == Purpose::Discovery) {
                self.waits.look_for_livelock(run, &self.graph);
            }
        }
    }
}
