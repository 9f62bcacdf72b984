//! Values that an object of the shim has in one execution only: what a `OnceLock` or `LazyLock` was set to.
//!
//! The value of an object that ends in the execution goes with it. That of an object that outlives the execution (a
//! static) is dropped when the execution is over, so that the next one finds the object empty. An object that was met
//! first and is still there may have been leaked, with what it borrows gone: its value is leaked, too. A static is met
//! first once.

use std::ptr::NonNull;

use rustc_hash::FxHashMap;

use crate::base::{LocId, ThreadId};
use crate::runtime::coroutine::{Job, Returned};
use crate::runtime::execution::Execution;

/// A value on the heap, and how to drop it.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Where it is.
    pub value: NonNull<()>,
    /// Drops it.
    pub drop: unsafe fn(NonNull<()>),
}

/// By location: its value.
pub(super) type Slots = FxHashMap<LocId, Slot>;

impl Execution {
    /// Drops what objects were given that outlive the execution, on the stack of a thread: destructors may use the shim.
    pub(super) fn drop_slots(&self) {
        let left = {
            let core = &mut *self.core.borrow_mut();
            let mut left: Vec<(LocId, Slot)> = core.slots.drain().collect();
            left.retain(|(loc, _)| core.locations.outlives(*loc));
            left
        };
        if left.is_empty() {
            return;
        }
        let drop_all = move || {
            for (_, Slot { value, drop }) in left {
                // SAFETY: whoever filled the slot said how to drop the value, and nobody else does: it was drained.
                let dropped = std::panic::catch_unwind(|| unsafe { drop(value) });
                std::mem::drop(dropped);
            }
        };
        self.core.borrow_mut().admit(ThreadId::MAIN, Job::Thread(Box::new(drop_all)));
        if self.resume(ThreadId::MAIN) == Returned::Finished {
            self.core.borrow_mut().release(ThreadId::MAIN);
        }
        self.abandoned.set(false);
    }
}
