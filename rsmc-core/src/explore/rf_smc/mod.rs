//! RF-SMC: one execution per reads-from class.
//!
//! Problem. Run every maximal execution of a program once up to reads-from equivalence: two executions are alike if
//! they have the same events and every read, update and lock acquire takes its value from the same write.
//!
//! Algorithm. A run follows a sequence `τ` of events that is known to be possible and extends it to the end. Every read
//! of the run that is not *marked* is a decision. A *revisit* of a decision lets its event read from another write: the
//! new sequence has the events before the decision, the read with its new source, and the causal past of that source,
//! whose reads become marked. If the new sequence has a *witness*, an execution with these sources, it is a pending
//! *schedule* of the decision, once per distinct set of (event, source) pairs. Schedules are run depth first, those of
//! the deepest decision first. A decision is dropped when none of its schedules is pending.
//!
//! Example. `t1: x = 1; a = y` beside `t2: y = 1; b = x` under SC; `Wx` is the write of `x`, `Ry<0` the read of `y`
//! that takes the initial value.
//!
//! ```text
//! run 1   τ = Wx Wy Ry<0 Rx<Wx    a = 0, b = 1    decisions Ry, Rx
//!   Rx: revisit Rx<0    new sequence Wx Wy Ry<0 Rx<0     no witness: Wx, Ry, Wy, Rx, Wx is a cycle
//!   Ry: revisit Ry<Wy   new sequence Wx Wy Ry<Wy         witness Wx Wy Ry; pending at Ry
//! run 2   τ = Wx Wy Ry<Wy Rx<Wx   a = 1, b = 1    decisions Ry, Rx
//!   Rx: revisit Rx<0    new sequence Wx Wy Ry<Wy Rx<0    witness Wy Rx Wx Ry; pending at Rx
//! run 3   τ = Wx Wy Ry<Wy Rx<0    a = 1, b = 0    decisions Ry, Rx
//!   Rx: seen {Rx<Wx}, {Rx<0}: nothing new. Ry: seen {Ry<0}, {Ry<Wy}: nothing new. The end: three classes, three runs.
//! ```
//!
//! Files. `revisit` finds revisits, `sequence` builds the new sequence, `frame` knows where `τ` is in the run,
//! `witness_finder` finds a witness (`splice`, then [`near_sc`](crate::consistency::near_sc), then the verifier, which
//! `question` asks), `discover` puts that together, and `decision`, `suspended` and `tree` keep what is pending.
//!
//! Cost. One run per class, plus per run a look at every decision, and one question for every new revisit that the
//! causal order does not rule out. `splice` and `near_sc` answer most questions, in time linear in the run's events;
//! the verifier of the memory model answers the rest. A decision that the run shares with its parent is asked only
//! about what is new (`delta`), and in a long run only about the writes that are between what is before it and what is
//! after its event (`graph::columns`). Memory: the sets and schedules along one path; see (9).
//!
//! Source. Toman, "Improved Verification Techniques for Concurrent Systems" (thesis, ISTA 2021), algorithm 5.3 and
//! remark 5.1, after Abdulla, Atig, Jonsson, Lång, Ngo, Sagonas, "Optimal stateless model checking for reads-from
//! equivalence under sequential consistency", OOPSLA 2019.
//!
//! Deviations, each needed for programs with updates and locks (`revisit` has them in this order).
//! (1) *Which revisits.* At every unmarked decision every conflicting write and the initial value is considered,
//! not only the writes of the extension: a write whose causal past has changed is a new source. The set of a
//! decision starts with what the event does in the run in which it first appears.
//! (2) *Updates.* An update `e` and an update `f` that reads from it are reversed together; likewise a
//! compare-exchange `f` that failed on `e`'s value and would succeed on the value before. Success and written value
//! of both are computed anew.
//! (3) *Locks.* The decision at an acquire is which acquire takes this release: the next owner is tried in its
//! place, or every waiting thread if the lock is still held at the end. So every deadlock is found. An attempt
//! (`try_lock`) is a compare-exchange on the chain: its decision is its source, and where it took the lock, (2)
//! reverses it with the next owner, or with a thread that waits for it.
//! (4) `τ` is no execution order: a revisited read stands before the causal past of its new source. A witness is.
//! (5) The recursion is a stack, and a call's sequence is the path in it.
//!
//! (6) *Waiting loops* (`wait`). A revisit that completes an iteration which changes nothing is refused. Where another
//! write may come in between, the decision has one more answer instead: the thread stays where it is. Its part of the
//! tree is explored with the thread frozen, to discover what the thread could read later, and whether it can wait for
//! ever. A failure without cause that completes an iteration is refused only: the operation has other answers.
//!
//! (7) *Alternatives.* A decision at an operation that has alternatives (a choice, the failure of a weak
//! compare-exchange) has the sources of each of them as answers, and its set tells them apart. A sequence with more
//! spurious outcomes than allowed is not possible; the sequences through which RF-SMC reaches a class are parts of that
//! class, so none is missed.
//!
//! (8) *What comes last.* `τ` need not be in the order in which events happened, only causally closed at every place.
//! So what a run adds to it is added in the order of the run but for reads on which no write depends: they come after
//! all else, where every write stands before them and an answer is a source and no more. Where they happened first, a
//! decision would have an answer for every past of every later write, all of which are found, and kept, before the
//! first of them is run: 220 MB instead of less than one in the first million executions of `fib_bench(7)`.
//!
//! (9) *Bounded sets* (`budget`). A decision can have as many names and pending schedules as a part of the tree has
//! runs. A set that has become too large takes no more names of schedules that have a *canonical parent*: one run of
//! the tree that finds them, known without a set (`canonical_parent`). Such a schedule is explored at once
//! (`suspended`). Canonical parents from the start, at every decision that can have them, would need no budget; they
//! cost 17 % more instructions in `readinc(5)`, since every run is asked about all of its writes and not only about the
//! new ones.
//!
//! (10) *Parts that are not explored* (`NoteKind::Explore`). A read in such a part of a run is no decision.
//!
//! (11) *Bounded preemptions* (`bound`). Schedules that need too many preemptions are left out, or set aside until the
//! bound has risen (`aside`). Then not every class is run.
//!
//! Under TSO and PSO `τ` has the events only, at the moment at which a store enters its buffer; witnesses and plans
//! say when it leaves. Only the rules that exclude a revisit differ (`graph`).
//!
//! Guarantees. Sound, complete and optimal for loads, stores, updates, compare-exchanges, locks, try-locks, park,
//! spawn and join; compared with [`super::Exhaustive`] on thousands of programs. For loops
//! that only wait (`trace::spin`) sound and complete, but not optimal: runs with a frozen thread, and runs that
//! turn out to repeat an iteration (whose thread then stops), are counted as blocked.

