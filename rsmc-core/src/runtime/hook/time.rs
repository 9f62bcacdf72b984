//! The clocks of modelled threads.

use std::time::Duration;

use crate::runtime::hook::enter::enter;

/// The time on the clock of the running thread, which is asked for it; see [`ORIGIN`](crate::runtime::ORIGIN).
pub fn now() -> Option<Duration> {
    enter(|execution| {
        let (me, core) = (execution.running.get(), &mut *execution.core.borrow_mut());
        // It is no longer where it was.
        core.machine.disturb(me);
        core.fibers[me].clock.ask()
    })
}

/// Lets time pass for the running thread.
pub fn pass_time(time: Duration) {
    enter(|execution| {
        let (me, core) = (execution.running.get(), &mut *execution.core.borrow_mut());
        if core.fibers[me].clock.pass(time) {
            core.machine.disturb(me);
        }
    });
}
