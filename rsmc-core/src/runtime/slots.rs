//! What objects of the shim leave when an execution is over.
//!
//! A slot holds a value that an object has in one execution only: what a `OnceLock` or `LazyLock` was set to. The value
//! of an object that ends in the execution goes with it. That of an object that outlives the execution is dropped when
//! the execution is over, so that the next one finds the object empty. Outlives: it is a static for certain, or was met
//! by an earlier execution. Any other object that is still there may have been leaked, or lie on the stack of a thread
//! that was left for good, with what it borrows gone: its value is leaked, too.
//!
//! The shim may also hold data that it puts back as it was before the execution (`hook::at_end`).

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
    /// The object is a static for certain, so that the value borrows from nothing that ends.
    pub of_static: bool,
}

/// The values of an execution, by location, each with a number that is higher for a younger one.
#[derive(Default)]
pub(super) struct Slots {
    values: FxHashMap<LocId, (u64, Slot)>,
    filled: u64,
}

/// Puts data back as it was before the execution. Runs no code of the user's; returns the values that were there, which
/// are dropped later, or leaked if that is not possible.
pub type PutBack = fn() -> Vec<Slot>;

/// How often destructors may use objects that have to be put back or emptied once more.
const ROUNDS: usize = 16;

impl Slots {
    pub(super) fn get(&self, loc: LocId) -> Option<Slot> {
        self.values.get(&loc).map(|&(_, slot)| slot)
    }

    pub(super) fn fill(&mut self, loc: LocId, slot: Slot) {
        self.filled += 1;
        let before = self.values.insert(loc, (self.filled, slot));
        debug_assert!(before.is_none(), "a value is taken before another is given");
    }

    pub(super) fn empty(&mut self, loc: LocId) -> Option<Slot> {
        self.values.remove(&loc).map(|(_, slot)| slot)
    }
}

impl Execution {
    /// Puts back data that outlives the execution, and drops what objects were given that do: destructors may use the
    /// shim, so there may be more of both then.
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

    /// As [`drop_slots`](Self::drop_slots) where threads were left: what objects were given stays, since the values may refer to
    /// what was left.
    pub(super) fn forget_slots(&self) {
        self.put_back();
        self.core.borrow_mut().slots.values.clear();
    }

    /// Puts back what is left to be put back.
    pub(super) fn put_back(&self) -> Vec<Slot> {
        let mut left = Vec::new();
        loop {
            // What is put back may ask for it once more.
            let Some(put_back) = self.at_end.borrow_mut().pop() else { return left };
            left.extend(put_back());
        }
    }

    /// Something has to be put back by this function, whoever asks for it, and how often.
    pub(super) fn put_back_at_end(&self, put_back: PutBack) {
        let mut all = self.at_end.borrow_mut();
        if !all.iter().any(|other| std::ptr::fn_addr_eq(*other, put_back)) {
            all.push(put_back);
        }
    }

    /// The values to drop next: what may refer to others goes before them. So those of slots are the last, the youngest
    /// first.
    fn left_over(&self) -> Vec<Slot> {
        let left = self.put_back();
        if !left.is_empty() {
            return left;
        }
        let core = &mut *self.core.borrow_mut();
        let mut left: Vec<(LocId, (u64, Slot))> = core.slots.values.drain().collect();
        left.retain(|(loc, (_, slot))| slot.of_static || core.locations.outlives(*loc));
        left.sort_unstable_by_key(|(_, (nth, _))| std::cmp::Reverse(*nth));
        left.into_iter().map(|(_, (_, slot))| slot).collect()
    }

    /// Drops values on the stack of a thread.
    fn drop_all(&self, values: Vec<Slot>) {
        let drop_all = move || {
            for Slot { value, drop, .. } in values {
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
