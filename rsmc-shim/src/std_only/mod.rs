//! The ordinary build: std itself.

pub mod cell;
mod unsafe_cell;

/// Gives an atomic, a lock, a condition variable or a cell a name for the reports of checks. Nothing in this build.
#[inline]
pub fn label<T: ?Sized>(_object: &T, _name: &str) {}

/// Mirrors [`std::sync`].
pub mod sync {
    pub use std::sync::{
        Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Once, OnceLock, OnceState,
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult, Weak,
    };

    #[allow(deprecated, reason = "std has it too")]
    pub use std::sync::ONCE_INIT;

    /// Mirrors [`std::sync::atomic`].
    pub mod atomic {
        pub use std::sync::atomic::*;
    }

    /// Mirrors [`std::sync::mpsc`].
    pub mod mpsc {
        pub use std::sync::mpsc::*;
    }

    /// Takes over an `Arc` of std, possibly of an unsized type. The identity in this build.
    #[inline]
    pub fn arc_from_std<T: ?Sized>(arc: Arc<T>) -> Arc<T> {
        arc
    }

    #[doc(hidden)]
    #[inline]
    pub fn coerce_arc_with<T: ?Sized, U: ?Sized>(arc: Arc<T>, coerce: impl FnOnce(Arc<T>) -> Arc<U>) -> Arc<U> {
        coerce(arc)
    }
}

/// Mirrors [`std::thread`].
pub mod thread {
    pub use std::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Result, Scope, ScopedJoinHandle, Thread, ThreadId,
        available_parallelism, current, panicking, park, park_timeout, scope, sleep, spawn, yield_now,
    };
    #[allow(deprecated, reason = "std has them too")]
    pub use std::thread::{park_timeout_ms, sleep_ms};
}

/// Mirrors [`std::time`], but for the time of the system: in the build for checks that is out of reach, since a check must
/// not depend on when it runs.
pub mod time {
    pub use std::time::{Duration, Instant, TryFromFloatSecsError};
}

/// Mirrors [`std::hint`].
pub mod hint {
    pub use std::hint::{assert_unchecked, black_box, select_unpredictable, spin_loop, unreachable_unchecked};
}

/// Running a future to its end, and a place for the waker of one. Std has neither.
pub mod future {
    pub use crate::real_future::{AtomicWaker, block_on};
}