mod aside;
mod bound;
mod budget;
mod c11_witness;
mod canonical_parent;
mod checkpoint;
mod decision;
mod delta;
mod discover;
mod divide;
mod entry;
mod estimate;
mod frame;
mod graph;
mod lineage;
mod outdated;
mod preview;
mod question;
mod revisit;
mod run_steps;
mod schedule;
mod seen;
mod sequence;
mod sound;
mod splice;
mod steps;
mod subtree;
mod suspended;
mod tau;
mod tree;
mod wait;
mod witness;
mod witness_finder;

pub use checkpoint::Checkpoint;
pub use estimate::Estimate;
pub use schedule::Branch;
pub use sound::MOST_COUNTED;
pub use subtree::{Found, Subtree};
pub use tree::{SavedTree, Ticket, Tree};

use std::time::Duration;

use crate::base::Digest;
use crate::consistency::Instance;
use crate::explore::PreemptionBound;
use crate::explore::rf_smc::bound::Bound;
use crate::explore::rf_smc::budget::MemoryBudget;
use crate::explore::rf_smc::canonical_parent::has_canonical_parents;
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::frame::Frame;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{Question, RevisitFinder};
use crate::explore::rf_smc::schedule::Chosen;
use crate::explore::rf_smc::seen::Seen;
use crate::explore::rf_smc::suspended::Suspended;
use crate::explore::rf_smc::tau::{Entry, NamedEntry};
use crate::explore::rf_smc::wait::Waits;
use crate::explore::rf_smc::witness::Witness;
use crate::explore::rf_smc::witness_finder::WitnessFinder;
use crate::model::MemoryModel;
use crate::step::{End, Explorer, Plan, Purpose, Route, Run};
use crate::trace::Event;

