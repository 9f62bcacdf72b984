//! `UnsafeCell`.

use std::fmt;

use rsmc_shim::cell::{self, Lasting};

/// [`rsmc_shim::cell::UnsafeCell`] with loom's methods: [`with`](Self::with) and [`with_mut`](Self::with_mut), whose
/// accesses last as long as their closure, and [`get`](Self::get) and [`get_mut`](Self::get_mut), whose accesses last
/// as long as the returned pointer.
///
/// Two accesses of which one writes are a data race, which a check reports, unless the end of one happens before the
/// start of the other. An access ends with the last operation of its thread before its closure or pointer ends, or with
/// the last `deref` or `with` of the pointer if that is later. So a guard may give its lock back in its destructor, and
/// drop its pointer after that; what is written through a raw pointer after a release is not seen.
pub struct UnsafeCell<T: ?Sized>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self(cell::UnsafeCell::new(value))
    }

    /// Unwraps the value. Not recorded.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer. The caller must keep writes from happening meanwhile.
    #[inline]
    #[track_caller]
    pub fn with<F, R>(&self, read: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.get().with(read)
    }

    /// Writes, or reads and writes, through a pointer. The caller must keep other accesses from happening meanwhile.
    #[inline]
    #[track_caller]
    pub fn with_mut<F, R>(&self, write: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.get_mut().with(write)
    }

    /// A pointer to read through. The access lasts until it is dropped.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        let access = self.0.begin_read();
        ConstPtr { value: self.0.get(), access }
    }

    /// A pointer to write through, or to read and write. The access lasts until it is dropped.
    #[inline]
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let access = self.0.begin_write();
        MutPtr { value: self.0.get(), access }
    }
}

/// A pointer to read through, from [`UnsafeCell::get`]. In a check the access lasts until it is dropped, and the cell
/// must live as long.
#[must_use = "the access ends when it is dropped"]
pub struct ConstPtr<T: ?Sized> {
    value: *const T,
    access: Lasting,
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// The cell must still be there, and no thread may write it while the reference is used.
    #[inline]
    pub unsafe fn deref(&self) -> &T {
        self.access.uses();
        // SAFETY: the caller promises it.
        unsafe { &*self.value }
    }

    /// Passes the pointer on, which must not be used after this was dropped.
    #[inline]
    pub fn with<F, R>(&self, read: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.access.uses();
        read(self.value)
    }
}

/// A pointer to write through, from [`UnsafeCell::get_mut`]. In a check the access lasts until it is dropped, and the
/// cell must live as long.
#[must_use = "the access ends when it is dropped"]
pub struct MutPtr<T: ?Sized> {
    value: *mut T,
    access: Lasting,
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// The cell must still be there, and no other thread may access it while the reference is used.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the cell is shared")]
    pub unsafe fn deref(&self) -> &mut T {
        self.access.uses();
        // SAFETY: the caller promises it.
        unsafe { &mut *self.value }
    }

    /// Passes the pointer on, which must not be used after this was dropped.
    #[inline]
    pub fn with<F, R>(&self, write: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.access.uses();
        write(self.value)
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.value, f)
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.value, f)
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
        self.0.fmt(f)
    }
}
