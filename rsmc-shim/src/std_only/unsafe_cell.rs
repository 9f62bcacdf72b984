//! `UnsafeCell`.

use core::fmt;
use core::marker::PhantomData;

/// [`std::cell::UnsafeCell`] with accesses that a check can see: [`with`](Self::with), [`with_mut`](Self::with_mut),
/// [`ptr`](Self::ptr) and [`ptr_mut`](Self::ptr_mut). In this build they only pass the pointer on.
///
/// std's `from_mut` and `raw_get` are left out, as in the build for checks, where this type is more than its value.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Unwraps the value.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer. The caller must keep writes from happening meanwhile.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Writes, or reads and writes, through a pointer. The caller must keep other accesses from happening meanwhile.
    #[inline]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }

    /// A pointer to read through. In a check the access lasts until it is dropped, and the caller must keep writes from
    /// happening meanwhile.
    ///
    /// ```
    /// let cell = rsmc_shim::cell::UnsafeCell::new(1);
    /// let pointer = cell.ptr();
    /// // SAFETY: nobody else has the cell.
    /// assert_eq!(unsafe { *pointer.deref() }, 1);
    /// ```
    #[inline]
    pub fn ptr(&self) -> ConstPtr<'_, T> {
        ConstPtr { cell: self, not_send: PhantomData }
    }

    /// A pointer to write through, or to read and write. In a check the access lasts until it is dropped, and the
    /// caller must keep other accesses from happening meanwhile.
    ///
    /// ```
    /// let cell = rsmc_shim::cell::UnsafeCell::new(1);
    /// // SAFETY: nobody else has the cell.
    /// cell.ptr_mut().with(|value| unsafe { *value = 2 });
    /// assert_eq!(cell.into_inner(), 2);
    /// ```
    #[inline]
    pub fn ptr_mut(&self) -> MutPtr<'_, T> {
        MutPtr { cell: self, not_send: PhantomData }
    }

    /// A pointer to the value, whose use no check sees; see [`std::cell::UnsafeCell::get`].
    #[inline]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }

    /// The value, to which no other thread has access.
    #[inline]
    #[cfg(since_1_83)]
    #[allow(clippy::incompatible_msrv)]
    pub const fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// The value, to which no other thread has access.
    #[inline]
    #[cfg(not(since_1_83))]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

/// A pointer to read through, from [`UnsafeCell::ptr`]. In a check the access lasts until it is dropped.
#[must_use = "in a check the access ends when it is dropped"]
pub struct ConstPtr<'a, T: ?Sized> {
    cell: &'a UnsafeCell<T>,
    not_send: PhantomData<*const T>,
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
#[must_use = "in a check the access ends when it is dropped"]
pub struct MutPtr<'a, T: ?Sized> {
    cell: &'a UnsafeCell<T>,
    not_send: PhantomData<*const T>,
}

impl<T: ?Sized> MutPtr<'_, T> {
    /// The value.
    ///
    /// # Safety
    /// No other thread may access it while the reference is used.
    #[inline]
    // The cell is shared.
    #[allow(clippy::mut_from_ref)]
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
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
