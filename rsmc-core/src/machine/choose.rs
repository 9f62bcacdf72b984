//! The choice of the next step: threads that are due come first, then the step that the plan forces, then the one that
//! its policy chooses.

use crate::base::{EventId, ThreadId, mix};
use crate::machine::{Machine, Status};
use crate::machine::{Next, Outcome};
use crate::model::Cell;
use crate::step::{Choice, Difference, End, SchedulingPolicy, Step, Tried};
use crate::trace::spin::Watched;
use crate::trace::{Action, Event, Op, Source};

/// Another alternative of an operation.
pub(super) fn alternative(op: Op, which: u64) -> Op {
    Op { action: op.action.with_alternative(which), ..op }
}

impl Machine {
    /// Decides which thread goes on. Stores that become visible on the way do so here. Every thread must stand, wait,
    /// be due or have ended, except the one that calls this.
    pub fn who_next(&mut self) -> Next {
        while !self.over {
            if let Some(thread) = self.due.pop_front() {
                self.threads[thread].status = Status::Running;
                return Next::Continue(thread);
            }
            if let Some(thread) = self.next_as_forced().or_else(|| self.find_next()) {
                return Next::Step(thread);
            }
        }
        Next::Over
    }

    /// The thread that performs its operation next, where none is due. `None` if a store became visible instead, a
    /// thread is due now, or the execution has ended. Apart from [`Machine::who_next`], which is called for every step,
    /// since it prepares for much that is mostly not needed.
    #[inline(never)]
    fn find_next(&mut self) -> Option<ThreadId> {
        if self.has_patience
            && let Some(thread) = self.next_in_silence()
            && !self.never_gives_up()
        {
            return Some(thread);
        }
        if self.over {
            return None;
        }
        let step = self.next_step()?;
        self.record_choice(step);
        match step {
            Step::Run(_) => {}
            Step::Take(thread, write) => {
                self.note_taken(thread, write);
                self.taken = self.standing(thread).and_then(|op| self.source_for(op.loc, write));
            }
            Step::Choose { thread, which, takes } => {
                let op = *self.standing(thread).expect("a thread that is chosen stands before an operation");
                self.note_taken(thread, takes.flatten());
                self.taken = takes.and_then(|write| self.source_for(op.loc, write));
                self.threads[thread].status = Status::Standing(alternative(op, which));
            }
            Step::Flush(store) => {
                let flushed = self.flush(store);
                debug_assert!(flushed, "a store that is chosen may become visible");
                return None;
            }
        }
        let thread = step.thread();
        (!self.has_patience || !self.makes_choice(thread)).then_some(thread)
    }

    /// Performs at once the operation to which a thread comes, if the plan makes it the next step and nothing is in its
    /// way. Otherwise [`Machine::arrive`] and [`Machine::who_next`] decide what happens.
    #[inline]
    pub fn go_on(&mut self, thread: ThreadId, op: &Op) -> Option<Outcome> {
        let is_next = self.forced_next() == Some(thread)
            && self.due.is_empty()
            && self.as_written
            && !self.over
            && self.is_as_forced(thread, op);
        is_next.then(|| self.does(thread, op))
    }

    /// The thread whose operation is the next step of the plan, and nothing more is to be done about that step.
    #[inline]
    fn forced_next(&self) -> Option<ThreadId> {
        match self.plan.forced.get(self.steps)?.step {
            Step::Run(thread) if !self.plan.record_choices && !self.has_patience => Some(thread),
            _ => None,
        }
    }

    /// That thread, if it stands before the operation that the plan expects, and it can happen now. `None` may mean
    /// that it takes longer to tell: see [`Machine::next_step`].
    #[inline]
    fn next_as_forced(&self) -> Option<ThreadId> {
        let thread = self.forced_next()?;
        match &self.threads.get(thread)?.status {
            Status::Standing(op) if self.is_as_forced(thread, op) => Some(thread),
            _ => None,
        }
    }

