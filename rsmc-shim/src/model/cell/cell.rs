//! `Cell`.

use std::cmp::Ordering;
use std::fmt;
use std::mem;

use rsmc_core::runtime::Object;
use rsmc_core::runtime::hook::cells::{CellAccess, Contents};

use crate::model::cell::UnsafeCell;

const KIND: &str = "Cell";

/// Mirrors [`std::cell::Cell`], with accesses that a check can see.
///
/// A cell stays on one thread, unless `unsafe` code declares a type `Sync` that holds one. Then a check reports a data
/// race where two threads use it unordered by happens-before, and one of them writes. [`get`](Self::get) reads;
/// [`set`](Self::set), [`replace`](Self::replace), [`take`](Self::take) and [`swap`](Self::swap) write;
/// [`update`](Self::update) reads, then writes. A check does not see accesses through [`as_ptr`](Self::as_ptr), and
/// does not record methods that need the cell for themselves, as [`get_mut`](Self::get_mut) does. A cell that outlives
/// an execution keeps its value.
///
/// Left out are `from_mut`, `as_slice_of_cells` and `as_array_of_cells`: they take a place that holds a `T` and no more
/// for a cell, and this type is more than its value. Of the functions that are `const` in std, those that access a
/// shared value and [`into_inner`](Self::into_inner) are not.
///
/// As in std, it may be sent to another thread but not shared:
///
/// ```
/// fn send<T: Send>() {}
/// send::<rsmc_shim::cell::Cell<u8>>();
/// ```
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<rsmc_shim::cell::Cell<u8>>();
/// ```
pub struct Cell<T: ?Sized>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// Wraps a value.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Unwraps the value. Not recorded.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Stores a value, and drops the one before.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Stores a value, and returns the one before.
    #[inline]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        let contents = Contents::of(&raw const value, size_of::<T>());
        let place = self.0.access(KIND, CellAccess::Write, contents);
        // SAFETY: no reference to the value is ever given out by a shared cell. Two threads are here at once only if
        // `unsafe` code shares a type that is not `Sync`; the threads of a check are on one OS thread anyway.
        mem::replace(unsafe { &mut *place }, value)
    }

    /// Exchanges the values of two cells.
    #[inline]
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        if std::ptr::eq(self, other) {
            return;
        }
        let mine = self.0.access(KIND, CellAccess::Write, other.0.contents());
        let theirs = other.0.access(KIND, CellAccess::Write, self.0.contents());
        // SAFETY: as in `replace`. They are two cells, which cannot overlap: a cell in the value of another is out of
        // reach without `unsafe`.
        unsafe { std::ptr::swap(mine, theirs) };
    }
}

impl<T: Copy> Cell<T> {
    /// A copy of the value.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T {
        // SAFETY: as in `replace`.
        unsafe { *self.0.access(KIND, CellAccess::Read, self.0.contents()) }
    }

    /// Stores the result of `update` for the value.
    #[inline]
    #[track_caller]
    pub fn update(&self, update: impl FnOnce(T) -> T) {
        self.set(update(self.get()));
    }
}

impl<T: Default> Cell<T> {
    /// Takes the value, and leaves the default.
    #[inline]
    #[track_caller]
    pub fn take(&self) -> T {
        self.replace(T::default())
    }
}

impl<T: ?Sized> Cell<T> {
    pub(crate) fn object(&self) -> Object<'_> {
        self.0.object_of(KIND)
    }

    /// A pointer to the value, whose use no check sees.
    #[inline]
    pub const fn as_ptr(&self) -> *mut T {
        self.0.get()
    }

    /// The value, to which no other thread has access. Not recorded.
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new(self.get())
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("value", &self.get()).finish()
    }
}
