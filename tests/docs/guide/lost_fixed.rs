use rsmc_shim::sync::atomic::{AtomicPtr, Ordering::*};
use rsmc_shim::thread;
use std::ptr;

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn the_last_letter_counts() {
    let letter = AtomicPtr::new(ptr::null_mut());
    let post = |number: u32| {
        let old = letter.swap(Box::into_raw(Box::new(number)), AcqRel);
        if !old.is_null() {
            // SAFETY: the pointer came from a `Box`, and nobody finds it any more.
            drop(unsafe { Box::from_raw(old) });
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| post(1));
        post(2);
    });
    // SAFETY: both threads have ended, and the pointer came from a `Box`.
    let letter = unsafe { Box::from_raw(letter.into_inner()) };
    assert!(*letter == 1 || *letter == 2);
}
