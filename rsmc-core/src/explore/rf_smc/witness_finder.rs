//! From a new sequence to a schedule: an execution of it, or none.
//!
//! Method. Three answers, the cheapest first. `splice` inserts the revisited event into the order of the run.
//! [`NearSc`] takes the events in the order of the run where each can happen, and saturates the order where that gets
//! stuck. The verifier of the memory model ([`Question`]) decides the rest.

use std::time::Instant;

use crate::base::EventId;
use crate::consistency::near_sc::{Answer, NearSc, Part};
use crate::explore::rf_smc::Effort;
use crate::explore::rf_smc::canonical_parent::CanonicalParent;
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::frame::Frame;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::question::Question;
use crate::explore::rf_smc::run_steps::RunSteps;
use crate::explore::rf_smc::sequence::NewSequence;
use crate::explore::rf_smc::splice::{Place, Splicer};
use crate::explore::rf_smc::steps::{Numbered, Packed};
use crate::model::MemoryModel;
use crate::step::Run;

/// In a run with more events than this, the order is not saturated where the memory model is not SC: the verifier of
/// graphs, which has to be asked nearly always after that, is much quicker.
const LONG: usize = 128;

/// A callback that gets the answer without the verifier, and the verifier's answer.
type Comparison = Box<dyn FnMut(bool, bool)>;

/// Finds witnesses; keeps its memory from one to the next.
#[derive(Default)]
pub(super) struct WitnessFinder {
    pub(super) compare: Option<Comparison>,
    pub(super) effort: Effort,
    /// The sequence whose witness is looked for.
    pub(super) sequence: NewSequence,
    pub(super) steps: RunSteps,
    pub(super) question: Question,
    /// Finds the run that discovers the sequence, where that is known without a set.
    pub(super) canonical_parent: CanonicalParent,
    splicer: Splicer,
    near_sc: NearSc,
    /// The execution that was found.
    execution: Vec<Numbered>,
}

/// A decision of a run.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    pub(super) run: &'a Run,
    pub(super) frame: &'a Frame,
    pub(super) decision: &'a Decision,
}

impl WitnessFinder {
    pub(super) fn new(model: MemoryModel) -> Self {
        Self { question: Question::new(model), ..Self::default() }
    }

    /// The new sequence from the decision on and an execution of it, packed, if there is one.
    pub(super) fn schedule(&mut self, standing: Standing<'_>, graph: &mut Graph) -> Option<Packed> {
        let Standing { run, frame, decision } = standing;
        if !self.sequence.is_within_bound(run, frame, decision) {
            return None;
        }
        let start = self.effort.verifying.map(|_| Instant::now());
        // With an observer of questions the verifier answers all of them.
        let quick = if self.question.observe.is_none() { self.follow(standing, graph) } else { None };
        if let Some(answer) = quick {
            self.compare(standing, graph, answer);
        }
        let modification = match quick {
            Some(true) => Some(Vec::new()),
            Some(false) => None,
            None => self.ask(standing, graph),
        };
        self.effort.questions += 1;
        self.effort.refused += u64::from(modification.is_none());
        if let (Some(start), Some(verifying)) = (start, &mut self.effort.verifying) {
            *verifying += start.elapsed();
        }
        Some(self.steps.pack(self.sequence.entries(run, frame), &self.execution, &modification?))
    }

    /// Asks the verifier, too, if answers are to be compared.
    fn compare(&mut self, standing: Standing<'_>, graph: &mut Graph, answer: bool) {
        let Standing { run, frame, decision } = standing;
        if let Some(compare) = &mut self.compare {
            let witness = self.question.ask(run, graph, frame.before(decision), self.sequence.suffix(run, frame));
            compare(answer, witness.is_some());
        }
    }

    /// Asks the verifier. Returns the modification order of the execution that it finds.
    fn ask(&mut self, standing: Standing<'_>, graph: &mut Graph) -> Option<Vec<EventId>> {
        let Standing { run, frame, decision } = standing;
        let witness = self.question.ask(run, graph, frame.before(decision), self.sequence.suffix(run, frame))?;
        self.execution.clear();
        self.execution.extend(witness.steps.iter().map(|forced| self.steps.table.number(forced)));
        Some(witness.modification)
    }

    /// Follows the run. Returns whether there is an execution; `None` where that is not known.
    fn follow(&mut self, standing: Standing<'_>, graph: &Graph) -> Option<bool> {
        let Standing { run, frame, decision } = standing;
        self.steps.describe(run);
        self.sequence.find_unchanged(frame, decision);
        self.execution.clear();
        let is_weak = run.trace.events.len() > LONG && graph.model().is_graph() && !graph.is_sc();
        if graph.is_in_order() {
            match self.splice(run, graph) {
                Place::Found => return Some(true),
                Place::Nowhere => return Some(false),
                Place::Unknown if is_weak => return None,
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
            _ if is_weak => self.near_sc.follow_as_is(preds),
            true => self.near_sc.follow_saturated(preds, graph.is_sc()),
            false => self.near_sc.follow(preds, graph.is_sc()),
        };
        match answer {
            Answer::Possible => {
                self.take_order(run);
                Some(true)
            }
            Answer::Impossible => Some(false),
            Answer::Unknown => None,
        }
    }

    /// Inserts the first entry into the order of the run, and takes the execution that is found.
    fn splice(&mut self, run: &Run, graph: &Graph) -> Place {
        let unchanged = self.sequence.unchanged();
        if let Some(first) = &self.sequence.first {
            let place = self.splicer.find(run, graph, unchanged, (first, self.sequence.second.as_ref()));
            if place != Place::Found {
                return place;
            }
        } else {
            self.splicer.clear(run);
        }
        for part in self.splicer.parts() {
            if part == 2 {
                for entry in [self.sequence.second, self.sequence.first].into_iter().flatten() {
                    let step = self.steps.revise(run, &entry);
                    self.execution.push(step);
                }
            }
            self.splicer.for_each_in(part, unchanged, |at| self.steps.repeat(run, at, &mut self.execution));
        }
        Place::Found
    }

    /// Lists the events of the new sequence for [`NearSc`].
    fn list_parts(&mut self, run: &Run) {
        let (events, waiting) = (run.trace.events.len(), run.waiting.len());
        self.near_sc.clear(events, waiting, run.trace.locs.len());
        let (unchanged, revised) = (self.sequence.unchanged(), self.sequence.revised(events));
        for at in 0..events + waiting {
            if unchanged.contains(at) {
                self.near_sc.push(Part::of(at, &run.trace.events[at]));
            } else if let Some(entry) = revised.at(at) {
                self.near_sc.push(entry.part(run));
            }
        }
    }

    /// Takes the execution that [`NearSc`] found.
    fn take_order(&mut self, run: &Run) {
        let revised = self.sequence.revised(run.trace.events.len());
        for &who in self.near_sc.order() {
            let at = who as usize;
            match revised.at(at) {
                Some(entry) => {
                    let step = self.steps.revise(run, entry);
                    self.steps.push(run, at, step, &mut self.execution);
                }
                None => self.steps.repeat(run, at, &mut self.execution),
            }
        }
    }
}
