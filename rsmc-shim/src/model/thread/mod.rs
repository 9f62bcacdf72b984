//! Mirrors [`std::thread`].
//!
//! In a check, [`spawn`], [`scope`] and [`Builder`] start modelled threads, which the check switches between on one
//! OS thread, and waiting of all kinds is the model's.
//!
//! [`sleep`] and [`park_timeout`] return at once in a check, and let others run first as [`yield_now`] does. So a test
//! that relies on one thread sleeping longer than another fails, as it should. The time that they ask for passes on the
//! clock of the calling thread only; see [`time`](crate::time).

mod handle;
mod local;
mod scoped;
mod spawned;

use std::num::NonZero;
use std::time::Duration;

use rsmc_core::runtime::hook;

pub use handle::{Thread, ThreadId, current};
pub use local::{AccessError, LocalKey};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use spawned::{Builder, JoinHandle, spawn};
pub use std::thread::Result;

/// Lets other threads run; mirrors [`std::thread::yield_now`]. In a check, the same as
/// [`hint::spin_loop`](crate::hint::spin_loop).
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    if !hook::loops::hint() {
        std::thread::yield_now();
    }
}

/// Waits for the token of the calling thread and takes it; mirrors [`std::thread::park`].
///
/// In a check it also returns without a token, as often in one execution as `Config::spurious` says.
#[track_caller]
pub fn park() {
    match handle::current_in_run() {
        Some(_) if hook::choices::choose(2, true) == Some(1) => {}
        Some(handle) => hook::tokens::park(handle.token()),
        None => std::thread::park(),
    }
}

/// Waits for the token of the calling thread, or until some time has passed; mirrors
/// [`std::thread::park_timeout`].
///
/// In a check it takes the token if there is one, or returns without it, and counts as [`yield_now`]. Time passes for
/// the thread only in the second case.
#[track_caller]
pub fn park_timeout(timeout: Duration) {
    match handle::current_in_run() {
        Some(handle) => {
            hook::loops::hint();
            if !hook::tokens::try_park(handle.token()) {
                hook::time::pass_time(timeout);
            }
        }
        None => std::thread::park_timeout(timeout),
    }
}

/// As [`park_timeout`], for some milliseconds. In a check no time passes.
#[track_caller]
#[deprecated(note = "use `park_timeout` instead")]
pub fn park_timeout_ms(milliseconds: u32) {
    park_timeout(Duration::from_millis(milliseconds.into()));
}

/// Waits for some time; mirrors [`std::thread::sleep`]. In a check this is [`yield_now`], and time passes for the
/// calling thread only.
#[track_caller]
pub fn sleep(time: Duration) {
    if hook::loops::hint() {
        hook::time::pass_time(time);
    } else {
        std::thread::sleep(time);
    }
}

/// As [`sleep`], for some milliseconds. In a check no time passes.
#[track_caller]
#[deprecated(note = "use `sleep` instead")]
pub fn sleep_ms(milliseconds: u32) {
    sleep(Duration::from_millis(milliseconds.into()));
}

/// The number of threads a program should use; mirrors [`std::thread::available_parallelism`]. In a check 2, wherever
/// it runs: enough for a pool of threads to go wrong.
///
/// # Errors
/// As std, outside a check.
pub fn available_parallelism() -> std::io::Result<NonZero<usize>> {
    if hook::executions::in_run() {
        Ok(NonZero::new(2).expect("2 is not 0"))
    } else {
        std::thread::available_parallelism()
    }
}

/// Whether the calling thread is unwinding; mirrors [`std::thread::panicking`].
///
/// True also while a thread that is left at the end of an execution is unwound: a panic would be its second.
pub fn panicking() -> bool {
    hook::threads::panicking() || (hook::executions::is_unwinding() && std::thread::panicking())
}
