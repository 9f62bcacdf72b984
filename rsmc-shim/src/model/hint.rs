//! Mirrors [`std::hint`]; only [`spin_loop`] is modelled.

use rsmc_core::runtime::hook;

pub use std::hint::{assert_unchecked, black_box, select_unpredictable, unreachable_unchecked};

/// Says that a loop waits for another thread; mirrors [`std::hint::spin_loop`].
///
/// In a check the thread goes on when something that the iteration read has changed.
#[inline(always)]
#[track_caller]
pub fn spin_loop() {
    if !hook::hint() {
        std::hint::spin_loop();
    }
}
