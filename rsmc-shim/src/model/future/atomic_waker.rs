//! `AtomicWaker`.

use std::fmt;
use std::panic::Location;
use std::task::Waker;

use rsmc_core::runtime::hook::calls;
use rsmc_core::trace::CallResult;

use crate::model::monitor::Monitor;
use crate::real_future;

/// A place for one waker, which a task leaves there and another thread uses; as in the crate `futures`.
///
/// A task registers its waker and *then* looks whether it has to wait: a wake-up that comes earlier finds no waker.
/// What a thread did before a call of [`wake`](Self::wake) that found none is visible after the next
/// [`register`](Self::register).
///
/// In a check every operation is one step, as if it took a lock of the object. In the crate `futures`, of two threads
/// that register at once the second may be passed over; here the last one stays. An `AtomicWaker` in a static is empty
/// at the start of every execution.
pub struct AtomicWaker {
    outside: real_future::AtomicWaker,
    monitor: Monitor<Option<Waker>>,
}

impl AtomicWaker {
    /// An `AtomicWaker` without a waker.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Self { outside: real_future::AtomicWaker::new(), monitor: Monitor::new("AtomicWaker") }
    }

    /// Leaves a clone of the waker, in place of the one that is there.
    #[track_caller]
    pub fn register(&self, waker: &Waker) {
        if !self.monitor.is_modelled() {
            return self.outside.register(waker);
        }
        // Clones and drops of a waker run code of others, which may use the object.
        let new = waker.clone();
        let call = self.monitor.call(Location::caller(), "register");
        let old = self.monitor.act(|registered| {
            calls::decide(CallResult::Nothing);
            registered.replace(new)
        });
        drop(call);
        drop(old);
    }

    /// Takes the waker out and uses it. Without a waker it does nothing.
    #[track_caller]
    pub fn wake(&self) {
        if !self.monitor.is_modelled() {
            self.outside.wake();
        } else if let Some(waker) = self.take_in("wake") {
            waker.wake();
        }
    }

    /// Takes the waker out.
    #[must_use]
    #[track_caller]
    pub fn take(&self) -> Option<Waker> {
        if self.monitor.is_modelled() { self.take_in("take") } else { self.outside.take() }
    }

    #[track_caller]
    fn take_in(&self, verb: &'static str) -> Option<Waker> {
        let _call = self.monitor.call(Location::caller(), verb);
        self.monitor.act(|registered| {
            let waker = registered.take();
            calls::decide(CallResult::Remark(if waker.is_some() { "a waker is there" } else { "nobody registered" }));
            waker
        })
    }
}

impl Default for AtomicWaker {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AtomicWaker")
    }
}