    /// The next step; `None` where the execution has just ended.
    fn next_step(&mut self) -> Option<Step> {
        if let Some(step) = self.plan.forced.get(self.steps).map(|forced| forced.step) {
            let difference = match step {
                Step::Run(thread) => self.check_forced(thread, 0, None),
                Step::Take(thread, write) => self.check_forced(thread, 0, Some(write)),
                Step::Choose { thread, which, takes } => self.check_forced(thread, which, takes),
                Step::Flush(store) => self.check_flush(store),
            };
            return match difference {
                None => Some(step),
                Some(difference) => self.diverge(step, difference),
            };
        }
        if self.retries.who_is_asked().is_some() && !self.is_unrecorded() {
            self.answers(None);
            return None;
        }
        if let Some(held) = self.held.take() {
            self.due.push_back(held);
            return None;
        }
        if !self.find_newest() {
            return self.diverge_at_last();
        }
        if self.run.repeated.is_some() && !self.run.halfway && self.plan.policy == SchedulingPolicy::RunOn {
            // This is no execution of its own, and what other threads would do now is seen where the thread waits.
            self.finish(End::Tried);
            return None;
        }
        let step = self.choose().or_else(|| self.end_or_test_patience())?;
        (matches!(step, Step::Flush(_)) || !self.is_too_long()).then_some(step)
    }

    /// Notes that a thread takes a write next.
    fn note_taken(&mut self, reader: ThreadId, write: Option<EventId>) {
        if let Some(write) = write.filter(|write| self.run.halfway && write.thread != reader) {
            self.shows(write);
        }
    }

    #[inline]
    fn record_choice(&mut self, taken: Step) {
        if self.plan.record_choices {
            self.record(taken);
        }
    }

    #[cold]
    fn record(&mut self, taken: Step) {
        let possible = self.possible_steps();
        self.run.choices.push(Choice { taken, possible, left_out: false });
    }

    /// The reason why a thread cannot take the next forced step; `None` if it can. The step is an alternative of its
    /// operation, with the newest write or the one that the step names.
    #[cold]
    fn check_forced(&self, thread: ThreadId, which: u64, takes: Option<Option<EventId>>) -> Option<Difference> {
        let reason = match self.threads.get(thread).map(|t| &t.status) {
            Some(Status::Standing(op)) if which >= op.action.alternatives() => "its operation has no such alternative",
            Some(Status::Standing(op)) if which == 0 => return self.check_operation(thread, op, takes),
            Some(Status::Standing(op)) => return self.check_operation(thread, &alternative(*op, which), takes),
            Some(Status::Joining(..)) => return Some(Difference::JOINS),
            Some(Status::Draining(_)) => "it waits until its stores are visible",
            Some(Status::Ended) => return Some(Difference::ENDED),
            _ => return Some(Difference::ABSENT),
        };
        Some(Difference::NotRunnable { reason })
    }

    /// Whether an operation is the one that the plan forces next, and can happen now. `false` may mean that it takes
    /// longer to tell: see [`Machine::check_forced`].
    #[inline(always)]
    fn is_as_forced(&self, thread: ThreadId, op: &Op) -> bool {
        let current = self.memory.view(thread, op.loc).value;
        let expect = self.plan.forced[self.steps].expect.as_ref();
        expect.is_none_or(|expect| expect.is_met(op, &self.run.trace.locs[op.loc], current))
            && !self.has_to_drain(thread, op)
            && !op.action.is_blocked(current)
    }

    /// The reason why a thread cannot perform this operation in the next forced step; `None` if it can.
    fn check_operation(&self, thread: ThreadId, op: &Op, takes: Option<Option<EventId>>) -> Option<Difference> {
        let cell = match takes {
            None => Some(self.memory.view(thread, op.loc)),
            Some(write) => self.source_for(op.loc, write).map(|source| self.cell_of(op.loc, source)),
        };
        let Some(Cell { value: current, .. }) = cell else {
            return Some(Difference::NotRunnable { reason: "the write that it takes has not happened" });
        };
        let expect = self.plan.forced[self.steps].expect.as_ref();
        let loc = &self.run.trace.locs[op.loc];
        let difference = expect.and_then(|expect| expect.differs(op, loc, current));
        if difference.is_some() {
            return difference;
        }
        let reason = if self.has_to_drain(thread, op) {
            "its earlier stores are not visible yet"
        } else if op.action.is_blocked(current) {
            "what it waits for has not happened"
        } else {
            return None;
        };
        Some(Difference::NotRunnable { reason })
    }

