//! A spinlock: one flag, taken by compare-and-swap and given back by a store.
//!
//! Orderings. Giving the lock back has to be a `Release`, taking it an `Acquire`: then a thread that takes the lock
//! sees what was done under it before. The compare-and-swap alone keeps the second thread out, whatever its ordering;
//! but a thread that has the lock to itself may still see old values.
//!
//! The mistakes, and the models that show them. All of them are data races under every model if the lock guards a
//! tracked cell. If it guards an atomic, a count is lost:
//!
//! - [`unlock_relaxed`](SpinLock::unlock_relaxed) gives the lock back without `Release`. Right under SC and TSO, where
//!   stores stay in order. Under PSO the flag overtakes what was stored under the lock; under C11, too.
//! - [`unlock_by_swap`](SpinLock::unlock_by_swap) gives it back by a relaxed swap. Under TSO and PSO a
//!   read-modify-write waits for all stores before it, whatever its ordering; under C11 it orders nothing.
//! - [`lock_relaxed`](SpinLock::lock_relaxed) takes the lock without `Acquire`. No store is late, but the load after it
//!   may be early: wrong under C11 alone.

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::hint;
use rsmc_shim::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32};
use rsmc_shim::thread;

/// A lock for any number of threads.
pub struct SpinLock(AtomicBool);

impl SpinLock {
    /// A free lock.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Waits for the lock and takes it.
    pub fn lock(&self) {
        self.take(Acquire);
    }

    /// As [`lock`](Self::lock), but broken: the thread need not see what was done under the lock before.
    pub fn lock_relaxed(&self) {
        self.take(Relaxed);
    }

    /// Gives the lock back; the thread must have it.
    pub fn unlock(&self) {
        self.0.store(false, Release);
    }

    /// As [`unlock`](Self::unlock), but broken: the lock may look free before what was done under it is visible.
    pub fn unlock_relaxed(&self) {
        self.0.store(false, Relaxed);
    }

    /// As [`unlock_relaxed`](Self::unlock_relaxed), and no better: an atomic swap orders nothing by itself.
    pub fn unlock_by_swap(&self) {
        self.0.swap(false, Relaxed);
    }

    fn take(&self, order: Ordering) {
        while self.0.compare_exchange_weak(false, true, order, Relaxed).is_err() {
            hint::spin_loop();
        }
    }
}

/// Three threads count: none enters while another is inside.
pub fn correct() {
    excludes(3, SpinLock::lock, SpinLock::unlock);
}

/// Two threads, with an `unlock` that does not release.
pub fn broken_unlock_relaxed() {
    excludes(2, SpinLock::lock, SpinLock::unlock_relaxed);
}

/// Two threads, with an `unlock` that swaps and does not release.
pub fn broken_unlock_by_swap() {
    excludes(2, SpinLock::lock, SpinLock::unlock_by_swap);
}

/// Two threads, with a `lock` that does not acquire.
pub fn broken_lock_relaxed() {
    excludes(2, SpinLock::lock_relaxed, SpinLock::unlock);
}

/// Three threads and an atomic counter: nothing is lost.
pub fn correct_by_value() {
    loses_nothing(3, SpinLock::lock, SpinLock::unlock);
}

/// Two threads, with an `unlock` that does not release. Right under SC and TSO.
pub fn broken_unlock_relaxed_by_value() {
    loses_nothing(2, SpinLock::lock, SpinLock::unlock_relaxed);
}

/// Two threads, with an `unlock` that swaps and does not release. Right under SC, TSO and PSO.
pub fn broken_unlock_by_swap_by_value() {
    loses_nothing(2, SpinLock::lock, SpinLock::unlock_by_swap);
}

/// Two threads, with a `lock` that does not acquire. Right under SC, TSO and PSO.
pub fn broken_lock_relaxed_by_value() {
    loses_nothing(2, SpinLock::lock_relaxed, SpinLock::unlock);
}

/// A number that the lock guards.
struct Counter {
    lock: SpinLock,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is accessed with the lock held only. Whether that is enough is what the bodies check.
unsafe impl Sync for Counter {}

impl Counter {
    fn add(&self, lock: fn(&SpinLock), unlock: fn(&SpinLock)) {
        lock(&self.lock);
        // SAFETY: the lock is held. (Where it is broken, the checker still runs one thread at a time.)
        self.count.with_mut(|count| unsafe { *count += 1 });
        unlock(&self.lock);
    }
}

fn excludes(threads: u32, lock: fn(&SpinLock), unlock: fn(&SpinLock)) {
    let counter = Counter { lock: SpinLock::new(), count: UnsafeCell::new(0) };
    in_threads(threads, || counter.add(lock, unlock));
    assert_eq!(counter.count.into_inner(), threads);
}

fn loses_nothing(threads: u32, lock: fn(&SpinLock), unlock: fn(&SpinLock)) {
    let (guard, count) = (SpinLock::new(), AtomicU32::new(0));
    in_threads(threads, || {
        lock(&guard);
        // Two steps, so that the lock is needed; atomic, so that there is no data race without it.
        count.store(count.load(Relaxed) + 1, Relaxed);
        unlock(&guard);
    });
    assert_eq!(count.into_inner(), threads, "a count was lost");
}

/// Does the same in this thread and in others, `threads` in all.
fn in_threads(threads: u32, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(&work);
        }
        work();
    });
}
