//! The moments of an execution at which it captures call paths.

use crate::runtime::current::in_current;
use crate::runtime::execution::{Core, Execution};
use crate::runtime::memcheck;
use crate::trace::Act;

/// The number of bytes of stack that capturing may take.
const STACK: usize = 32 << 10;

impl Execution {
    /// Makes later runs capture call paths, or not.
    pub(super) fn trace_paths(&self, on: bool) {
        let core = &mut *self.core.borrow_mut();
        if on && core.captures.is_none() {
            core.captures = Some(std::mem::replace(&mut core.in_place, false));
        } else if let Some(in_place) = core.captures.take_if(|_| !on) {
            core.in_place = in_place;
        }
        core.arena.listen(on.then_some(capture_of_memory));
    }

    /// Captures the path of the running thread to its next act.
    #[cold]
    pub(super) fn capture(&self, core: &Core, act: Act) {
        if !self.unwinding.get() && self.may_capture(core) {
            let (me, trace) = (self.running.get(), &core.machine.run().trace);
            self.captures.borrow_mut().capture(me, trace, act);
        }
    }

    /// Whether the running thread may capture. Its stack has to have room: an overflow there would be in std, under a
    /// lock. Under valgrind nothing is captured: where std had read line tables, memcheck once took eight bytes in a
    /// frame of safe code for no part of the stack.
    fn may_capture(&self, core: &Core) -> bool {
        if memcheck::is_there() {
            return false;
        }
        let Some(suspender) = self.suspender.get() else { return false };
        let here = 0_u8;
        let taken = suspender.base().saturating_sub((&raw const here).addr());
        taken + STACK <= core.fibers.stack_size
    }
}

/// Captures the path to an act of user code on its memory.
fn capture_of_memory() {
    in_current(|execution| {
        if execution.core.try_borrow().is_ok_and(|core| execution.may_capture(&core)) {
            execution.captures.borrow_mut().capture_of_memory();
        }
    });
}
