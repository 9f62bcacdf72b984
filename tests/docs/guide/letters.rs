use rsmc::Config;
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::thread;

/// Posts a letter and takes it: whether the flag is seen, and what is in the box.
pub(crate) fn mailbox() -> (bool, u32) {
    let (data, flag) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(1, Relaxed);
            flag.store(true, Release);
        });
        (flag.load(Acquire), data.load(Relaxed))
    })
}

#[test]
pub(crate) fn outcomes() {
    let seen = rsmc::outcomes(&Config::default(), mailbox);
    assert_eq!(seen, [(false, 0), (false, 1), (true, 1)]);
    seen.never("the flag without the data", |&(flag, data)| flag && data == 0)
        .sometimes("the message arrives", |&(flag, _)| flag);
}
