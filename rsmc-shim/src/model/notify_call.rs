//! Calls of `Notify`, which is written in terms of other objects, for reports.

use std::panic::Location;

use rsmc_core::runtime::hook::calls;
pub(crate) use rsmc_core::runtime::hook::calls::InCall;
use rsmc_core::trace::{CallResult, FREE};

use crate::model::mutex::Mutex;

/// The flag of a new object.
#[track_caller]
pub(crate) const fn flag() -> Mutex<bool> {
    Mutex::part_of("Notify", false)
}

/// Begins a call; `lock` stands for the object.
#[track_caller]
pub(crate) fn begin(lock: &Mutex<bool>, verb: &'static str) -> InCall {
    calls::begin(Some(Location::caller()), lock.object(), || FREE, "Notify", verb)
}

/// Notes that the operation is done, at the last step.
pub(crate) fn done() {
    calls::decide(CallResult::Nothing);
}

/// Notes that the thread has to wait.
pub(crate) fn waits() {
    calls::decide(CallResult::Remark("waits"));
}

/// Notes that the wait is over, with the flag set or not.
pub(crate) fn goes_on(is_set: bool) {
    calls::decide(if is_set { CallResult::Notified } else { CallResult::Remark("wakes without cause") });
}
