//! `RwLock`.

mod guard;
mod queue;

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, TryLockError, TryLockResult};

use rsmc_core::runtime::object::Mode;
use rsmc_core::runtime::{Object, hook};

use crate::model::mutex::with_poison;
use crate::model::rwlock::queue::{Queue, Raw};

pub use guard::{RwLockReadGuard, RwLockWriteGuard};

/// Mirrors [`std::sync::RwLock`].
///
/// In a check threads get the lock in the order in which they come for it, and every order is explored: a reader gets
/// it at once if no thread writes or waits, a writer if no thread has it. So a thread that reads again while it reads
/// already is stuck if a writer has come in between. Std says that this may happen, and a check reports the deadlock.
/// Every method is a step that sees all that happened before earlier ones, also between two readers, which is more than
/// std promises: a check does not find a data race that only this order hides.
///
/// A loop that polls what the lock guards waits after a few equal rounds (`spin_bound / 8`), not after one as under a
/// [`Mutex`](crate::sync::Mutex): others can find the lock taken in each. Two threads that poll so at the same time
/// have no end.
///
/// A forgotten guard keeps the lock held until the end of the execution. A static lock is free again in every
/// execution, and poisoned only if it was so outside. Its *data* is put back at the end of each execution, if it can be
/// (see the [crate](crate#statics)); behind a forgotten guard it is leaked instead of dropped. Two checks that run at
/// once and share a static lock exclude each other from its data for real, also readers; one that cannot get it for ten
/// seconds panics.
pub struct RwLock<T: ?Sized> {
    queue: Queue,
    data: UnsafeCell<T>,
}

impl<T: ?Sized> RwLock<T> {
    pub(crate) fn object(&self) -> Object<'_> {
        self.queue.object()
    }
}

// SAFETY: as for std: the lock moves with its data.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as for std: writers may move `T` between threads, and readers on several threads have `&T` at once.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// A free lock around `value`.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { queue: Queue::new(), data: UnsafeCell::new(value) }
    }

    /// Unwraps the value.
    ///
    /// # Errors
    /// If the lock is poisoned; the error holds the value.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        with_poison(poisoned, self.data.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits for the lock and takes it to read.
    ///
    /// # Errors
    /// If a thread panicked while it wrote; the error holds the guard.
    #[inline(always)]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        hook::loops::stand();
        self.share()
    }

    #[track_caller]
    fn share(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let (poisoned, held) = self.queue.take(Mode::Read, &self.data, Raw::read);
        with_poison(poisoned, RwLockReadGuard::new(self, held))
    }

    /// Takes the lock to read if that is possible at once; in a check, as in std today, not if a writer waits for it.
    ///
    /// # Errors
    /// `WouldBlock` if it is not possible, `Poisoned` as for [`read`](Self::read).
    #[inline(always)]
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        hook::loops::stand();
        self.try_share()
    }

    #[track_caller]
    fn try_share(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let taken = self.queue.try_take(Mode::Read, &self.data, Raw::try_read);
        let (poisoned, held) = taken.ok_or(TryLockError::WouldBlock)?;
        Ok(with_poison(poisoned, RwLockReadGuard::new(self, held))?)
    }

    /// Waits for the lock and takes it to write.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    #[inline(always)]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        hook::loops::stand();
        self.claim()
    }

    #[track_caller]
    fn claim(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let (poisoned, held) = self.queue.take(Mode::Write, &self.data, Raw::write);
        with_poison(poisoned, RwLockWriteGuard::new(self, held))
    }

    /// Takes the lock to write if no thread has it.
    ///
    /// # Errors
    /// `WouldBlock` if a thread has it, `Poisoned` as for [`read`](Self::read).
    #[inline(always)]
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        hook::loops::stand();
        self.try_claim()
    }

    #[track_caller]
    fn try_claim(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let taken = self.queue.try_take(Mode::Write, &self.data, Raw::try_write);
        let (poisoned, held) = taken.ok_or(TryLockError::WouldBlock)?;
        Ok(with_poison(poisoned, RwLockWriteGuard::new(self, held))?)
    }

    /// Whether a thread panicked while it wrote.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.queue.is_poisoned()
    }

    /// Forgets that a thread panicked while it wrote.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.queue.clear_poison();
    }

    /// The value, to which no other thread has access.
    ///
    /// # Errors
    /// If the lock is poisoned; the error holds the value.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.is_poisoned();
        self.queue.touch(&self.data);
        with_poison(poisoned, self.data.get_mut())
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        let poisoned = match self.try_read() {
            Ok(guard) => {
                shown.field("data", &&*guard);
                false
            }
            Err(TryLockError::Poisoned(error)) => {
                shown.field("data", &&**error.get_ref());
                true
            }
            Err(TryLockError::WouldBlock) => {
                shown.field("data", &format_args!("<locked>"));
                self.is_poisoned()
            }
        };
        shown.field("poisoned", &poisoned).finish_non_exhaustive()
    }
}
