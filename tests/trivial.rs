//! Checks that share nothing: threads that share nothing through the shim fail, and a check that starts no thread says
//! so on stderr, where libtest does not keep it.
//!
//! Some tests run this executable again for one of the checks of `inner`.

use std::process::Command;
use std::sync::atomic::{AtomicU32 as StdAtomicU32, Ordering::SeqCst};

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::AtomicU32;
use rsmc::sync::{Arc, Mutex};
use rsmc::{Config, Explorer, Failure, FailureKind, Limit, Report, Seed, Verdict, render, thread};

/// The checks that say something, for a process of their own.
mod inner {
    /// By mistake: the atomic and the threads are std's.
    #[rsmc::test]
    fn of_std() {
        let x = super::StdAtomicU32::new(0);
        std::thread::scope(|scope| drop(scope.spawn(|| x.store(1, super::SeqCst))));
    }

    #[rsmc::test]
    fn empty() {}

    #[test]
    fn by_a_call() {
        rsmc::check(|| ());
    }

    #[rsmc::test(allow_trivial = true)]
    fn empty_and_meant() {}

    #[rsmc::test]
    fn shares() {
        shares_something();
    }

    fn shares_something() {
        let x = super::AtomicU32::new(0);
        rsmc::thread::scope(|scope| drop(scope.spawn(|| x.store(1, super::SeqCst))));
        x.load(super::SeqCst);
    }

    /// By mistake: the atomic is std's.
    #[rsmc::test]
    #[should_panic(
        expected = "nothing shared by 3 threads\n  no atomic, lock or cell of `rsmc_shim` is used by two of them"
    )]
    fn atomics_of_std() {
        super::add_twice(&super::StdAtomicU32::new(0));
    }

    #[rsmc::test(explorer = "random", max_executions = 3)]
    fn atomics_of_std_at_random() {
        super::add_twice(&super::StdAtomicU32::new(0));
    }

    #[rsmc::test(explorer = "pct", max_executions = 3)]
    fn empty_at_random() {}

    #[rsmc::test(explorer = "random", max_executions = 3, allow_trivial = true)]
    fn empty_at_random_and_meant() {}

    #[rsmc::test(explorer = "random", max_executions = 3)]
    fn shares_at_random() {
        shares_something();
    }

    #[rsmc::test(allow_trivial = true)]
    fn atomics_of_std_and_meant() {
        super::add_twice(&super::StdAtomicU32::new(0));
    }
}

/// Runs a check of `inner` as libtest does by default, and returns what it prints on stderr and stdout.
#[track_caller]
fn run(test: &str) -> (String, String) {
    let output = Command::new(std::env::current_exe().unwrap()).args([test, "--exact"]).output().unwrap();
    let [err, out] = [output.stderr, output.stdout].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success() && out.contains("1 passed"), "{err}{out}");
    (err, out)
}

fn add_twice(x: &StdAtomicU32) {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| x.fetch_add(1, SeqCst));
        }
    });
}

#[track_caller]
fn fails(report: &Report) -> &Failure {
    match &report.verdict {
        Verdict::Failed(failure) => failure,
        verdict => panic!("{verdict:?}"),
    }
}

#[track_caller]
fn is_verified(config: &Config, body: impl Fn() + Sync) {
    let report = rsmc::explore(config, body);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", render(&report, None));
}

