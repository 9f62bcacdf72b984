use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::thread;

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn the_letter_arrives() {
    let (letter, posted) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            letter.store(7, Relaxed);
            posted.store(true, Relaxed);
        });
        if posted.load(Acquire) {
            assert_eq!(letter.load(Relaxed), 7);
        }
    });
}
