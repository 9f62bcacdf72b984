//! The ordinary build: std itself, and without the feature `std` what `core` and `alloc` have of it.
//!
//! The build script sets `since_1_80` where the compiler is that of Rust 1.80 or newer.

pub mod cell;
#[cfg(feature = "std")]
pub(crate) mod notify_call;
mod unsafe_cell;

/// Gives an atomic, a lock, a condition variable or a cell a name for the reports of checks. Nothing in this build.
#[inline]
pub fn label<T: ?Sized>(_object: &T, _name: &str) {}

/// Mirrors [`std::sync`](https://doc.rust-lang.org/std/sync/index.html). Without the feature `std` it has `Arc`, `Weak`
/// and `atomic`.
pub mod sync {
    #[cfg(feature = "std")]
    pub use crate::notify::Notify;
    #[cfg(target_has_atomic = "ptr")]
    pub use allocated::sync::{Arc, Weak};
    #[cfg(all(feature = "std", since_1_80))]
    pub use std::sync::LazyLock;
    // Std has it too.
    #[cfg(feature = "std")]
    #[allow(deprecated)]
    pub use std::sync::ONCE_INIT;
    #[cfg(all(feature = "std", since_1_70))]
    pub use std::sync::OnceLock;
    #[cfg(feature = "std")]
    pub use std::sync::{
        Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, Once, OnceState, PoisonError, RwLock,
        RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult,
    };

    /// Mirrors [`core::sync::atomic`].
    pub mod atomic {
        pub use core::sync::atomic::*;
    }

    /// Mirrors [`std::sync::mpsc`].
    #[cfg(feature = "std")]
    pub mod mpsc {
        pub use std::sync::mpsc::*;
    }

    /// Takes over an `Arc` of std, possibly of an unsized type. The identity in this build.
    #[cfg(target_has_atomic = "ptr")]
    #[inline]
    pub fn arc_from_std<T: ?Sized>(arc: Arc<T>) -> Arc<T> {
        arc
    }

    #[cfg(target_has_atomic = "ptr")]
    #[doc(hidden)]
    #[inline]
    pub fn coerce_arc_with<T: ?Sized, U: ?Sized>(arc: Arc<T>, coerce: impl FnOnce(Arc<T>) -> Arc<U>) -> Arc<U> {
        coerce(arc)
    }
}

/// Mirrors [`std::thread`].
#[cfg(feature = "std")]
pub mod thread {
    pub use std::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Result, Scope, ScopedJoinHandle, Thread, ThreadId,
        available_parallelism, current, panicking, park, park_timeout, scope, sleep, spawn, yield_now,
    };
    // Std has them too.
    #[allow(deprecated)]
    pub use std::thread::{park_timeout_ms, sleep_ms};
}

/// Mirrors [`std::time`](https://doc.rust-lang.org/std/time/index.html), but for the time of the system: in the build
/// for checks that is out of reach, since a check must not depend on when it runs. Without the feature `std` there is
/// no `Instant`.
pub mod time {
    pub use core::time::Duration;
    #[cfg(since_1_66)]
    pub use core::time::TryFromFloatSecsError;
    #[cfg(feature = "std")]
    pub use std::time::Instant;
}

/// Mirrors [`core::hint`].
pub mod hint {
    pub use crate::backoff::Backoff;
    #[cfg(since_1_81)]
    pub use core::hint::assert_unchecked;
    #[cfg(since_1_66)]
    pub use core::hint::black_box;
    #[cfg(since_1_95)]
    pub use core::hint::cold_path;
    #[cfg(since_1_88)]
    pub use core::hint::select_unpredictable;
    pub use core::hint::{spin_loop, unreachable_unchecked};
}

/// Running a future to its end, and a place for the waker of one. Std has neither.
#[cfg(feature = "std")]
pub mod future {
    pub use crate::real_future::{AtomicWaker, block_on};
}
