//! RF-SMC: one execution per reads-from class.
//!
//! Problem. Run every maximal execution of a program once up to reads-from equivalence: two executions are alike if
//! they have the same events and every read, update and lock acquire takes its value from the same write.
//!
//! Algorithm. A run follows a sequence `τ` of events that is known to be possible and extends it to the end. Every
//! read of the run that is not *marked* is a decision: for each other write that it could read from, a new sequence
//! is built from the events before it, the read with its new source, and the causal past of that source (whose
//! reads become marked). If VerifySC finds an execution of the new sequence, it is kept as a *schedule* with the
//! decision, once per distinct set of (event, source) pairs. Schedules are run depth first, the deepest decision
//! first; a decision dies with the prefix it stands behind.
//!
//! Cost. One run per class, plus per run one VerifySC for every new mutation that a look at the causal order does
//! not rule out. Memory: the schedules along one path.
//!
//! Source. Toman, "Efficient stateless model checking", thesis 2021, algorithm 5.3 and remark 5.1, after Abdulla,
//! Atig, Jonsson, Lång, Ngo, Sagonas, "Optimal stateless model checking for reads-from equivalence under sequential
//! consistency", OOPSLA 2019.
//!
//! Deviations, each needed for programs with updates and locks (`mutate` has them in this order).
//! (1) *Which mutations.* At every unmarked decision every conflicting write and the initial value is considered,
//! not only the writes of the extension: a write whose causal past has changed is a new source. The set of a
//! decision is seeded with what the event does in the run in which it first appears.
//! (2) *Updates.* An update `e` and an update `f` that reads from it are reversed together; likewise a
//! compare-exchange `f` that failed on `e`'s value and would succeed on the value before. Success and written value
//! of both are computed anew.
//! (3) *Locks.* The decision at an acquire is which acquire takes this release: the next holder is tried in its
//! place, or every waiting thread if the lock is still held at the end. So every deadlock is found. An attempt
//! (`try_lock`) is a compare-exchange on the chain: its decision is its source, and where it took the lock, (2)
//! reverses it with the next holder, or with who waits for it.
//! (4) `τ` is no execution order: a mutated read stands before the causal past of its new source. A witness is.
//! (5) The recursion is a stack, and a call's sequence is the path in it.
//!
//! Guarantees. Sound, complete and optimal for loads, stores, updates, compare-exchanges, locks, try-locks, park,
//! spawn and join; compared with [`super::Exhaustive`] on thousands of programs. A loop that only waits (`trace::spin`)
//! is explored up to repeated iterations: a mutation that completes one is refused (`spin`). One that only begins to
//! repeat may turn out to do so in the run; such a run counts as blocked, and nothing behind its repetition is a
//! decision.

mod graph;
mod mutate;
mod schedule;
mod spin;

use rustc_hash::FxHashSet;

use crate::base::{Digest, EventId};
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::mutate::{Mutation, Question};
use crate::explore::rf_smc::schedule::{Builder, Schedule};
use crate::step::{Explorer, Plan, Run};

/// An event of `τ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    id: EventId,
    /// It was retained as the causal past of a mutation, and is no decision.
    marked: bool,
}

/// A decision: the event at place `at` of `τ`, what was tried there, and what is left to try.
#[derive(Debug)]
struct Decision {
    at: usize,
    question: Question,
    tried: FxHashSet<Digest>,
    left: Vec<Schedule>,
}

/// The explorer; see the module.
#[derive(Debug, Default)]
pub struct RfSmc {
    tau: Vec<Entry>,
    decisions: Vec<Decision>,
    started: bool,
    graph: Graph,
    builder: Builder,
    mutations: Vec<Mutation>,
}

impl RfSmc {
    /// An exploration that has not started.
    pub fn new() -> Self {
        Self::default()
    }

    /// Extends `τ` by what the run did after it, and makes its reads decisions. What comes after a repeated iteration
    /// of a waiting loop decides nothing: no class has such a beginning.
    fn extend(&mut self, run: &Run) {
        let meaningful = run.repeated.unwrap_or(u32::MAX) as usize;
        for event in &run.trace.events[self.tau.len()..] {
            if let Some(question) = Question::of(event).filter(|_| self.tau.len() < meaningful) {
                let tried = FxHashSet::from_iter([schedule::key_of(&run.trace, event)]);
                self.decisions.push(Decision { at: self.tau.len(), question, tried, left: Vec::new() });
            }
            self.tau.push(Entry { id: event.id, marked: false });
        }
    }

    /// Adds to every decision the schedules that this run shows to be possible.
    fn propose(&mut self, run: &Run) {
        self.graph.compute(run, &self.tau);
        for decision in &mut self.decisions {
            self.mutations.clear();
            let id = self.tau[decision.at].id;
            mutate::mutations(run, &self.graph, decision.question, id, &mut self.mutations);
            for mutation in self.mutations.iter().filter(|mutation| !spin::repeats(run, mutation)) {
                self.builder.retain(run, &self.graph, &self.tau, decision.at, mutation);
                if decision.tried.insert(self.builder.key(run)) {
                    let schedule = self.builder.schedule(run, &self.graph, &self.tau[..decision.at]);
                    decision.left.extend(schedule);
                }
            }
        }
    }
}

impl Explorer for RfSmc {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        if !self.started {
            self.started = true;
            plan.forced.clear();
            return true;
        }
        while let Some(decision) = self.decisions.last_mut() {
            if let Some(schedule) = decision.left.pop() {
                self.tau.truncate(decision.at);
                self.tau.extend_from_slice(&schedule.suffix);
                plan.forced.clear();
                plan.forced.extend_from_slice(&schedule.witness);
                return true;
            }
            self.decisions.pop();
        }
        false
    }

    fn observe(&mut self, run: &Run) {
        if run.is_maximal() {
            self.extend(run);
            self.propose(run);
        }
    }
}
