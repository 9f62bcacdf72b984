//! Mirrors [`std::sync`].
//!
//! [`Arc`] and [`Weak`] are std's own, as in shuttle: a check does not see their counts. Where the behaviour of a body
//! depends on them (`try_unwrap`, `get_mut`, who drops the value), `check_dfs` does not look for the other outcome.
//! The feature `modelled-arc` gives the types of `rsmc-shim` instead, which a check sees, and which stable Rust does
//! not turn into an `Arc<dyn Trait>`.

#[cfg(feature = "modelled-arc")]
pub use rsmc_shim::sync::{Arc, Weak};
pub use rsmc_shim::sync::{
    Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, Once, OnceState, PoisonError, RwLock,
    RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult, atomic, mpsc,
};
#[cfg(not(feature = "modelled-arc"))]
pub use std::sync::{Arc, Weak};
