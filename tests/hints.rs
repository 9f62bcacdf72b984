//! What must not be reached, or must be true: a failure in a check, not undefined behaviour.

use crate::support::{failure, pairs, verified};
use rsmc::hint::{assert_unchecked, unreachable_unchecked};
use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::{FailureKind, MemoryModel, Verdict, thread};

#[test]
fn what_is_unreachable_fails_where_it_is_reached() {
    let body = || {
        let turn = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| turn.store(1, Relaxed));
            match turn.load(Relaxed) {
                0 => {}
                // SAFETY: none; this is the mistake.
                _ => unsafe { unreachable_unchecked() },
            }
        });
    };
    let line = line!() - 4;
    for config in pairs() {
        let Verdict::Failed(failure) = rsmc::explore(&config, body).verdict else { panic!("{config:?}") };
        assert_eq!(failure.kind, FailureKind::Panic);
        let place = format!("hints.rs:{line}: undefined behaviour: `unreachable_unchecked` was reached");
        assert!(failure.message.contains(&place), "{}", failure.message);
    }
}

#[test]
fn what_is_asserted_fails_where_it_is_false() {
    let found = failure(|| {
        let sum = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *sum.lock().unwrap() += 1);
            let sum = *sum.lock().unwrap();
            // SAFETY: none; this is the mistake.
            unsafe { assert_unchecked(sum == 0) };
        });
    });
    let line = line!() - 3;
    assert_eq!(found.kind, FailureKind::Panic);
    let place = format!("hints.rs:{line}: undefined behaviour: the condition of `assert_unchecked` is false");
    assert!(found.message.contains(&place), "{}", found.message);
}

/// What one model allows only.
#[test]
fn what_is_asserted_is_judged_by_the_model() {
    for config in pairs() {
        let report = rsmc::explore(&config, || {
            let [x, y] = [AtomicU32::new(0), AtomicU32::new(0)];
            let seen = thread::scope(|scope| {
                let other = scope.spawn(|| {
                    x.store(1, Relaxed);
                    y.load(Relaxed)
                });
                y.store(1, Relaxed);
                x.load(Relaxed) + other.join().unwrap()
            });
            // SAFETY: none under models with weak stores.
            unsafe { assert_unchecked(seen > 0) };
        });
        match report.verdict {
            Verdict::Verified => assert_eq!(config.memory, Some(MemoryModel::Sc)),
            Verdict::Failed(failure) => {
                assert_ne!(config.memory, Some(MemoryModel::Sc));
                assert!(failure.message.contains("the condition of `assert_unchecked` is false"), "{failure:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_holds_passes_also_in_constants() {
    const fn half(n: u32) -> u32 {
        // SAFETY: all callers have even numbers.
        unsafe { assert_unchecked(n.is_multiple_of(2)) };
        match n % 2 {
            0 => n / 2,
            // SAFETY: as above.
            _ => unsafe { unreachable_unchecked() },
        }
    }
    const FOUR: u32 = half(8);
    verified(|| assert_eq!(half(FOUR), 2));
}
