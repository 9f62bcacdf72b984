//! The memory that is allocated, and the most that there was, between [`start`] and [`stop`]; at other times nothing
//! is counted, since that would cost tools that allocate much more than others.

#![allow(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

use rsmc_core::runtime::Allocator;

static ON: AtomicBool = AtomicBool::new(false);
static NOW: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: rsmc's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            let size = layout.size() as isize;
            PEAK.fetch_max(NOW.fetch_add(size, Relaxed) + size, Relaxed);
        }
        // SAFETY: as for the caller.
        unsafe { Allocator.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if ON.load(Relaxed) {
            NOW.fetch_sub(layout.size() as isize, Relaxed);
        }
        // SAFETY: as for the caller.
        unsafe { Allocator.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if ON.load(Relaxed) {
            let more = size as isize - layout.size() as isize;
            PEAK.fetch_max(NOW.fetch_add(more, Relaxed) + more, Relaxed);
        }
        // SAFETY: as for the caller.
        unsafe { Allocator.realloc(memory, layout, size) }
    }
}

/// Starts to count, from 0.
pub fn start() {
    NOW.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ON.store(true, Relaxed);
}

/// Stops to count.
pub fn stop() {
    ON.store(false, Relaxed);
}

/// Bytes that were allocated since the start and not freed.
pub fn now() -> usize {
    NOW.load(Relaxed).max(0) as usize
}

/// The most of them that there were at once.
pub fn peak() -> usize {
    PEAK.load(Relaxed) as usize
}

/// Bytes of memory that the process has, with stacks and code; 0 if the system does not say.
pub fn resident() -> usize {
    rsmc_core::session::resident_memory(None).map_or(0, |bytes| bytes as usize)
}
