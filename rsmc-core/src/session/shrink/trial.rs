//! Trials of schedules, within a number of runs.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::session::failure_signature::FailureSignature;
use crate::session::judge::judge;
use crate::session::shrink::{Cost, LONGEST, plan};
use crate::session::{Config, Fewest};
use crate::step::{End, Executor, Knowledge, Run, Step};

/// Every run may have so many events, and four times those of the schedule that failed.
const SHORT: usize = 100;

/// A schedule with the failure.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) cost: Cost,
    pub(super) steps: Vec<Step>,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// The run fails the same way.
    Same,
    /// The run does not fail the same way.
    Otherwise,
    /// This step could not be taken.
    Diverged(usize),
    /// The run showed that an operation is observed that was no step so far, and is to stay none.
    Unknown,
    /// No more runs are allowed.
    Over,
}

/// See the module.
pub(super) struct Trial<'a> {
    executor: &'a mut dyn Executor,
    config: &'a Config,
    pub(super) same: &'a FailureSignature,
    /// The executor's knowledge when the schedule failed, and loops learned since. With more, the schedule would be
    /// another.
    knowledge: Knowledge,
    most: u64,
    runs: u64,
    started: Instant,
    late: bool,
    /// The number of events after which a run ends: with so many more it would be no better.
    most_events: usize,
    /// By number of switches: the best candidate with so many.
    found: BTreeMap<u32, Candidate>,
    /// The last run.
    pub(super) run: Run,
}

impl<'a> Trial<'a> {
    pub(super) fn new(
        executor: &'a mut dyn Executor,
        config: &'a Config,
        same: &'a FailureSignature,
        most: u64,
    ) -> Self {
        let knowledge = executor.knowledge();
        let (started, found, run) = (Instant::now(), BTreeMap::new(), Run::default());
        // One run is for the schedule that is shown in the end.
        let (most, most_events) = (most - 1, usize::MAX);
        Self { executor, config, same, knowledge, most, runs: 0, started, late: false, most_events, found, run }
    }

    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    pub(super) fn is_late(&self) -> bool {
        self.late
    }

    /// The number of remaining runs.
    pub(super) fn left(&self) -> u64 {
        self.most.saturating_sub(self.runs)
    }

    /// Executes a schedule, regardless of the limits.
    pub(super) fn execute(&mut self, steps: &[Step], run: &mut Run) {
        self.runs += 1;
        self.executor.execute(&plan(steps), run);
    }

    /// Runs the initial schedule; returns its cost if it fails the same way.
    pub(super) fn first(&mut self, steps: &[Step]) -> Option<Cost> {
        let fails = self.attempt(steps, false) == Went::Same;
        self.most_events = 4 * self.run.trace.events.len() + SHORT;
        fails.then(|| Cost::of(&self.run))
    }

    /// Runs a schedule, and notes it if it fails the same way. With `choices`, the run records the other possible
    /// steps.
    pub(super) fn attempt(&mut self, steps: &[Step], choices: bool) -> Went {
        let mut plan = plan(steps);
        plan.record_choices = choices;
        plan.most_events = self.most_events;
        loop {
            self.late |= self.started.elapsed() >= LONGEST;
            if self.left() == 0 || self.late || self.executor.is_broken() {
                return Went::Over;
            }
            self.runs += 1;
            self.executor.execute(&plan, &mut self.run);
            if self.run.end != End::Learned {
                break;
            }
            if !self.learn() {
                return Went::Unknown;
            }
        }
        if let End::Diverged { step, .. } = self.run.end {
            return Went::Diverged(step);
        }
        let counts = self.run.is_maximal() && self.run.repeated.is_none() && !self.executor.is_broken();
        let finding = if counts { judge(&self.run, self.config) } else { None };
        if finding.and_then(|finding| FailureSignature::of(&self.run, &finding)).as_ref() != Some(self.same) {
            return Went::Otherwise;
        }
        self.note();
        Went::Same
    }

    /// Adopts the executor's new knowledge. That a loop waits changes no step of a schedule. A newly observed operation
    /// does, so the executor forgets it again; the result is then false.
    fn learn(&mut self) -> bool {
        let Knowledge { threads, loops, observed } = self.executor.knowledge();
        let is_harmless = observed == self.knowledge.observed;
        // Ids of threads stay: schedules name them.
        self.knowledge.threads = threads;
        if is_harmless {
            self.knowledge.loops = loops;
        } else {
            self.executor.know(&self.knowledge);
        }
        is_harmless
    }

    fn note(&mut self) {
        let cost = Cost::of(&self.run);
        let rank = |cost: &Cost| (cost.weak, cost.chosen, cost.steps);
        if self.found.get(&cost.switches).is_none_or(|known| rank(&cost) < rank(&known.cost)) {
            self.found.insert(cost.switches, Candidate { cost, steps: self.run.steps().collect() });
        }
    }

    /// The fewest switches found.
    pub(super) fn fewest(&self) -> u32 {
        self.found.first_key_value().map_or(u32::MAX, |(&switches, _)| switches)
    }

    /// The schedule to show: of those with the fewest switches, or one more, the one with the fewest weak steps.
    pub(super) fn current(&self) -> &Candidate {
        let few = self.found.range(..=self.fewest().saturating_add(1)).map(|(_, candidate)| candidate);
        few.min_by_key(|candidate| (candidate.cost.weak, candidate.cost.switches)).expect("the first one fails")
    }

    /// The schedule to show, and how its number of switches compares; `complete`: no schedule with fewer switches
    /// fails.
    pub(super) fn best(&self, complete: bool) -> (&Candidate, Fewest) {
        let best = self.current();
        let fewest = match complete {
            false => Fewest::Found,
            true if best.cost.switches > self.fewest() => Fewest::OneMore,
            true => Fewest::Possible,
        };
        (best, fewest)
    }
}
