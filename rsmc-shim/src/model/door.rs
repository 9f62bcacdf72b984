//! Keeps checks that run at once, and code outside, from the data of one static lock.
//!
//! A check models who holds a lock, on one OS thread. Another check on another OS thread models it for itself, and
//! both would reach the same data. So a guard also holds a pass: all passes that are out belong to one check, or to
//! code outside, where the real lock says who may have one with whom. A guard that was forgotten keeps its pass, which
//! is in nobody's way in the check that it belongs to.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a check waits for others.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// To whom passes belong that code outside has.
const OUTSIDE: usize = 0;

pub(crate) struct Door {
    out: Mutex<Passes>,
    all_back: Condvar,
}

/// The passes that are out.
struct Passes {
    number: usize,
    /// Whose they are: [`OUTSIDE`], or the OS thread of a check.
    whose: usize,
    /// How many wait outside checks. They go first: a check comes again with its next execution.
    waiting: usize,
    /// How many checks wait.
    checks_waiting: usize,
}

/// The right to the data.
pub(crate) struct Pass<'a>(&'a Door);

impl Passes {
    fn give_to(&mut self, who: usize) -> bool {
        let free = self.number == 0 && (who == OUTSIDE || self.waiting == 0);
        let gives = free || (self.number > 0 && self.whose == who);
        if gives {
            self.whose = who;
            self.number += 1;
        }
        gives
    }
}

impl Door {
    pub(crate) const fn new() -> Self {
        Self {
            out: Mutex::new(Passes { number: 0, whose: OUTSIDE, waiting: 0, checks_waiting: 0 }),
            all_back: Condvar::new(),
        }
    }

    /// Waits until no check has a pass, outside checks.
    pub(crate) fn wait(&self) -> Pass<'_> {
        let mut out = self.passes();
        if !out.give_to(OUTSIDE) {
            out.waiting += 1;
            let given = self.all_back.wait_while(out, |out| !out.give_to(OUTSIDE));
            given.unwrap_or_else(PoisonError::into_inner).waiting -= 1;
        }
        Pass(self)
    }

    /// Passes if no check has a pass, outside checks.
    pub(crate) fn try_pass(&self) -> Option<Pass<'_>> {
        self.passes().give_to(OUTSIDE).then(|| Pass(self))
    }

    /// Passes for a check, which holds the lock in its model.
    pub(crate) fn pass_in_run(&self) -> Pass<'_> {
        let me = os_thread();
        let given = self.passes().give_to(me);
        if !given {
            self.wait_for_others(me);
        }
        Pass(self)
    }

    #[cold]
    fn wait_for_others(&self, me: usize) {
        let mut out = self.passes();
        out.checks_waiting += 1;
        let waited = self.all_back.wait_timeout_while(out, PATIENCE, |out| !out.give_to(me));
        let (mut out, ended) = waited.unwrap_or_else(PoisonError::into_inner);
        out.checks_waiting -= 1;
        drop(out);
        let in_vain = ended.timed_out();
        assert!(
            !in_vain,
            "a lock is shared with code outside this check that does not release it; \
             create it inside the body, or run the tests one after another"
        );
    }

    fn passes(&self) -> MutexGuard<'_, Passes> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// Whether this is not the only pass that is out.
    pub(crate) fn others_are_out(&self) -> bool {
        self.0.passes().number > 1
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut out = self.0.passes();
        out.number -= 1;
        // Nobody is woken for nothing: that would count, and a thread that polls under a lock is where it was.
        if out.number == 0 && out.waiting + out.checks_waiting > 0 {
            self.0.all_back.notify_all();
        }
    }
}

/// A number for the calling OS thread that no other living one has, and that is not 0.
fn os_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
