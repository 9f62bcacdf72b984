//! What a run shows to be possible at the decisions of its path.

use crate::explore::rf_smc::mutate::{Asked, Extent, Mutation};
use crate::explore::rf_smc::proposer::{Proposed, has_proposers, new_write};
use crate::explore::rf_smc::schedule::Schedule;
use crate::explore::rf_smc::{Branch, RfSmc, Taken, wait};
use crate::step::Run;

impl RfSmc {
    /// Adds to every decision the schedules that this run shows to be possible, or plans to explore them at once. To the
    /// first `known` of them only those that need something new: the others were added by the run from which this one was
    /// made.
    pub(super) fn propose(&mut self, run: &Run, known: usize) {
        // What could be done instead depends on more where somebody waits.
        let depends = !(run.waiting.is_empty() && run.waits.is_empty());
        let is_given = matches!(self.current, Taken::Branch(_));
        let mut detours = Vec::new();
        for number in (0..self.decisions.len()).rev() {
            let decision = &self.decisions[number];
            let extent = match decision.full {
                true if number < known => Extent::Behind,
                _ if number < known && !depends => Extent::New(&self.news),
                _ => Extent::All,
            };
            let at = self.builder.turn_to(decision);
            if let Some(at) = at.filter(|_| decision.full && is_given) {
                // Another process has said so, and what it wrote may not be what was read (`sound`).
                let has = has_proposers(run, &self.graph, self.builder.ahead(), decision.question, at);
                self.decisions[number].full = has;
            }
            let decision = &self.decisions[number];
            let asked = Asked { run, graph: &self.graph, ahead: self.builder.ahead(), extent };
            match at {
                Some(at) => self.mutator.at_event(&asked, decision.question, at),
                None => self.mutator.at_frozen(&asked, decision.id),
            }
            self.propose_at(run, number, at, &mut detours);
        }
        self.detours.plan(detours);
    }

    /// The same at one decision, at which this event stands, or nobody.
    fn propose_at(&mut self, run: &Run, number: usize, at: Option<usize>, detours: &mut Vec<(usize, Taken)>) {
        let mut may_stay = false;
        let found = std::mem::take(&mut self.mutator.found);
        for mutation in &found {
            self.decisions[number].contested |= wait::may_be_reversed(run, mutation);
            if self.waits.repeats(run, mutation) {
                may_stay = true;
                continue;
            }
            self.builder.retain(run, &self.graph, &self.decisions[number], mutation);
            match self.is_proposed_by(run, number, at, mutation) {
                None => self.propose_by_name(run, number),
                Some(false) => {}
                Some(true) => detours.extend(self.propose_at_once(run, number)),
            }
        }
        self.mutator.found = found;
        if let Some(at) = at.filter(|_| run.has_waits && !self.decisions[number].contested) {
            self.decisions[number].contested = wait::is_contested(run, &self.graph, at);
        }
        if may_stay && self.decisions[number].contested && self.decisions[number].stays.is_none() {
            self.propose_to_stay(run, number);
        }
        let decision = &mut self.decisions[number];
        let is_enough = !decision.full && self.room.is_short(decision);
        if let Some(at) = at.filter(|_| is_enough) {
            decision.full = has_proposers(run, &self.graph, self.builder.ahead(), decision.question, at);
        }
    }

    /// One more answer of a decision, when all others were explored: its thread stays where it is.
    pub(super) fn propose_to_stay(&mut self, run: &Run, number: usize) {
        // What was given with a subtree is what is returned of it.
        let is_above = number < self.inherited;
        let decision = &mut self.decisions[number];
        decision.stays = Some(decision.id);
        if let Some(schedule) = self.builder.beginning(run, &mut self.graph, decision) {
            match is_above || decision.given.is_empty() {
                true => self.room.leave_first(decision, schedule),
                false => self.room.leave_branch_first(decision, Branch::of(&schedule, &self.builder.steps)),
            }
        }
    }

    /// Where the set of a decision takes no more, and what was retained has a proposer: whether it is this run.
    fn is_proposed_by(&mut self, run: &Run, number: usize, at: Option<usize>, mutation: &Mutation) -> Option<bool> {
        let decision = &self.decisions[number];
        let (reader, graph) = (at.filter(|_| decision.full)?, &self.graph);
        let write = new_write(self.builder.ahead(), mutation)?;
        let (unchanged, is_reversed) = (self.builder.unchanged(decision), mutation.reversed.is_some());
        let proposed = Proposed { run, graph, unchanged, reader, write, is_reversed };
        proposed.is_strong().then(|| self.proposer.proposes(&proposed))
    }

    /// Leaves the schedule that was retained to its decision, if it is possible and was not tried.
    fn propose_by_name(&mut self, run: &Run, number: usize) {
        let (decision, key) = (&mut self.decisions[number], self.builder.key(run));
        if decision.tried.insert(key) {
            self.room.note_name(decision);
            if let Some(schedule) = self.builder.schedule(run, &mut self.graph, decision) {
                self.room.leave(decision, Schedule { key, ..schedule });
            }
        }
    }

    /// The schedule that was retained and that this run proposes, if it was not tried before the set took no more. Who gave
    /// a subtree away explores those of the decisions above.
    fn propose_at_once(&mut self, run: &Run, number: usize) -> Option<(usize, Taken)> {
        let (decision, key) = (&mut self.decisions[number], self.builder.key(run));
        if decision.tried.contains(key) {
            return None;
        }
        let schedule = self.builder.schedule(run, &mut self.graph, decision);
        let schedule = schedule.expect("this is a bug in rsmc: a schedule has a proposer, and no execution");
        let schedule = Schedule { key, ..schedule };
        if number < self.inherited {
            self.room.leave(decision, schedule);
            return None;
        }
        Some((number, Taken::Schedule(schedule)))
    }
}
