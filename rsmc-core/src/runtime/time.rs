//! The time of modelled threads.
//!
//! No real time passes in an execution that the program could see. Each thread has a clock of its own, which it moves
//! itself: when it sleeps, when a wait ends because its time is over, and when it asks for the time. It starts where that
//! of the thread that spawned it is, and a join moves it to the end of the other thread, if that is later. So what a
//! thread reads there depends on what happened before it in the execution, and on nothing else. One clock for all would
//! depend on the order of operations that have nothing to do with each other, and which no class of executions knows.
//!
//! To ask for the time takes 1 ms. After [`PATIENT`] times it takes twice as long every time, up to [`LONGEST`]: a loop
//! that waits for a deadline within an hour comes to it in fewer iterations than it takes to be recognised as one that
//! waits for another thread (`trace/spin.rs`), so that its giving up is explored, and there are few ways through it.

use std::time::Duration;

use crate::base::ThreadId;
use crate::machine::State;
use crate::runtime::execution::Execution;
use crate::runtime::fibers::Fiber;

/// How often a thread may ask before the time it takes grows.
const PATIENT: u32 = 8;

/// How often it doubles, at most: to a little more than an hour.
const LONGEST: u32 = 22;

/// Where all clocks start, at a time from which one can count far back.
pub const ORIGIN: Duration = Duration::from_secs(1 << 62);

/// The clock of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    time: Duration,
    asked: u32,
    /// Whether somebody before this was asked for the time, and so may ask how long something took.
    matters: bool,
}

impl Default for Clock {
    fn default() -> Self {
        Self { time: ORIGIN, asked: 0, matters: false }
    }
}

impl Clock {
    /// Of a thread that one with this clock starts.
    pub(super) fn inherited(self) -> Self {
        Self { asked: 0, ..self }
    }

    fn pass(&mut self, time: Duration) {
        self.time = self.time.saturating_add(time);
    }

    /// The thread asks for the time.
    fn ask(&mut self) -> Duration {
        self.pass(Duration::from_millis(1 << self.asked.saturating_sub(PATIENT).min(LONGEST)));
        self.asked = self.asked.saturating_add(1);
        self.matters = true;
        self.time
    }
}

impl Fiber {
    /// The thread is in a state. If it came to it by an iteration that is left out, then no time has passed there.
    pub(super) fn keep_time(&mut self, state: State, is_left_out: bool) {
        if self.clock.time == ORIGIN && self.times.is_empty() {
            return;
        }
        match is_left_out {
            true => self.clock = self.times.get(&state).copied().unwrap_or_default(),
            false => _ = self.times.insert(state, self.clock),
        }
    }
}

impl Execution {
    /// The running thread asks for the time. It is no longer where it was.
    pub(super) fn now(&self) -> Duration {
        let (me, core) = (self.running.get(), &mut *self.core.borrow_mut());
        core.machine.disturb(me);
        core.fibers[me].clock.ask()
    }

    /// Time passes for the running thread. If it may ask how much, it is no longer where it was.
    pub(super) fn pass_time(&self, time: Duration) {
        let (me, core) = (self.running.get(), &mut *self.core.borrow_mut());
        let clock = &mut core.fibers[me].clock;
        clock.pass(time);
        if clock.matters {
            core.machine.disturb(me);
        }
    }

    /// The running thread has waited for the end of another.
    pub(super) fn wait_for_clock_of(&self, target: ThreadId) {
        let fibers = &mut self.core.borrow_mut().fibers;
        let ended = fibers[target].clock;
        let clock = &mut fibers[self.running.get()].clock;
        clock.time = clock.time.max(ended.time);
        clock.matters |= ended.matters;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_within_an_hour_is_soon_there() {
        let mut clock = Clock::default();
        let first = clock.ask();
        assert_eq!(first - ORIGIN, Duration::from_millis(1));
        assert_eq!(clock.ask() - first, Duration::from_millis(1));
        let polls = |seconds| {
            let mut clock = Clock::default();
            let deadline = clock.ask() + Duration::from_secs(seconds);
            (1..).find(|_| clock.ask() >= deadline).unwrap()
        };
        assert!(polls(1) < polls(60) && polls(60) < polls(3600) && polls(3600) < 32);
    }

    #[test]
    fn no_clock_overflows() {
        let mut clock = Clock::default();
        let before = (0..100).map(|_| clock.ask()).last().unwrap();
        let hour = Duration::from_secs(3600);
        let step = clock.ask() - before;
        assert!(hour < step && step < 2 * hour);
        clock.pass(Duration::MAX);
        assert_eq!((clock.ask(), clock.inherited().ask()), (Duration::MAX, Duration::MAX));
    }
}
