use rsmc::sync::atomic::{AtomicU32, Ordering::Relaxed};
use rsmc::thread;

#[cfg_attr(any(), rsmc::test)]
pub(crate) fn some_letter_or_none() {
    let letter = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| letter.store(1, Relaxed));
        scope.spawn(|| letter.store(2, Relaxed));
        assert!(letter.load(Relaxed) <= 2);
    });
}
