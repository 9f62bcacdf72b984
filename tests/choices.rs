//! What a check goes through besides schedules: choices, and what happens without cause.

use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;

use crate::support::{explore, failure, pairs, results, verified};
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::sync::{Condvar, Mutex};
use rsmc::{Config, Explorer, FailureKind, Verdict, choose, nondet, thread};

#[test]
fn all_choices_are_made() {
    assert_eq!(results(1, || choose(5)), BTreeSet::from_iter(0..5));
    assert_eq!(results(1, || (choose(2), choose(3))).len(), 6);
    assert_eq!(results(1, || (nondet::<Option<bool>>(), nondet::<std::cmp::Ordering>())).len(), 9);
    assert_eq!(results(1, || nondet::<[bool; 3]>()).len(), 8);
    assert_eq!(results(1, nondet::<i8>).len(), 256);
    // What is chosen decides what is chosen next.
    assert_eq!(results(1, || if choose(2) == 0 { choose(3) } else { 3 + choose(4) }), BTreeSet::from_iter(0..7));
}

#[test]
fn a_choice_is_one_execution_for_each_value() {
    for config in pairs() {
        let report = rsmc::explore(&config, || assert!(choose(4) + choose(3) < 7));
        assert_eq!((report.executions, report.blocked), (12, 0));
        // Choices of different threads have no order.
        if config.explorer != Explorer::Exhaustive {
            let report = rsmc::explore(&config, || {
                thread::scope(|scope| {
                    scope.spawn(|| choose(2));
                    scope.spawn(|| choose(3));
                });
            });
            assert_eq!((report.executions, report.blocked), (6, 0), "{:?}", config.explorer);
        }
    }
}

#[test]
fn a_choice_that_fails_is_replayed() {
    let body = || {
        let (first, second) = (choose(3), choose(4));
        assert!(first < 2 || second < 3, "two and three");
    };
    let failure = failure(body);
    let again = rsmc::explore(&Config::default().replay(failure.seed.clone()), body);
    let Verdict::Failed(again) = again.verdict else { panic!("{:?}", again.verdict) };
    assert_eq!(again.message, failure.message);
    assert!(again.message.contains("two and three"));
}

#[test]
fn random_explorers_choose_as_well() {
    for explorer in [Explorer::Random, Explorer::Pct] {
        let found = StdMutex::new(BTreeSet::new());
        let config = Config::default().explorer(explorer).max_executions(500);
        rsmc::explore(&config, || {
            found.lock().unwrap().insert(choose(20));
        });
        assert_eq!(found.into_inner().unwrap().len(), 20);
    }
}

#[test]
#[should_panic(expected = "nobody chooses here")]
fn there_is_no_choice_outside() {
    let _ = choose(2);
}

/// The number of failures of a weak compare-exchange that no thread disturbs.
fn failures_of_a_weak_one() -> u32 {
    let flag = AtomicBool::new(false);
    let mut failures = 0;
    while flag.compare_exchange_weak(false, true, AcqRel, Relaxed).is_err() {
        failures += 1;
    }
    failures
}

#[test]
fn a_weak_compare_exchange_fails_without_cause_as_often_as_it_may() {
    for most in 0..4 {
        assert_eq!(results(most, failures_of_a_weak_one), BTreeSet::from_iter(0..=most));
    }
    let strong = || AtomicBool::new(false).compare_exchange(false, true, AcqRel, Relaxed);
    assert_eq!(results(1, strong), BTreeSet::from([Ok(false)]));
}

#[test]
fn the_random_explorer_lets_a_weak_compare_exchange_fail() {
    let found = StdMutex::new(BTreeSet::new());
    let config = Config::default().explorer(Explorer::Random).max_executions(100);
    rsmc::explore(&config, || {
        found.lock().unwrap().insert(failures_of_a_weak_one());
    });
    assert_eq!(found.into_inner().unwrap(), BTreeSet::from([0, 1]));
}

/// The usual mistake: a weak compare-exchange outside of a loop.
#[test]
fn a_weak_compare_exchange_needs_a_loop() {
    let take = || {
        let taken = AtomicBool::new(false);
        let got = taken.compare_exchange_weak(false, true, AcqRel, Relaxed);
        assert!(got.is_ok(), "nobody took it");
    };
    let found = failure(take);
    assert!(found.message.contains("nobody took it"), "{}", found.message);
    let report = rsmc::explore(&Config::default().spurious(0), take);
    assert!(matches!(report.verdict, Verdict::Verified), "{:?}", report.verdict);
}

/// `park` may return without a token, so what it waits for has to be looked at again.
#[test]
fn park_needs_a_loop() {
    let wait = |again: bool| {
        move || {
            let ready = AtomicU32::new(0);
            let main = thread::current();
            thread::scope(|scope| {
                scope.spawn(|| {
                    ready.store(1, Release);
                    main.unpark();
                });
                thread::park();
                while again && ready.load(Acquire) == 0 {
                    thread::park();
                }
                assert_eq!(ready.load(Acquire), 1);
            });
        }
    };
    assert_eq!(failure(wait(false)).kind, FailureKind::Panic);
    verified(wait(true));
    let report = rsmc::explore(&Config::default().spurious(0), wait(false));
    assert!(matches!(report.verdict, Verdict::Verified), "{:?}", report.verdict);
}

#[test]
fn a_wait_for_a_condition_needs_a_loop() {
    let wait = |again: bool| {
        move || {
            let (ready, changed) = (Mutex::new(false), Condvar::new());
            thread::scope(|scope| {
                scope.spawn(|| {
                    *ready.lock().unwrap() = true;
                    changed.notify_one();
                });
                let mut guard = ready.lock().unwrap();
                if again {
                    while !*guard {
                        guard = changed.wait(guard).unwrap();
                    }
                } else if !*guard {
                    guard = changed.wait(guard).unwrap();
                }
                assert!(*guard, "it woke too early");
            });
        }
    };
    let found = failure(wait(false));
    assert!(found.message.contains("it woke too early"), "{}", found.message);
    verified(wait(true));
}

/// A deadlock is one although a wait could end without cause: it need not.
#[test]
fn a_wait_that_could_end_without_cause_may_last_for_ever() {
    let report = explore(thread::park);
    assert!(matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock));
}

/// However long the schedule is, the report shows what happens without cause: nothing else says why the thread went on.
#[test]
fn a_wake_up_without_cause_is_in_the_report() {
    let report = explore(|| {
        let (x, is_set) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                thread::park();
                (0..100).for_each(|value| x.store(value, SeqCst));
                assert_eq!(is_set.load(SeqCst), 1, "woken too early");
            });
            is_set.store(1, SeqCst);
            sleeper.thread().unpark();
        });
    });
    let text = rsmc::render(&report, None);
    assert!(text.contains("folded"), "{text}");
    assert_eq!(text.matches("park: wakes without cause").count(), 1, "{text}");
}
