//! Keeps checks that run at once, and code outside, from the data of one static lock.
//!
//! A check models which thread holds a lock, on one OS thread. Another check on another OS thread models it for itself,
//! and both would reach the same data. So a guard also holds a pass: all passes that are out belong to one check, or to
//! code outside, where the real lock decides which guards may exist together. A guard that was forgotten, or whose
//! thread was left behind, keeps its pass until the execution is over: then all passes of a static's door are taken
//! back.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time for which a check waits for others.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The owner of the passes of code outside.
const OUTSIDE: usize = 0;

pub(crate) struct Door {
    out: Mutex<Passes>,
    all_back: Condvar,
}

/// The passes that are out.
struct Passes {
    number: usize,
    /// The number of times that they were taken back: a pass from before counts no more.
    taken_back: u64,
    /// The owner of the passes: [`OUTSIDE`], or the OS thread of a check.
    whose: usize,
    /// The number of threads that wait outside checks. They go first: a check comes again with its next execution.
    waiting: usize,
    /// The number of checks that wait.
    checks_waiting: usize,
}

/// The right to the data; the number is `Passes::taken_back` at the time it was given.
pub(crate) struct Pass<'a>(&'a Door, u64);

impl Passes {
    /// Gives a pass to `who` if possible; returns the number for it.
    fn give_to(&mut self, who: usize) -> Option<u64> {
        let free = self.number == 0 && (who == OUTSIDE || self.waiting == 0);
        let gives = free || (self.number > 0 && self.whose == who);
        if gives {
            self.whose = who;
            self.number += 1;
        }
        gives.then_some(self.taken_back)
    }

    fn wakes(&self) -> bool {
        self.number == 0 && self.waiting + self.checks_waiting > 0
    }
}

impl Door {
    pub(crate) const fn new() -> Self {
        Self {
            out: Mutex::new(Passes { number: 0, taken_back: 0, whose: OUTSIDE, waiting: 0, checks_waiting: 0 }),
            all_back: Condvar::new(),
        }
    }

    /// Waits until no check has a pass, outside checks.
    pub(crate) fn wait(&self) -> Pass<'_> {
        let mut out = self.passes();
        let mut given = out.give_to(OUTSIDE);
        if given.is_none() {
            out.waiting += 1;
            let waited = self.all_back.wait_while(out, |out| {
                given = out.give_to(OUTSIDE);
                given.is_none()
            });
            waited.unwrap_or_else(PoisonError::into_inner).waiting -= 1;
        }
        Pass(self, given.expect("it was waited for"))
    }

    /// Passes if no check has a pass, outside checks.
    pub(crate) fn try_pass(&self) -> Option<Pass<'_>> {
        self.passes().give_to(OUTSIDE).map(|number| Pass(self, number))
    }

    /// Passes for a check, which holds the lock in its model.
    pub(crate) fn pass_in_run(&self) -> Pass<'_> {
        let me = os_thread();
        let given = self.passes().give_to(me);
        Pass(self, given.unwrap_or_else(|| self.wait_for_others(me)))
    }

    #[cold]
    fn wait_for_others(&self, me: usize) -> u64 {
        let mut out = self.passes();
        out.checks_waiting += 1;
        let mut given = None;
        let waited = self.all_back.wait_timeout_while(out, PATIENCE, |out| {
            given = out.give_to(me);
            given.is_none()
        });
        let (mut out, _) = waited.unwrap_or_else(PoisonError::into_inner);
        out.checks_waiting -= 1;
        drop(out);
        given.expect(
            "a lock is shared with code outside this check that does not release it; \
             create it inside the body, or run the tests one after another",
        )
    }

    /// Takes back the passes that are still out of the check that runs here: its execution is over, and the threads
    /// that have one were left behind or forgot it.
    pub(crate) fn take_back(&self) {
        let me = os_thread();
        let mut out = self.passes();
        if out.number > 0 && out.whose == me {
            out.number = 0;
            out.taken_back += 1;
            if out.wakes() {
                self.all_back.notify_all();
            }
        }
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
        if out.taken_back != self.1 {
            return;
        }
        out.number -= 1;
        // No thread is woken in vain: a wake-up would count, and a thread that polls under a lock is where it was.
        if out.wakes() {
            self.0.all_back.notify_all();
        }
    }
}

/// A number for the calling OS thread that no other living one has, and that is not 0.
fn os_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
