//! Peterson's lock: mutual exclusion of two threads by loads and stores alone.
//!
//! Source. G. L. Peterson, *Myths about the Mutual Exclusion Problem*, Information Processing Letters 12(3), 1981.
//!
//! Orderings. A thread announces itself and then looks at the other. That is a store and then a load of another
//! location, and a store may wait in its thread's buffer while the load goes ahead, on x86 too: both threads may miss
//! each other. `Release` and `Acquire` do not forbid it, only `SeqCst` does: on all these accesses, or as a fence in
//! between. They are needed for another reason: what was done inside is seen by the next thread inside.
//!
//! The mistakes, and the models that show them:
//!
//! - [`lock_turn_first`](PetersonLock::lock_turn_first) gives way before it announces itself. Between the two stores
//!   the other thread sees nobody interested, and enters; then the first finds that it is its turn, and enters too.
//!   Under every model.
//! - [`lock_look_first`](PetersonLock::lock_look_first) looks at the other thread before it announces itself. Both
//!   may find nobody interested. Under every model.
//! - [`lock_without_fence`](PetersonLock::lock_without_fence) announces itself with `Release` and looks with `Acquire`.
//!   Right under SC; both threads get in under TSO and PSO.
//! - [`lock_last_fence_only`](PetersonLock::lock_last_fence_only) leaves the order of the two announcing stores open:
//!   under PSO it may become `lock_turn_first`. Under SC and TSO only one thread is inside at a time, but the turn
//!   hands nothing over, so what they do there is a data race under every model, if one of them comes a second time.
//! - [`lock_without_acquire`](PetersonLock::lock_without_acquire) has its fences and nothing else. Only one thread is
//!   inside at a time, but what it does there is a data race under every model.

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::hint;
use rsmc_shim::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, fence};
use rsmc_shim::thread;

/// A lock for the threads 0 and 1.
pub struct PetersonLock {
    interested: [AtomicBool; 2],
    /// Who goes first if both are interested.
    turn: AtomicUsize,
}

impl PetersonLock {
    /// A free lock.
    pub fn new() -> Self {
        Self { interested: [AtomicBool::new(false), AtomicBool::new(false)], turn: AtomicUsize::new(0) }
    }

    /// Waits for the lock and takes it; `me` is 0 or 1.
    pub fn lock(&self, me: usize) {
        let other = 1 - me;
        self.interested[me].store(true, SeqCst);
        self.turn.store(other, SeqCst);
        self.wait_for(other, SeqCst);
    }

    /// As [`lock`](Self::lock), by fences: one between the stores, one before the loads.
    ///
    /// For TSO and PSO, a `Release` store of the turn could take the place of the first fence. Rust's own model, which
    /// may let two threads disagree on the order of stores to different locations, wants the fence.
    pub fn lock_fenced(&self, me: usize) {
        let other = 1 - me;
        self.interested[me].store(true, Relaxed);
        fence(SeqCst);
        self.turn.store(other, Relaxed);
        fence(SeqCst);
        self.wait_for(other, Acquire);
    }

    /// As [`lock`](Self::lock), but broken: the turn is given away first.
    pub fn lock_turn_first(&self, me: usize) {
        let other = 1 - me;
        self.turn.store(other, SeqCst);
        self.interested[me].store(true, SeqCst);
        self.wait_for(other, SeqCst);
    }

    /// As [`lock`](Self::lock), but broken: the other thread is waited for first.
    pub fn lock_look_first(&self, me: usize) {
        let other = 1 - me;
        self.turn.store(other, SeqCst);
        self.wait_for(other, SeqCst);
        self.interested[me].store(true, SeqCst);
    }

    /// As [`lock_fenced`](Self::lock_fenced), but broken: a thread looks before others can see its announcement.
    pub fn lock_without_fence(&self, me: usize) {
        let other = 1 - me;
        self.interested[me].store(true, Release);
        self.turn.store(other, Release);
        self.wait_for(other, Acquire);
    }

