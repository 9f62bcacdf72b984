//! Memory and values that must be given back by the end of an execution, once.

use std::alloc;
use std::cell::RefCell;
use std::collections::HashMap;

use rsmc_core::runtime::{Birth, hook};

pub use rsmc_shim::alloc::Track;
pub use std::alloc::Layout;

thread_local! {
    /// The allocations of checks on this OS thread, by address. One that a later execution gets again replaces it.
    static ALLOCATED: RefCell<HashMap<usize, Birth>> = RefCell::new(HashMap::new());
}

/// Allocates memory, as [`std::alloc::alloc`]. In a check it must be freed by [`dealloc`] before the execution ends.
///
/// # Safety
/// As for [`std::alloc::alloc`]: the layout has a size above 0.
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: the caller promises the same.
    watched(unsafe { alloc::alloc(layout) })
}

/// As [`alloc()`], with zeros in the memory.
///
/// # Safety
/// As for [`std::alloc::alloc_zeroed`]: the layout has a size above 0.
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: the caller promises the same.
    watched(unsafe { alloc::alloc_zeroed(layout) })
}

/// Frees memory, as [`std::alloc::dealloc`].
///
/// # Panics
/// In a check, if the memory was freed before.
///
/// # Safety
/// As for [`std::alloc::dealloc`]: the memory comes from [`alloc()`] or [`alloc_zeroed`] with this layout.
#[track_caller]
pub unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    let birth = hook::executions::aside(|| ALLOCATED.with_borrow(|all| all.get(&memory.addr()).copied()));
    assert!(birth.is_none_or(hook::counts::died), "memory is freed twice");
    // SAFETY: the caller promises the same.
    unsafe { alloc::dealloc(memory, layout) };
}

#[track_caller]
fn watched(memory: *mut u8) -> *mut u8 {
    if let Some(birth) = hook::counts::born("allocation") {
        hook::executions::aside(|| ALLOCATED.with_borrow_mut(|all| all.insert(memory.addr(), birth)));
    }
    memory
}
