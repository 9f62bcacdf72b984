//! Operations on objects that are more than an atomic, and other calls that concern an object of the shim.

use std::panic::Location;
use std::sync::atomic::Ordering;

use crate::base::ThreadId;
use crate::machine::Outcome;
use crate::runtime::current::in_run;
use crate::runtime::foreign;
use crate::runtime::hook::enter::{enter, foreign_use, here, meet};
use crate::runtime::identity::Object;
use crate::step::End;
use crate::trace::{Action, FREE, Op, POISONED, Site};

/// Whether the object is used in an execution. If it is not, but belongs to one that goes on elsewhere, that check
/// fails, and so does this thread.
#[inline]
#[track_caller]
pub fn meets(object: Object<'_>) -> bool {
    let meets = in_run();
    if !meets && foreign::goes_on() {
        foreign_use(object.tag.execution(), object, Some(Location::caller()), true);
    }
    meets
}

/// As [`meets`], for an object that was made for this execution, which may not have used it: it is no static. Without a
/// place it is dropped.
#[inline]
pub fn meets_of(execution: u64, object: Object<'_>, place: Option<&'static Location<'static>>) {
    if !in_run() && foreign::goes_on() {
        foreign_use(execution, object, place, false);
    }
}

/// An atomic operation, or one on a lock: a scheduling point. `init` is the value the object has outside.
///
/// `failure` is the ordering of a failed compare-exchange, and equal to `order` elsewhere.
#[inline]
#[track_caller]
pub fn access(
    object: Object<'_>,
    init: impl FnOnce() -> u64,
    action: Action,
    order: Ordering,
    failure: Ordering,
) -> Option<Outcome> {
    access_at(Location::caller(), object, init, action, order, failure)
}

/// As [`access`], at a place that is not the caller's: a destructor has no line of its own.
///
/// It is a call, so that nothing of this lies in the frame of the user's function: its contents would depend on whether
/// the object is new in the execution.
#[inline(never)]
pub fn access_at(
    place: &'static Location<'static>,
    object: Object<'_>,
    init: impl FnOnce() -> u64,
    action: Action,
    order: Ordering,
    failure: Ordering,
) -> Option<Outcome> {
    let site = Site::Code(place);
    meet(place, object, |execution| {
        let loc = execution.locate(object, init, site);
        execution.operate(Op { action, loc, order, failure, site })
    })
}

/// Gives an object a name for reports, in this execution. `init` is the value it has outside.
#[track_caller]
pub fn label(object: Object<'_>, init: impl FnOnce() -> u64, name: &str) {
    let site = here();
    meet(Location::caller(), object, |execution| {
        if !execution.unwinding.get() {
            let loc = execution.locate(object, init, site);
            execution.core.borrow_mut().machine.label(loc, name);
        }
    });
}

/// Notes that the running thread has altered an object, in a turn that it has there.
pub fn alters() {
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().machine.alters(execution.running.get());
        }
    });
}

/// A thread gives back a lock that `holder` took at `place`: if that is another one, the execution ends.
pub fn gives_back_of(lock: Object<'_>, holder: ThreadId, place: &'static Location<'static>) {
    enter(|execution| {
        let thread = execution.running.get();
        if thread == holder || execution.unwinding.get() {
            return;
        }
        let site = Site::Code(place);
        let lock = execution.locate(lock, || FREE, site);
        execution.core.borrow_mut().machine.finish(End::WrongThread { lock, holder, thread, site });
    });
}

/// The value of a lock that is free.
pub fn lock_value(poisoned: bool) -> u64 {
    if poisoned { POISONED } else { FREE }
}
