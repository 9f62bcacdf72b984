//! Values that belong to each thread.

use std::cell::{Cell, RefCell};
use std::fmt;

use rsmc_core::runtime::hook;

use crate::model::cell::Cell as TrackedCell;

/// A value for each thread, declared by [`thread_local!`](crate::thread_local); mirrors [`std::thread::LocalKey`].
///
/// In a check each modelled thread has its own, and every execution starts with none. Values are dropped at the end of
/// their thread, the youngest first, before a `join` returns. A destructor that panics is reported, where std would
/// abort. Unlike std's, the declared static is no `const`.
pub struct LocalKey<T: 'static> {
    outside: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The value was dropped already, since its thread ends; mirrors [`std::thread::AccessError`]. In a check that is the
/// modelled thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(outside: &'static std::thread::LocalKey<T>, init: fn() -> T) -> Self {
        Self { outside, init }
    }

    /// Shows the thread's value to `f`, and makes it first if there is none.
    ///
    /// # Panics
    /// If the thread ends and the value was dropped.
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("a `thread_local!` was used during or after its destruction: {error}"),
        }
    }

    /// As [`with`](Self::with).
    ///
    /// # Errors
    /// If the thread ends and the value was dropped.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        match hook::threads::local(self.key(), self.init) {
            // SAFETY: the value stays where it is until its thread ends, which runs `f` now; it is only shared.
            Some(Ok(value)) => Ok(f(unsafe { value.as_ref() })),
            Some(Err(_)) => Err(AccessError),
            None => self.outside.try_with(f).map_err(|_| AccessError),
        }
    }
}

impl<T: 'static> LocalKey<T> {
    /// In a check: makes the thread's value of this, or shows both to `replace` if there is one. Gives the value back
    /// outside.
    #[track_caller]
    fn put<V>(&'static self, value: V, make: fn(V) -> T, replace: fn(&T, V)) -> Option<V> {
        let mut value = Some(value);
        let own = hook::threads::local(self.key(), || make(value.take().expect("it is made once")));
        if let Some(value) = own.and_then(|_| value.take()) {
            self.with(|own| replace(own, value));
        }
        value
    }

    fn key(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// Methods for keys of a kind of cells.
macro_rules! of_cells {
    ($cell:ident, $outside:expr, $set_outside:literal) => {
        impl<T: 'static> LocalKey<$cell<T>> {
            #[doc = concat!("Sets the thread's value, which is not made first", $set_outside, ".")]
            ///
            /// # Panics
            /// As [`with`](Self::with).
            #[track_caller]
            pub fn set(&'static self, value: T) {
                if let Some(value) = self.put(value, $cell::new, $cell::set) {
                    $outside(self.outside, value);
                }
            }

            /// A copy of the thread's value.
            ///
            /// # Panics
            /// As [`with`](Self::with).
            #[track_caller]
            pub fn get(&'static self) -> T
            where
                T: Copy,
            {
                self.with($cell::get)
            }

            /// Takes the thread's value and leaves the default.
            ///
            /// # Panics
            /// As [`with`](Self::with).
            #[track_caller]
            pub fn take(&'static self) -> T
            where
                T: Default,
            {
                self.with($cell::take)
            }

            /// Puts a value in place of the thread's.
            ///
            /// # Panics
            /// As [`with`](Self::with).
            #[track_caller]
            pub fn replace(&'static self, value: T) -> T {
                self.with(|cell| cell.replace(value))
            }
        }
    };
}

of_cells!(Cell, |key: &'static std::thread::LocalKey<Cell<T>>, value| key.set(value), "");
of_cells!(
    TrackedCell,
    |key: &'static std::thread::LocalKey<TrackedCell<T>>, value| key.with(|cell| cell.set(value)),
    " in a check; outside of one it is"
);

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Shows the thread's value to `f`.
    ///
    /// # Panics
    /// If it is borrowed mutably, or as [`with`](Self::with).
    #[track_caller]
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Shows the thread's value to `f`, to change.
    ///
    /// # Panics
    /// If it is borrowed, or as [`with`](Self::with).
    #[track_caller]
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the thread's value, which is not made first.
    ///
    /// # Panics
    /// If it is borrowed, or as [`with`](Self::with).
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if let Some(value) = self.put(value, RefCell::new, |own, value| drop(own.replace(value))) {
            self.outside.set(value);
        }
    }

    /// Takes the thread's value and leaves the default.
    ///
    /// # Panics
    /// If it is borrowed, or as [`with`](Self::with).
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Puts a value in place of the thread's.
    ///
    /// # Panics
    /// If it is borrowed, or as [`with`](Self::with).
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
