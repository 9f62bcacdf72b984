//! `Weak`.

use std::fmt;
use std::sync::{Arc as StdArc, Weak as StdWeak};

use rsmc_core::runtime::hook;

use crate::model::arc::{Arc, Shared};

/// Mirrors [`std::sync::Weak`]. No operation is a step of a check; see [`Arc`].
pub struct Weak<T: ?Sized> {
    pub(super) value: StdWeak<T>,
    /// `None` for one that never referred to anything, and for one from a pointer of a value that is gone.
    pub(super) shared: Option<StdArc<Shared>>,
}

impl<T> Weak<T> {
    /// A weak reference to nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { value: StdWeak::new(), shared: None }
    }
}

impl<T: ?Sized> Weak<T> {
    /// A strong reference, if there still is one in the schedule that runs.
    #[must_use = "this returns a new `Arc`, without modifying the original weak pointer"]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        hook::counting();
        let value = self.value.upgrade()?;
        let shared = self.shared.clone().unwrap_or_else(Shared::new);
        Some(Arc { value, shared })
    }

    /// How many strong references there are in the schedule that runs.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.value.strong_count()
    }

    /// How many weak references there are in the schedule that runs, if there is a strong one.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        self.value.weak_count()
    }

    /// Whether both refer to the same value, or both to nothing.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.value.ptr_eq(&other.value)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        hook::counting();
        Self { value: self.value.clone(), shared: self.shared.clone() }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value, f)
    }
}
