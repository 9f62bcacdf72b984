//! D. Vyukov's bounded queue for many producers and consumers (1024cores.net): each slot has a number that says whose
//! turn it is. A call that finds the slot of its turn in use by an unfinished call says that the queue is full or
//! empty.
//!
//! The mistake off by one: a `push` takes a slot one turn too early, when its element can be taken and was not.

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::AtomicUsize;
use rsmc::sync::atomic::Ordering::{self, Acquire, Relaxed};

const ROOM: usize = 2;

struct Slot {
    turn: AtomicUsize,
    value: UnsafeCell<u8>,
}

pub struct Ring {
    slots: [Slot; ROOM],
    put: AtomicUsize,
    taken: AtomicUsize,
    /// The ordering by which a slot is handed on.
    publish: Ordering,
    /// How many turns too early a `push` may take a slot.
    early: usize,
}

// SAFETY: a slot is its thread's from the compare-exchange to the store of the next turn.
unsafe impl Sync for Ring {}

impl Ring {
    pub fn new(publish: Ordering, early: usize) -> Self {
        let slots = std::array::from_fn(|at| Slot { turn: AtomicUsize::new(at), value: UnsafeCell::new(0) });
        Self { slots, put: AtomicUsize::new(0), taken: AtomicUsize::new(0), publish, early }
    }

    /// False if the ring seems full.
    pub fn push(&self, value: u8) -> bool {
        let Some((slot, put)) = self.claim(&self.put, 0, self.early) else { return false };
        // SAFETY: it is our turn.
        slot.value.with_mut(|at| unsafe { *at = value });
        slot.turn.store(put + 1, self.publish);
        true
    }

    pub fn pop(&self) -> Option<u8> {
        let (slot, taken) = self.claim(&self.taken, 1, 0)?;
        // SAFETY: it is our turn.
        let value = slot.value.with(|at| unsafe { *at });
        slot.turn.store(taken + ROOM, self.publish);
        Some(value)
    }

    /// The slot of the next turn of these callers; none if others are not through with it.
    fn claim(&self, counter: &AtomicUsize, ahead: usize, early: usize) -> Option<(&Slot, usize)> {
        let mut turn = counter.load(Relaxed);
        loop {
            let slot = &self.slots[turn % ROOM];
            let now = slot.turn.load(Acquire);
            if now + early < turn + ahead {
                return None;
            }
            if now > turn + ahead {
                turn = counter.load(Relaxed);
                continue;
            }
            match counter.compare_exchange(turn, turn + 1, Relaxed, Relaxed) {
                Ok(_) => return Some((slot, turn)),
                Err(other) => turn = other,
            }
        }
    }
}
