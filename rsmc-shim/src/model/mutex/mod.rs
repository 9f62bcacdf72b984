//! `Mutex`.

mod cleared;
mod guard;

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::Location;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use rsmc_core::machine::Outcome;
use rsmc_core::runtime::{Object, hook};
use rsmc_core::trace::{Action, HELD, POISONED};

use crate::model::door::Door;
use crate::model::statics::Home;
use crate::model::surely::surely;
use rsmc_core::runtime::Identity;

pub use guard::MutexGuard;

/// Mirrors [`std::sync::Mutex`]. In a check, taking and releasing the lock are steps.
///
/// A forgotten guard keeps the lock held until the end of the execution. The data of a *static* mutex is put back at
/// the end of each execution, if it can be (see the [crate](crate#statics)); behind a forgotten guard it is leaked
/// instead of dropped. Two checks that run at once and share a static mutex exclude each other from its data for real;
/// one that cannot get it for ten seconds panics.
///
/// In a check, `Debug` and `is_poisoned` are steps as well: they observe other threads.
pub struct Mutex<T: ?Sized> {
    /// The lock outside checks, and the poison outside and before checks.
    raw: std::sync::Mutex<()>,
    door: Door,
    identity: Identity,
    /// The type of what it is, or is part of, as the user wrote it.
    kind: &'static str,
    home: Home,
    data: UnsafeCell<T>,
}

// SAFETY: as for std: the lock gives access to `data` to one thread at a time, so `T` moves between threads at most.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: see above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// A free lock around `value`.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self::part_of("Mutex", value)
    }

    /// The lock of an object of this type.
    #[inline]
    #[track_caller]
    pub(crate) const fn part_of(kind: &'static str, value: T) -> Self {
        Self {
            raw: std::sync::Mutex::new(()),
            door: Door::new(),
            identity: Identity::new(),
            kind,
            home: Home::new(),
            data: UnsafeCell::new(value),
        }
    }

    /// Unwraps the value.
    ///
    /// # Errors
    /// If the mutex is poisoned; the error holds the value.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        with_poison(poisoned, self.data.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock and takes it.
    ///
    /// # Errors
    /// If a thread panicked while it held the lock; the error holds the guard.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        hook::loops::stand();
        self.take()
    }

    #[track_caller]
    fn take(&self) -> LockResult<MutexGuard<'_, T>> {
        if hook::executions::is_apart() {
            return self.lock_outside();
        }
        match self.access(Action::Acquire, Ordering::Acquire) {
            Some(outcome) => self.entered(outcome),
            None => self.lock_outside(),
        }
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// `WouldBlock` if the lock is held, `Poisoned` as for [`lock`](Self::lock).
    #[inline(always)]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        hook::loops::stand();
        self.try_take()
    }

    #[track_caller]
    fn try_take(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if hook::executions::is_apart() {
            return self.try_lock_outside();
        }
        match self.access(Action::TryAcquire, Ordering::Acquire) {
            Some(Outcome { written: None, .. }) => Err(TryLockError::WouldBlock),
            Some(outcome) => Ok(self.entered(outcome)?),
            None => self.try_lock_outside(),
        }
    }

    /// Whether a thread panicked while it held the lock. A relaxed load in a check.
    #[inline]
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        match self.access(Action::Load, Ordering::Relaxed) {
            Some(Outcome { read, .. }) => {
                let held = read & HELD != 0;
                read & POISONED != 0 && !(held && cleared::by_me(self.address()))
            }
            None => self.raw.is_poisoned(),
        }
    }

    /// Forgets that a thread panicked while it held the lock.
    ///
    /// In a check, a thread that does not hold the lock takes a poisoned one for a moment, and so waits until it is
    /// free; std would not wait.
    #[track_caller]
    pub fn clear_poison(&self) {
        let Some(Outcome { read, .. }) = self.access(Action::Load, Ordering::Relaxed) else {
            return self.raw.clear_poison();
        };
        let mine = read & HELD != 0 && cleared::mark(self.address());
        if read & POISONED != 0 && !mine {
            self.access(Action::Acquire, Ordering::Acquire);
            self.release(Location::caller(), false);
        }
    }

    /// The data, to which no other thread has access.
    ///
    /// # Errors
    /// If the mutex is poisoned; the error holds the data.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.is_poisoned();
        self.touch();
        with_poison(poisoned, self.data.get_mut())
    }

    #[inline]
    #[track_caller]
    fn access(&self, action: Action, order: Ordering) -> Option<Outcome> {
        self.access_at(Location::caller(), action, order)
    }

    #[inline]
    fn access_at(&self, place: &'static Location<'static>, action: Action, order: Ordering) -> Option<Outcome> {
        hook::objects::access_at(place, self.object(), || self.outside(), action, order, Ordering::Relaxed)
    }

    pub(crate) fn object(&self) -> Object<'_> {
        self.identity.object(self.kind)
    }

    /// The value of the lock outside.
    pub(crate) fn outside(&self) -> u64 {
        hook::objects::lock_value(self.raw.is_poisoned())
    }

    /// Releases the lock in a check. A release has no line of its own: it is shown at the line that took the lock.
    fn release(&self, place: &'static Location<'static>, poisoned: bool) {
        surely(|| {
            self.access_at(place, Action::Release { poisoned }, Ordering::Release);
        });
    }

    #[track_caller]
    fn entered(&self, outcome: Outcome) -> LockResult<MutexGuard<'_, T>> {
        let poisoned = outcome.read & POISONED != 0;
        with_poison(poisoned, MutexGuard::in_run(self, Location::caller(), poisoned))
    }

    #[inline]
    fn lock_outside(&self) -> LockResult<MutexGuard<'_, T>> {
        let raw = self.raw.lock();
        let poisoned = raw.is_err();
        let raw = raw.unwrap_or_else(PoisonError::into_inner);
        with_poison(poisoned, MutexGuard::outside(self, raw, self.door.wait()))
    }

    #[inline]
    fn try_lock_outside(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let (poisoned, raw) = match self.raw.try_lock() {
            Ok(raw) => (false, raw),
            Err(TryLockError::Poisoned(error)) => (true, error.into_inner()),
            Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        };
        let visit = self.door.try_visit().ok_or(TryLockError::WouldBlock)?;
        Ok(with_poison(poisoned, MutexGuard::outside(self, raw, visit))?)
    }

    /// Notes that the data is about to be accessed, by a caller that has the lock.
    #[inline]
    fn touch(&self) {
        self.home.touch(self.data.get(), Some(&self.door));
    }

    /// The address that names the lock while a guard of it exists.
    fn address(&self) -> usize {
        std::ptr::from_ref(&self.raw).addr()
    }
}

#[inline]
pub(super) fn with_poison<T>(poisoned: bool, value: T) -> LockResult<T> {
    if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        let poisoned = match self.try_lock() {
            Ok(guard) => {
                shown.field("data", &&*guard);
                false
            }
            Err(TryLockError::Poisoned(error)) => {
                shown.field("data", &&**error.get_ref());
                true
            }
            Err(TryLockError::WouldBlock) => {
                shown.field("data", &"<locked>");
                self.is_poisoned()
            }
        };
        shown.field("poisoned", &poisoned).finish_non_exhaustive()
    }
}
