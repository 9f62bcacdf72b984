//! Previews: whether an update would complete an iteration that changes nothing, before the answer is needed.
//!
//! Problem. An update `f` can take what an update `e` before it has taken. If `f` then completes an iteration that
//! changes nothing, its decision has the answer that its thread stays (`wait`). Whether it does is not known until a
//! run shows it, and the run that reverses the two comes when the decision of `f` is over: it is the one of `e`.
//! Starting over with what is known then costs as much as all that was explored: cordyceps' `multithreaded_push`, which
//! polls a stack by `swap(null)`, started over thirteen times in 180,000 runs and was not at its end.
//!
//! Method. An update that leaves its location as it is may be such an `f`. The first run in which `f` is asked about,
//! with this history and this value, is followed by a *preview*: a run of what `f` and its source need, and of `f`. If
//! that shows that the iteration changes nothing, the decision of `f`, which is still on the path, gets the answer. A
//! preview is no class.
//!
//! Cost. A run for each history of such an update with each value, and its number, which is kept.
//!
//! An update that changes its location and whose thread changes it back later has no preview, and neither have those
//! that workers meet: each sees a part of the runs. Where there is none, or a checkpoint is written before it was run,
//! the exploration starts over as before.

use rustc_hash::FxHashSet;

use crate::base::Digest;
use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::revisit::{Asked, Extent, OpRef, Question, Revisit};
use crate::explore::rf_smc::schedule::{Branch, Preview, Schedule};
use crate::explore::rf_smc::seen::Seen;
use crate::explore::rf_smc::steps::Packed;
use crate::explore::rf_smc::witness_finder::Standing;
use crate::step::Run;

/// An update that takes another source, of which it is not known whether it completes an iteration that changes
/// nothing.
#[derive(Debug)]
pub(super) struct Unknown {
    /// The history of its thread, as a number.
    pub(super) look: u64,
    pub(super) revisit: Revisit,
    /// Its position in the run, and the number of its decision.
    pub(super) at: usize,
    pub(super) number: usize,
    /// The schedule in which its thread stays, if there is one.
    pub(super) stay: Option<Packed>,
}

/// Previews that are wanted, planned and made.
#[derive(Debug, Default)]
pub(super) struct Previews {
    /// Those that the current run shows.
    pub(super) unknown: Vec<Unknown>,
    /// The next one last.
    pub(super) pending: Vec<Preview>,
    /// The reads of which a preview was planned, by what the threads know then.
    pub(super) asked: FxHashSet<u64>,
}

impl Previews {
    /// The reads whose previews are lost if the exploration goes on elsewhere.
    pub(super) fn lost(&self) -> Vec<u64> {
        self.pending.iter().map(|preview| preview.look).collect()
    }
}

impl RfSmc {
    /// Notes the updates of which a preview is to be made at a decision with this event.
    pub(super) fn note_unknown(&mut self, run: &Run, number: usize, at: usize) {
        if self.inherited > 0 || self.decisions[number].question != Question::Source {
            return; // A worker does not see all runs of a history.
        }
        let (graph, ahead) = (&self.graph, self.frame.ahead());
        let asked = Asked { run, graph, ahead, frozen: &[], extent: Extent::All };
        let mut unknown = self.waits.unknown_earlier(&asked, at);
        unknown.retain(|(_, revisit)| self.revisits.may_take(&asked, at, revisit.source.and_then(OpRef::event)));
        for (look, revisit) in unknown {
            if self.waits.previews.asked.insert(look) {
                self.finder.sequence.end_before_decision(run);
                let stay = self.find_witness(run, number);
                self.waits.previews.unknown.push(Unknown { look, revisit, at, number, stay });
            }
        }
    }

    /// Plans the previews of the updates that were noted. Call it when the frame is not needed any more.
    pub(super) fn plan_previews(&mut self, run: &Run) {
        for Unknown { look, revisit, at, number, stay } in std::mem::take(&mut self.waits.previews.unknown) {
            // Nothing but the revisited event and what it needs: a decision in front of everything.
            let id = run.trace.events[at].id;
            let decision = Decision { frozen: true, ..Decision::new(0, id, Question::Source, Seen::default()) };
            self.frame.turn_to(&decision);
            self.finder.sequence.revisit(run, &self.graph, &self.frame, &decision, &revisit);
            self.finder.sequence.find_unchanged(&self.frame, &decision);
            let (loc, source) = (run.trace.events[at].op.loc, revisit.source.and_then(OpRef::event));
            if self.graph.update_of(loc, source).is_some_and(|other| self.finder.sequence.unchanged().contains(other)) {
                continue; // It needs the update that it would have to come before.
            }
            let standing = Standing { run, frame: &self.frame, decision: &decision };
            if let Some(packed) = self.finder.schedule(standing, &mut self.graph) {
                let witness = self.finder.steps.table.witness(&packed);
                self.waits.previews.pending.push(Preview { look, number, stay, witness });
            }
        }
    }

    /// Observes the run of a preview. If the thread would wait, the decision gets the answer that it stays.
    pub(super) fn observe_preview(&mut self, run: &Run, preview: Preview) {
        self.waits.learn(run);
        if !self.waits.looks.note_in_time(preview.look) {
            return;
        }
        let decision = &mut self.decisions[preview.number];
        decision.contested = true;
        if decision.stays.is_none() || !decision.plans_to_stay() {
            self.add_stay(preview.number, preview.stay);
        }
    }

    /// Adds the last answer of a decision, which is explored after all others: its thread stays where it is.
    pub(super) fn add_stay(&mut self, number: usize, stay: Option<Packed>) {
        // A worker returns the schedules of its subtree that it did not begin, so no other is put among them.
        let is_above = number < self.inherited;
        let decision = &mut self.decisions[number];
        (decision.stays, decision.asked) = (Some(decision.id), self.waits.looks.count());
        let Some(packed) = stay else { return };
        let schedule = Schedule { key: Digest::EMPTY, packed };
        match is_above || decision.received.is_empty() {
            true => self.budget.add_last(decision, schedule),
            false => {
                let branch = Branch::of(&schedule, &self.finder.steps.table);
                self.budget.add_branch_last(decision, branch);
            }
        }
    }
}
