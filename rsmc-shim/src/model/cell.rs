//! Mirrors [`std::cell`], as far as a check needs it.

use std::fmt;

use rsmc_core::runtime::hook::{self, CellAccess};

use crate::model::identity::Identity;

const KIND: &str = "UnsafeCell";

/// [`std::cell::UnsafeCell`] with accesses that a check can see: [`with`](Self::with) and
/// [`with_mut`](Self::with_mut).
///
/// Two accesses of which one writes, unordered by happens-before, are a data race, which a check reports. The access
/// is recorded when the method is called; what the closure does with the pointer is up to it. [`get`](Self::get),
/// [`get_mut`](Self::get_mut) and [`into_inner`](Self::into_inner) are not recorded: the first cannot be, and the
/// others cannot race without `unsafe` elsewhere.
pub struct UnsafeCell<T: ?Sized> {
    identity: Identity,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { identity: Identity::new(), value: std::cell::UnsafeCell::new(value) }
    }

    /// Unwraps the value. Not recorded.
    #[inline]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer. The caller must keep writes from happening meanwhile.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        hook::cell(self.identity.object(KIND), CellAccess::Read);
        read(self.value.get())
    }

    /// Writes, or reads and writes, through a pointer. The caller must keep other accesses from happening meanwhile.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        hook::cell(self.identity.object(KIND), CellAccess::Write);
        write(self.value.get())
    }

    /// A pointer to the value, whose use no check sees; see [`std::cell::UnsafeCell::get`].
    #[inline]
    pub const fn get(&self) -> *mut T {
        self.value.get()
    }

    /// The value, which nobody else can access. Not recorded.
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
