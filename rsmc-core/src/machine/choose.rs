//! Who goes on: what is due, then what the plan forces, then what its policy chooses.

use crate::base::{EventId, ThreadId};
use crate::machine::Next;
use crate::machine::core::{Machine, Status};
use crate::step::{Choice, Difference, End, Step, Tail};
use crate::trace::{Effect, Op};

impl Machine {
    /// Decides who goes on. Every thread must stand, wait, be due or have ended, except the one that asks.
    pub fn who_next(&mut self) -> Next {
        if self.over {
            return Next::Over;
        }
        if let Some(thread) = self.due.pop_front() {
            self.threads[thread].status = Status::Running;
            return Next::Continue(thread);
        }
        let step = self.run.trace.events.len();
        if let Some(forced) = self.plan.forced.get(step) {
            let thread = forced.step.thread();
            return match self.check_forced(step, thread) {
                None => self.take(thread),
                Some(difference) => self.diverge(step, thread, difference),
            };
        }
        if step >= self.limits.max_steps as usize {
            let site = self.run.trace.events.last().map_or_else(Default::default, |event| event.op.site);
            self.finish(End::StepLimit { thread: self.last, site });
            return Next::Over;
        }
        match self.choose() {
            Some(thread) => self.take(thread),
            None => self.settle(),
        }
    }

    pub(super) fn take(&mut self, thread: ThreadId) -> Next {
        if self.plan.record_choices {
            let alone = self.let_go.is_some();
            let possible = if alone { vec![Step::Run(thread)] } else { self.possible_steps() };
            self.run.choices.push(Choice { taken: Step::Run(thread), possible });
        }
        Next::Step(thread)
    }

    fn check_forced(&self, step: usize, thread: ThreadId) -> Option<Difference> {
        let reason = match self.threads.get(thread).map(|t| &t.status) {
            Some(Status::Standing(op)) => {
                let current = self.memory.get(op.loc).value;
                let expect = self.plan.forced[step].expect.as_ref();
                let loc = &self.run.trace.locs[op.loc];
                let difference = expect.and_then(|expect| expect.differs(op, loc, current));
                if difference.is_some() {
                    return difference;
                }
                if op.action.effect(current) != Effect::Blocked {
                    return None;
                }
                "what it waits for has not happened"
            }
            Some(Status::Joining(..)) => "it waits for the end of another thread",
            Some(Status::Ended) => "it has ended",
            _ => "it was never started",
        };
        Some(Difference::NotRunnable { reason })
    }

    pub(super) fn diverge(&mut self, step: usize, thread: ThreadId, difference: Difference) -> Next {
        let event = EventId { thread, index: self.run.trace.count(thread) };
        self.finish(End::Diverged { step, event, difference });
        Next::Over
    }

    fn choose(&mut self) -> Option<ThreadId> {
        if self.plan.tail == Tail::RunOn {
            return self.run_on();
        }
        let mut enabled = std::mem::take(&mut self.enabled);
        enabled.clear();
        enabled.extend(self.threads.ids().filter(|&thread| self.is_enabled(thread)));
        let step = self.run.trace.events.len() as u32;
        let chosen = match self.plan.tail {
            _ if enabled.is_empty() => None,
            Tail::Pct { .. } => Some(self.dice.highest(&enabled, step)),
            Tail::Random(_) | Tail::RunOn => Some(self.dice.any(&enabled)),
        };
        self.enabled = enabled;
        chosen
    }

    /// A thread that has just been woken from a spin loop, the thread that ran last, or the lowest that can run.
    /// Waking first keeps what woke a spinner in place until it has looked.
    fn run_on(&self) -> Option<ThreadId> {
        if self.spinning > 0 {
            let woken = |&thread: &ThreadId| self.threads[thread].spin.is_some() && self.is_enabled(thread);
            if let Some(thread) = self.threads.ids().find(woken) {
                return Some(thread);
            }
        }
        if self.is_enabled(self.last) {
            return Some(self.last);
        }
        self.threads.ids().find(|&thread| self.is_enabled(thread))
    }

    /// The operation a thread stands before, if it could happen now.
    pub(super) fn possible_op(&self, thread: ThreadId) -> Option<&Op> {
        match &self.threads[thread].status {
            Status::Standing(op) if op.action.effect(self.memory.get(op.loc).value) != Effect::Blocked => Some(op),
            _ => None,
        }
    }

    fn is_enabled(&self, thread: ThreadId) -> bool {
        self.possible_op(thread).is_some() && !self.waits_in_loop(thread) && !self.plan.frozen.contains(&thread)
    }

    /// Whether a thread waits in a spin loop and nothing it watches has changed.
    pub(super) fn waits_in_loop(&self, thread: ThreadId) -> bool {
        let changed = |&(loc, value): &(crate::base::LocId, u64)| self.memory.get(loc).value != value;
        self.threads[thread].spin.as_ref().is_some_and(|spin| !spin.watched.iter().any(changed))
    }

    /// Every step that is possible. A thread in a spin loop may start its next iteration before anything has
    /// changed, in the hope that it changes under way; not if nobody else could change anything.
    fn possible_steps(&self) -> Vec<Step> {
        let somebody = self.threads.ids().any(|thread| self.is_enabled(thread));
        let possible = |&thread: &ThreadId| {
            if somebody { self.possible_op(thread).is_some() } else { self.is_enabled(thread) }
        };
        self.threads.ids().filter(possible).map(Step::Run).collect()
    }
}
