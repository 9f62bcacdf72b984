//! The queue of M. Herlihy and J. M. Wing (*Linearizability*, TOPLAS 1990): linearizable, though no fixed step of
//! `enqueue` is the one at which its element enters the queue.

use rsmc::hint;
use rsmc::sync::atomic::AtomicU8;
use rsmc::sync::atomic::AtomicUsize;
use rsmc::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// In a place without an element.
const NOTHING: u8 = 0;

pub struct Queue {
    places: [AtomicU8; 4],
    back: AtomicUsize,
}

impl Queue {
    pub fn new() -> Self {
        Self { places: [const { AtomicU8::new(NOTHING) }; 4], back: AtomicUsize::new(0) }
    }

    pub fn enqueue(&self, value: u8) {
        let place = self.back.fetch_add(1, Release);
        self.places[place].store(value, Release);
    }

    /// Broken: two threads may get the same place.
    pub fn enqueue_in_two_steps(&self, value: u8) {
        let place = self.back.load(Acquire);
        self.back.store(place + 1, Release);
        self.places[place].store(value, Release);
    }

    /// Waits for an element.
    pub fn dequeue(&self) -> u8 {
        loop {
            for place in &self.places[..self.back.load(Acquire)] {
                let value = place.swap(NOTHING, Acquire);
                if value != NOTHING {
                    return value;
                }
            }
            hint::spin_loop();
        }
    }

    /// Broken: two threads may take the same element.
    pub fn dequeue_in_two_steps(&self) -> u8 {
        loop {
            for place in &self.places[..self.back.load(Acquire)] {
                let value = place.load(Acquire);
                if value != NOTHING {
                    place.store(NOTHING, Relaxed);
                    return value;
                }
            }
            hint::spin_loop();
        }
    }
}
