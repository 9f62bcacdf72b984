//! `UnsafeCell`.

use std::fmt;
use std::mem::ManuallyDrop;

use rsmc_core::machine::Begun;
use rsmc_core::runtime::hook::cells::{CellAccess, Contents};
use rsmc_core::runtime::{Object, hook};

use crate::model::statics::Home;
use rsmc_core::runtime::Identity;

const KIND: &str = "UnsafeCell";

/// [`std::cell::UnsafeCell`] with accesses that a check can see: [`with`](Self::with) and [`with_mut`](Self::with_mut),
/// which last as long as their closure, and [`ptr`](Self::ptr) and [`ptr_mut`](Self::ptr_mut), whose accesses last as
/// long as the returned pointer.
///
/// Two accesses of which one writes are a data race, which a check reports, unless the end of one happens before the
/// start of the other: also if one thread begins the second within the first. The use of the pointer meanwhile is up to
/// the caller. [`get`](Self::get), [`get_mut`](Self::get_mut) and [`into_inner`](Self::into_inner) are not recorded:
/// the first cannot be, and the others cannot race without `unsafe` elsewhere.
///
/// Two functions of std are left out, since this type is more than its value: `from_mut`, which would make one of a
/// place that holds a `T` and no more, and `raw_get`, by which one would be filled that was never made by
/// [`new`](Self::new).
///
/// A *static* cell that was accessed by `with` or `with_mut` is put back at the end of each execution, if it can be
/// (see the [crate](crate#statics)), and the value of the execution is dropped. Two checks that run at once use such
/// cells one after another. Code outside is not kept from the cell meanwhile.
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
        let _going_on = self.begin(CellAccess::Read);
        read(self.value.get())
    }

    /// Writes, or reads and writes, through a pointer. The caller must keep other accesses from happening meanwhile.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        let _going_on = self.begin(CellAccess::Write);
        write(self.value.get())
    }

    /// A pointer to read through. The access lasts until it is dropped, and the caller must keep writes from happening
    /// meanwhile.
    ///
    /// ```
    /// let cell = rsmc_shim::cell::UnsafeCell::new(1);
    /// let pointer = cell.ptr();
    /// // SAFETY: nobody else has the cell.
    /// assert_eq!(unsafe { *pointer.deref() }, 1);
    /// ```
    #[inline]
    #[track_caller]
    pub fn ptr(&self) -> ConstPtr<'_, T> {
        ConstPtr { cell: self, _going_on: self.begin(CellAccess::Read) }
    }

    /// A pointer to write through, or to read and write. The access lasts until it is dropped, and the caller must keep
    /// other accesses from happening meanwhile.
    ///
    /// ```
    /// let cell = rsmc_shim::cell::UnsafeCell::new(1);
    /// // SAFETY: nobody else has the cell.
    /// cell.ptr_mut().with(|value| unsafe { *value = 2 });
    /// assert_eq!(cell.into_inner(), 2);
    /// ```
    #[inline]
    #[track_caller]
    pub fn ptr_mut(&self) -> MutPtr<'_, T> {
        MutPtr { cell: self, _going_on: self.begin(CellAccess::Write) }
    }

    /// Begins to read, until the returned value is dropped. For `rsmc-loom`, whose pointers do not borrow the cell.
    #[doc(hidden)]
    #[inline]
    #[track_caller]
    pub fn begin_read(&self) -> Lasting {
        Lasting::new(self.begin(CellAccess::Read))
    }

    /// As [`begin_read`](Self::begin_read), to write.
    #[doc(hidden)]
    #[inline]
    #[track_caller]
    pub fn begin_write(&self) -> Lasting {
        Lasting::new(self.begin(CellAccess::Write))
    }

    #[inline]
    #[track_caller]
    fn begin(&self, access: CellAccess) -> GoingOn {
        let contents = self.contents();
        let begun = hook::cells::cell_begins(self.object(), access, contents);
        self.home.touch(self.value.get(), None);
        GoingOn { begun, contents }
    }

    /// The cell, which a report calls a `kind`.
    pub(crate) fn object_of(&self, kind: &'static str) -> Object<'_> {
        self.identity.object(kind)
    }

    pub(crate) fn object(&self) -> Object<'_> {
        self.object_of(KIND)
    }

    /// The memory of the value.
    #[inline]
    pub(super) fn contents(&self) -> Contents {
        Contents::of(self.value.get(), size_of_val(&self.value))
    }

    /// Records an access to a cell that a report calls a `kind`, and returns the pointer to the value, which is or will
    /// be that of the contents.
    #[inline]
    #[track_caller]
    pub(super) fn access(&self, kind: &'static str, access: CellAccess, contents: Contents) -> *mut T {
        hook::cells::cell(self.object_of(kind), access, contents);
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

    /// The value, to which no other thread has access. Not recorded.
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// An access that goes on until this is dropped, also by a panic.
struct GoingOn {
    begun: Option<Begun>,
    contents: Contents,
}

impl Drop for GoingOn {
    #[inline]
    fn drop(&mut self) {
        if let Some(begun) = self.begun {
            hook::cells::cell_ends(begun, self.contents);
        }
    }
}

/// An access that lasts until the last operation of its thread before this is dropped, or until its last known use. As
/// a guard whose destructor gives a lock back and whose pointer is dropped after that.
#[doc(hidden)]
#[must_use = "the access ends when it is dropped"]
pub struct Lasting(Option<Begun>);

impl Lasting {
    fn new(going_on: GoingOn) -> Self {
        Self(ManuallyDrop::new(going_on).begun)
    }

    /// Notes that the value is used now.
    pub fn uses(&self) {
        if let Some(begun) = self.0 {
            hook::cells::cell_is_used(begun);
        }
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        if let Some(begun) = self.0 {
            hook::cells::cell_was_left(begun);
        }
    }
}

/// A pointer to read through, from [`UnsafeCell::ptr`]. In a check the access lasts until it is dropped.
#[must_use = "the access ends when it is dropped"]
pub struct ConstPtr<'a, T: ?Sized> {
    cell: &'a UnsafeCell<T>,
    _going_on: GoingOn,
}

impl<T: ?Sized> ConstPtr<'_, T> {
    /// The value.
    ///
    /// # Safety
    /// No thread may write it while the reference is used.
    #[inline]
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: the caller keeps writes away.
        unsafe { &*self.cell.get() }
    }

    /// Passes the pointer on, which must not be used after this was dropped.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.cell.get())
    }
}

/// A pointer to write through, from [`UnsafeCell::ptr_mut`]. In a check the access lasts until it is dropped.
#[must_use = "the access ends when it is dropped"]
pub struct MutPtr<'a, T: ?Sized> {
    cell: &'a UnsafeCell<T>,
    _going_on: GoingOn,
}

impl<T: ?Sized> MutPtr<'_, T> {
    /// The value.
    ///
    /// # Safety
    /// No other thread may access it while the reference is used.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the cell is shared")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: the caller keeps other accesses away.
        unsafe { &mut *self.cell.get() }
    }

    /// Passes the pointer on, which must not be used after this was dropped.
    #[inline]
    pub fn with<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.cell.get())
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.cell.get(), f)
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.cell.get(), f)
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
