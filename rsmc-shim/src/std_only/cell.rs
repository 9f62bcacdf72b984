//! Mirrors [`std::cell`].
//!
//! All are std's own but [`UnsafeCell`], which has four more methods. In the build for checks [`Cell`] is tracked as well.

pub use crate::std_only::unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
pub use std::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut};
