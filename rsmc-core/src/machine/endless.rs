//! Executions that go on for ever: the whole program comes back to an earlier state.
//!
//! Problem. Threads may go round loops in which each changes something that the others see, and undoes it: none of
//! these iterations can be left out, and the execution has no end.
//!
//! Method. An execution that is long is run again, and watched: threads take turns, the one that ran least recently
//! first, and whenever one comes to an operation or a hint the executor says in which state it is. Memory and the
//! states of all threads are the state of the program. It is compared with one earlier state, which is replaced after
//! 1, 3, 7, … others (Brent, *An improved Monte Carlo factorization algorithm*, BIT 1980, §2), so that any cycle is
//! found in the end. If each thread that could run in between did, the cycle is fair: a scheduler that is fair may
//! repeat it for ever. The same turns are taken again; after [`LAPS`] times the execution ends behind the first
//! ([`End::Endless`]).
//!
//! An explorer that goes ever deeper into one loop may not come to another schedule with a cycle. And where iterations
//! are left out that take locks and give them back, threads may keep each other from locks for ever, and no execution
//! shows that. So when the first execution is a little long, or such an iteration was left out, there are [`PROBES`]:
//! executions that follow no plan, leave nothing out, and are watched. In the first, threads take turns; in the others,
//! any thread may be next. If a probe shows no cycle, it is no result.
//!
//! Cost. One state for each operation of an execution that is watched. Executions get ever longer before one is watched
//! if one was long when it was watched, and that showed nothing.
//!
//! Limits. Not every cycle is found: an exploration is complete for all other verdicts only. As states do not see
//! statics, a loop that counts there is endless from [`LAPS`] iterations on. Where a thread is frozen and another one
//! goes round for ever, the limit of steps is no failure, and the exploration is not complete ([`End::Unfair`]). Under
//! TSO and PSO stores become visible at once where an execution is watched, and under C11 threads read the newest
//! writes.

use crate::base::{Digest, ThreadId};
use crate::machine::State;
use crate::machine::{Machine, Status};
use crate::step::{End, SchedulingPolicy, Step};
use crate::trace::{Action, Source, Trace};

/// The number of probes.
const PROBES: u32 = 24;
/// The number of times that a cycle is seen before it counts as endless.
const LAPS: u32 = 40;
/// An execution that has so many events is watched, if the limit of steps is not lower than four times this.
const LONG: usize = 1_000;
/// There are probes as soon as an execution has so many events, if the limit of steps is not lower than four times
/// this.
const A_LITTLE_LONG: usize = 200;

/// The search for executions that go on for ever.
#[derive(Clone, Debug)]
pub(super) struct Endless {
    /// Executions with so many events are watched.
    from: usize,
    /// There are probes as soon as an execution has so many events, if there were none yet.
    probe_from: usize,
    watch: Watch,
    next: Watch,
    lap: Lap,
}

/// Whether an execution is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Watch {
    #[default]
    Not,
    Plan,
    /// It is the probe of this number.
    Probe(u32),
}

/// A state of the program, and what has happened since.
#[derive(Clone, Debug, Default)]
struct Lap {
    state: Digest,
    /// The number of states since, and the largest number that there may be.
    states: usize,
    most: usize,
    /// The place where it begins.
    place: Place,
    /// The number of times that the state came back, and the place where it did so first.
    closed: u32,
    end: Place,
    /// The number of steps when it began for the last time.
    began: usize,
    /// The threads that took the steps since, and the number of these steps that were repeated since the state came
    /// back.
    turns: Vec<ThreadId>,
    repeated: usize,
}

/// A place in an execution.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    events: usize,
    notes: usize,
}

/// The turns of a thread in an execution that is watched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    /// Its state where it stands, unless it did something since.
    state: Option<State>,
    /// The number of steps when it last ran, and when it last could have run.
    ran: usize,
    could: usize,
}

impl Endless {
    pub(super) fn new(max_steps: u32) -> Self {
        let fourth = max_steps as usize / 4;
        let (from, probe_from) = (LONG.min(fourth), A_LITTLE_LONG.min(fourth));
        Self { from, probe_from, watch: Watch::Not, next: Watch::Not, lap: Lap::default() }
    }

    /// Begins an execution, and returns whether it is a probe.
    pub(super) fn begin(&mut self) -> bool {
        self.watch = std::mem::take(&mut self.next);
        self.lap = Lap::default();
        matches!(self.watch, Watch::Probe(_))
    }

