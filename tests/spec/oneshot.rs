//! A channel for one value.

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{
    AtomicU8,
    Ordering::{self, Acquire, Relaxed},
};

const EMPTY: u8 = 0;
const WRITING: u8 = 1;
const FULL: u8 = 2;
const TAKEN: u8 = 3;

pub struct Oneshot {
    state: AtomicU8,
    value: UnsafeCell<u8>,
    /// `Release` is right.
    publish: Ordering,
}

// SAFETY: who writes the value has changed the state from EMPTY, and who reads it has seen FULL.
unsafe impl Sync for Oneshot {}

impl Oneshot {
    pub fn new(publish: Ordering) -> Self {
        Self { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(0), publish }
    }

    /// False if a value was sent before.
    pub fn send(&self, value: u8) -> bool {
        let is_first = self.state.compare_exchange(EMPTY, WRITING, Relaxed, Relaxed).is_ok();
        if is_first {
            // SAFETY: nobody else writes, and nobody reads before the state is FULL.
            self.value.with_mut(|slot| unsafe { *slot = value });
            self.state.store(FULL, self.publish);
        }
        is_first
    }

    pub fn receive(&self) -> Option<u8> {
        self.state.compare_exchange(FULL, TAKEN, Acquire, Relaxed).ok()?;
        Some(self.read())
    }

    /// Broken: two threads may find the value before one of them takes it.
    pub fn receive_in_two_steps(&self) -> Option<u8> {
        (self.state.load(Acquire) == FULL).then(|| {
            self.state.store(TAKEN, Relaxed);
            self.read()
        })
    }

    fn read(&self) -> u8 {
        // SAFETY: the value is there, and stays.
        self.value.with(|slot| unsafe { *slot })
    }
}
