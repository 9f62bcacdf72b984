//! Mirrors [`core::cell`].
//!
//! All are std's own but [`UnsafeCell`], which has four more methods. In the build for checks [`Cell`] is tracked as
//! well.

pub use crate::std_only::unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
#[cfg(since_1_80)]
pub use core::cell::LazyCell;
#[cfg(since_1_70)]
pub use core::cell::OnceCell;
pub use core::cell::{BorrowError, BorrowMutError, Cell, Ref, RefCell, RefMut};
