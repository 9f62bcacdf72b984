//! Items for code from before `const fn` and [`std::hint`].
#![allow(clippy::declare_interior_mutable_const, reason = "as std")]

use crate::model::atomic::{AtomicBool, AtomicIsize, AtomicUsize};

/// An [`AtomicBool`] that holds `false`.
#[deprecated(note = "use `AtomicBool::new` instead")]
pub const ATOMIC_BOOL_INIT: AtomicBool = AtomicBool::new(false);

/// An [`AtomicIsize`] that holds 0.
#[deprecated(note = "use `AtomicIsize::new` instead")]
pub const ATOMIC_ISIZE_INIT: AtomicIsize = AtomicIsize::new(0);

/// An [`AtomicUsize`] that holds 0.
#[deprecated(note = "use `AtomicUsize::new` instead")]
pub const ATOMIC_USIZE_INIT: AtomicUsize = AtomicUsize::new(0);

/// As [`hint::spin_loop`](crate::hint::spin_loop), also for a check.
#[inline]
#[track_caller]
#[deprecated(note = "use `hint::spin_loop` instead")]
pub fn spin_loop_hint() {
    crate::model::hint::spin_loop();
}
