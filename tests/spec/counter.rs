//! A counter for statistics: each thread adds up by itself, and to the sum of all only before it looks at that.

use std::cell::Cell;

use rsmc::sync::atomic::AtomicU32;
use rsmc::sync::atomic::Ordering::SeqCst;

rsmc::thread_local! {
    static OWN: Cell<u32> = const { Cell::new(0) };
}

pub struct Counter(AtomicU32);

impl Counter {
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    pub fn increment(&self) {
        OWN.with(|own| own.set(own.get() + 1));
    }

    /// All that this thread has counted, and what others have before they looked last.
    pub fn sum(&self) -> u32 {
        let own = OWN.with(Cell::take);
        self.0.fetch_add(own, SeqCst) + own
    }
}
