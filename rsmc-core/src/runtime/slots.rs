//! The values that objects of the shim leave when an execution is over.
//!
//! A slot holds a value that an object has in one execution only: the one to which a `OnceLock` or `LazyLock` was set.
//! The value of an object that ends in the execution goes with it. That of an object that outlives the execution is
//! dropped when the execution is over, so that the next one finds the object empty. An object outlives the execution if
//! it is a static for certain, or if an earlier execution met it. Any other object that is still there may have been
//! leaked, or lie on the stack of a thread that was left for good, with what it borrows gone: its value is leaked, too.
//!
//! The shim may also hold data that it puts back as it was before the execution (`hook::slots::at_end`).

use std::ptr::NonNull;

use rustc_hash::FxHashMap;

use crate::base::LocId;

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

impl Slot {
    /// Drops the value. Catches a panic of its destructor.
    pub(super) fn drop_value(self) {
        let Self { value, drop, .. } = self;
        // SAFETY: the code that filled the slot said how to drop the value, and nothing else drops it: it was taken
        // out.
        let dropped = std::panic::catch_unwind(|| unsafe { drop(value) });
        std::mem::drop(dropped);
    }
}

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

    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    /// Takes out all values and returns those for which `is_dropped` is true, the youngest first. The others are
    /// leaked.
    pub(super) fn drain(&mut self, is_dropped: impl Fn(LocId, Slot) -> bool) -> Vec<Slot> {
        let mut left: Vec<(LocId, (u64, Slot))> = self.values.drain().collect();
        left.retain(|&(loc, (_, slot))| is_dropped(loc, slot));
        left.sort_unstable_by_key(|(_, (nth, _))| std::cmp::Reverse(*nth));
        left.into_iter().map(|(_, (_, slot))| slot).collect()
    }
}
