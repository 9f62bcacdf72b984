//! A cell that threads share, as a lock-free structure would have it.

use rsmc::cell::UnsafeCell;

pub struct Shared(UnsafeCell<u32>);

// SAFETY: not sound in itself: whether accesses are ordered is what the tests ask, and a check runs one thread at a
// time.
unsafe impl Sync for Shared {}

impl Shared {
    #[track_caller]
    pub fn new(value: u32) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[track_caller]
    pub fn read(&self) -> u32 {
        // SAFETY: see above.
        self.0.with(|value| unsafe { *value })
    }

    #[track_caller]
    pub fn write(&self, new: u32) {
        // SAFETY: see above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}