/// The number of questions to the verifier, and their cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// The number of new sequences.
    pub questions: u64,
    /// The number of those that have no witness.
    pub refused: u64,
    /// The time that the answers took, if it was to be measured.
    pub verifying: Option<Duration>,
}

/// The explorer; see the module.
#[derive(Default)]
pub struct RfSmc {
    tau: Vec<NamedEntry>,
    decisions: Vec<Decision>,
    started: bool,
    /// The number of runs that were observed, livelocks apart.
    runs: u64,
    graph: Graph,
    frame: Frame,
    finder: WitnessFinder,
    revisits: RevisitFinder,
    waits: Waits,
    purpose: Purpose,
    /// In a subtree: the number of inherited decisions. No schedule is taken from these but those that came with the
    /// last of them.
    inherited: usize,
    /// The schedule of the last plan.
    current: Chosen,
    budget: MemoryBudget,
    bound: Bound,
    suspended: Suspended,
}

impl RfSmc {
    /// An exploration under a memory model that has not started.
    pub fn new(model: MemoryModel) -> Self {
        let (graph, finder, waits) = (Graph::new(model), WitnessFinder::new(model), Waits::new(model));
        Self { graph, finder, waits, ..Self::default() }
    }

    /// An exploration with about `bytes` bytes for the sets of decisions: see deviation (9). The classes do not depend
    /// on it.
    pub fn with_memory_budget(mut self, bytes: usize) -> Self {
        self.budget.bound = bytes;
        self
    }

    /// An exploration of the classes that have an execution within a bound of preemptions, and of some others.
    pub fn with_preemption_bound(mut self, bound: Option<PreemptionBound>) -> Self {
        let Some(bound) = bound else { return self };
        self.bound.most = Some(if let PreemptionBound::AtMost(most) = bound { most } else { 0 });
        self.bound.rises = bound == PreemptionBound::Rising;
        self.budget.bound = usize::MAX;
        self
    }

    /// An exploration of the classes that have an execution with at most so many delays, and of some others.
    pub fn with_delay_bound(mut self, most: Option<u32>) -> Self {
        if most.is_some() {
            self.bound.delays = most;
            self.bound.most.get_or_insert(bound::NONE);
            self.budget.bound = usize::MAX;
        }
        self
    }

    /// Shows every question that is put to the verifier, and whether the answer was yes, to `observe`.
    pub fn on_question(&mut self, observe: impl FnMut(&Instance, bool) + 'static) {
        self.finder.question.observe = Some(Box::new(observe));
    }

    /// Asks the verifier also the questions that are answered without it, and shows both answers to `compare`, the
    /// quick one first.
    pub fn on_quick_answer(&mut self, compare: impl FnMut(bool, bool) + 'static) {
        self.finder.compare = Some(Box::new(compare));
    }

    /// Measures the time that the verifier takes, which costs some time itself.
    pub fn measure_verifier(mut self) -> Self {
        self.finder.effort.verifying = Some(Duration::ZERO);
        self
    }

    /// The questions so far, and their cost.
    pub fn effort(&self) -> Effort {
        self.finder.effort
    }

    /// The number of decisions on the path.
    pub fn depth(&self) -> usize {
        self.decisions.len()
    }