    /// As [`lock_fenced`](Self::lock_fenced), but broken: others may see the two stores in any order.
    pub fn lock_last_fence_only(&self, me: usize) {
        let other = 1 - me;
        self.interested[me].store(true, Relaxed);
        self.turn.store(other, Relaxed);
        fence(SeqCst);
        self.wait_for(other, Acquire);
    }

    /// As [`lock_fenced`](Self::lock_fenced), but broken: a thread need not see what was done inside before.
    pub fn lock_without_acquire(&self, me: usize) {
        let other = 1 - me;
        self.interested[me].store(true, Relaxed);
        fence(SeqCst);
        self.turn.store(other, Relaxed);
        fence(SeqCst);
        self.wait_for(other, Relaxed);
    }

    /// Gives the lock back; the thread must have it.
    pub fn unlock(&self, me: usize) {
        self.interested[me].store(false, Release);
    }

    fn wait_for(&self, other: usize, order: Ordering) {
        while self.interested[other].load(order) && self.turn.load(order) == other {
            hint::spin_loop();
        }
    }
}

/// Two threads count, twice each: none enters while the other is inside.
pub fn correct() {
    excludes(PetersonLock::lock, [2, 2]);
}

/// One of them twice, with fences.
pub fn correct_fenced() {
    excludes(PetersonLock::lock_fenced, [2, 1]);
}

/// Once each, with a `lock` that gives way before it announces itself.
pub fn broken_turn_first() {
    excludes(PetersonLock::lock_turn_first, [1, 1]);
}

/// Once each, with a `lock` that looks before it announces itself.
pub fn broken_look_first() {
    excludes(PetersonLock::lock_look_first, [1, 1]);
}

/// One of them twice, with a `lock` that has no fence. Right under SC.
pub fn broken_without_fence() {
    excludes(PetersonLock::lock_without_fence, [2, 1]);
}

/// One of them twice, with a `lock` that has one fence too few.
pub fn broken_last_fence_only() {
    excludes(PetersonLock::lock_last_fence_only, [2, 1]);
}

/// Once each, with a `lock` that does not acquire.
pub fn broken_without_acquire() {
    excludes(PetersonLock::lock_without_acquire, [1, 1]);
}

/// Once each, with fences and an atomic counter: nothing is lost.
pub fn correct_by_value() {
    loses_nothing(PetersonLock::lock_fenced);
}

/// The same with a `lock` that has no fence. Right under SC.
pub fn broken_without_fence_by_value() {
    loses_nothing(PetersonLock::lock_without_fence);
}

/// The same with a `lock` that has one fence too few. Right under SC and TSO.
pub fn broken_last_fence_only_by_value() {
    loses_nothing(PetersonLock::lock_last_fence_only);
}

/// A number that the lock guards.
struct Counter {
    lock: PetersonLock,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is accessed with the lock held only. Whether that is enough is what the bodies check.
unsafe impl Sync for Counter {}

impl Counter {
    fn add(&self, me: usize, lock: fn(&PetersonLock, usize)) {
        lock(&self.lock, me);
        // SAFETY: the lock is held. (Where it is broken, the checker still runs one thread at a time.)
        self.count.with_mut(|count| unsafe { *count += 1 });
        self.lock.unlock(me);
    }
}

fn excludes(lock: fn(&PetersonLock, usize), rounds: [u32; 2]) {
    let counter = Counter { lock: PetersonLock::new(), count: UnsafeCell::new(0) };
    let count = |me: usize| (0..rounds[me]).for_each(|_| counter.add(me, lock));
    thread::scope(|scope| {
        scope.spawn(|| count(0));
        count(1);
    });
    assert_eq!(counter.count.into_inner(), rounds[0] + rounds[1]);
}

fn loses_nothing(lock: fn(&PetersonLock, usize)) {
    let (guard, count) = (PetersonLock::new(), AtomicU32::new(0));
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
