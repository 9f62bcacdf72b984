//! The end of the values that objects of the shim were given in an execution that is over (`slots`).

use crate::base::ThreadId;
use crate::runtime::coroutine::Returned;
use crate::runtime::execution::Execution;
use crate::runtime::fibers::Job;
use crate::runtime::slots::Slot;

/// The number of times that destructors may use objects that have to be put back or emptied once more.
const ROUNDS: usize = 16;

impl Execution {
    /// Puts back data that outlives the execution, and drops the values that objects which outlive it were given.
    /// Destructors may use the shim, so there may be more of both then.
    pub(super) fn drop_slots(&self) {
        for _ in 0..ROUNDS {
            let left = self.left_over();
            if left.is_empty() {
                return;
            }
            self.drop_all(left);
            if self.broken.get() {
                return;
            }
        }
    }

    /// As [`drop_slots`](Self::drop_slots) where threads were left: the values of objects stay, since they may refer to
    /// what was left.
    pub(super) fn forget_slots(&self) {
        self.put_back();
        self.core.borrow_mut().slots.clear();
    }

    /// Puts back all data that is still to be put back, and returns the values that were there.
    pub(super) fn put_back(&self) -> Vec<Slot> {
        let mut left = Vec::new();
        loop {
            // This may ask for it once more.
            let Some(put_back) = self.ending.at_end.borrow_mut().pop() else { return left };
            left.extend(put_back());
        }
    }

    /// The values to drop next: a value that may refer to others goes before them. So those of slots are the last, the
    /// youngest first.
    fn left_over(&self) -> Vec<Slot> {
        let left = self.put_back();
        if !left.is_empty() {
            return left;
        }
        let core = &mut *self.core.borrow_mut();
        core.slots.drain(|loc, slot| slot.of_static || core.locations.outlives(loc))
    }

    /// Drops values on the stack of a thread.
    fn drop_all(&self, values: Vec<Slot>) {
        let drop_all = move || values.into_iter().for_each(Slot::drop_value);
        self.core.borrow_mut().fibers.admit(ThreadId::MAIN, Job::Thread(Box::new(drop_all)));
        if self.resume(ThreadId::MAIN) == Returned::Finished {
            self.core.borrow_mut().fibers.release(ThreadId::MAIN);
        }
        self.ending.abandoned.set(false);
    }
}
