//! The guard of a `Mutex`.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::LockResult;

use rsmc_core::base::ThreadId;
use rsmc_core::runtime::hook;

use crate::model::door::{Pass, Visit};
use crate::model::mutex::{Mutex, cleared, with_poison};

/// The real guard.
type RawGuard<'a> = std::sync::MutexGuard<'a, ()>;

/// Mirrors [`std::sync::MutexGuard`]. In a check, dropping it is a step, and an execution ends if a thread drops it
/// that did not take the lock.
///
/// As in std, it stays on its thread, and is shared only if the data may be:
///
/// ```compile_fail,E0277
/// fn send<T: Send>() {}
/// send::<rsmc_shim::sync::MutexGuard<'static, u8>>();
/// ```
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<rsmc_shim::sync::MutexGuard<'static, std::cell::Cell<u8>>>();
/// ```
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    lock: &'a Mutex<T>,
    held: Held<'a>,
    not_send: PhantomData<*const ()>,
}

/// The way in which the lock was taken.
enum Held<'a> {
    Outside {
        raw: RawGuard<'a>,
        visit: Visit<'a>,
    },
    InRun {
        /// The place where the lock was taken.
        place: &'static Location<'static>,
        found_poisoned: bool,
        was_panicking: bool,
        taken_by: Option<ThreadId>,
        /// `None` for a moment, and where the data has no bytes to protect.
        pass: Option<Pass<'a>>,
    },
}

// SAFETY: a shared guard gives out `&T` and nothing else.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    #[inline]
    pub(super) fn outside(lock: &'a Mutex<T>, raw: RawGuard<'a>, visit: Visit<'a>) -> Self {
        lock.touch();
        let held = Held::Outside { raw, visit };
        Self { lock, held, not_send: PhantomData }
    }

    /// The mutex.
    pub(crate) fn mutex(&self) -> &'a Mutex<T> {
        self.lock
    }

    /// Outside checks: gives the lock back while `wait` waits with the real one, and says whether it is poisoned then.
    ///
    /// # Panics
    /// If the guard was taken in a check.
    #[track_caller]
    pub(crate) fn wait_outside<R>(
        self,
        wait: impl FnOnce(RawGuard<'a>) -> (RawGuard<'a>, bool, R),
    ) -> (LockResult<Self>, R) {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so what it holds is moved out once.
        let Held::Outside { raw, visit } = (unsafe { std::ptr::read(&this.held) }) else {
            panic!("a guard that was taken in a check is used outside of it");
        };
        drop(visit);
        let (raw, poisoned, result) = wait(raw);
        let guard = Self::outside(this.lock, raw, this.lock.door.wait());
        (with_poison(poisoned, guard), result)
    }

    /// A guard for the lock that the check has just given to the calling thread.
    pub(super) fn in_run(lock: &'a Mutex<T>, place: &'static Location<'static>, found_poisoned: bool) -> Self {
        if found_poisoned {
            cleared::begin(lock.address());
        }
        let was_panicking = hook::threads::panicking();
        let held = Held::InRun { place, found_poisoned, was_panicking, taken_by: hook::threads::current(), pass: None };
        let mut guard = Self { lock, held, not_send: PhantomData };
        let has_data = size_of_val(&*guard) > 0;
        match &mut guard.held {
            Held::InRun { pass, .. } if has_data => {
                lock.touch();
                *pass = Some(lock.door.pass_in_run());
            }
            _ => {}
        }
        guard
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if let Held::InRun { place, found_poisoned, was_panicking, taken_by, .. } = self.held {
            if let Some(holder) = taken_by {
                hook::objects::gives_back_of(self.lock.object(), holder, place);
            }
            let still = found_poisoned && !cleared::end(self.lock.address());
            let now = !was_panicking && hook::threads::panicking() && !hook::executions::is_unwinding();
            self.lock.release(place, still || now);
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: a guard exists only while its thread holds the lock.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        hook::loops::changes(self.lock.data.get().cast::<u8>().addr());
        // SAFETY: a guard exists only while its thread holds the lock, and it is borrowed mutably.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
