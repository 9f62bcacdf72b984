//! What ordinary builds have in place of calls for reports: nothing.

use std::sync::Mutex;

pub(crate) struct InCall;

pub(crate) const fn flag() -> Mutex<bool> {
    Mutex::new(false)
}

pub(crate) fn begin(_: &Mutex<bool>, _: &'static str) -> InCall {
    InCall
}

pub(crate) fn done() {}

pub(crate) fn waits() {}

pub(crate) fn goes_on(_: bool) {}
