//! The time of modelled threads.
//!
//! No real time passes in an execution that the program could see. Each thread has a clock of its own, which it moves
//! itself: when it sleeps, when a wait ends because its time is over, and when it asks for the time. It starts where
//! that of the thread that spawned it is, and a join moves it to the end of the other thread, if that is later. So what
//! a thread reads there depends on what happened before it in the execution, and on nothing else. One clock for all
//! would depend on the order of operations that have nothing to do with each other, and which no class of executions
//! knows.
//!
//! To ask for the time takes 1 ms. After [`PATIENT`] times it takes twice as long every time, up to [`LONGEST`]: a loop
//! that waits for a deadline within an hour comes to it in fewer iterations than it takes to be recognised as one that
//! waits for another thread (`trace/spin.rs`), so that its giving up is explored, and there are few ways through it.

use std::time::Duration;

/// The number of times that a thread may ask before the time it takes grows.
const PATIENT: u32 = 8;

/// The largest number of times that it doubles: to a little more than an hour.
const LONGEST: u32 = 22;

/// The time at which all clocks start: the program can count far back from it.
pub const ORIGIN: Duration = Duration::from_secs(1 << 62);

/// The clock of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    time: Duration,
    asked: u32,
    /// Whether a thread has asked for the time before this, and so may ask how long something took.
    matters: bool,
}

impl Default for Clock {
    fn default() -> Self {
        Self { time: ORIGIN, asked: 0, matters: false }
    }
}

impl Clock {
    /// The clock of a thread that a thread with this clock starts.
    pub(super) fn inherited(self) -> Self {
        Self { asked: 0, ..self }
    }

    /// Whether no time has passed.
    pub(super) fn is_at_origin(self) -> bool {
        self.time == ORIGIN
    }

    fn move_by(&mut self, time: Duration) {
        self.time = self.time.saturating_add(time);
    }

    /// Lets time pass for the thread. Returns whether it may ask how much.
    pub(super) fn pass(&mut self, time: Duration) -> bool {
        self.move_by(time);
        self.matters
    }

    /// The thread has waited for the end of another one with this clock.
    pub(super) fn join(&mut self, ended: Self) {
        self.time = self.time.max(ended.time);
        self.matters |= ended.matters;
    }

    /// The thread asks for the time.
    pub(super) fn ask(&mut self) -> Duration {
        self.move_by(Duration::from_millis(1 << self.asked.saturating_sub(PATIENT).min(LONGEST)));
        self.asked = self.asked.saturating_add(1);
        self.matters = true;
        self.time
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
