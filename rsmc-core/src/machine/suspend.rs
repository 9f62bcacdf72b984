//! Threads that are suspended for ever.
//!
//! Problem. A body asks what the other threads can do if one of them stops in the middle, after so many of its
//! operations.
//!
//! Method. When the thread comes to the operation behind them, it stands before another one instead: it waits for a
//! token of its own, which nobody makes available. So it is a thread that does less, and explorers treat it as any
//! other. The stores that it has buffered leave its buffer, as those of a thread that waits. It may wait for ever, so
//! an execution that ends so is no deadlock.
//!
//! What counts is the operations that are in the execution: an iteration that changes nothing, and was left out
//! ([`pure`](super::pure)), is none. The thread could as well have come later.

use std::sync::atomic::Ordering;

use crate::base::{EventId, LocId, ThreadId};
use crate::machine::{Machine, Status};
use crate::step::{Pending, Why};
use crate::trace::{Action, LocInfo, Op, SUSPENSION, Site};

/// A thread that is to be suspended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspension {
    thread: ThreadId,
    /// The number of events that it has had then.
    at: u32,
    token: LocId,
}

impl Machine {
    /// Begins an execution.
    #[inline]
    pub(super) fn suspend_nobody(&mut self) {
        self.suspensions.clear();
        self.as_written = self.orders.are_written();
    }

    /// Suspends a running thread for ever once it has performed so many more operations; `None`: it goes on. `site` is
    /// the place of this call.
    pub fn suspend(&mut self, thread: ThreadId, after: Option<u32>, site: Site) {
        self.suspensions.retain(|suspension| suspension.thread != thread);
        if let Some(after) = after {
            let token = self.add_location(LocInfo { kind: SUSPENSION, created: site, init: 0, address: 0 });
            let at = self.run.trace.count(thread) + after;
            self.suspensions.push(Suspension { thread, at, token });
            self.as_written = false;
        }
    }

    /// Whether a thread has performed the last of its operations.
    #[inline]
    pub(super) fn is_to_stop(&self, thread: ThreadId) -> bool {
        !self.suspensions.is_empty() && self.reached(thread).is_some()
    }

    #[cold]
    fn reached(&self, thread: ThreadId) -> Option<&Suspension> {
        let is_reached = |it: &&Suspension| it.thread == thread && self.run.trace.count(thread) == it.at;
        self.suspensions.iter().find(is_reached)
    }

    /// A thread as one that waits at the end of an execution, if it is suspended.
    pub(super) fn suspended(&self, thread: ThreadId) -> Option<Pending> {
        let Status::Standing(op) = self.threads[thread].status else { return None };
        let id = EventId { thread, index: self.run.trace.count(thread) };
        let is_suspended = self.suspensions.iter().any(|it| it.token == op.loc);
        is_suspended.then_some(Pending { id, op: Some(op), why: Why::Suspended, site: op.site })
    }

    /// The operation before which a thread stands for ever, if it is suspended where it comes to another one. A thread
    /// that goes on in silence is suspended behind that.
    pub(super) fn suspended_before(&mut self, thread: ThreadId) -> Option<Op> {
        let token = self.reached(thread)?.token;
        if self.is_silent(thread) {
            return None;
        }
        self.stop_spinning(thread);
        self.detach(thread);
        let last = self.run.trace.of_thread(thread).last();
        let site = last.map_or(Site::Unknown, |&at| self.run.trace.events[at as usize].op.site);
        Some(Op { action: Action::Park, loc: token, order: Ordering::Acquire, failure: Ordering::Acquire, site })
    }
}
