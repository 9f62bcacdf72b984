//! Values that objects have in one execution only, and data that is put back at its end.

use crate::runtime::hook::enter::enter;
use crate::runtime::locations::Tag;
use crate::runtime::slots::{PutBack, Slot};

/// The value that an object has in this execution, if it was given one.
pub fn slot(tag: &Tag) -> Option<Slot> {
    enter(|execution| {
        let core = execution.core.borrow();
        core.slots.get(core.locations.find(tag)?)
    })
    .flatten()
}

/// Gives an object, which was used before, a value in this execution. It had none.
pub fn fill(tag: &Tag, slot: Slot) {
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        let loc = core.locations.find(tag).expect("the object was used before");
        core.slots.fill(loc, slot);
    });
}

/// Takes the value of an object out, to drop or keep it.
pub fn empty(tag: &Tag) -> Option<Slot> {
    enter(|execution| {
        let core = &mut *execution.core.borrow_mut();
        core.slots.empty(core.locations.find(tag)?)
    })
    .flatten()
}

/// Runs `put_back` when all threads of the execution have ended or were left. If it is asked for again while values are
/// dropped thereafter, it runs again.
pub fn at_end(put_back: PutBack) {
    enter(|execution| {
        let mut all = execution.ending.at_end.borrow_mut();
        if !all.iter().any(|other| std::ptr::fn_addr_eq(*other, put_back)) {
            all.push(put_back);
        }
    });
}
