//! The module of `docs/switching.md`.

#![allow(unexpected_cfgs, dead_code, unused_imports, reason = "the crate of the page has this cfg and uses all of it")]

#[cfg(rsmc)]
pub(crate) use rsmc_shim::{cell, hint, sync, thread};
#[cfg(not(rsmc))]
pub(crate) use std::{hint, sync, thread};

/// Cells whose accesses a check can see.
#[cfg(not(rsmc))]
pub(crate) mod cell {
    /// The methods of the shim's type, on std's.
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}
