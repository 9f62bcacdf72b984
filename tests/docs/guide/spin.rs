use rsmc_shim::sync::atomic::{AtomicBool, Ordering::*};
use rsmc_shim::thread;

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn without_a_hint() {
    let ready = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| ready.store(true, Release));
        while !ready.load(Acquire) {}
    });
}
