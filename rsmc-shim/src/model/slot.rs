//! A value that an object has in one execution only.

use std::ptr::NonNull;

use rsmc_core::runtime::{Slot, Tag, hook};

use crate::model::statics;

/// The place of the object's value. It is a `T` if the caller that filled the slot says so, and stays there until it is
/// taken or the execution ends.
pub(crate) fn get<T>(tag: &Tag) -> Option<NonNull<T>> {
    hook::slots::slot(tag).map(|slot| slot.value.cast())
}

/// Gives a value to the object, which was used before and has none.
pub(crate) fn fill<T>(tag: &Tag, value: T) {
    let value = NonNull::from(Box::leak(Box::new(value))).cast();
    hook::slots::fill(tag, Slot { value, drop: drop_box::<T>, of_static: statics::has(tag) });
}

/// Takes the value out.
///
/// # Safety
/// The slot must have been filled with a `T` that no code uses any more.
pub(crate) unsafe fn take<T>(tag: &Tag) -> Option<T> {
    // SAFETY: `fill` made a box of it, and the slot is empty now.
    hook::slots::empty(tag).map(|slot| *unsafe { Box::from_raw(slot.value.cast::<T>().as_ptr()) })
}

/// Drops a value that was filled in.
///
/// # Safety
/// It must point to a box of `T` that no code uses any more.
unsafe fn drop_box<T>(value: NonNull<()>) {
    // SAFETY: the caller passes such a box.
    drop(unsafe { Box::from_raw(value.cast::<T>().as_ptr()) });
}
