//! The execution itself.

use std::any::Any;

use crate::runtime::arena;
use crate::runtime::foreign;
use crate::runtime::hook::enter::enter;
use crate::runtime::teardown::Teardown;

pub use crate::runtime::current::in_run;

/// Whether the calling OS thread is in no execution, and no check goes on elsewhere: an object is what it is in std,
/// and no check has to know that it is used.
#[inline]
pub fn is_apart() -> bool {
    !in_run() && !foreign::goes_on()
}

/// The number of the execution: no other in this process has the same.
pub fn execution() -> Option<u64> {
    enter(|execution| execution.core.borrow().locations.execution())
}

/// The number of operations so far, in the execution.
pub fn operations() -> Option<usize> {
    enter(|execution| execution.core.borrow().machine.run().trace.events.len())
}

/// Notes that something is used that was created outside and is std's own. Does nothing outside executions.
pub fn unmodelled() {
    enter(|execution| execution.core.borrow_mut().unmodelled = true);
}

/// Runs code of the shim that allocates for itself: the memory does not belong to the thread that runs, and may outlive
/// the execution.
pub fn aside<R>(act: impl FnOnce() -> R) -> R {
    let _ours = arena::outside();
    act()
}

/// Whether a payload belongs to the unwinding of a finished execution, and must be passed on.
pub fn is_teardown(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Teardown>()
}

/// Whether the execution is over and its threads are being unwound.
pub fn is_unwinding() -> bool {
    enter(|execution| execution.unwinding.get()).unwrap_or(false)
}
