//! Executions that are no result go on, unrecorded, to their end.
//!
//! Problem. The machine ends many executions early: it has learned something about a loop, or what follows is seen in
//! another execution. A thread that is left in the middle drops nothing. What it keeps where it outlives the execution,
//! as in a thread-local of std, stays as it was: a structure that counts its readers there has one for ever, and later
//! executions see it.
//!
//! Method. Up to its end, the execution is one that the program has, so there are ways to go on, and the machine takes
//! one: it leaves nothing out and holds nobody back any more, threads take turns, and reads take the newest writes. The
//! run stays as it was when the execution was given up.
//!
//! Cost. Some events for each execution that is given up, instead of taking back the memory that threads would leave.
//!
//! Limits. Threads are left where one is suspended by the program, where one is held back in an iteration that it could
//! not complete any more, where a seed of another program forces reads that no execution allows, and behind
//! [`MOST_EVENTS`] more events. Once [`MOST_IN_VAIN`] executions have come to that limit, no other goes on: some thread
//! of the program never ends.

use crate::base::ThreadId;
use crate::machine::{Machine, Status};
use crate::step::{End, Plan, Run};
use crate::trace::Op;

/// The number of events of an execution after it was given up.
const MOST_EVENTS: usize = 10_000;

/// The number of executions that may go on in vain.
const MOST_IN_VAIN: u32 = 64;

/// An execution that may be given up.
#[derive(Clone, Debug, Default)]
pub(super) enum GivenUp {
    /// It is not.
    #[default]
    No,
    /// It is, and the run is this. It may go on.
    MayGoOn(Box<Run>),
    /// It goes on.
    GoesOn(Box<Run>),
}

impl Machine {
    /// Whether what the execution shows is seen in another one.
    pub(super) fn is_no_result(&self) -> bool {
        self.again
            || match self.run.end {
                End::Learned | End::Tried | End::Unfair { .. } => true,
                End::Stuck => self.run.halfway || self.run.repeated.is_some() || !self.plan.frozen.is_empty(),
                _ => false,
            }
    }

    /// Ends the execution since something was learned, with which the exploration starts again.
    pub fn give_up(&mut self) {
        if !self.over && !self.is_unrecorded() {
            self.finish(End::Learned);
        }
    }

    /// Ends the execution since the process or a thread cannot go on. That is a result also where it was given up: the
    /// program has this execution.
    pub fn breaks_off(&mut self, end: End) {
        match std::mem::take(&mut self.given_up) {
            GivenUp::No => self.finish(end),
            GivenUp::MayGoOn(_) | GivenUp::GoesOn(_) => {
                (self.over, self.again, self.run.end) = (true, false, end);
                self.retries.end();
            }
        }
    }

    /// As [`Machine::give_up`], and the execution is to be run again.
    pub(super) fn give_up_to_run_again(&mut self) {
        self.again = true;
        self.give_up();
    }

    /// Keeps the run as it is: the execution has been given up.
    pub(super) fn keep_run(&mut self) {
        self.given_up = GivenUp::MayGoOn(Box::new(self.run.clone()));
    }

    /// Whether the execution was given up, and may go on.
    #[inline]
    pub(super) fn may_go_on(&self) -> bool {
        matches!(self.given_up, GivenUp::MayGoOn(_))
    }

    /// Whether the execution goes on although it was given up.
    #[inline]
    pub(super) fn is_unrecorded(&self) -> bool {
        matches!(self.given_up, GivenUp::GoesOn(_))
    }

    /// Lets an execution that was given up go on to its end. False if it cannot, or has come to its end. Every thread
    /// must stand, wait, be due or have ended, or wait for the executor to go on.
    pub fn goes_on_unrecorded(&mut self) -> bool {
        self.given_up = match std::mem::take(&mut self.given_up) {
            GivenUp::MayGoOn(run) if self.suspensions.is_empty() && self.in_vain < MOST_IN_VAIN => GivenUp::GoesOn(run),
            other => {
                self.given_up = other;
                return false;
            }
        };
        if !self.find_newest() {
            return false;
        }
        let threads: Vec<ThreadId> = self.threads.ids().collect();
        let come_to = threads.iter().map(|&thread| self.completes_iterations(thread)).collect::<Option<Vec<_>>>();
        let Some(come_to) = come_to else { return false };
        self.plan = Plan::default();
        (self.run.repeated, self.run.halfway) = (None, false);
        (self.waiting, self.has_patience, self.silence) = (false, false, None);
        (self.held, self.taken) = (None, None);
        self.endless.watches_no_more();
        self.most_events = self.run.trace.events.len() + MOST_EVENTS;
        threads.into_iter().zip(come_to).for_each(|(thread, comes_to)| self.frees(thread, comes_to));
        self.over = false;
        true
    }

    /// Does what a thread that is held back in iterations has done of them besides, as its code did. Returns the
    /// operation to which it has come, if it stands before another one. `None` if that is not possible any more, since
    /// another thread has changed something meanwhile.
    fn completes_iterations(&mut self, thread: ThreadId) -> Option<Option<Op>> {
        let mut comes_to = None;
        for held in std::mem::take(&mut self.threads[thread].held_back) {
            for (op, outcome) in held.rest.iter().filter(|(_, outcome)| outcome.written.is_some()) {
                let effect = op.action.effect(self.memory.view(thread, op.loc).value);
                if effect.written() != outcome.written {
                    return None;
                }
                self.happen(thread, op);
            }
            comes_to = comes_to.or(held.comes_to);
        }
        Some(comes_to)
    }

    /// Lets a thread go on from where it is in its code.
    fn frees(&mut self, thread: ThreadId, comes_to: Option<Op>) {
        self.stop_spinning(thread);
        let state = &mut self.threads[thread];
        let chooses = state.patience.stands_before();
        match &mut state.status {
            Status::Standing(op) => *op = comes_to.or(chooses).unwrap_or(*op),
            status @ Status::Running => {
                *status = Status::Due;
                self.due.push_back(thread);
            }
            _ => {}
        }
    }
}