#[test]
fn atomics_of_std_by_mistake_fail() {
    let body = || add_twice(&StdAtomicU32::new(0));
    let explorers = [Explorer::ReadsFrom, Explorer::ReadsValueFrom, Explorer::View, Explorer::Exhaustive];
    for explorer in explorers {
        let config = Config::default().explorer(explorer);
        let report = rsmc::explore(&config, body);
        assert_eq!(fails(&report).kind, FailureKind::NothingShared, "{explorer}");
        let text = render(&report, Some("queue::push"));
        for part in
            ["no atomic, lock or cell of `rsmc_shim` is used by two of them", "`use std::sync`", "allow_trivial = true"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        // There is no execution that fails, so none to run again.
        assert!(!text.contains("RSMC_REPLAY") && !text.contains("run this execution"), "{text}");
        assert_eq!(rsmc::json(&report, &config, None).unwrap().matches("\"seed\":").count(), 0);
        is_verified(&config.allow_trivial(true), body);
    }
}

#[test]
fn one_object_is_enough() {
    let config = Config::default();
    is_verified(&config, || {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let writer = thread::spawn(move || other.store(1, SeqCst));
        x.load(SeqCst);
        writer.join().unwrap();
    });
    is_verified(&config, || {
        let lock = Mutex::new(0);
        thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(|| *lock.lock().unwrap() += 1))));
    });
    // The cell is written by one after the other has read it.
    struct Shared(UnsafeCell<u32>);
    // SAFETY: the one thread is joined before the other goes on.
    unsafe impl Sync for Shared {}
    is_verified(&config, || {
        let cell = &Shared(UnsafeCell::new(0));
        // SAFETY: as above.
        thread::scope(|scope| drop(scope.spawn(|| cell.0.with(|value| unsafe { *value })).join()));
        // SAFETY: as above.
        cell.0.with_mut(|value| unsafe { *value = 1 });
    });
    is_verified(&config, || {
        let waiting = thread::spawn(thread::park);
        waiting.thread().unpark();
        waiting.join().unwrap();
    });
}

/// A result that is joined is used by two threads, but in one order only.
#[test]
fn a_result_that_is_joined_is_not_shared() {
    let body = || assert_eq!(thread::spawn(|| 1).join().unwrap(), 1);
    assert_eq!(fails(&rsmc::explore(&Config::default(), body)).kind, FailureKind::NothingShared);
    is_verified(&Config::default().allow_trivial(true), body);
}

#[test]
fn what_fails_otherwise_fails_as_it_did() {
    let body = || drop(thread::spawn(|| panic!("no")));
    assert_eq!(fails(&rsmc::explore(&Config::default(), body)).kind, FailureKind::Panic);
    let body = || drop(thread::spawn(|| std::mem::forget(Arc::new(1))).join());
    assert_eq!(fails(&rsmc::explore(&Config::default(), body)).kind, FailureKind::Leak);
}

/// Only what would be verified fails: a limit that was asked for, and one execution, show that it is not complete.
#[test]
fn what_is_incomplete_stays_so() {
    let body = || add_twice(&StdAtomicU32::new(0));
    let random = Config::default().explorer(Explorer::Random).max_executions(3);
    assert!(matches!(rsmc::explore(&random, body).verdict, Verdict::Incomplete(Limit::Executions(3))));
    let seed: Seed = fails(&rsmc::explore(&Config::default(), body)).seed.clone();
    let report = rsmc::explore(&Config::default().replay(seed), body);
    assert!(matches!(report.verdict, Verdict::Incomplete(Limit::Replay)), "{}", render(&report, None));
}

#[test]
fn where_nothing_is_started_that_is_said_and_not_kept() {
    for test in ["trivial::inner::of_std", "trivial::inner::empty"] {
        let (err, _) = run(test);
        let said =
            format!("rsmc: {test}: verified: 1 execution (reads-from, c11), 1 thread: no other was started through");
        assert!(err.starts_with(&said) && err.contains("so there is nothing to interleave\n"), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    // libtest names the thread after the test.
    assert!(run("trivial::inner::by_a_call").0.starts_with("rsmc: trivial::inner::by_a_call: verified: 1 execution"));
    for test in ["atomics_of_std_at_random", "empty_at_random"] {
        let err = run(&format!("trivial::inner::{test}")).0;
        let said =
            format!("rsmc: trivial::inner::{test}: no atomic, lock or cell of `rsmc_shim` was used by two threads");
        assert!(err.starts_with(&said) && err.lines().count() == 1, "{err}");
    }
    for test in
        ["empty_and_meant", "shares", "atomics_of_std_and_meant", "empty_at_random_and_meant", "shares_at_random"]
    {
        assert_eq!(run(&format!("trivial::inner::{test}")).0, "", "{test}");
    }
}
