use rsmc::sync::atomic::{AtomicBool, Ordering, Ordering::*};
use rsmc::{Config, thread};

/// Two threads raise a flag each, and look for the flag of the other one.
pub(crate) fn look(order: Ordering) -> (bool, bool) {
    let (a, b) = (AtomicBool::new(false), AtomicBool::new(false));
    let look = |mine: &AtomicBool, other: &AtomicBool| {
        mine.store(true, order);
        other.load(if order == SeqCst { SeqCst } else { Acquire })
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| look(&b, &a));
        (look(&a, &b), other.join().unwrap())
    })
}

#[cfg_attr(any(), test)]
pub(crate) fn one_sees_the_other() {
    let seen = rsmc::outcomes(&Config::default(), || look(Release));
    seen.sometimes("both see the other", |&(a, b)| a && b).always("one sees the other", |&(a, b)| a || b);
}
