//! A bounded ring for one producer and one consumer.

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicUsize, Ordering};

const ROOM: usize = 2;

pub struct Ring {
    slots: [UnsafeCell<u8>; ROOM],
    taken: AtomicUsize,
    put: AtomicUsize,
    /// The number of elements at which the producer takes the ring for full.
    full_at: usize,
    /// The ordering by which producer and consumer tell each other what they have done.
    order: Ordering,
}

// SAFETY: there is one producer and one consumer, and the counters say whose a slot is.
unsafe impl Sync for Ring {}

impl Ring {
    pub fn new(full_at: usize, order: Ordering) -> Self {
        let slots = std::array::from_fn(|_| UnsafeCell::new(0));
        Self { slots, taken: AtomicUsize::new(0), put: AtomicUsize::new(0), full_at, order }
    }

    /// False if the ring is full.
    pub fn push(&self, value: u8) -> bool {
        let put = self.put.load(Ordering::Relaxed);
        if put - self.taken.load(self.look()) == self.full_at {
            return false;
        }
        // SAFETY: the slot is free, and the producer's until the store below.
        self.slots[put % ROOM].with_mut(|slot| unsafe { *slot = value });
        self.put.store(put + 1, self.order);
        true
    }

    pub fn pop(&self) -> Option<u8> {
        let taken = self.taken.load(Ordering::Relaxed);
        if taken == self.put.load(self.look()) {
            return None;
        }
        // SAFETY: the slot is full, and the consumer's until the store below.
        let value = self.slots[taken % ROOM].with(|slot| unsafe { *slot });
        self.taken.store(taken + 1, self.order);
        Some(value)
    }

    fn look(&self) -> Ordering {
        if self.order == Ordering::SeqCst { Ordering::SeqCst } else { Ordering::Acquire }
    }
}
