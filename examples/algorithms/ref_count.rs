//! A shared pointer that counts its references, like `Arc`: the last one drops the value.
//!
//! Source. `std::sync::Arc`; the orderings are explained in the Boost.Atomic documentation, "Reference counting".
//!
//! The mistakes, all in how a reference is given back ([`GiveBack`]):
//!
//! - [`LoadThenStore`]: two threads load the same count, so that one of the two references is never given back and
//!   the value never dropped. Under every model.
//! - [`AllRelaxed`]: the count is right, but it orders nothing: the value may be dropped while another thread that
//!   has given its reference back is still (as far as the machine and the compiler are concerned) using it. A data
//!   race under every model.
//! - [`NoFence`]: each thread releases what it did, but the last one does not acquire it. A data race under every
//!   model.
//!
//! If what is done with the value is itself atomic, the last two show in what the destructor reads, and under C11
//! alone: a decrement empties the buffers of TSO and PSO whatever its ordering, and the loads after it are not early
//! there. What was done has to be a store. A *load* that reads what the destructor stores after it would be load
//! buffering, which rsmc's C11 leaves out.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize as Tally;

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rsmc_shim::sync::atomic::{AtomicBool, AtomicUsize, fence};
use rsmc_shim::thread;

/// A reference to a value that lives as long as some reference does.
pub struct RefCount<T, G: GiveBack = Correct> {
    shared: NonNull<Shared<T>>,
    give_back: PhantomData<G>,
}

struct Shared<T> {
    count: AtomicUsize,
    value: UnsafeCell<T>,
}

/// How a reference is given back.
pub trait GiveBack {
    /// Counts one reference less, and says whether it was the last.
    fn give_back(count: &AtomicUsize) -> bool;
}

/// One atomic step that releases; the last one acquires what the others did.
pub struct Correct;

impl GiveBack for Correct {
    fn give_back(count: &AtomicUsize) -> bool {
        let last = count.fetch_sub(1, Release) == 1;
        if last {
            fence(Acquire);
        }
        last
    }
}

/// Broken: two steps, with room for another thread between them.
pub struct LoadThenStore;

impl GiveBack for LoadThenStore {
    fn give_back(count: &AtomicUsize) -> bool {
        let references = count.load(Acquire);
        count.store(references - 1, Release);
        references == 1
    }
}

/// Broken: one step that orders nothing.
pub struct AllRelaxed;

impl GiveBack for AllRelaxed {
    fn give_back(count: &AtomicUsize) -> bool {
        count.fetch_sub(1, Relaxed) == 1
    }
}

/// Broken: one step that releases, but the last one does not acquire.
pub struct NoFence;

impl GiveBack for NoFence {
    fn give_back(count: &AtomicUsize) -> bool {
        count.fetch_sub(1, Release) == 1
    }
}

// SAFETY: all references share the value, and any of them may drop it.
unsafe impl<T: Send + Sync, G: GiveBack> Send for RefCount<T, G> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync, G: GiveBack> Sync for RefCount<T, G> {}

impl<T, G: GiveBack> RefCount<T, G> {
    /// The first reference to a value.
    pub fn new(value: T) -> Self {
        let shared = Box::new(Shared { count: AtomicUsize::new(1), value: UnsafeCell::new(value) });
        Self { shared: NonNull::from(Box::leak(shared)), give_back: PhantomData }
    }

    /// Reads the value.
    pub fn with<V>(&self, read: impl FnOnce(&T) -> V) -> V {
        // SAFETY: while there is a reference, the value is there, and nobody writes it.
        self.shared().value.with(|value| read(unsafe { &*value }))
    }

    fn shared(&self) -> &Shared<T> {
        // SAFETY: while there is a reference, the allocation is there.
        unsafe { self.shared.as_ref() }
    }
}

impl<T, G: GiveBack> Clone for RefCount<T, G> {
    fn clone(&self) -> Self {
        // Nothing to order: whoever clones has a reference.
        self.shared().count.fetch_add(1, Relaxed);
        Self { shared: self.shared, give_back: PhantomData }
    }
}

impl<T, G: GiveBack> Drop for RefCount<T, G> {
    fn drop(&mut self) {
        if G::give_back(&self.shared().count) {
            // The checker should see that dropping the value writes it.
            self.shared().value.with_mut(|_| ());
            // SAFETY: this was the last reference.
            drop(unsafe { Box::from_raw(self.shared.as_ptr()) });
        }
    }
}

/// Three threads use the value and give back their references: it is dropped once, and after every use.
pub fn correct() {
    drops_once::<Correct>();
}

/// The same with a count that is loaded and then stored.
pub fn broken_load_then_store() {
    drops_once::<LoadThenStore>();
}

/// The same with relaxed counting.
pub fn broken_relaxed() {
    drops_once::<AllRelaxed>();
}

/// The same with an acquire fence too few.
pub fn broken_no_fence() {
    drops_once::<NoFence>();
}

/// Two threads leave something in the value and give back their references: whoever drops it finds what both left.
pub fn correct_by_value() {
    drops_what_was_left::<Correct>();
}

/// The same with relaxed counting. Right under SC, TSO and PSO.
pub fn broken_relaxed_by_value() {
    drops_what_was_left::<AllRelaxed>();
}

/// The same with an acquire fence too few. Right under SC, TSO and PSO.
pub fn broken_no_fence_by_value() {
    drops_what_was_left::<NoFence>();
}

/// A value that tells how often values like it were dropped.
struct Counted<'a> {
    number: u32,
    /// Std's own atomic: what the test counts is not part of what it checks.
    drops: &'a Tally,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Relaxed);
    }
}

fn drops_once<G: GiveBack>() {
    let drops = Tally::new(0);
    thread::scope(|scope| {
        let mine = RefCount::<_, G>::new(Counted { number: 7, drops: &drops });
        // All clones are made first: with a broken count, cloning while others drop would free the value too early, and
        // the checker runs real code.
        for theirs in [mine.clone(), mine.clone()] {
            scope.spawn(move || assert_eq!(theirs.with(|value| value.number), 7));
        }
        assert_eq!(mine.with(|value| value.number), 7);
    });
    assert_eq!(drops.load(Relaxed), 1, "how often the value was dropped");
}

/// The count alone, since dropping a [`RefCount`] is an access that the checker knows to need more than atomics.
fn drops_what_was_left<G: GiveBack>() {
    let count = AtomicUsize::new(2);
    let left = [AtomicBool::new(false), AtomicBool::new(false)];
    let use_and_give_back = |me: usize| {
        left[me].store(true, Relaxed);
        if G::give_back(&count) {
            assert!(left.iter().all(|left| left.load(Relaxed)), "what another thread left is not dropped");
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| use_and_give_back(0));
        use_and_give_back(1);
    });
}
