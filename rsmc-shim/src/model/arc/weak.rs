//! `Weak`.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering::Acquire;
use std::sync::{Arc as StdArc, Weak as StdWeak};

use rsmc_core::runtime::hook;
use rsmc_core::runtime::hook::calls::{self, InCall};
use rsmc_core::trace::CallResult;

use crate::model::arc::Arc;
use crate::model::arc::counts::{Count, Shared};

/// Mirrors [`std::sync::Weak`]. Operations are steps of a check where those of its [`Arc`] are.
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
    /// A strong reference, if there still is one.
    #[must_use = "this returns a new `Arc`, without modifying the original weak pointer"]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        match self.shared.as_ref().filter(|shared| shared.observe()) {
            Some(shared) => {
                let _call = self.call(shared, Some(Location::caller()), "upgrade");
                if !shared.upgrade(self.value.strong_count()) {
                    return None;
                }
            }
            None => hook::counts::counting(),
        }
        let value = self.value.upgrade()?;
        let shared = match &self.shared {
            Some(shared) => Shared::another(shared, "upgrade"),
            None => Shared::of::<T>(),
        };
        Some(Arc::of(value, shared))
    }

    /// The number of strong references.
    #[must_use]
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        let now = self.value.strong_count();
        match self.shared.as_ref().filter(|shared| shared.observe()) {
            Some(shared) => {
                let _call = self.call(shared, Some(Location::caller()), "strong_count");
                shared.strong(now)
            }
            None => now,
        }
    }

    /// The number of weak references, if there is a strong one.
    #[must_use]
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        match self.shared.as_ref().filter(|shared| shared.observe()) {
            Some(shared) => {
                let _call = self.call(shared, Some(Location::caller()), "weak_count");
                let weak = shared.weak(self.weak_now(), Acquire);
                let weak = if shared.strong(self.value.strong_count()) == 0 { 0 } else { weak };
                calls::decide(CallResult::Number(weak as u64));
                weak
            }
            None => self.value.weak_count(),
        }
    }

    /// The count. std does not tell it any more if there is no strong reference; then no program has observed it.
    fn weak_now(&self) -> usize {
        self.value.weak_count()
    }

    /// Begins a call of a method, where counting consists of steps.
    fn call(&self, shared: &Shared, place: Option<&'static Location<'static>>, verb: &'static str) -> Option<InCall> {
        shared.call(place, self.value.strong_count(), verb)
    }

    fn counted(&self) -> Option<&Shared> {
        self.shared.as_deref().filter(|shared| shared.is_counted())
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
        match self.counted() {
            Some(shared) => {
                let _call = self.call(shared, Some(Location::caller()), "clone a Weak of");
                shared.add(Count::Weak, self.weak_now());
            }
            None => hook::counts::counting(),
        }
        Self { value: self.value.clone(), shared: self.shared.clone() }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.counted() {
            let _call = self.call(shared, None, "drop a Weak of");
            shared.subtract(Count::Weak, self.weak_now());
        }
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