    fn check_flush(&self, store: EventId) -> Option<Difference> {
        let waits = |at: usize| self.memory.may_flush(store.thread).any(|other| other.at as usize == at);
        let may = self.run.trace.position(store).is_some_and(waits);
        (!may).then_some(Difference::NotRunnable { reason: "no store of it can become visible here" })
    }

    pub(super) fn diverge(&mut self, forced: Step, difference: Difference) -> Option<Step> {
        let event = match forced {
            Step::Flush(store) => store,
            _ => EventId { thread: forced.thread(), index: self.run.trace.count(forced.thread()) },
        };
        if !(self.plan.may_probe && difference.is_of_thread() && self.trusts_no_more()) {
            self.finish(End::Diverged { step: self.steps, event, difference });
        }
        None
    }

    /// Ends the run: the forced steps could be taken one by one, but no execution has all of them, or none has them in
    /// the modification order of the plan.
    fn diverge_at_last(&mut self) -> Option<Step> {
        let reason = "the memory model does not allow what was read so far";
        let step = self.steps.saturating_sub(1);
        let forced = self.plan.forced.get(step).map_or(Step::Run(ThreadId::MAIN), |forced| forced.step);
        let event = EventId { thread: forced.thread(), index: self.run.trace.count(forced.thread()).saturating_sub(1) };
        let difference = Difference::NotRunnable { reason };
        self.finish(End::Diverged { step, event, difference });
        None
    }

    fn choose(&mut self) -> Option<Step> {
        if self.plan.policy == SchedulingPolicy::RunOn || self.runs_alone {
            let step = match self.runs_alone {
                _ if self.is_watched() || self.is_unrecorded() => self.take_turns(),
                true => self.run_alone(),
                false => self.run_on(),
            };
            return match step? {
                Step::Run(thread) => Some(self.newest(thread)),
                step => Some(step),
            };
        }
        let mut enabled = std::mem::take(&mut self.enabled);
        enabled.clear();
        enabled.extend(self.threads.ids().filter(|&thread| self.is_enabled(thread)).map(Step::Run));
        enabled.extend(self.flushes());
        let step = self.steps as u32;
        let chosen = match self.plan.policy {
            _ if enabled.is_empty() => None,
            SchedulingPolicy::Pct { .. } => Some(self.dice.highest(&enabled, step)),
            SchedulingPolicy::Random(_) | SchedulingPolicy::RunOn => Some(self.dice.any(&enabled)),
        };
        self.enabled = enabled;
        match chosen? {
            Step::Run(thread) => Some(self.any_step(thread)),
            step => Some(step),
        }
    }

    /// The step of a thread that was woken from a spin loop, otherwise that of `run_alone`. A woken thread comes first,
    /// so that what woke it is still in place when it looks.
    fn run_on(&self) -> Option<Step> {
        if let Some(thread) = self.first_reader() {
            return Some(Step::Run(thread));
        }
        if self.spinning > 0 {
            let woken = |&thread: &ThreadId| self.threads[thread].spin.is_some() && self.is_enabled(thread);
            if let Some(thread) = self.threads.ids().find(woken) {
                return Some(Step::Run(thread));
            }
        }
        self.run_alone()
    }

