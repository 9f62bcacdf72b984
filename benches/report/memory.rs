//! How much memory is allocated, and how much there was at most.

#![allow(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: `System` does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as for the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as for the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Bytes that are allocated now.
pub fn now() -> usize {
    NOW.load(Relaxed)
}

/// The most bytes since the last call of [`forget_peak`].
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// Starts to look for the most bytes.
pub fn forget_peak() {
    PEAK.store(now(), Relaxed);
}