    /// Ends an execution with so many events, and returns whether it is no result, so that the plan is to be run. If it
    /// was watched for nothing, only longer ones are watched from now on; but not if it was short, since threads took
    /// turns: others may go on for ever again.
    pub(super) fn ends(&mut self, end: &End, events: usize, again: bool) -> bool {
        match (self.watch, end) {
            (Watch::Not, _) | (_, End::Endless { .. }) => again,
            // It is to be run again, in the same way.
            (watch, End::Learned) => {
                self.next = if again { watch } else { Watch::Not };
                again
            }
            (Watch::Plan, _) => {
                if events >= self.from {
                    self.from = self.from.saturating_mul(4);
                }
                again
            }
            (Watch::Probe(number), _) => {
                self.probe_from = usize::MAX;
                self.next = if number + 1 < PROBES { Watch::Probe(number + 1) } else { Watch::Not };
                true
            }
        }
    }

    /// The execution is watched no more.
    pub(super) fn watches_no_more(&mut self) {
        (self.watch, self.lap) = (Watch::Not, Lap::default());
    }

    /// Notes that an iteration was left out that takes locks and gives them back.
    pub(super) fn turns_locks(&mut self) {
        if self.probe_from != usize::MAX {
            self.probe_from = 0;
        }
    }
}

impl Turns {
    /// Notes that the thread takes a step, with which `steps` have been taken.
    #[inline]
    pub(super) fn takes(&mut self, steps: usize) {
        self.state = None;
        self.ran = steps;
    }
}

