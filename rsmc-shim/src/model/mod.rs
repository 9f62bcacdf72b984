//! The modelled build. Each type holds the type of std, and a place for the state that a check keeps of it.

mod arc;
pub mod atomic;
mod barrier;
pub mod cell;
mod condvar;
mod door;
pub mod future;
pub mod hint;
mod label;
mod monitor;
pub mod mpsc;
mod mutex;
pub(crate) mod notify_call;
mod once;
mod real;
mod rwlock;
mod slot;
mod statics;
mod surely;
pub mod thread;
pub mod time;

pub use label::{Label, label};
pub use once::OnOneThread;

/// Mirrors [`std::sync`].
pub mod sync {
    pub use crate::model::arc::{Arc, Weak, arc_from_std, coerce_arc_with};
    pub use crate::model::atomic;
    pub use crate::model::barrier::{Barrier, BarrierWaitResult};
    pub use crate::model::condvar::{Condvar, WaitTimeoutResult};
    pub use crate::model::mpsc;
    pub use crate::model::mutex::{Mutex, MutexGuard};
    #[allow(deprecated, reason = "std has it too")]
    pub use crate::model::once::ONCE_INIT;
    pub use crate::model::once::{LazyLock, Once, OnceLock, OnceState};
    pub use crate::model::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
    pub use crate::notify::Notify;
    pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
}