    /// The thread that ran last, its oldest store, the lowest thread that can run, or any store. So a thread that goes
    /// round a loop is alone until it waits. Where threads wake each other for ever, those that wait in no loop come
    /// first.
    fn run_alone(&self) -> Option<Step> {
        if self.rules.stirred.is_some() && !self.runs_alone {
            return self.stirred_step();
        }
        if self.is_enabled(self.last) {
            return Some(Step::Run(self.last));
        }
        let mut enabled = self.threads.ids().filter(|&thread| self.is_enabled(thread));
        let lowest = || match self.runs_alone {
            true => enabled.min_by_key(|&thread| self.threads[thread].spin.is_some()).map(Step::Run),
            false => enabled.next().map(Step::Run),
        };
        self.flushes_of(self.last).next().or_else(lowest).or_else(|| self.flushes().next())
    }

    /// One of all steps, which depends on the number of the rules and on what has happened.
    #[cold]
    fn stirred_step(&self) -> Option<Step> {
        let number = self.rules.stirred.unwrap_or_default();
        let enabled = self.threads.ids().filter(|&thread| self.is_enabled(thread)).map(Step::Run);
        let possible: Vec<Step> = enabled.chain(self.flushes()).collect();
        let word = |event: &Event| u64::from(event.id.thread.0) << 32 | u64::from(event.id.index);
        let drawn = self.run.trace.events.iter().fold(number, |drawn, event| mix(drawn, word(event)));
        possible.get((mix(drawn, self.steps as u64) >> 32) as usize % possible.len().max(1)).copied()
    }

    /// Where some reads were tried elsewhere: a thread that can take something new for one of them, before it is
    /// overwritten; otherwise any thread that reads.
    pub(super) fn first_reader(&self) -> Option<ThreadId> {
        if self.plan.tried.is_empty() {
            return None;
        }
        let reads =
            |thread: ThreadId| matches!(&self.threads[thread].status, Status::Standing(op) if op.action.reads());
        let readers = self.threads.ids().filter(|&thread| reads(thread) && self.is_enabled(thread));
        readers.min_by_key(|&thread| self.tried(thread).is_none())
    }

    /// The record of what was tried elsewhere for the read that a thread stands before.
    pub(super) fn tried(&self, thread: ThreadId) -> Option<&Tried> {
        let tried = &self.plan.tried;
        let next = EventId { thread, index: self.run.trace.count(thread) };
        tried.binary_search_by_key(&next, |tried| tried.read).ok().map(|at| &tried[at])
    }

    /// Whether a thread could only take what was tried elsewhere.
    #[inline]
    pub(super) fn only_repeats(&self, thread: ThreadId) -> bool {
        !self.plan.tried.is_empty() && self.can_only_take_tried(thread)
    }

    fn can_only_take_tried(&self, thread: ThreadId) -> bool {
        let source = |op: &Op| match self.memory.view(thread, op.loc).writer {
            Source::At(at) => Some(self.run.trace.events[at as usize].id),
            Source::Init | Source::None => None,
        };
        let possible = self.possible_op(thread).zip(self.tried(thread));
        possible.is_some_and(|(op, tried)| tried.includes(source(op)))
    }

