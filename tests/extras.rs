//! What the shim has beyond std, in checks.

use rsmc::hint::Backoff;
use rsmc::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use rsmc::sync::atomic::{AtomicBool, AtomicUsize, fence};
use rsmc::sync::{Arc, Notify};
use rsmc::{Config, FailureKind, Report, Verdict, explore, thread};

fn kind(report: &Report) -> Option<FailureKind> {
    match &report.verdict {
        Verdict::Failed(failure) => Some(failure.kind),
        _ => None,
    }
}

/// A barrier that is an instruction in ordinary builds, and a fence for checks.
fn barrier() {
    rsmc::if_model! { { fence(SeqCst) } else { compile_error!("tests are modelled builds") } }
}

#[test]
fn a_barrier_that_checks_can_see() {
    let body = |has_barrier: bool| {
        move || {
            let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let side = |own: &AtomicUsize, other: &AtomicUsize| {
                own.store(1, Relaxed);
                if has_barrier {
                    barrier();
                }
                other.load(Relaxed)
            };
            let seen = thread::scope(|scope| {
                let theirs = scope.spawn(|| side(&x, &y));
                (side(&y, &x), theirs.join().unwrap())
            });
            assert_ne!(seen, (0, 0));
        }
    };
    assert_eq!(kind(&explore(&Config::default(), body(true))), None);
    assert_eq!(kind(&explore(&Config::default(), body(false))), Some(FailureKind::Panic));
}

#[test]
fn notifications() {
    let body = |notifies: bool| {
        move || {
            let (value, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
            let (theirs, other) = (Arc::clone(&value), Arc::clone(&done));
            thread::spawn(move || {
                theirs.store(1, Relaxed);
                if notifies {
                    other.notify();
                }
            });
            while value.load(Relaxed) == 0 {
                done.wait();
            }
        }
    };
    assert_eq!(kind(&explore(&Config::default(), body(true))), None);
    assert_eq!(kind(&explore(&Config::default(), body(false))), Some(FailureKind::Deadlock));
}

/// Its rounds differ until it is completed: it looks in vain never, once, or any number of times.
#[test]
fn a_backoff_waits() {
    let body = |sets: bool| {
        move || {
            let ready = Arc::new(AtomicBool::new(false));
            let theirs = Arc::clone(&ready);
            thread::spawn(move || theirs.store(sets, Release));
            let backoff = Backoff::new();
            while !ready.load(Acquire) {
                backoff.snooze();
            }
        }
    };
    let report = explore(&Config::default(), body(true));
    assert_eq!((kind(&report), report.executions), (None, 3), "{report:?}");
    assert_eq!(kind(&explore(&Config::default(), body(false))), Some(FailureKind::Livelock));
}