    /// Finds the entries of `τ` in the run, names those that have happened for the first time in their places, and
    /// notes which are new.
    fn find_entries(&mut self, run: &Run) {
        self.frame.begin(run);
        self.finder.steps.begin();
        let since = self.decisions.last().map_or(0, |decision| decision.at);
        for (place, entry) in self.tau.iter_mut().enumerate() {
            let at = run.trace.position(entry.entry.id).expect("every event of τ is in the run");
            if place >= since {
                let event = &run.trace.events[at];
                entry.key = entry::key_of(&run.trace, event);
                if entry.entry.is_new {
                    self.frame.delta.add(at, event);
                }
            }
            self.frame.place(run, at, entry);
        }
    }

    /// Extends `τ` by what the run did after it, and makes its reads decisions; those that no write needs come last
    /// (deviation (8)).
    fn extend(&mut self, run: &Run) {
        let events = &run.trace.events;
        let first = self.tau.len();
        let unexplored = run.trace.unexplored();
        let is_explored = |at: &usize| !unexplored.iter().any(|part| part.contains(at));
        let mut needed = std::mem::take(&mut self.frame.needed);
        needed.reset(events.len());
        let writes = (first..events.len()).filter(|&at| events[at].written.is_some());
        writes.for_each(|write| self.graph.add_past(write, &mut needed));
        for is_needed in [true, false] {
            for at in (first..events.len()).filter(|&at| needed.contains(at) == is_needed) {
                let event = &events[at];
                let key = entry::key_of(&run.trace, event);
                if let Some(question) = Question::of(event).filter(|_| is_explored(&at)) {
                    let mut decision = Decision::new(self.tau.len(), event.id, question, Seen::one(key));
                    self.budget.note_name(&mut decision);
                    decision.full = self.budget.has_enough(&decision)
                        && has_canonical_parents(run, &self.graph, self.frame.ahead(), question, at);
                    self.decisions.push(decision);
                }
                let entry = NamedEntry { entry: Entry { id: event.id, is_new: true }, key, marked: false };
                self.frame.delta.add(at, event);
                self.frame.place(run, at, &entry);
                self.tau.push(entry);
            }
        }
        self.frame.needed = needed;
        // A thread that waits in a loop at the end stands at a decision of its own.
        for pending in wait::undecided(run, &self.decisions) {
            let decision = Decision::new(self.tau.len(), pending.id, Question::Source, Seen::default());
            let (stays, contested) = (Some(pending.id), wait::saw_a_change(pending));
            let asked = self.waits.looks.count();
            self.decisions.push(Decision { frozen: true, stays, asked, contested, ..decision });
        }
    }

    /// The next livelock to run. A worker returns those that it finds.
    fn next_livelock(&mut self) -> Option<(Digest, Witness)> {
        if self.inherited > 0 { None } else { self.waits.livelocks.pop() }
    }

    /// The schedule of the next plan.
    fn take_next(&mut self) -> Option<Chosen> {
        if !self.started {
            return Some(Chosen::Nothing);
        }
        let livelock = self.next_livelock().map(|(class, witness)| Chosen::Livelock(class, witness));
        livelock.or_else(|| self.waits.previews.pending.pop().map(Chosen::Preview)).or_else(|| self.advance())
    }

    /// The next schedule, with its decision put into effect.
    fn advance(&mut self) -> Option<Chosen> {
        loop {
            if let Some((number, next)) = self.suspend_path().or_else(|| self.next_on_path()) {
                self.put_into_effect(number, &next);
                return Some(next);
            }
            if !self.resume_path() && !self.take_up() {
                return None;
            }
        }
    }

