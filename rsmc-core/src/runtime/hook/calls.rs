//! Calls of the user's that consist of several operations of the runtime; a report shows such a call as one row.

use std::panic::Location;

use crate::runtime::execution::Execution;
use crate::runtime::hook::enter::enter;
use crate::runtime::identity::Object;
use crate::trace::{Call, CallResult, NoteKind, Site};

/// A call in progress. Dropping it ends the call. It has no contents: the state of a thread that waits in a loop must
/// not depend on the number of calls.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct InCall(());

/// Begins a call of a method of an object, or of the part of one from a point where the thread waited. `kind` is the
/// type of the user's object, of which `object` is a part, and `init` is the value that `object` has outside. A
/// destructor has no place of its own.
pub fn begin(
    place: Option<&'static Location<'static>>,
    object: Object<'_>,
    init: impl FnOnce() -> u64,
    kind: &'static str,
    verb: &'static str,
) -> InCall {
    enter(|execution| {
        if execution.unwinding.get() {
            return;
        }
        let (thread, site) = (execution.running.get(), place.map_or(Site::Unknown, Site::Code));
        let object = execution.locate(object, init, site);
        let mut core = execution.core.borrow_mut();
        let trace = core.machine.trace_mut();
        let (first, result) = (trace.count(thread), CallResult::Nothing);
        trace.calls.begin(Call { thread, object, kind, verb, result, first, decided: None, end: None, site });
    });
    InCall(())
}

/// Notes that the running thread begins the call of this number of a scenario.
pub fn begins_of_scenario(number: u32) {
    note(NoteKind::Called(number));
}

/// Notes that the running thread has returned from the call of this number of a scenario.
pub fn returns_of_scenario(number: u32) {
    note(NoteKind::Returned(number));
}

fn note(kind: NoteKind) {
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().machine.note(execution.running.get(), kind, Site::Unknown);
        }
    });
}

/// Notes the result of the innermost call in which the running thread is, by its last operation.
pub fn decide(result: CallResult) {
    enter(|execution| decide_in(execution, result));
}

/// Notes that the running thread waits in its innermost call, until the threads that have the object give it back.
pub fn waits_for(object: Object<'_>) {
    enter(|execution| {
        let holders = {
            let core = execution.core.borrow();
            core.locations.find(object.tag).map(|object| core.holders.of(object)).unwrap_or_default()
        };
        decide_in(execution, CallResult::WaitsFor(holders));
    });
}

/// Notes that the running thread waits in its innermost call, and gives a lock back.
pub fn gives_back(lock: Object<'_>) {
    enter(|execution| {
        let lock = execution.core.borrow().locations.find(lock.tag);
        if let Some(lock) = lock {
            decide_in(execution, CallResult::GivesBack(lock));
        }
    });
}

/// Notes that the future which the running thread runs is not ready.
pub fn pending(place: &'static Location<'static>) {
    enter(|execution| {
        if !execution.unwinding.get() {
            let (thread, machine) = (execution.running.get(), &mut execution.core.borrow_mut().machine);
            machine.note(thread, NoteKind::Pending, Site::Code(place));
        }
    });
}

fn decide_in(execution: &Execution, result: CallResult) {
    if !execution.unwinding.get() {
        let thread = execution.running.get();
        let mut core = execution.core.borrow_mut();
        let trace = core.machine.trace_mut();
        let count = trace.count(thread);
        trace.calls.decide(thread, count, result);
    }
}

impl Drop for InCall {
    fn drop(&mut self) {
        enter(|execution| {
            if !execution.unwinding.get() {
                let thread = execution.running.get();
                let mut core = execution.core.borrow_mut();
                let trace = core.machine.trace_mut();
                let count = trace.count(thread);
                trace.calls.end(thread, count);
            }
        });
    }
}