    fn flushes_of(&self, thread: ThreadId) -> impl Iterator<Item = Step> + '_ {
        self.memory.may_flush(thread).map(|store| Step::Flush(self.run.trace.events[store.at as usize].id))
    }

    /// Every store that may become visible.
    pub(super) fn flushes(&self) -> impl Iterator<Item = Step> + '_ {
        let threads = if self.memory.is_drained() { 0 } else { self.threads.len() };
        self.threads.ids().take(threads).flat_map(|thread| self.flushes_of(thread))
    }

    /// A random one of the steps that a thread can take, which can go on.
    fn any_step(&mut self, thread: ThreadId) -> Step {
        let op = *self.possible_op(thread).expect("it can go on");
        let which = match op.action {
            Action::Choose { of, spurious: false, .. } => self.dice.below(of as usize) as u64,
            action if action.alternatives() > 1 && self.dice.below(4) == 0 => 1,
            _ => 0,
        };
        let other = alternative(op, which);
        let is_possible = which > 0 && self.has_alternative(thread, &other);
        self.any_source(thread, if is_possible { other } else { op })
    }

    /// Whether a thread could perform another alternative of the operation that it stands before. That operation is
    /// possible.
    pub(super) fn has_alternative(&self, thread: ThreadId, other: &Op) -> bool {
        self.may_be(other) && !other.action.is_blocked(self.memory.view(thread, other.loc).value)
    }

    /// Whether an operation has a cause, or there are fewer outcomes without one than there may be.
    pub(super) fn may_be(&self, op: &Op) -> bool {
        !op.action.is_spurious() || {
            let events = self.run.trace.events.iter();
            events.filter(|event| event.op.action.is_spurious()).count() < self.rules.spurious as usize
        }
    }

    #[inline]
    fn has_to_drain(&self, thread: ThreadId, op: &Op) -> bool {
        !self.memory.waiting_of(thread).is_empty() && self.rules.memory.drains(op)
    }

    /// The operation a thread stands before.
    fn standing(&self, thread: ThreadId) -> Option<&Op> {
        match &self.threads[thread].status {
            Status::Standing(op) => Some(op),
            _ => None,
        }
    }

    /// The operation a thread stands before, if it could happen now.
    #[inline]
    pub(super) fn possible_op(&self, thread: ThreadId) -> Option<&Op> {
        let op = self.standing(thread)?;
        let blocked = op.action.is_blocked(self.memory.view(thread, op.loc).value);
        (!blocked && !self.has_to_drain(thread, op)).then_some(op)
    }

    #[inline]
    pub(super) fn is_enabled(&self, thread: ThreadId) -> bool {
        self.could_go_on(thread) && !self.would_see_what_is_begun(thread)
    }

    /// Whether a thread is enabled, or would be if it saw what another thread has begun.
    #[inline]
    fn could_go_on(&self, thread: ThreadId) -> bool {
        self.possible_op(thread).is_some()
            && !self.waits_in_loop(thread)
            && !self.plan.frozen.contains(&thread)
            && !self.only_repeats(thread)
    }

    /// Whether a thread could go on, and does not since it would see what another thread has begun.
    pub(super) fn must_not_see(&self, thread: ThreadId) -> bool {
        self.could_go_on(thread) && self.would_see_what_is_begun(thread)
    }

    /// Whether a thread stands before a read of a change that another thread made in an iteration in which that one is
    /// held back. If the change is seen, the iteration is a part of an execution, and that is another one.
    pub(super) fn would_see_what_is_begun(&self, thread: ThreadId) -> bool {
        !self.plan.frozen.is_empty()
            && self.possible_op(thread).is_some_and(|op| match self.memory.view(thread, op.loc).writer {
                Source::At(at) if op.action.reads() => {
                    let event = &self.run.trace.events[at as usize];
                    let mut held = self.threads[event.id.thread].held_back.iter();
                    event.id.thread != thread && held.any(|held| event.id.index >= held.since) && event.changes()
                }
                _ => false,
            })
    }

    /// Whether a thread waits in a spin loop and nothing it watches has changed.
    #[inline]
    pub(super) fn waits_in_loop(&self, thread: ThreadId) -> bool {
        self.spinning > 0 && self.has_seen_no_change(thread)
    }

    fn has_seen_no_change(&self, thread: ThreadId) -> bool {
        let Some(spin) = &self.threads[thread].spin else { return false };
        let changed = |watched: &Watched| {
            let now = self.memory.view(thread, watched.loc);
            now.value != watched.value || !watched.writer.is(&self.run.trace, now.writer)
        };
        let stays = |watched: &[Watched]| !watched.iter().any(changed);
        stays(&spin.watched) || (!spin.behind.is_empty() && stays(&spin.behind))
    }

    /// Every step that is possible. A thread that waits in a loop takes none before something has changed: what it
    /// could see in an iteration that it began before is seen where it had not looked yet.
    fn possible_steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for thread in self.threads.ids().filter(|&thread| self.is_enabled(thread)).collect::<Vec<_>>() {
            self.add_steps(thread, &mut steps);
        }
        steps.extend(self.flushes());
        steps
    }
}
