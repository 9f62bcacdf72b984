//! Mirrors [`std::cell`].
//!
//! [`UnsafeCell`] and [`Cell`] are tracked: a check reports data races on them, in a type that was declared `Sync`
//! though it holds one. The others are std's own, and no check sees accesses to them: they stay on one thread, or
//! behind a lock, unless `unsafe` code shares them.

#[expect(clippy::module_inception, reason = "it holds the type of that name")]
mod cell;
mod unsafe_cell;

pub use cell::Cell;
pub use std::cell::{BorrowError, BorrowMutError, LazyCell, OnceCell, Ref, RefCell, RefMut};
#[doc(hidden)]
pub use unsafe_cell::Lasting;
pub use unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
