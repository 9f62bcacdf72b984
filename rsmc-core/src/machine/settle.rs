//! The end of an execution: letting spinning threads go once more, and saying what everybody waits for.

use crate::base::{EventId, LocId, ThreadId};
use crate::machine::core::{Machine, Status};
use crate::model::Memory;
use crate::step::{Difference, End, Pending, Step, Why};
use crate::trace::spin::Iteration;
use crate::trace::{Event, Source};

/// A spinning thread that is let go since nothing else can run: its loop may be bounded after all.
///
/// If it only repeats itself until the steps are used up, everything since is undone.
#[derive(Clone, Debug)]
pub(super) struct LetGo {
    thread: ThreadId,
    steps: usize,
    events: usize,
    notes: usize,
    choices: usize,
    memory: Memory,
    until: usize,
    /// Operations since the last complete iteration, and how many an iteration has.
    since: usize,
    length: usize,
}

impl Machine {
    /// Nothing can run: lets a spinning thread go, or ends the execution.
    pub(super) fn settle(&mut self) -> Option<Step> {
        if self.let_go.is_some() {
            // It left its loop, and has ended or waits for something else now.
            self.commit();
        }
        if let Some(forced) = self.plan.forced.get(self.steps) {
            let step = forced.step;
            return self.diverge(step, Difference::NotRunnable { reason: "the execution is over" });
        }
        // Where a thread is frozen or could only repeat, the end is no end, and nobody needs to be let go.
        let tried = self.threads.ids().any(|thread| self.only_repeats(thread));
        let ends = self.plan.frozen.is_empty() && !tried;
        let spins = |&thread: &ThreadId| ends && self.waits_in_loop(thread) && !self.tried.contains(&thread);
        if let Some(thread) = self.threads.ids().find(spins) {
            self.release(thread);
            return Some(Step::Run(thread));
        }
        self.collect_waiting();
        if tried {
            self.finish(End::Tried);
        } else if self.run.waiting.is_empty() {
            self.finish(End::Complete);
        } else {
            self.collect_newest();
            self.finish(End::Stuck);
        }
        None
    }

    fn release(&mut self, thread: ThreadId) {
        let events = self.run.trace.events.len();
        let spin = self.threads[thread].spin.as_ref().expect("it spins");
        let reserve = events + 8 * spin.watched.len() + 64;
        let left = (self.rules.max_steps as usize).saturating_sub(reserve) / (self.spinning as usize).max(1);
        let let_go = LetGo {
            thread,
            steps: self.steps,
            events,
            notes: self.run.trace.notes.len(),
            choices: self.run.choices.len(),
            memory: self.memory.clone(),
            until: events + left,
            since: 0,
            length: spin.watched.len().max(1) * 8,
        };
        self.let_go = Some(let_go);
    }

    /// A thread finished an iteration while one is let go; whether that one only repeats itself.
    pub(super) fn still_repeats(&mut self, thread: ThreadId, iteration: &Iteration) -> bool {
        let events = self.run.trace.events.len();
        let let_go = self.let_go.as_mut().expect("called while a thread is let go");
        let_go.since = 0;
        if iteration.repeats == 0 || let_go.thread != thread {
            self.commit();
            return false;
        }
        if events >= let_go.until {
            self.undo(thread, iteration);
        }
        true
    }

    /// The thread that was let go did something that completes no iteration.
    pub(super) fn progressed(&mut self, thread: ThreadId, event: &Event) {
        let let_go = self.let_go.as_mut().expect("called while a thread is let go");
        let_go.since += 1;
        let changed = event.written.is_some_and(|written| event.source == Source::None || written != event.read);
        if let_go.thread != thread || changed || let_go.since > let_go.length {
            self.commit();
        }
    }

    fn commit(&mut self) {
        self.let_go = None;
        self.tried.clear();
    }

    /// Takes back what the thread did since it was let go; it waits again where it stands.
    fn undo(&mut self, thread: ThreadId, iteration: &Iteration) {
        let let_go = self.let_go.take().expect("called while a thread is let go");
        let watched = self.threads[thread].recent.watched(iteration);
        self.run.trace.truncate(let_go.events, let_go.notes);
        self.run.choices.truncate(let_go.choices);
        self.steps = let_go.steps;
        self.memory = let_go.memory;
        self.forget_graph();
        self.tried.push(thread);
        self.wait_in_loop(thread, watched, iteration);
    }

    fn collect_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.run.waiting);
        for (thread, state) in self.threads.iter() {
            let id = EventId { thread, index: self.run.trace.count(thread) };
            match &state.status {
                Status::Joining(target, site) => {
                    waiting.push(Pending { id, op: None, why: Why::Join(*target), site: *site });
                }
                Status::Standing(op) => {
                    let why = match &state.spin {
                        Some(spin) if self.waits_in_loop(thread) || self.plan.frozen.contains(&thread) => {
                            Why::Spin { watched: spin.watched.clone(), hinted: spin.hinted, site: spin.site }
                        }
                        None if self.plan.frozen.contains(&thread) || self.only_repeats(thread) => {
                            Why::Spin { watched: Vec::new(), hinted: false, site: op.site }
                        }
                        _ if op.action.locks() => self.why_locked(op.loc),
                        _ => Why::Park,
                    };
                    waiting.push(Pending { id, op: Some(*op), why, site: op.site });
                }
                Status::Absent | Status::Ended => {}
                Status::Due | Status::Running | Status::Draining(_) => {
                    unreachable!("this is a bug in rsmc: {thread:?} still runs")
                }
            }
        }
        self.run.waiting = waiting;
    }

    /// Who holds a lock, unless that thread has ended, and since when.
    fn why_locked(&self, loc: LocId) -> Why {
        let Source::At(at) = self.memory.shared(loc).writer else {
            return Why::Lock { loc, holder: None, since: None };
        };
        let thread = self.run.trace.events[at as usize].id.thread;
        let holder = (self.threads[thread].status != Status::Ended).then_some(thread);
        Why::Lock { loc, holder, since: Some(at as usize) }
    }
}
