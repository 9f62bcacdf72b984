use rsmc_shim::sync::atomic::{AtomicBool, Ordering::*};
use rsmc_shim::thread;

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn rounds_are_counted() {
    let (ready, mut rounds) = (AtomicBool::new(false), 0_u64);
    thread::scope(|scope| {
        scope.spawn(|| ready.store(true, Release));
        while !ready.load(Acquire) {
            if !rsmc_shim::MODELLED {
                rounds += 1;
            }
        }
    });
    assert!(rounds < u64::MAX);
}
