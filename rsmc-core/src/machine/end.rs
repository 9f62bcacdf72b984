//! The end of an execution: the threads that have not ended, what each of them waits for, and whether those in loops
//! that count would wait for ever.

use crate::base::{EventId, LocId, ThreadId};
use crate::machine::{Machine, Status};
use crate::step::{Difference, End, Pending, Step, Why};
use crate::trace::Source;

impl Machine {
    /// Whether no other thread can do anything any more, and all that others did happened before now: they have ended
    /// and were joined.
    pub fn is_alone(&self, me: ThreadId) -> bool {
        self.threads.iter().all(|(thread, state)| match state.status {
            Status::Absent => true,
            Status::Ended => state.joined,
            _ => thread == me,
        })
    }

    /// The last value of a location, in an execution that is over.
    pub fn value_at_end(&self, loc: LocId) -> u64 {
        self.memory.shared(loc).value
    }

    /// Tests, where nothing can run, whether a thread waits for ever, or ends the execution.
    pub(super) fn end_or_test_patience(&mut self) -> Option<Step> {
        if let Some(forced) = self.plan.forced.get(self.steps) {
            let step = forced.step;
            return self.diverge(step, Difference::NotRunnable { reason: "the execution is over" });
        }
        self.release_who_is_blocked();
        // Where a thread is frozen or could only repeat, the end is no end, and no thread needs to be tested.
        let tried = self.threads.ids().any(|thread| self.only_repeats(thread));
        let ends = self.plan.frozen.is_empty() && !tried;
        let may_leave = |thread: ThreadId| self.threads[thread].spin.as_ref().is_some_and(|spin| !spin.exact);
        let spins = |&thread: &ThreadId| {
            ends && may_leave(thread) && self.waits_in_loop(thread) && !self.tried.contains(&thread)
        };
        if let Some(thread) = self.threads.ids().find(spins) {
            self.test_patience(thread);
            return None;
        }
        if tried {
            self.collect_waiting();
            self.finish(End::Tried);
        } else if !ends || self.spinning == 0 || !self.lets_time_pass() {
            self.ends_stuck();
        }
        None
    }

    /// Releases the threads that are held back halfway through an iteration, if none of them could go on anyway. The
    /// execution is then one like others: the iterations that they have begun are a part of it, since they will never
    /// complete them. But if another thread can go on, and would see what they have begun, this is not the end.
    fn release_who_is_blocked(&mut self) {
        let is_blocked = |&thread: &ThreadId| {
            let held = &self.threads[thread].held_back;
            !held.is_empty() && held.iter().all(|held| held.op.is_some()) && self.possible_op(thread).is_none()
        };
        if self.plan.frozen.is_empty() || self.needs_begun || !self.plan.frozen.iter().all(is_blocked) {
            return;
        }
        if self.threads.ids().any(|thread| self.must_not_see(thread)) {
            return;
        }
        self.run.halfway = false;
        for thread in std::mem::take(&mut self.plan.frozen) {
            self.stop_spinning(thread);
        }
    }

    /// The execution ends where nothing can run.
    pub(super) fn ends_stuck(&mut self) {
        self.run.halfway |= self.waits_within_a_round();
        self.collect_waiting();
        if self.run.waiting.is_empty() {
            self.finish(End::Complete);
        } else {
            self.collect_newest();
            self.finish(End::Stuck);
        }
    }

    fn collect_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.run.waiting);
        for (thread, state) in self.threads.iter() {
            let id = || EventId { thread, index: self.run.trace.count(thread) };
            match &state.status {
                Status::Joining(target, site) => {
                    waiting.push(Pending { id: id(), op: None, why: Why::Join(*target), site: *site });
                }
                Status::Standing(op) => {
                    if let Some(suspended) = self.suspended(thread) {
                        waiting.push(suspended);
                        continue;
                    }
                    let why = match &state.spin {
                        Some(spin) if self.waits_in_loop(thread) || self.plan.frozen.contains(&thread) => {
                            Why::Spin { watched: spin.watched.clone(), hinted: spin.hinted, site: spin.site }
                        }
                        None if self.plan.frozen.contains(&thread)
                            || self.only_repeats(thread)
                            || self.would_see_what_is_begun(thread) =>
                        {
                            Why::Spin { watched: Vec::new(), hinted: false, site: op.site }
                        }
                        _ if op.action.locks() => self.why_locked(op.loc),
                        _ => Why::Park,
                    };
                    let has_read_all = state.held_back.iter().any(|held| held.op.is_none());
                    waiting.push(Pending { id: id(), op: (!has_read_all).then_some(*op), why, site: op.site });
                }
                Status::Absent | Status::Ended => {}
                Status::Due | Status::Running | Status::Draining(_) => {
                    unreachable!("this is a bug in rsmc: {thread:?} still runs")
                }
            }
        }
        self.run.waiting = waiting;
    }

    /// The reason why a thread waits for a lock: its holder, unless that thread has ended, and the event since which it
    /// is held.
    fn why_locked(&self, loc: LocId) -> Why {
        let Source::At(at) = self.memory.shared(loc).writer else {
            return Why::Lock { loc, holder: None, since: None };
        };
        let thread = self.run.trace.events[at as usize].id.thread;
        let holder = (self.threads[thread].status != Status::Ended).then_some(thread);
        Why::Lock { loc, holder, since: Some(at as usize) }
    }
}
