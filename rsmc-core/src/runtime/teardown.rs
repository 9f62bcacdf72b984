//! The end of the threads that have not ended when an execution is over.
//!
//! An execution that is given up goes on to its end (`machine::given_up`). One that is stuck, has failed or is cut off
//! leaves threads in the middle of their work. Their code does not run any more: each is left where it stands
//! (`leave`), and so is what it owns. No destructor of it runs, since the state that it would find may be one that no
//! execution has. The memory is taken back later (`reclaim`).
//!
//! A thread that a panic unwinds has to go on, since std counts panics by OS thread, and counts down at the end of
//! unwinding only. Operations of its destructors happen at once, on the memory of the finished execution, and are
//! recorded nowhere. One that would have to wait, that runs for too long, or that panics again, is left for good with
//! its stack.
//!
//! All threads are unwound like that where threads cannot be left, or where the check's allocator is not installed: the
//! memory that they own would never be taken back.

use std::panic::resume_unwind;

use crate::base::ThreadId;
use crate::machine::Outcome;
use crate::runtime::coroutine::Returned;
use crate::runtime::execution::{Execution, whom};
use crate::runtime::fibers::Job;
use crate::runtime::{leave, reclaim};
use crate::step::End;
use crate::trace::Op;

/// The payload with which a thread of a finished run unwinds, where it cannot be left.
pub(super) struct Teardown;

/// The number of operations that the destructors of one run may perform.
const ASIDE_OPERATIONS: u32 = 100_000;

impl Execution {
    /// Whether an execution that was given up goes on to its end.
    pub(super) fn goes_on_unrecorded(&self) -> bool {
        let Ok(mut core) = self.core.try_borrow_mut() else { return false };
        let goes_on = !self.broken.get() && core.captures.is_none() && core.machine.goes_on_unrecorded();
        if goes_on {
            self.compares_states.set(false);
            self.next.set(whom(core.machine.who_next()));
        }
        goes_on
    }

    /// Ends every thread that has not ended, the youngest first: a scoped thread before the one whose stack it borrows.
    pub(super) fn tear_down(&self) {
        if self.broken.get() {
            return;
        }
        self.unwinding.set(true);
        self.ending.aside_left.set(ASIDE_OPERATIONS);
        let mut all_have_ended = true;
        loop {
            let Some(thread) = self.core.borrow().fibers.unfinished() else { break };
            all_have_ended = false;
            if self.dismiss(thread) {
                continue;
            }
            let returned = self.resume(thread);
            if self.broken.get() {
                return;
            }
            if self.ending.abandoned.take() || returned == Returned::Overflowed {
                continue;
            }
            debug_assert_eq!(returned, Returned::Finished, "a thread is left, or ends, or is abandoned");
            self.core.borrow_mut().fibers.release(thread);
        }
        let is_complete = matches!(self.core.borrow().machine.run().end, End::Complete);
        if is_complete || all_have_ended || !self.leaves() {
            self.drop_slots();
        } else {
            self.forget_slots();
            self.core.borrow_mut().arena.was_left();
        }
        self.unwinding.set(false);
    }

    /// Whether threads are left.
    fn leaves(&self) -> bool {
        leave::IS_POSSIBLE && self.heap.is_seen.get() && reclaim::is_possible()
    }

    /// Whether nothing is to be done for a thread, since it never started. The values of a thread that will be left
    /// stay where they are.
    fn dismiss(&self, thread: ThreadId) -> bool {
        let leaves = self.leaves();
        let fiber = &mut self.core.borrow_mut().fibers[thread];
        if leaves && !fiber.panicking {
            fiber.locals.leak();
        }
        let Some(job) = fiber.job.take() else { return false };
        if leaves {
            std::mem::forget(job);
        } else {
            fiber.job = Some(Job::Thread(Box::new(move || drop(job))));
        }
        leaves
    }

    /// Called by a thread that is resumed into a finished run: ends it, unless a panic unwinds it.
    pub(super) fn end_from(&self, me: ThreadId) {
        if self.core.borrow().fibers[me].panicking {
            return;
        }
        if self.leaves() {
            self.suspender.get().expect("a modelled thread runs").leave();
        }
        resume_unwind(Box::new(Teardown));
    }

    /// An operation of a destructor after the end of the run.
    pub(super) fn operate_aside(&self, op: Op) -> Outcome {
        let left = self.ending.aside_left.get();
        self.ending.aside_left.set(left.saturating_sub(1));
        let outcome = if left == 0 { None } else { self.core.borrow_mut().machine.perform_aside(op) };
        match outcome {
            Some(outcome) => outcome,
            None => self.abandon(),
        }
    }

    pub(super) fn join_aside(&self, target: ThreadId) {
        if !self.core.borrow().machine.has_ended(target) && self.is_unfinished(target) {
            self.abandon();
        }
    }

    fn is_unfinished(&self, thread: ThreadId) -> bool {
        let core = self.core.borrow();
        let fiber = &core.fibers[thread];
        fiber.coroutine.is_some() || fiber.job.is_some()
    }

    /// Leaves the running thread for good, with its stack.
    pub(super) fn abandon(&self) -> ! {
        self.ending.abandoned.set(true);
        self.panics.left_behind.set(std::thread::panicking());
        self.suspend();
        unreachable!("this is a bug in rsmc: an abandoned thread was resumed");
    }
}
