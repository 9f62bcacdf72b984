//! A bounded ring for one producer and one consumer: two counters, and no operation that can fail or be repeated.
//!
//! Source. L. Lamport, *Specifying Concurrent Program Modules*, ACM TOPLAS 5(2), 1983; in this form, with acquire and
//! release, N. M. Lê et al., *Correct and Efficient Bounded FIFO Queues*, SBAC-PAD 2013.
//!
//! The mistakes:
//!
//! - [`push_published_early`](Producer::push_published_early) counts the element before it is in its slot.
//! - [`push_relaxed`](Producer::push_relaxed) publishes with a relaxed store, which orders nothing: a weak machine, or
//!   the compiler, may let the consumer see the new count and the old slot. No interleaving shows it; the data race
//!   that the orderings in the source leave open does.

use rsmc_shim::cell::UnsafeCell;
use rsmc_shim::sync::atomic::AtomicUsize;
use rsmc_shim::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rsmc_shim::thread;

/// Room for `N` elements.
pub struct Ring<T, const N: usize> {
    slots: [UnsafeCell<Option<T>>; N],
    /// How many elements were ever taken; written by the consumer.
    taken: AtomicUsize,
    /// How many elements were ever put; written by the producer.
    put: AtomicUsize,
}

// SAFETY: there is one `Producer` and one `Consumer` at a time, and the counters tell whose a slot is.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

/// The end that puts elements in.
pub struct Producer<'a, T, const N: usize>(&'a Ring<T, N>);

/// The end that takes elements out.
pub struct Consumer<'a, T, const N: usize>(&'a Ring<T, N>);

impl<T, const N: usize> Ring<T, N> {
    /// An empty ring.
    pub fn new() -> Self {
        let slots = std::array::from_fn(|_| UnsafeCell::new(None));
        Self { slots, taken: AtomicUsize::new(0), put: AtomicUsize::new(0) }
    }

    /// The two ends.
    pub fn split(&mut self) -> (Producer<'_, T, N>, Consumer<'_, T, N>) {
        (Producer(self), Consumer(self))
    }

    fn slot(&self, number: usize) -> &UnsafeCell<Option<T>> {
        &self.slots[number % N]
    }
}

impl<T, const N: usize> Producer<'_, T, N> {
    /// Appends a value.
    ///
    /// # Errors
    /// The value, if the ring is full.
    pub fn push(&mut self, value: T) -> Result<(), T> {
        let put = self.0.put.load(Relaxed);
        if put - self.0.taken.load(Acquire) == N {
            return Err(value);
        }
        // SAFETY: the slot is free, and stays the producer's until the store below.
        self.0.slot(put).with_mut(|slot| unsafe { *slot = Some(value) });
        self.0.put.store(put + 1, Release);
        Ok(())
    }

    /// As [`push`](Self::push), but broken: published before it is written.
    pub fn push_published_early(&mut self, value: T) -> Result<(), T> {
        let put = self.0.put.load(Relaxed);
        if put - self.0.taken.load(Acquire) == N {
            return Err(value);
        }
        self.0.put.store(put + 1, Release);
        // SAFETY: none, the consumer may be reading it. (The checker runs one thread at a time, so all goes well.)
        self.0.slot(put).with_mut(|slot| unsafe { *slot = Some(value) });
        Ok(())
    }

    /// As [`push`](Self::push), but broken: the store does not release the slot.
    pub fn push_relaxed(&mut self, value: T) -> Result<(), T> {
        let put = self.0.put.load(Relaxed);
        if put - self.0.taken.load(Acquire) == N {
            return Err(value);
        }
        // SAFETY: the slot is free, and stays the producer's until the store below.
        self.0.slot(put).with_mut(|slot| unsafe { *slot = Some(value) });
        self.0.put.store(put + 1, Relaxed);
        Ok(())
    }
}

impl<T, const N: usize> Consumer<'_, T, N> {
    /// Takes the value in front.
    pub fn pop(&mut self) -> Option<T> {
        let taken = self.0.taken.load(Relaxed);
        if taken == self.0.put.load(Acquire) {
            return None;
        }
        // SAFETY: the slot is full, and stays the consumer's until the store below.
        let value = self.0.slot(taken).with_mut(|slot| unsafe { (*slot).take() });
        self.0.taken.store(taken + 1, Release);
        Some(value.expect("a published slot is full"))
    }
}

/// Three elements for two places: what the ring accepts comes out, in order.
pub fn correct() {
    goes_through(|producer, value| producer.push(value));
}

/// The same with a `push` that publishes too early.
pub fn broken_published_early() {
    goes_through(|producer, value| producer.push_published_early(value));
}

/// The same with a `push` that publishes without releasing.
pub fn broken_relaxed() {
    goes_through(|producer, value| producer.push_relaxed(value));
}

fn goes_through(push: fn(&mut Producer<'_, u32, 2>, u32) -> Result<(), u32>) {
    let mut ring = Ring::<u32, 2>::new();
    let (mut producer, mut consumer) = ring.split();
    let mut received = Vec::new();
    let accepted = thread::scope(|scope| {
        let producer =
            scope.spawn(move || (1..=3).filter(|&value| push(&mut producer, value).is_ok()).collect::<Vec<u32>>());
        received.extend((0..3).filter_map(|_| consumer.pop()));
        producer.join().expect("the producer does not panic")
    });
    received.extend(std::iter::from_fn(|| consumer.pop()));
    assert_eq!(received, accepted, "what was accepted is received, in order");
}
