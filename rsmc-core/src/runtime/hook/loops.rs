//! The calls of loops that wait: hints, and the place where a thread stands before it uses an object that is more than
//! an atomic.

use std::panic::Location;

use crate::runtime::frame::{Frame, framed};
use crate::runtime::hook::enter::{enter, here};
use crate::trace::Site;

/// `hint::spin_loop` or `thread::yield_now`. True if in an execution.
#[inline(always)]
#[track_caller]
pub fn hint() -> bool {
    hint_at(Location::caller())
}

/// As [`hint`], at this place.
#[inline(always)]
pub fn hint_at(place: &'static Location<'static>) -> bool {
    framed_hint(place, 0, 0, 0, 0, 0)
}

framed! {
    fn framed_hint(place: &'static Location<'static>, b: u64, c: u64, d: u64, e: u64, f: u64) -> bool = hint_from;
}

extern "C-unwind" fn hint_from(
    place: &'static Location<'static>,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    frame: Option<&Frame>,
) -> bool {
    enter(|execution| {
        if !execution.unwinding.get() {
            let (me, site) = (execution.running.get(), Site::Code(place));
            if !execution.core.borrow().machine.idles() {
                execution.visit(frame, site, false);
            }
            let goes_on = execution.core.borrow_mut().machine.hint(me, site);
            if !goes_on {
                execution.wait_unless(|_| false);
            }
        }
    })
    .is_some()
}

/// The caller is about to use an object that is more than an atomic: if it comes here again and nothing has changed, it
/// waits.
#[inline(always)]
#[track_caller]
pub fn stand() {
    framed_stand(Location::caller(), 0, 0, 0, 0, 0);
}

framed! {
    fn framed_stand(place: &'static Location<'static>, b: u64, c: u64, d: u64, e: u64, f: u64) -> () = stand_from;
}

extern "C-unwind" fn stand_from(
    place: &'static Location<'static>,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    frame: Option<&Frame>,
) {
    enter(|execution| execution.visit(frame, Site::Code(place), false));
}

/// Notes that a function of the shim is about to wait in a loop. Returns the argument of [`waits`].
pub fn begins_to_wait() -> u64 {
    enter(|execution| u64::from(execution.core.borrow().machine.run().trace.count(execution.running.get())))
        .unwrap_or(0)
}

/// Called at the beginning of each iteration of such a loop, of which the shim knows that it changes nothing and keeps
/// nothing: no state needs to be compared.
#[track_caller]
pub fn waits(since: u64) {
    let site = here();
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().machine.visit(execution.running.get(), u128::from(since) << 64 | 1, site, None);
        }
    });
}

/// Notes that the running thread got a value that no other is like: what it does next is not what it did before.
pub fn draws() {
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().machine.draws(execution.running.get());
        }
    });
}

/// Notes that the running thread may change the memory at this address. If that is not seen anyway, it counts as a
/// change.
pub fn changes(address: usize) {
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        let me = execution.running.get();
        if !execution.unwinding.get() && core.machine.remembers(me) && !execution.sees(core, address) {
            core.machine.disturb(me);
        }
    });
}
