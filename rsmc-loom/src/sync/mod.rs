//! Mirrors [`std::sync`].

pub mod atomic;

pub use rsmc_shim::sync::{
    Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, Notify, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockResult, WaitTimeoutResult, Weak, mpsc,
};
