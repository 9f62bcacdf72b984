//! What the recipes test: permits that threads take and give back, and an event for which tasks wait.

use std::future::poll_fn;
use std::task::Poll;

use rsmc_shim::future::AtomicWaker;
use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A number of permits.
pub struct Permits(AtomicU32);

impl Permits {
    /// So many permits that nobody has.
    pub const fn new(free: u32) -> Self {
        Self(AtomicU32::new(free))
    }

    /// Takes a permit if one is free.
    pub fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, |free| free.checked_sub(1)).is_ok()
    }

    /// Gives a permit back.
    pub fn give(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Something that happens once.
#[derive(Default)]
pub struct Event {
    happened: AtomicBool,
    waiter: AtomicWaker,
}

impl Event {
    /// Says that it has happened, and wakes the task that waits.
    pub fn happen(&self) {
        self.happened.store(true, Ordering::Release);
        self.waiter.wake();
    }

    /// Waits until it has happened. One task waits at a time.
    pub async fn wait(&self) {
        poll_fn(|context| {
            self.waiter.register(context.waker());
            if self.happened.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl Permits {
    /// The number of permits that nobody has.
    ///
    /// ```
    /// use rsmc::thread;
    /// use rsmc_recipes::Permits;
    ///
    /// rsmc::check(|| {
    ///     let permits = Permits::new(2);
    ///     let taken = thread::scope(|scope| {
    ///         let other = scope.spawn(|| permits.take());
    ///         u32::from(permits.take()) + u32::from(other.join().unwrap())
    ///     });
    ///     # // A test of the commands that reports print lets it fail.
    ///     # let taken = taken + u32::from(std::env::var_os("PERMITS_ARE_LOST").is_some());
    ///     assert_eq!(taken + permits.free(), 2);
    /// });
    /// ```
    pub fn free(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
