//! `Notify`, which std does not have.

#[cfg(feature = "model")]
use crate::model::notify_call;
#[cfg(not(feature = "model"))]
use crate::std_only::notify_call;
use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A flag that a thread waits for: [`notify`](Self::notify) sets it, and [`wait`](Self::wait) takes it back. It is a
/// token of `park` that belongs to an object instead of a thread. As in loom.
///
/// ```
/// use rsmc_shim::sync::{Arc, Notify};
///
/// let done = Arc::new(Notify::new());
/// let other = Arc::clone(&done);
/// let thread = rsmc_shim::thread::spawn(move || other.notify());
/// done.wait();
/// thread.join().unwrap();
/// ```
#[derive(Debug)]
pub struct Notify {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Notify {
    /// A flag that is not set.
    #[must_use]
    #[cfg_attr(feature = "model", track_caller)]
    pub const fn new() -> Self {
        Self { is_set: notify_call::flag(), changed: Condvar::new() }
    }

    /// Sets the flag, and wakes a thread that waits. Nothing, if it is set.
    #[cfg_attr(feature = "model", track_caller)]
    pub fn notify(&self) {
        let _call = notify_call::begin(&self.is_set, "notify");
        *self.flag() = true;
        notify_call::done();
        self.changed.notify_one();
    }

    /// Waits until the flag is set, and takes it back. It may return without cause, as [`park`](crate::thread::park).
    #[cfg_attr(feature = "model", track_caller)]
    pub fn wait(&self) {
        let (_call, mut is_set) = match self.begin_to_wait() {
            Ok(taken) => taken,
            Err(is_set) => {
                let call = notify_call::begin(&self.is_set, "wait");
                let is_set = self.changed.wait(is_set).unwrap_or_else(PoisonError::into_inner);
                notify_call::goes_on(*is_set);
                (call, is_set)
            }
        };
        *is_set = false;
    }

    /// The flag, if it is set; otherwise the thread has to wait with it.
    #[cfg_attr(feature = "model", track_caller)]
    fn begin_to_wait(&self) -> Result<(notify_call::InCall, MutexGuard<'_, bool>), MutexGuard<'_, bool>> {
        let call = notify_call::begin(&self.is_set, "wait");
        let is_set = self.flag();
        if *is_set {
            notify_call::done();
            return Ok((call, is_set));
        }
        notify_call::waits();
        Err(is_set)
    }

    #[cfg_attr(feature = "model", track_caller)]
    fn flag(&self) -> MutexGuard<'_, bool> {
        // A thread that panics with the lock has not changed the flag.
        self.is_set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Notify {
    #[cfg_attr(feature = "model", track_caller)]
    fn default() -> Self {
        Self::new()
    }
}
