//! The steps of a run, and of what is built from it, by their numbers in [`Steps`].

use crate::base::EventId;
use crate::explore::rf_smc::entry::RevisedEntry;
use crate::explore::rf_smc::revisit::OpRef;
use crate::explore::rf_smc::schedule::Schedule;
use crate::explore::rf_smc::steps::{Numbered, Packed, Packer, Steps};
use crate::explore::rf_smc::tau::Entry;
use crate::step::{Forced, Plan, Run};

/// See the module; keeps its memory from one run to the next.
#[derive(Debug, Default)]
pub(super) struct RunSteps {
    pub(super) table: Steps,
    packer: Packer,
    /// The steps that the run was made to take, if a schedule said so.
    forced: Vec<Numbered>,
    /// By event of the run: the step in which it happens again. Empty until [`RunSteps::describe`] fills it.
    again: Vec<Numbered>,
}

impl RunSteps {
    /// Makes a plan force a schedule, if there is one.
    pub(super) fn force(&mut self, schedule: Option<&Schedule>, plan: &mut Plan) {
        self.forced.clear();
        if let Some(schedule) = schedule {
            schedule.packed.for_each_step(|step| self.forced.push(step), &mut plan.modification);
            plan.forced.extend(self.forced.iter().map(|&step| self.table.forced(step)));
        }
    }

    /// Begins with a run that followed the plan of [`RunSteps::force`].
    pub(super) fn begin(&mut self) {
        self.again.clear();
    }

    /// Finds the step of every event of the run, once.
    pub(super) fn describe(&mut self, run: &Run) {
        if self.again.is_empty() {
            let (table, events) = (&mut self.table, &run.trace.events);
            self.again.extend(table.of_events(&self.forced).take(events.len()).map_while(|step| step));
            let rest = &events[self.again.len()..];
            let step = |event| table.number(&Forced::of(event, &run.trace.locs[event.op.loc]));
            self.again.extend(rest.iter().map(step));
        }
    }

    /// Adds to an execution the step of an event that is as it was in the run. Call [`RunSteps::describe`] before.
    #[inline]
    pub(super) fn repeat(&mut self, run: &Run, at: usize, execution: &mut Vec<Numbered>) {
        self.push(run, at, self.again[at], execution);
    }

    /// The step of a revised entry, which mostly does what it did, and reads something else. Call
    /// [`RunSteps::describe`] before.
    pub(super) fn revise(&mut self, run: &Run, entry: &RevisedEntry) -> Numbered {
        match entry.who {
            OpRef::Event(at) if run.trace.events[at].op.action == entry.op.action => self.again[at].reading(entry.read),
            _ => self.table.number(&entry.forced(run)),
        }
    }

    /// Adds the step of an operation; a store that waits in a buffer leaves it at once.
    #[inline]
    pub(super) fn push(&mut self, run: &Run, who: usize, step: Numbered, execution: &mut Vec<Numbered>) {
        execution.push(step);
        if let Some(event) = run.trace.events.get(who).filter(|event| event.buffered) {
            execution.push(self.table.number(&Forced::flush(event.id)));
        }
    }

    /// Packs the entries from the decision's place on, and an execution with its modification order.
    pub(super) fn pack(
        &mut self,
        entries: impl Iterator<Item = Entry>,
        execution: &[Numbered],
        modification: &[EventId],
    ) -> Packed {
        self.packer.pack(entries, execution, modification)
    }
}
