//! Keeps checks that run at once, and code outside, from the data of one static lock.
//!
//! A check models which thread holds a lock, on one OS thread. Another check on another OS thread models it for itself,
//! and both would reach the same data. So a guard of a check also holds a pass, and a guard outside holds a visit. The
//! passes that are out belong to one check; no visit is then out, and while visits are out, the real lock decides which
//! guards may exist together. A guard that was forgotten, or whose thread was left behind, keeps its pass until the
//! execution is over: then all passes of a static's door are taken back.
//!
//! Most locks never meet a check and code outside. So visits are counted in one atomic word, and a bit of it is set as
//! long as a check has a pass or any thread waits. Code outside that finds the bit unset adds its visit to the word and
//! needs no lock. A check sets the bit first, and in the same operation learns whether visits are out. The code that
//! ends the last of these sees the bit in turn, and wakes the check. Only read-modify-write operations change the word,
//! so whichever of them acquires sees all that was done with the data before.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use super::real::{AtomicUsize, Condvar, Mutex, MutexGuard, os_thread};

/// The time for which a check waits for others.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The bit of [`Door::visits`] that is set while a check has a pass or a thread waits.
const WATCHED: usize = 1;
/// A visit in [`Door::visits`].
const ONE: usize = 2;

pub(crate) struct Door {
    /// The visits that go on, and [`WATCHED`]. That bit changes under the lock of `checks`.
    visits: AtomicUsize,
    checks: Mutex<Checks>,
    moved: Condvar,
}

/// The passes of a check that are out, and the threads that wait.
struct Checks {
    number: usize,
    /// The number of times that they were taken back: a pass from before counts no more.
    taken_back: u64,
    /// The owner of the passes: the OS thread of a check.
    whose: usize,
    /// The number of threads that wait outside checks. They go first: a check comes again with its next execution.
    waiting: usize,
    /// The number of checks that wait.
    checks_waiting: usize,
}

/// The right of a check to the data; the number is `Checks::taken_back` at the time it was given.
pub(crate) struct Pass<'a>(&'a Door, u64);

/// The right of code outside to the data.
pub(crate) struct Visit<'a>(&'a Door);

impl Checks {
    fn any_waits(&self) -> bool {
        self.waiting + self.checks_waiting > 0
    }
}

impl Door {
    pub(crate) const fn new() -> Self {
        let checks = Checks { number: 0, taken_back: 0, whose: 0, waiting: 0, checks_waiting: 0 };
        Self { visits: AtomicUsize::new(0), checks: Mutex::new(checks), moved: Condvar::new() }
    }

    /// Waits until no check has a pass, outside checks.
    #[inline]
    pub(crate) fn wait(&self) -> Visit<'_> {
        if !self.is_added() {
            self.wait_for_checks();
        }
        Visit(self)
    }

    /// Visits if no check has a pass, outside checks.
    #[inline]
    pub(crate) fn try_visit(&self) -> Option<Visit<'_>> {
        (self.is_added() || self.is_added_by_turns()).then(|| Visit(self))
    }

    /// Adds a visit, if no check has one and no thread waits.
    #[inline]
    fn is_added(&self) -> bool {
        let mut visits = self.visits.load(Relaxed);
        while visits & WATCHED == 0 {
            match self.visits.compare_exchange(visits, visits + ONE, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => visits = now,
            }
        }
        false
    }

    /// Adds a visit, if no check has one.
    #[cold]
    fn is_added_by_turns(&self) -> bool {
        let checks = self.checks();
        let adds = checks.number == 0;
        if adds {
            self.visits.fetch_add(ONE, Acquire);
        }
        adds
    }

    #[cold]
    fn wait_for_checks(&self) {
        let mut checks = self.checks();
        checks.waiting += 1;
        let waited = self.moved.wait_while(checks, |checks| checks.number > 0);
        checks = waited.unwrap_or_else(PoisonError::into_inner);
        checks.waiting -= 1;
        self.visits.fetch_add(ONE, Acquire);
        self.rest(&checks);
    }

    /// Passes for a check, which holds the lock in its model.
    pub(crate) fn pass_in_run(&self) -> Pass<'_> {
        let me = os_thread();
        let mut checks = self.checks();
        let given = self.give(&mut checks, me);
        Pass(self, given.unwrap_or_else(|| self.wait_for_others(checks, me)))
    }

    /// Gives a pass to the check `me` if possible; returns the number for it. Code outside needs the lock from then on.
    fn give(&self, checks: &mut Checks, me: usize) -> Option<u64> {
        let gives = match checks.number {
            0 => self.visits.fetch_or(WATCHED, Acquire) < ONE && checks.waiting == 0,
            _ => checks.whose == me,
        };
        if gives {
            checks.whose = me;
            checks.number += 1;
        }
        gives.then_some(checks.taken_back)
    }

    #[cold]
    fn wait_for_others(&self, mut checks: MutexGuard<'_, Checks>, me: usize) -> u64 {
        checks.checks_waiting += 1;
        let mut given = None;
        let waited = self.moved.wait_timeout_while(checks, PATIENCE, |checks| {
            given = self.give(checks, me);
            given.is_none()
        });
        let (mut checks, _) = waited.unwrap_or_else(PoisonError::into_inner);
        checks.checks_waiting -= 1;
        self.rest(&checks);
        drop(checks);
        given.expect(
            "a lock is shared with code outside this check that does not release it; \
             create it inside the body, or run the tests one after another",
        )
    }

    /// Takes back the passes that are still out of the check that runs here: its execution is over, and the threads
    /// that have one were left behind or forgot it.
    pub(crate) fn take_back(&self) {
        let me = os_thread();
        let mut checks = self.checks();
        if checks.number > 0 && checks.whose == me {
            checks.number = 0;
            checks.taken_back += 1;
            self.move_on(&checks);
        }
    }

    /// Wakes the threads that wait if no check has a pass.
    fn move_on(&self, checks: &Checks) {
        // No thread is woken in vain: a wake-up would count, and a thread that polls under a lock is where it was.
        if checks.number == 0 && checks.any_waits() {
            self.moved.notify_all();
        }
        self.rest(checks);
    }

    /// Code outside needs the lock no more if no check has a pass and no thread waits.
    fn rest(&self, checks: &Checks) {
        if checks.number == 0 && !checks.any_waits() {
            self.visits.fetch_and(!WATCHED, Release);
        }
    }

    /// Called when the last visit has ended, while a check waited.
    #[cold]
    fn is_empty(&self) {
        self.move_on(&self.checks());
    }

    fn checks(&self) -> MutexGuard<'_, Checks> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// Whether this is not the only pass that is out.
    pub(crate) fn others_are_out(&self) -> bool {
        self.0.checks().number > 1
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut checks = self.0.checks();
        if checks.taken_back == self.1 {
            checks.number -= 1;
            self.0.move_on(&checks);
        }
    }
}

impl Drop for Visit<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.0.visits.fetch_sub(ONE, Release) == ONE | WATCHED {
            self.0.is_empty();
        }
    }
}
