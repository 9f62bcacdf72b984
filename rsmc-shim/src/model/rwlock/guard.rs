//! The guards of a `RwLock`.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::RwLockReadGuard as RawRead;

use rsmc_core::runtime::hook;

use crate::model::rwlock::RwLock;
use crate::model::rwlock::queue::{Held, RawWrite};

/// Mirrors [`std::sync::RwLockReadGuard`]. In a check, dropping it is a step, and an execution ends if a thread drops
/// it that did not take the lock.
///
/// As in std, it stays on its thread, and is shared only if the data may be:
///
/// ```compile_fail,E0277
/// fn send<T: Send>() {}
/// send::<rsmc_shim::sync::RwLockReadGuard<'static, u8>>();
/// ```
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<rsmc_shim::sync::RwLockReadGuard<'static, std::cell::Cell<u8>>>();
/// ```
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    /// As in std: a guard of a longer life is one of a shorter one.
    data: NonNull<T>,
    _held: Held<'a, RawRead<'a, ()>>,
}

/// Mirrors [`std::sync::RwLockWriteGuard`]. In a check, dropping it is a step, and an execution ends if a thread drops
/// it that did not take the lock.
///
/// As in std, it stays on its thread, and is shared only if the data may be:
///
/// ```compile_fail,E0277
/// fn send<T: Send>() {}
/// send::<rsmc_shim::sync::RwLockWriteGuard<'static, u8>>();
/// ```
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<rsmc_shim::sync::RwLockWriteGuard<'static, std::cell::Cell<u8>>>();
/// ```
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    lock: &'a RwLock<T>,
    held: Held<'a, RawWrite<'a>>,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives out `&T` and nothing else.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: see above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    pub(super) fn new(lock: &'a RwLock<T>, held: Held<'a, RawRead<'a, ()>>) -> Self {
        let data = NonNull::new(lock.data.get()).expect("a cell is somewhere");
        Self { data, _held: held }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    pub(super) fn new(lock: &'a RwLock<T>, held: Held<'a, RawWrite<'a>>) -> Self {
        Self { lock, held, not_send: PhantomData }
    }

    /// Keeps the lock, to read, in one step: no other thread writes in between. Readers that wait get the lock, too,
    /// except those that came after a writer. (Stable in std since 1.92.)
    #[track_caller]
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard::new(s.lock, s.held.downgrade(Location::caller()))
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is borrowed, and no thread writes as long as a reader has it.
        unsafe { self.data.as_ref() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: a writer is alone with the data.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        hook::loops::changes(self.lock.data.get().cast::<u8>().addr());
        // SAFETY: a writer is alone with the data, and its guard is borrowed mutably.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
