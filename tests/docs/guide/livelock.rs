use rsmc_shim::sync::atomic::{AtomicBool, Ordering::*};
use rsmc_shim::{hint, thread};

fn lock(locked: &AtomicBool) {
    while locked.swap(true, Acquire) {
        hint::spin_loop();
    }
}

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn both_get_the_lock() {
    let locked = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| lock(&locked));
        lock(&locked);
        locked.store(false, Release);
    });
}
