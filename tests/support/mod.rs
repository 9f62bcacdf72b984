//! What tests of checks share.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::atomic::{AtomicUsize, Ordering};

use rsmc::{Config, Failure, Report, Verdict};

pub fn explore(body: impl Fn() + Sync) -> Report {
    rsmc::explore(&Config::default(), body)
}

#[track_caller]
pub fn failure(body: impl Fn() + Sync) -> Failure {
    match explore(body).verdict {
        Verdict::Failed(failure) => *failure,
        verdict => panic!("{verdict:?}"),
    }
}

#[track_caller]
pub fn verified(body: impl Fn() + Sync) -> Report {
    let report = explore(body);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
    report
}

/// A value whose destructor does something.
pub struct OnDrop<F: Fn()>(pub F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

pub fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}
