//! Dekker's lock, the first that excludes two threads by loads and stores alone.
//!
//! Source. E. W. Dijkstra, *Cooperating Sequential Processes*, 1965 (T. J. Dekker's algorithm); with fences as by
//! A. Williams, *Implementing Dekker's algorithm with Fences*, 2010.
//!
//! Orderings. A thread announces itself and then looks at the other. That is a store and then a load of another
//! location, and a store may wait in its thread's buffer while the load goes ahead, on x86 too: both threads may miss
//! each other. `Release` and `Acquire` do not forbid it, only a `SeqCst` fence in between does, each time a thread
//! announces itself. They are needed for another reason: what was done inside is seen by the next thread inside.
//!
//! The mistakes, and the models that show them:
//!
//! - [`lock_stubborn`](DekkerLock::lock_stubborn) does not give way: both may wait for ever. Under every model.
//! - [`lock_without_fence`](DekkerLock::lock_without_fence) has the fences left out. Right under SC; both threads get
//!   in under TSO and PSO.
//! - [`lock_fenced_once`](DekkerLock::lock_fenced_once) has no fence where a thread that gave way announces itself
//!   again. Right under SC; both threads get in under TSO and PSO, if one of them comes a second time.

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::hint;
use rsmc_shim::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, fence};
use rsmc_shim::thread;

/// A lock for the threads 0 and 1.
pub struct DekkerLock {
    wanted: [AtomicBool; 2],
    /// Who need not give way if both want it.
    turn: AtomicUsize,
}

impl DekkerLock {
    /// A free lock.
    pub fn new() -> Self {
        Self { wanted: [AtomicBool::new(false), AtomicBool::new(false)], turn: AtomicUsize::new(0) }
    }

    /// Waits for the lock and takes it; `me` is 0 or 1.
    pub fn lock(&self, me: usize) {
        self.announce(me);
        self.wait(me, Self::announce);
    }

    /// As [`lock`](Self::lock), but broken: a thread looks before others can see its own announcement.
    pub fn lock_without_fence(&self, me: usize) {
        self.announce_unfenced(me);
        self.wait(me, Self::announce_unfenced);
    }

    /// As [`lock`](Self::lock), but broken: the second announcement has no fence.
    pub fn lock_fenced_once(&self, me: usize) {
        self.announce(me);
        self.wait(me, Self::announce_unfenced);
    }

    /// As [`lock`](Self::lock), but broken: nobody gives way.
    pub fn lock_stubborn(&self, me: usize) {
        self.announce(me);
        while self.wanted[1 - me].load(Acquire) {
            hint::spin_loop();
        }
    }

    /// Gives the lock back; the thread must have it.
    pub fn unlock(&self, me: usize) {
        self.turn.store(1 - me, Relaxed);
        self.wanted[me].store(false, Release);
    }

    fn announce(&self, me: usize) {
        self.wanted[me].store(true, Relaxed);
        fence(SeqCst);
    }

    fn announce_unfenced(&self, me: usize) {
        self.wanted[me].store(true, Release);
    }

    /// Waits until the other thread does not want the lock, and gives way unless it has the turn.
    fn wait(&self, me: usize, announce: fn(&Self, usize)) {
        while self.wanted[1 - me].load(Acquire) {
            if self.turn.load(Relaxed) == me {
                hint::spin_loop();
                continue;
            }
            // This lets the other thread in as `unlock` does, so it releases too.
            self.wanted[me].store(false, Release);
            while self.turn.load(Relaxed) != me {
                hint::spin_loop();
            }
            announce(self, me);
        }
    }
}

/// Two threads count, one of them twice: none enters while the other is inside.
pub fn correct() {
    excludes(DekkerLock::lock, [2, 1]);
}

/// Once each, with a `lock` that does not give way.
pub fn broken_stubborn() {
    excludes(DekkerLock::lock_stubborn, [1, 1]);
}

/// Once each, with a `lock` that has no fence. Right under SC.
pub fn broken_without_fence() {
    excludes(DekkerLock::lock_without_fence, [1, 1]);
}

/// One of them twice, with a `lock` that has one fence too few. Right under SC.
pub fn broken_fenced_once() {
    excludes(DekkerLock::lock_fenced_once, [2, 1]);
}

/// Once each, with an atomic counter: nothing is lost.
pub fn correct_by_value() {
    loses_nothing(DekkerLock::lock);
}

/// The same with a `lock` that has no fence. Right under SC.
pub fn broken_without_fence_by_value() {
    loses_nothing(DekkerLock::lock_without_fence);
}

/// A number that the lock guards.
struct Counter {
    lock: DekkerLock,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is accessed with the lock held only. Whether that is enough is what the bodies check.
unsafe impl Sync for Counter {}

impl Counter {
    fn add(&self, me: usize, lock: fn(&DekkerLock, usize)) {
        lock(&self.lock, me);
        // SAFETY: the lock is held. (Where it is broken, the checker still runs one thread at a time.)
        self.count.with_mut(|count| unsafe { *count += 1 });
        self.lock.unlock(me);
    }
}

fn excludes(lock: fn(&DekkerLock, usize), rounds: [u32; 2]) {
    let counter = Counter { lock: DekkerLock::new(), count: UnsafeCell::new(0) };
    let count = |me: usize| (0..rounds[me]).for_each(|_| counter.add(me, lock));
    thread::scope(|scope| {
        scope.spawn(|| count(0));
        count(1);
    });
    assert_eq!(counter.count.into_inner(), rounds[0] + rounds[1]);
}

fn loses_nothing(lock: fn(&DekkerLock, usize)) {
    let (guard, count) = (DekkerLock::new(), AtomicU32::new(0));
    let add = |me| {
        lock(&guard, me);
        // Two steps, so that the lock is needed; atomic, so that there is no data race without it.
        count.store(count.load(Relaxed) + 1, Relaxed);
        guard.unlock(me);
    };
    thread::scope(|scope| {
        scope.spawn(|| add(0));
        add(1);
    });
    assert_eq!(count.into_inner(), 2, "a count was lost");
}
