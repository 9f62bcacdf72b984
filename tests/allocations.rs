//! Runs allocate nothing per event: bodies with more operations cost no more allocations per run.
//!
//! The only test of its binary, since it counts the allocations of the whole process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::{Config, Explorer, thread};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: hands everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations per run in steady state, of two threads that do `operations` each.
fn per_run(operations: usize) -> f64 {
    let body = || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..operations).for_each(|_| assert!(x.fetch_add(1, SeqCst) < 1_000)));
            }
        });
    };
    let allocations = |runs| {
        let before = ALLOCATIONS.load(Relaxed);
        rsmc::explore(&Config::default().explorer(Explorer::Random).max_executions(runs), body);
        ALLOCATIONS.load(Relaxed) - before
    };
    // The difference leaves out what the check as a whole allocates.
    (allocations(3_000) - allocations(1_000)) as f64 / 2_000.0
}

#[test]
fn a_run_allocates_nothing_per_event() {
    let (few, many) = (per_run(2), per_run(20));
    assert!(many - few < 0.5, "{few} allocations a run with 4 events, {many} with 40");
    assert!(few < 40.0, "{few} allocations a run for two scoped threads");
}
