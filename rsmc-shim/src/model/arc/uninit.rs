//! Shared values that are filled in later.

use std::mem::MaybeUninit;
use std::sync::Arc as StdArc;

use crate::model::arc::Arc;

impl<T> Arc<T> {
    /// A first reference to a value that is filled in later.
    #[must_use]
    #[track_caller]
    pub fn new_uninit() -> Arc<MaybeUninit<T>> {
        Arc::fresh(StdArc::new_uninit())
    }

    /// A first reference to a value of zeros, which is filled in or taken as it is later.
    #[must_use]
    #[track_caller]
    pub fn new_zeroed() -> Arc<MaybeUninit<T>> {
        Arc::fresh(StdArc::new(MaybeUninit::zeroed()))
    }
}

impl<T> Arc<[T]> {
    /// A first reference to `len` values that are filled in later.
    #[must_use]
    #[track_caller]
    pub fn new_uninit_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        Arc::fresh(StdArc::new_uninit_slice(len))
    }

    /// A first reference to `len` values of zeros, which are filled in or taken as they are later.
    #[must_use]
    #[track_caller]
    pub fn new_zeroed_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        Arc::fresh((0..len).map(|_| MaybeUninit::zeroed()).collect())
    }
}

impl<T> Arc<MaybeUninit<T>> {
    /// The reference, now that the value is filled in.
    ///
    /// # Safety
    /// The value must be filled in.
    #[must_use = "`self` will be dropped if the result is not used"]
    pub unsafe fn assume_init(self) -> Arc<T> {
        let (value, shared) = self.into_parts();
        // SAFETY: the caller has filled the value in.
        Arc::of(unsafe { value.assume_init() }, shared)
    }
}

impl<T> Arc<[MaybeUninit<T>]> {
    /// The reference, now that the values are filled in.
    ///
    /// # Safety
    /// All values must be filled in.
    #[must_use = "`self` will be dropped if the result is not used"]
    pub unsafe fn assume_init(self) -> Arc<[T]> {
        let (value, shared) = self.into_parts();
        // SAFETY: the caller has filled the values in.
        Arc::of(unsafe { value.assume_init() }, shared)
    }
}
