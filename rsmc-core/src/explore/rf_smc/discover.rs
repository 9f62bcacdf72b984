//! What a run shows to be possible at the decisions of its path.

use crate::explore::rf_smc::canonical_parent::{Proposed, has_canonical_parents, new_write};
use crate::explore::rf_smc::revisit::{Asked, Extent, Revisit};
use crate::explore::rf_smc::schedule::Schedule;
use crate::explore::rf_smc::{Branch, Chosen, RfSmc, wait};
use crate::step::Run;

impl RfSmc {
    /// Adds to every decision the schedules that this run shows to be possible, or plans to explore them at once. To the
    /// first `known` of them only those that need something new: the others were added by the run from which this one was
    /// made.
    pub(super) fn discover(&mut self, run: &Run, known: usize) {
        // What could be done instead depends on more where somebody waits.
        let depends = !(run.waiting.is_empty() && run.waits.is_empty());
        let is_given = matches!(self.current, Chosen::Branch(_));
        let mut detours = Vec::new();
        for number in (0..self.decisions.len()).rev() {
            let decision = &self.decisions[number];
            let extent = match decision.full {
                true if number < known => Extent::Behind,
                _ if number < known && !depends => Extent::New(&self.delta),
                _ => Extent::All,
            };
            let at = self.builder.turn_to(decision);
            if let Some(at) = at.filter(|_| decision.full && is_given) {
                // Another process has said so, and what it wrote may not be what was read (`sound`).
                let has = has_canonical_parents(run, &self.graph, self.builder.ahead(), decision.question, at);
                self.decisions[number].full = has;
            }
            let decision = &self.decisions[number];
            let asked = Asked { run, graph: &self.graph, ahead: self.builder.ahead(), extent };
            match at {
                Some(at) => self.revisits.at_event(&asked, decision.question, at),
                None => self.revisits.at_frozen(&asked, decision.id),
            }
            self.discover_at(run, number, at, &mut detours);
        }
        self.suspended.plan(detours);
    }

    /// The same at one decision, at which this event stands, or nobody.
    fn discover_at(&mut self, run: &Run, number: usize, at: Option<usize>, detours: &mut Vec<(usize, Chosen)>) {
        let mut may_stay = false;
        let found = std::mem::take(&mut self.revisits.found);
        for revisit in &found {
            self.decisions[number].contested |= wait::may_be_reversed(run, revisit);
            if self.waits.repeats(run, revisit) {
                may_stay = true;
                continue;
            }
            self.builder.retain(run, &self.graph, &self.decisions[number], revisit);
            match self.is_child_of(run, number, at, revisit) {
                None => self.add_by_name(run, number),
                Some(false) => {}
                Some(true) => detours.extend(self.canonical_child(run, number)),
            }
        }
        self.revisits.found = found;
        if let Some(at) = at.filter(|_| run.has_waits && !self.decisions[number].contested) {
            self.decisions[number].contested = wait::is_contested(run, &self.graph, at);
        }
        if may_stay && self.decisions[number].contested && self.decisions[number].stays.is_none() {
            self.discover_waiting(run, number);
        }
        let decision = &mut self.decisions[number];
        let is_enough = !decision.full && self.budget.is_short(decision);
        if let Some(at) = at.filter(|_| is_enough) {
            decision.full = has_canonical_parents(run, &self.graph, self.builder.ahead(), decision.question, at);
        }
    }

    /// One more answer of a decision, when all others were explored: its thread stays where it is.
    pub(super) fn discover_waiting(&mut self, run: &Run, number: usize) {
        // What was given with a subtree is what is returned of it.
        let is_above = number < self.inherited;
        let decision = &mut self.decisions[number];
        decision.stays = Some(decision.id);
        if let Some(schedule) = self.builder.beginning(run, &mut self.graph, decision) {
            match is_above || decision.received.is_empty() {
                true => self.budget.leave_first(decision, schedule),
                false => self.budget.leave_branch_first(decision, Branch::of(&schedule, &self.builder.steps)),
            }
        }
    }

    /// Where the set of a decision takes no more, and what was retained has a canonical parent: whether it is this run.
    fn is_child_of(&mut self, run: &Run, number: usize, at: Option<usize>, revisit: &Revisit) -> Option<bool> {
        let decision = &self.decisions[number];
        let (reader, graph) = (at.filter(|_| decision.full)?, &self.graph);
        let write = new_write(self.builder.ahead(), revisit)?;
        let (unchanged, is_reversed) = (self.builder.unchanged(decision), revisit.reversed.is_some());
        let proposed = Proposed { run, graph, unchanged, reader, write, is_reversed };
        proposed.is_sc_event().then(|| self.canonical_parent.is_parent_of(&proposed))
    }

    /// Leaves the schedule that was retained to its decision, if it is possible and was not seen.
    fn add_by_name(&mut self, run: &Run, number: usize) {
        let (decision, key) = (&mut self.decisions[number], self.builder.key(run));
        if decision.seen.insert(key) {
            self.budget.note_name(decision);
            if let Some(schedule) = self.builder.schedule(run, &mut self.graph, decision) {
                self.budget.leave(decision, Schedule { key, ..schedule });
            }
        }
    }

    /// The schedule that was retained and that this run proposes, if it was not seen before the set took no more. Who gave
    /// a subtree away explores those of the decisions above.
    fn canonical_child(&mut self, run: &Run, number: usize) -> Option<(usize, Chosen)> {
        let (decision, key) = (&mut self.decisions[number], self.builder.key(run));
        if decision.seen.contains(key) {
            return None;
        }
        let schedule = self.builder.schedule(run, &mut self.graph, decision);
        let schedule = schedule.expect("this is a bug in rsmc: a schedule has a canonical parent, and no execution");
        let schedule = Schedule { key, ..schedule };
        if number < self.inherited {
            self.budget.leave(decision, schedule);
            return None;
        }
        Some((number, Chosen::Schedule(schedule)))
    }
}
