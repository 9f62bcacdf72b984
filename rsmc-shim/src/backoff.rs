//! `Backoff`, which std does not have.

use core::cell::Cell;
use core::fmt;

use crate::hint::spin_loop;
#[cfg(not(feature = "std"))]
use crate::hint::spin_loop as yield_now;
#[cfg(feature = "std")]
use crate::thread::yield_now;

/// Up to so many rounds, each waits twice as long as the one before.
const fn spins() -> u32 {
    if crate::MODELLED { 0 } else { 6 }
}

/// After so many rounds of [`Backoff::snooze`] it is time to block.
const fn rounds() -> u32 {
    if crate::MODELLED { 1 } else { 10 }
}

/// Waiting in a loop, longer from round to round; as in the crate `crossbeam-utils`.
///
/// In a check a round is one [`spin_loop`], and [`is_completed`](Self::is_completed) is true after the second
/// [`snooze`](Self::snooze): a check orders operations and measures no time, so more rounds would show nothing new.
///
/// ```
/// use rsmc_shim::hint::Backoff;
/// use rsmc_shim::sync::atomic::{AtomicBool, Ordering::Acquire};
///
/// fn wait(ready: &AtomicBool, block: impl FnOnce()) {
///     let backoff = Backoff::new();
///     while !ready.load(Acquire) {
///         if backoff.is_completed() {
///             return block();
///         }
///         backoff.snooze();
///     }
/// }
/// # wait(&AtomicBool::new(true), || {});
/// ```
pub struct Backoff(Cell<u32>);

impl Backoff {
    /// Starts with a short wait.
    #[must_use]
    pub const fn new() -> Self {
        Self(Cell::new(0))
    }

    /// Starts anew.
    pub fn reset(&self) {
        self.0.set(0);
    }

    /// Waits where an operation failed because another thread was quicker: a compare-exchange, for example.
    #[inline]
    #[cfg_attr(feature = "model", track_caller)]
    pub fn spin(&self) {
        wait(self.0.get().min(spins()));
        self.next(spins());
    }

    /// Waits until another thread has done something: lets others run where the wait gets long.
    #[inline]
    #[cfg_attr(feature = "model", track_caller)]
    pub fn snooze(&self) {
        if self.0.get() <= spins() {
            wait(self.0.get());
        } else {
            yield_now();
        }
        self.next(rounds());
    }

    /// Whether it has waited so long that the thread should block.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.0.get() > rounds()
    }

    fn next(&self, last: u32) {
        if self.0.get() <= last {
            self.0.set(self.0.get() + 1);
        }
    }
}

#[cfg_attr(feature = "model", track_caller)]
fn wait(round: u32) {
    for _ in 0..1 << round {
        spin_loop();
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backoff").field("round", &self.0.get()).field("is_completed", &self.is_completed()).finish()
    }
}
