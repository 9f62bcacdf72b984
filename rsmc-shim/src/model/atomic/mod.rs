//! Mirrors [`std::sync::atomic`].
//!
//! Every operation is a scheduling point of a check. In one, the value held inline stays the initial value and the
//! check keeps the current one, so that a static starts anew in every execution.
//!
//! Deviations from std, in a check: an access through `as_ptr` is not seen and reaches the initial value; `get_mut`,
//! `into_inner` and `Debug` perform a relaxed load, since the value depends on the schedule. In any modelled build: the
//! types are larger than the values they hold, and so there is no `from_ptr`; `into_inner` is not `const`.
//!
//! [`compiler_fence`] is std's, for it orders nothing between threads.

#[macro_use]
mod common;
mod before;
mod boolean;
mod int;
mod order;
mod ptr;

use rsmc_core::runtime::hook;

#[allow(deprecated, reason = "std has them too")]
pub use before::{ATOMIC_BOOL_INIT, ATOMIC_ISIZE_INIT, ATOMIC_USIZE_INIT, spin_loop_hint};
pub use boolean::AtomicBool;
pub use int::*;
pub use ptr::AtomicPtr;
pub use std::sync::atomic::{Ordering, compiler_fence};

/// An atomic fence; mirrors [`std::sync::atomic::fence`]. In a check it has the effect that the memory model gives it,
/// and is no step.
///
/// # Panics
/// If `order` is [`Ordering::Relaxed`], as in std.
#[inline]
#[track_caller]
pub fn fence(order: Ordering) {
    order::check_fence(order);
    if !hook::atomics::fence(order) {
        std::sync::atomic::fence(order);
    }
}
