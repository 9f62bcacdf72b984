//! Mirrors [`std::sync`]. The atomics of [`atomic`] have loom's `unsync_load` and `with_mut` as well.

pub use rsmc_shim::sync::{
    Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, Notify, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockResult, WaitTimeoutResult, Weak, atomic, mpsc,
};