    /// The next schedule of the decisions below the current child, the deepest first, and the number of its decision.
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
            if self.bound.rises {
                self.leave_last();
            } else {
                self.decisions.pop();
            }
        }
        None
    }

    fn put_into_effect(&mut self, number: usize, next: &Chosen) {
        let decision = &mut self.decisions[number];
        self.tau.truncate(decision.at);
        next.for_each_entry(|entry| self.tau.push(NamedEntry { entry, key: Digest::EMPTY, marked: true }));
        let first = self.tau.get(decision.at).map(|first| first.entry.id);
        decision.lineage.begin(decision.pending(), self.suspended.above() > number);
        decision.frozen = first.is_none();
        decision.id = first.or(decision.stays).unwrap_or(decision.id);
    }
}

/// Whether the run is the only execution: there is one thread, and no operation has alternatives.
fn is_alone(run: &Run) -> bool {
    let chooses = |event: &Event| event.op.action.alternatives() > 1;
    run.trace.present().nth(1).is_none() && !run.trace.events.iter().any(chooses)
}

impl Explorer for RfSmc {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        plan.forced.clear();
        plan.modification.clear();
        plan.frozen.clear();
        plan.names_loops = self.bound.most.is_some();
        plan.leaves_out_retries = true;
        let Some(next) = self.take_next() else {
            self.waits.is_over = true;
            return false;
        };
        (self.current, self.started) = (next, true);
        let schedule = if let Chosen::Schedule(schedule) = &self.current { Some(schedule) } else { None };
        self.finder.steps.force(schedule, plan);
        match &self.current {
            Chosen::Nothing | Chosen::Schedule(_) => {}
            Chosen::Branch(branch) => branch.route.force(plan),
            Chosen::Livelock(_, witness) => {
                witness.force(plan);
                self.purpose = Purpose::Livelock;
                plan.purpose = self.purpose;
                return true;
            }
            Chosen::Preview(preview) => {
                preview.witness.force(plan);
                plan.purpose = Purpose::Discovery;
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
            Chosen::Preview(preview) => self.waits.previews.pending.push(preview),
            Chosen::Livelock(class, witness) => self.waits.livelocks.push((class, witness)),
            taken => {
                let bug = "this is a bug in rsmc: what was taken has no decision";
                self.decisions.last_mut().expect(bug).lineage.retract();
                let taken = self.retract_child(taken);
                let decision = self.decisions.last_mut().expect(bug);
                match taken {
                    Some(Chosen::Schedule(schedule)) => self.budget.add(decision, schedule),
                    Some(Chosen::Branch(branch)) => self.budget.add_branch(decision, branch),
                    _ => {}
                }
            }
        }
    }

    fn route(&self) -> Option<&Route> {
        if let Chosen::Branch(branch) = &self.current { Some(&branch.route) } else { None }
    }

    fn starts_over(&mut self) -> bool {
        self.waits.looks.are_late() && self.start_over()
    }

    fn misplaced(&self, run: &Run) -> Option<usize> {
        self.misplaced_in(run)
    }

    fn observe(&mut self, run: &Run) {
        if matches!(run.end, End::Diverged { .. }) {
            return; // The run differs from the plan, so nothing follows from it. It may repeat an iteration, though.
        }
        if let Chosen::Preview(preview) = &mut self.current {
            let preview = std::mem::take(preview);
            self.observe_preview(run, preview);
            return;
        }
        self.waits.learn(run);
        if run.repeated.is_some() && self.purpose != Purpose::Livelock {
            self.observe_wait(run);
            self.runs += u64::from(!run.is_maximal());
        }
        if run.is_maximal() && self.purpose != Purpose::Livelock {
            self.runs += 1;
            if is_alone(run) {
                return; // There is nothing to decide, however long it runs.
            }
            let known = self.decisions.len();
            self.graph.compute(run);
            self.waits.begin(run);
            self.bound.begin(run);
            self.find_entries(run);
            self.extend(run);
            self.discover(run, known);
            if !run.waiting.is_empty() && (run.has_waits() || self.purpose == Purpose::Discovery) {
                self.waits.look_for_livelock(run, &self.graph);
            }
        }
    }
}
