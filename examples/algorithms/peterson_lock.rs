//! Peterson's lock: mutual exclusion of two threads by loads and stores alone.
//!
//! Source. G. L. Peterson, *Myths about the Mutual Exclusion Problem*, Information Processing Letters 12(3), 1981.
//!
//! The mistakes:
//!
//! - [`lock_turn_first`](PetersonLock::lock_turn_first) gives way before it announces itself. Between the two stores
//!   the other thread sees nobody interested, and enters; then the first finds that it is its turn, and enters too.
//! - [`lock_look_first`](PetersonLock::lock_look_first) looks at the other thread before it announces itself. Both
//!   may find nobody interested.

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::hint;
use rsmc_shim::sync::atomic::Ordering::SeqCst;
use rsmc_shim::sync::atomic::{AtomicBool, AtomicUsize};
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
        self.wait_for(other);
    }

    /// As [`lock`](Self::lock), but broken: the turn is given away first.
    pub fn lock_turn_first(&self, me: usize) {
        let other = 1 - me;
        self.turn.store(other, SeqCst);
        self.interested[me].store(true, SeqCst);
        self.wait_for(other);
    }

    /// As [`lock`](Self::lock), but broken: the other thread is waited for first.
    pub fn lock_look_first(&self, me: usize) {
        let other = 1 - me;
        self.turn.store(other, SeqCst);
        self.wait_for(other);
        self.interested[me].store(true, SeqCst);
    }

    /// Gives the lock back; the thread must have it.
    pub fn unlock(&self, me: usize) {
        self.interested[me].store(false, SeqCst);
    }

    fn wait_for(&self, other: usize) {
        while self.interested[other].load(SeqCst) && self.turn.load(SeqCst) == other {
            hint::spin_loop();
        }
    }
}

/// Two threads count, twice each: none enters while the other is inside.
pub fn correct() {
    excludes(PetersonLock::lock, 2);
}

/// Once each, with a `lock` that gives way before it announces itself.
pub fn broken_turn_first() {
    excludes(PetersonLock::lock_turn_first, 1);
}

/// Once each, with a `lock` that looks before it announces itself.
pub fn broken_look_first() {
    excludes(PetersonLock::lock_look_first, 1);
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

fn excludes(lock: fn(&PetersonLock, usize), rounds: u32) {
    let counter = Counter { lock: PetersonLock::new(), count: UnsafeCell::new(0) };
    let count = |me| (0..rounds).for_each(|_| counter.add(me, lock));
    thread::scope(|scope| {
        scope.spawn(|| count(0));
        count(1);
    });
    assert_eq!(counter.count.into_inner(), 2 * rounds);
}
