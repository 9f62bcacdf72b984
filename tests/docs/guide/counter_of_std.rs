use rsmc_shim::thread;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn nothing_is_lost() {
    let counter = AtomicUsize::new(0);
    let add = || counter.store(counter.load(SeqCst) + 1, SeqCst);
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(counter.load(SeqCst), 2);
}
