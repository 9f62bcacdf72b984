//! Mirrors [`std::thread`].
//!
//! In a check, [`spawn`], [`scope`] and [`Builder`] start modelled threads, which the check switches between on one
//! OS thread, and waiting of all kinds is the model's.
//!
//! Not modelled yet: [`sleep`] really sleeps and lets nobody else run; [`LocalKey`] (`thread_local!`) belongs to the
//! OS thread, so that all threads of a check share one value, which outlives the execution;
//! [`available_parallelism`] is the machine's.

mod handle;
mod scoped;
mod spawned;

use std::time::Duration;

use rsmc_core::runtime::hook;

pub use handle::{Thread, ThreadId, current};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use spawned::{Builder, JoinHandle, spawn};
pub use std::thread::{AccessError, LocalKey, Result, available_parallelism, sleep};

/// Lets other threads run; mirrors [`std::thread::yield_now`]. In a check, the same as
/// [`hint::spin_loop`](crate::hint::spin_loop).
#[inline]
#[track_caller]
pub fn yield_now() {
    if !hook::hint() {
        std::thread::yield_now();
    }
}

/// Waits for the token of the calling thread and takes it; mirrors [`std::thread::park`].
///
/// In a check it does not return without a token yet.
#[track_caller]
pub fn park() {
    match handle::current_in_run() {
        Some(handle) => hook::park(handle.token()),
        None => std::thread::park(),
    }
}

/// Waits for the token of the calling thread, or until some time has passed; mirrors
/// [`std::thread::park_timeout`].
///
/// Time is not modelled: in a check this returns without the token, and counts as [`yield_now`].
#[track_caller]
pub fn park_timeout(timeout: Duration) {
    if !hook::hint() {
        std::thread::park_timeout(timeout);
    }
}

/// Whether the calling thread is unwinding; mirrors [`std::thread::panicking`].
///
/// True also while a thread that is left at the end of an execution is unwound: a panic would be its second.
pub fn panicking() -> bool {
    hook::panicking() || (hook::is_unwinding() && std::thread::panicking())
}
