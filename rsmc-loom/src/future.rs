//! Running a future to its end, and a place for the waker of one.

use std::task::Waker;

pub use rsmc_shim::future::block_on;

/// A place for one waker; [`rsmc_shim::future::AtomicWaker`] with loom's methods.
#[derive(Debug, Default)]
pub struct AtomicWaker(rsmc_shim::future::AtomicWaker);

impl AtomicWaker {
    /// An `AtomicWaker` without a waker.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Self(rsmc_shim::future::AtomicWaker::new())
    }

    /// Leaves the waker, in place of the one that is there.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        self.0.register(&waker);
    }

    /// Leaves a clone of the waker, in place of the one that is there.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.0.register(waker);
    }

    /// Takes the waker out and uses it. Without a waker it does nothing.
    #[track_caller]
    pub fn wake(&self) {
        self.0.wake();
    }

    /// Takes the waker out.
    #[must_use]
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.0.take()
    }
}
