//! `LazyLock`.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rsmc_core::runtime::hook;

use crate::model::once::cell::OnceLock;
use crate::model::once::flag::State;

/// Mirrors [`std::sync::LazyLock`].
///
/// In a check its value is made once in each execution, as that of a [`OnceLock`], also if there is one outside. So the
/// function that makes it is used again, and must have nothing to drop, as functions and closures without captured
/// values; another can be used in one execution only.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: Mutex<Option<F>>,
    /// Whether `make` panicked outside checks.
    poisoned: AtomicBool,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that is made at its first use.
    #[track_caller]
    pub const fn new(make: F) -> Self {
        Self { value: OnceLock::of_lazy(), make: Mutex::new(Some(make)), poisoned: AtomicBool::new(false) }
    }

    /// The value, made first if it is not there.
    ///
    /// # Panics
    /// If making it panics, or has panicked before.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.value.get_or_poison("force", State::Poisoned, || this.make())
    }

    /// The value for writing, made first if it is not there. (Stable in std since 1.94.)
    ///
    /// # Panics
    /// As [`force`](Self::force).
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        Self::force(this);
        this.value.get_mut().expect("it was made")
    }

    /// The value for writing, if it is there. (Stable in std since 1.94.)
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.value.get_mut()
    }

    #[track_caller]
    fn make(&self) -> T {
        if hook::executions::in_run() {
            return self.function()();
        }
        assert!(!self.poisoned.swap(true, Ordering::Relaxed), "LazyLock instance has previously been poisoned");
        let value = self.function()();
        self.poisoned.store(false, Ordering::Relaxed);
        value
    }

    #[track_caller]
    fn function(&self) -> F {
        let mut make = self.make.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = if std::mem::needs_drop::<F>() { None } else { make.as_ref() };
        // SAFETY: it has nothing to drop, and a caller calls it once in an execution, or outside: never while another
        // use of it goes on that it could be told from.
        let copy = kept.map(|kept| unsafe { std::ptr::read(kept) });
        copy.or_else(|| make.take()).expect(
            "the function of this `LazyLock` has captured a value that it drops, so that it could be used in one execution \
             only: make the `LazyLock` in the test's body",
        )
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it is there. (Stable in std since 1.94.)
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        this.value.get()
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("LazyLock");
        match self.value.get() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
