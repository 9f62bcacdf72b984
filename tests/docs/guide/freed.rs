use rsmc_shim::sync::atomic::{AtomicPtr, AtomicU32, Ordering::*};
use rsmc_shim::thread;
use std::ptr;

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn a_reader_and_a_writer() {
    let current = AtomicPtr::new(Box::into_raw(Box::new(AtomicU32::new(1))));
    thread::scope(|scope| {
        scope.spawn(|| {
            let old = current.swap(ptr::null_mut(), AcqRel);
            // SAFETY: the pointer came from a `Box`, and nobody finds it any more.
            drop(unsafe { Box::from_raw(old) });
        });
        let found = current.load(Acquire);
        if !found.is_null() {
            // SAFETY: none; the other thread may have freed it.
            assert_eq!(unsafe { (*found).load(Relaxed) }, 1);
        }
    });
}
