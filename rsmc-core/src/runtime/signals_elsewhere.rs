//! The stand-in for `signals` where there are none: the watchdog sleeps and wakes, and sees nothing but that a check
//! does not go on.

use std::sync::{Once, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use crate::runtime::checks::{Check, Fate, Moment};

static WATCHDOG: OnceLock<Thread> = OnceLock::new();

pub(super) fn this_thread() -> usize {
    0
}

pub(super) fn install(_stack_size: usize, watch: fn()) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let dog = std::thread::Builder::new().name("rsmc-watchdog".to_owned()).spawn(watch);
        drop(dog.map(|dog| WATCHDOG.set(dog.thread().clone())));
    });
}

pub(super) fn wake() {
    WATCHDOG.get().inspect(|dog| dog.unpark());
}

pub(super) fn sleep(time: Option<Duration>) -> Option<(Fate, Option<Stopped<'static>>)> {
    match time {
        Some(time) => std::thread::park_timeout(time),
        None => std::thread::park(),
    }
    None
}

pub(super) fn was_told() {}

pub(super) fn expect_exit() {}

pub(super) fn die() -> ! {
    std::process::abort()
}

/// A check whose thread stands.
pub(super) struct Stopped<'a>(&'a Check);

impl Stopped<'_> {
    pub(super) fn check(&self) -> &Check {
        self.0
    }

    pub(super) fn look<R>(&self, look: impl FnOnce(Option<Moment<'_>>) -> R) -> R {
        look(None)
    }
}

pub(super) fn stop(_check: &Check) -> Option<Stopped<'_>> {
    None
}

pub(super) fn writes(_call: i64) -> bool {
    false
}
