//! Raw pointers to shared values, and the way back.
//!
//! A pointer made by `into_raw` or `as_ptr` must find the state that the references share. A table keeps that by the
//! address of the value, from the first such pointer until the last reference is dropped.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;
use std::sync::{Arc as StdArc, Mutex, MutexGuard, PoisonError, Weak as StdWeak};

use crate::model::arc::{Arc, Shared, Weak};

static GIVEN_OUT: Mutex<BTreeMap<usize, StdArc<Shared>>> = Mutex::new(BTreeMap::new());

fn given_out() -> MutexGuard<'static, BTreeMap<usize, StdArc<Shared>>> {
    GIVEN_OUT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(address: usize, shared: &StdArc<Shared>) {
    let all = Shared::of_all(shared);
    if !all.raw.swap(true, Ordering::Relaxed) {
        given_out().insert(address, all);
    }
}

impl<T: ?Sized> Arc<T> {
    /// A pointer to the value, valid as long as there is a reference.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        let pointer = StdArc::as_ptr(&this.value);
        remember(pointer.addr(), &this.shared);
        pointer
    }

    /// Turns the reference into a pointer, to be given to [`from_raw`](Self::from_raw) once.
    #[must_use = "losing the pointer will leak memory"]
    #[track_caller]
    pub fn into_raw(this: Self) -> *const T {
        let this = ManuallyDrop::new(this);
        let pointer = Self::as_ptr(&this);
        // SAFETY: `this` is not used again, so the field is moved out once; `value` stays counted.
        Shared::given_out(unsafe { std::ptr::read(&this.shared) });
        pointer
    }

    /// The way back from [`into_raw`](Self::into_raw).
    ///
    /// # Safety
    /// As for [`std::sync::Arc::from_raw`]. The pointer may come from std's `Arc` too.
    #[track_caller]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let shared = given_out().get(&pointer.addr()).cloned();
        // SAFETY: the caller promises what std asks for, and our pointers are std's.
        let value = unsafe { StdArc::from_raw(pointer) };
        let shared = match shared {
            Some(shared) => Shared::taken_back(shared),
            None => Shared::of::<T>(),
        };
        Self::of(value, shared)
    }

    /// Notes that the last reference is about to be dropped, or the value taken out.
    pub(super) fn value_goes(&self) {
        self.shared.value_goes();
        if self.shared.all().raw.swap(false, Ordering::Relaxed) {
            given_out().remove(&StdArc::as_ptr(&self.value).addr());
        }
    }
}

impl<T: ?Sized> Arc<T> {
    /// Counts one more reference, which exists only as a pointer.
    ///
    /// # Safety
    /// As for [`std::sync::Arc::increment_strong_count`].
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: the caller promises that there is a reference; it is a pointer again below.
        let this = unsafe { Self::from_raw(pointer) };
        let _ = Self::into_raw(Self::clone(&this));
        let _ = Self::into_raw(this);
    }

    /// Drops one reference, which exists only as a pointer.
    ///
    /// # Safety
    /// As for [`std::sync::Arc::decrement_strong_count`].
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: the caller promises what std asks for.
        drop(unsafe { Self::from_raw(pointer) });
    }
}

impl<T: ?Sized> Weak<T> {
    /// A pointer to the value, which is valid only while there is a strong reference.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        let pointer = self.value.as_ptr();
        if let Some(shared) = self.shared.as_ref().filter(|_| self.value.strong_count() > 0) {
            remember(pointer.addr(), shared);
        }
        pointer
    }

    /// Turns the weak reference into a pointer, to be given to [`from_raw`](Self::from_raw) once.
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(self) -> *const T {
        let _ = self.as_ptr();
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, so each field is moved out once.
        let (value, shared) = unsafe { (std::ptr::read(&this.value), std::ptr::read(&this.shared)) };
        drop(shared);
        value.into_raw()
    }

    /// The way back from [`into_raw`](Self::into_raw).
    ///
    /// # Safety
    /// As for [`std::sync::Weak::from_raw`].
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let shared = given_out().get(&pointer.addr()).cloned();
        // SAFETY: the caller promises what std asks for, and our pointers are std's.
        let value = unsafe { StdWeak::from_raw(pointer) };
        Self { value, shared }
    }
}
