use rsmc_shim::sync::{Condvar, Mutex};
use rsmc_shim::thread;

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn the_waiter_wakes_up() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        while !*ready.lock().unwrap() {
            drop(changed.wait(ready.lock().unwrap()).unwrap());
        }
    });
}
