//! Keeps checks that run at once, and code outside, from the data of one static mutex.
//!
//! A check models who holds a lock, on one OS thread. Another check on another OS thread models it for itself, and
//! both would reach the same data. So a guard also holds a real lock. Within a check it is always free, with one
//! exception: a thread of an earlier execution may have forgotten its guard. It is then this OS thread's already.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How long a check waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct Door {
    lock: Mutex<()>,
    /// The OS thread that has it for its check.
    owner: AtomicUsize,
}

/// The right to the data.
pub(super) struct Pass<'a> {
    door: &'a Door,
    lock: Option<MutexGuard<'a, ()>>,
}

impl Door {
    pub(super) const fn new() -> Self {
        Self { lock: Mutex::new(()), owner: AtomicUsize::new(0) }
    }

    /// Waits for its turn, outside checks.
    pub(super) fn wait(&self) -> Pass<'_> {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        Pass { door: self, lock: Some(lock) }
    }

    /// Passes if that is possible at once.
    pub(super) fn try_pass(&self) -> Option<Pass<'_>> {
        match self.lock.try_lock() {
            Ok(lock) => Some(Pass { door: self, lock: Some(lock) }),
            Err(TryLockError::Poisoned(error)) => Some(Pass { door: self, lock: Some(error.into_inner()) }),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Passes for a check, which holds the lock in its model.
    pub(super) fn pass_in_run(&self) -> Pass<'_> {
        let me = os_thread();
        let pass = self.try_pass().unwrap_or_else(|| self.pass_after_others(me));
        self.owner.store(me, Ordering::Relaxed);
        pass
    }

    #[cold]
    fn pass_after_others(&self, me: usize) -> Pass<'_> {
        let since = Instant::now();
        loop {
            if self.owner.load(Ordering::Relaxed) == me {
                return Pass { door: self, lock: None };
            }
            if let Some(pass) = self.try_pass() {
                return pass;
            }
            assert!(
                since.elapsed() < PATIENCE,
                "a mutex is shared with code outside this check that does not release it; \
                 create it inside the body, or run the tests one after another"
            );
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.lock.is_some() {
            self.door.owner.store(0, Ordering::Relaxed);
        }
    }
}

/// A number for the calling OS thread that no other living one has.
fn os_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
