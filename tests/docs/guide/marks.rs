use rsmc_shim::sync::atomic::{AtomicU32, Ordering::Relaxed};
use rsmc_shim::thread;

/// Threads that raise a mark, each so many times.
pub(crate) fn raise(threads: u32, times: u32) -> u32 {
    let mark = &AtomicU32::new(0);
    thread::scope(|scope| {
        for number in 0..threads {
            scope.spawn(move || {
                for time in 0..times {
                    mark.fetch_max(number * times + time, Relaxed);
                }
            });
        }
    });
    mark.load(Relaxed)
}

#[cfg_attr(any(), rsmc::test(max_executions = 1_000))]
pub(crate) fn the_highest_mark_stays() {
    assert_eq!(raise(4, 2), 7);
}
