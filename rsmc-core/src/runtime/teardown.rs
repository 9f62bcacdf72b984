//! Unwinding what is left when an execution is over.
//!
//! A deadlocked or cut-off run leaves threads in the middle of their work. They are resumed once more, youngest
//! first (a scoped thread before the thread whose stack it borrows), and unwind from where they stand, so that
//! nothing leaks into the next run. Their destructors may still call the shim: such operations happen at once, on
//! the memory of the finished run, and are recorded nowhere.
//!
//! What cannot be unwound is leaked, rather than risking an abort: a destructor that would have to wait, one that
//! runs for too long, and one that panics while its thread unwinds (`panics`).

use std::panic::resume_unwind;

use crate::base::ThreadId;
use crate::machine::Outcome;
use crate::runtime::coroutine::{Job, Returned};
use crate::runtime::execution::Execution;
use crate::trace::Op;

/// The payload with which a thread of a finished run unwinds.
pub(super) struct Teardown;

/// How many operations the destructors of one run may perform.
const ASIDE_OPERATIONS: u32 = 100_000;

impl Execution {
    /// Unwinds every thread that has not ended.
    pub(super) fn tear_down(&self) {
        if self.broken.get() {
            return;
        }
        self.unwinding.set(true);
        self.aside_left.set(ASIDE_OPERATIONS);
        loop {
            let Some(thread) = self.core.borrow().unfinished() else { break };
            self.dismiss_unstarted(thread);
            let returned = self.resume(thread);
            if self.broken.get() {
                return;
            }
            if self.abandoned.take() || returned == Returned::Overflowed {
                continue;
            }
            debug_assert_eq!(returned, Returned::Finished, "an unwound thread ends or is abandoned");
            self.core.borrow_mut().release(thread);
        }
        self.drop_slots();
        self.unwinding.set(false);
    }

    /// A thread that never started only drops its closure.
    fn dismiss_unstarted(&self, thread: ThreadId) {
        let mut core = self.core.borrow_mut();
        if let Some(job) = core.fibers[thread].job.take() {
            core.fibers[thread].job = Some(Job::Thread(Box::new(move || drop(job))));
        }
    }

    /// Called by a thread that is resumed into a finished run: unwinds it, unless a panic does so already.
    pub(super) fn unwind_from(&self, me: ThreadId) {
        if !self.core.borrow().fibers[me].panicking {
            resume_unwind(Box::new(Teardown));
        }
    }

    /// An operation of a destructor after the end of the run.
    pub(super) fn operate_aside(&self, op: Op) -> Outcome {
        let left = self.aside_left.get();
        self.aside_left.set(left.saturating_sub(1));
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

    /// Leaves the running thread for good.
    pub(super) fn abandon(&self) -> ! {
        self.abandoned.set(true);
        self.panics_left_behind.set(std::thread::panicking());
        self.suspend();
        unreachable!("this is a bug in rsmc: an abandoned thread was resumed");
    }
}
