use rsmc_shim::sync::atomic::{AtomicBool, Ordering::Relaxed};
use rsmc_shim::thread;

/// Workers say when they begin and end something, and `main` looks so many times.
pub(crate) fn look(workers: u32, times: u32, looks: u32) {
    let busy = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                for _ in 0..times {
                    busy.store(true, Relaxed);
                    busy.store(false, Relaxed);
                }
            });
        }
        for _ in 0..looks {
            busy.load(Relaxed);
        }
    });
    assert!(!busy.load(Relaxed));
}

#[cfg_attr(any(), rsmc::test(explorer = "view"))]
pub(crate) fn nobody_is_busy_in_the_end() {
    look(3, 2, 3);
}
