//! `UnsafeCell`.

use std::fmt;

use rsmc_core::runtime::hook::{self, CellAccess, Object};

use crate::model::statics::Home;
use rsmc_core::runtime::Identity;

const KIND: &str = "UnsafeCell";

/// [`std::cell::UnsafeCell`] with accesses that a check can see: [`with`](Self::with) and
/// [`with_mut`](Self::with_mut).
///
/// Two accesses of which one writes, unordered by happens-before, are a data race, which a check reports. The access
/// is recorded when the method is called; what the closure does with the pointer is up to it. [`get`](Self::get),
/// [`get_mut`](Self::get_mut) and [`into_inner`](Self::into_inner) are not recorded: the first cannot be, and the
/// others cannot race without `unsafe` elsewhere.
///
/// Two functions of std are left out, since this type is more than its value: `from_mut`, which would make one of a place
/// that holds a `T` and no more, and `raw_get`, by which one would be filled that was never made by [`new`](Self::new).
///
/// A *static* cell that was accessed by `with` or `with_mut` is put back at the end of each execution, if it can be (see the
/// [crate](crate#statics)), and what is there then is dropped. Two checks that run at once use such cells one after
/// another. Code outside is not kept from the cell meanwhile.
pub struct UnsafeCell<T: ?Sized> {
    identity: Identity,
    home: Home,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { identity: Identity::new(), home: Home::new(), value: std::cell::UnsafeCell::new(value) }
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
        read(self.access(KIND, CellAccess::Read))
    }

    /// Writes, or reads and writes, through a pointer. The caller must keep other accesses from happening meanwhile.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.access(KIND, CellAccess::Write))
    }

    /// The cell, which the user knows as a `kind`.
    pub(crate) fn object_of(&self, kind: &'static str) -> Object<'_> {
        self.identity.object(kind)
    }

    pub(crate) fn object(&self) -> Object<'_> {
        self.object_of(KIND)
    }

    /// Records an access to a cell that the user knows as a `kind`, and returns where the value is.
    #[inline]
    #[track_caller]
    pub(super) fn access(&self, kind: &'static str, access: CellAccess) -> *mut T {
        hook::cell(self.object_of(kind), access);
        self.home.touch(self.value.get(), None);
        self.value.get()
    }

    /// A pointer to the value, whose use no check sees; see [`std::cell::UnsafeCell::get`].
    ///
    /// A static cell whose value is changed in this way outside checks, or in one before the first `with`, must not own
    /// anything thereby but memory: a check would take it for the value that the program was loaded with.
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
