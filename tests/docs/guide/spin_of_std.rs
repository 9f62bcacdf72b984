use rsmc_shim::thread;
use std::sync::atomic::{AtomicBool, Ordering::*};

#[cfg_attr(any(), rsmc::test(stuck_after = "1s"))]
pub(crate) fn without_the_shim() {
    let ready = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| ready.store(true, Release));
        while !ready.load(Acquire) {}
    });
}
