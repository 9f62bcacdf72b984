//! Mirrors [`std::hint`]. [`spin_loop`] is modelled, and code that must not be reached panics.

use rsmc_core::runtime::hook;

pub use crate::backoff::Backoff;
#[cfg(since_1_95)]
pub use std::hint::cold_path;
pub use std::hint::{black_box, select_unpredictable};

/// Says that a loop waits for another thread; mirrors [`std::hint::spin_loop`].
///
/// In a check the thread goes on when something that the iteration read has changed.
#[inline(always)]
#[track_caller]
pub fn spin_loop() {
    if !hook::loops::hint() {
        std::hint::spin_loop();
    }
}

/// Says that this is never reached; mirrors [`std::hint::unreachable_unchecked`].
///
/// In a check it is a panic at the line of the call if it is reached, and so it is in all of a build for checks.
///
/// # Panics
/// Always, where std has undefined behaviour.
///
/// # Safety
/// It must never be reached.
///
/// ```should_panic
/// let last = rsmc_shim::sync::Arc::into_inner(rsmc_shim::sync::Arc::new(1));
/// if last.is_some() {
///     // SAFETY: none; this is the mistake.
///     unsafe { rsmc_shim::hint::unreachable_unchecked() }
/// }
/// ```
#[track_caller]
pub const unsafe fn unreachable_unchecked() -> ! {
    panic!("undefined behaviour: `unreachable_unchecked` was reached")
}

/// Says that a condition is true; mirrors [`std::hint::assert_unchecked`].
///
/// In a check it is a panic at the line of the call if the condition is false, and so it is in all of a build for
/// checks.
///
/// # Panics
/// If the condition is false, where std has undefined behaviour.
///
/// # Safety
/// The condition must be true.
///
/// ```
/// let values = [1, 2, 3];
/// // SAFETY: there are three.
/// unsafe { rsmc_shim::hint::assert_unchecked(values.len() == 3) };
/// ```
#[inline]
#[track_caller]
pub const unsafe fn assert_unchecked(condition: bool) {
    assert!(condition, "undefined behaviour: the condition of `assert_unchecked` is false");
}