impl Machine {
    /// Whether this execution is watched: the executor is to report the states of threads by [`Machine::is_in`].
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.endless.watch != Watch::Not
    }

    /// Whether a thread is where it was when [`Machine::is_in`] said so.
    pub fn is_known(&self, thread: ThreadId) -> bool {
        self.threads[thread].turns.state.is_some()
    }

    /// Whether the execution is so long that it is to be watched, or has come to its limit. Then it is over.
    #[inline]
    pub(super) fn is_too_long(&mut self) -> bool {
        let events = self.run.trace.events.len();
        let Endless { from, probe_from, .. } = self.endless;
        events >= LONG.min(from).min(probe_from).min(self.most_events) && self.has_become_long(events)
    }

    fn has_become_long(&mut self, events: usize) -> bool {
        let (max_steps, is_unrecorded) = (self.most_events, self.is_unrecorded());
        let Endless { from, probe_from, watch, lap, .. } = &self.endless;
        // Where a thread is frozen, no cycle is fair.
        let may_watch = !is_unrecorded
            && *watch == Watch::Not
            && self.plan.policy == SchedulingPolicy::RunOn
            && self.plan.frozen.is_empty();
        let may_probe = self.plan.may_probe && events >= *probe_from;
        if may_watch && (may_probe || events >= (*from).min(max_steps)) {
            self.endless.next = if may_probe { Watch::Probe(0) } else { Watch::Plan };
            self.give_up_to_run_again();
        } else if events >= max_steps && lap.closed > 0 {
            self.is_endless();
        } else if events >= max_steps || (matches!(watch, Watch::Probe(_)) && events >= LONG && lap.closed == 0) {
            self.in_vain += u32::from(is_unrecorded);
            let site = self.run.trace.events.last().map_or_else(Default::default, |event| event.op.site);
            let is_fair = self.plan.frozen.is_empty();
            self.finish(if is_fair { End::StepLimit { thread: self.last, site } } else { End::Unfair { site } });
        }
        self.over
    }

    /// The next step of an execution that is watched: stores become visible, then threads take turns.
    pub(super) fn take_turns(&mut self) -> Option<Step> {
        if let Some(flush) = self.flushes().next() {
            return Some(flush);
        }
        let thread = self.next_turn()?;
        let lap = &mut self.endless.lap;
        match lap.closed {
            0 => lap.turns.push(thread),
            _ => lap.repeated += 1,
        }
        Some(Step::Run(thread))
    }

    fn next_turn(&mut self) -> Option<ThreadId> {
        let steps = self.steps;
        let mut enabled = Vec::new();
        for number in 0..self.threads.len() {
            let thread = ThreadId(number as u32);
            if self.is_enabled(thread) {
                self.threads[thread].turns.could = steps;
                enabled.push(thread);
            }
        }
        let lap = &mut self.endless.lap;
        if lap.closed > 0 {
            if let Some(&thread) = lap.turns.get(lap.repeated).filter(|thread| enabled.contains(thread)) {
                return Some(thread);
            }
            // It was no cycle after all.
            *lap = Lap { most: lap.most, ..Lap::default() };
        }
        if let Some(thread) = self.first_reader().filter(|&thread| self.tried(thread).is_some()) {
            return Some(thread);
        }
        match self.endless.watch {
            Watch::Probe(number) if number > 0 && !enabled.is_empty() => {
                let any = crate::base::mix(u64::from(number), steps as u64) % enabled.len() as u64;
                Some(enabled[any as usize])
            }
            _ => enabled.into_iter().min_by_key(|&thread| self.threads[thread].turns.ran),
        }
    }

    /// Notes that, in an execution that is watched, a running thread comes to an operation or a hint in this state.
    /// `around` is the state of what is around it: the stacks of others and the heap.
    pub fn is_in(&mut self, thread: ThreadId, state: State, around: u64) {
        if self.over || self.is_silent(thread) {
            return;
        }
        self.threads[thread].turns.state = Some(state);
        if self.steps < self.plan.forced.len() || !self.memory.is_drained() {
            return;
        }
        let now = self.state_of_program(around);
        let place = Place { events: self.run.trace.events.len(), notes: self.run.trace.notes.len() };
        let began = self.steps;
        let lap = &mut self.endless.lap;
        lap.states += 1;
        let may_close = lap.closed == 0 || lap.repeated == lap.turns.len();
        if may_close && now == lap.state && !lap.turns.is_empty() {
            lap.states = 0;
            let since = std::mem::replace(&mut lap.began, began);
            let is_fair = self.threads.values().all(|thread| thread.turns.could < since || thread.turns.ran > since);
            // A cycle in which no thread affects another is seen where iterations are left out, and reported better
            // there.
            let is_plain = matches!(self.endless.watch, Watch::Probe(_)) && !affects(&self.run.trace, lap.place.events);
            if !is_fair || is_plain {
                return lap.turns.clear();
            }
            if lap.closed == 0 {
                lap.end = place;
            }
            lap.closed += 1;
            lap.repeated = 0;
            if lap.closed == LAPS {
                self.is_endless();
            }
        } else if lap.closed == 0 && lap.states > lap.most {
            let most = 2 * lap.most + 1;
            *lap = Lap { state: now, most, place, began, ..Lap::default() };
        }
    }

    /// A digest of all that the future of the program depends on.
    fn state_of_program(&self, around: u64) -> Digest {
        let mut digest = Digest::of(&[0, around]);
        for loc in self.run.trace.locs.ids() {
            digest.add(&[1, u64::from(loc.0), self.memory.shared(loc).value]);
        }
        for (thread, state) in self.threads.iter() {
            let (low, high) = match state.turns.state {
                Some(own) => (own as u64, (own >> 64) as u64),
                // It has moved if it is here with another number of events.
                None => (u64::from(self.run.trace.count(thread)), 0),
            };
            let status = match state.status {
                Status::Absent | Status::Ended => 0,
                Status::Joining(..) => 1,
                Status::Draining(_) => 2,
                Status::Due | Status::Running | Status::Standing(_) => 3,
            };
            let waits = u64::from(state.spin.is_some()) + u64::from(self.waits_in_loop(thread));
            digest.add(&[2, u64::from(thread.0), status, waits, low, high]);
        }
        digest
    }

    /// Ends the execution as one that goes on for ever.
    fn is_endless(&mut self) {
        let &Lap { place, end, .. } = &self.endless.lap;
        let trace = &mut self.run.trace;
        trace.truncate(end.events.min(trace.events.len()), end.notes.min(trace.notes.len()));
        self.run.waiting = self.threads.ids().filter_map(|thread| self.suspended(thread)).collect();
        self.finish(End::Endless { since: place.events as u32 });
        self.endless.watch = Watch::Not;
    }
}

/// Whether, from this event on, a thread sees what another does meanwhile, other than that a lock is given back.
fn affects(trace: &Trace, since: usize) -> bool {
    trace.events[since..].iter().any(|event| match event.source {
        Source::At(at) if at as usize >= since => {
            let write = &trace.events[at as usize];
            write.id.thread != event.id.thread && !matches!(write.op.action, Action::Release { .. })
        }
        _ => false,
    })
}
