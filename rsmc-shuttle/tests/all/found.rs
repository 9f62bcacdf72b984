//! Failures that shuttle finds are found, and replayed.

use rsmc_shuttle as shuttle;

use std::path::Path;

use shuttle::scheduler::{DfsScheduler, RandomScheduler};
use shuttle::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use shuttle::sync::{Arc, Mutex, mpsc};
use shuttle::{Config, FailurePersistence, Runner, thread};

use crate::support::{report, seed};

/// Two threads that add in two steps.
fn loses_an_update() {
    let count = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&count);
    let thread = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
    count.store(count.load(SeqCst) + 1, SeqCst);
    thread.join().unwrap();
    assert_eq!(count.load(SeqCst), 2, "an update is lost");
}

/// Two threads that take two locks in two orders.
fn waits_for_each_other() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let theirs = Arc::clone(&locks);
    let thread = thread::spawn(move || drop((theirs.0.lock().unwrap(), theirs.1.lock().unwrap())));
    drop((locks.1.lock().unwrap(), locks.0.lock().unwrap()));
    thread.join().unwrap();
}

#[test]
fn each_check_finds_it_with_a_seed_that_replays_it() {
    for (body, said) in [(loses_an_update as fn(), "an update is lost"), (waits_for_each_other, "deadlock")] {
        let reports = [
            report(|| shuttle::check_random(body, 200)),
            report(|| shuttle::check_random_with_seed(body, 5, 200)),
            report(|| shuttle::check_pct(body, 200, 3)),
            report(|| shuttle::check_dfs(body, None)),
            report(|| shuttle::check_uncontrolled_nondeterminism(body, 200)),
        ];
        for text in reports {
            assert!(text.contains(said), "{text}");
            let again = report(|| shuttle::replay(body, &seed(&text)));
            assert!(again.contains(said) && again.contains("replay"), "{again}");
        }
    }
}

#[test]
fn a_seed_in_a_file_is_replayed() {
    let folder = std::env::temp_dir().join(format!("rsmc-shuttle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is a folder for temporary files");
    let check = |folder: &Path| {
        let mut config = Config::new();
        config.failure_persistence = FailurePersistence::File(Some(folder.to_owned()));
        report(|| _ = Runner::new(RandomScheduler::new(200), config).run(loses_an_update))
    };
    let texts = [check(&folder), check(&folder)];
    for (name, text) in ["schedule000.txt", "schedule001.txt"].iter().zip(texts) {
        let file = folder.join(name);
        assert_eq!(std::fs::read_to_string(&file).expect("the seed was kept").trim(), seed(&text));
        let again = report(|| shuttle::replay_from_file(loses_an_update, &file));
        assert!(again.contains("an update is lost"), "{again}");
    }
    let missing = report(|| shuttle::replay_from_file(loses_an_update, folder.join("none.txt")));
    assert!(missing.contains("cannot read the seed in") && missing.contains("none.txt"), "{missing}");
    std::fs::remove_dir_all(&folder).expect("it is there");
}

/// In std this passes, and in rsmc: the panic was received.
#[test]
fn every_panic_of_a_thread_is_a_failure() {
    let ignores = || _ = thread::spawn(|| panic!("nobody looks")).join();
    for text in [report(|| shuttle::check_random(ignores, 1)), report(|| shuttle::check_dfs(ignores, None))] {
        assert!(text.contains("nobody looks"), "{text}");
        assert!(report(|| shuttle::replay(ignores, &seed(&text))).contains("nobody looks"));
    }
    let scoped = || thread::scope(|scope| _ = scope.spawn(|| panic!("nobody looks")).join());
    assert!(report(|| shuttle::check_dfs(scoped, None)).contains("nobody looks"));
    // A panic that its own thread catches ends no thread.
    shuttle::check_dfs(|| _ = std::panic::catch_unwind(|| panic!("caught")), None);
}

#[test]
fn a_thread_that_nobody_joins_must_end() {
    let text = report(|| {
        shuttle::check_random(
            || {
                let (sender, receiver) = mpsc::channel::<()>();
                thread::spawn(move || receiver.recv());
                std::mem::forget(sender);
            },
            1,
        );
    });
    assert!(text.contains("deadlock"), "{text}");
}

/// shuttle treats each ordering as `SeqCst`; the model of a suite can be another one by `RSMC_MEMORY` only.
#[test]
fn atomics_are_sequentially_consistent() {
    shuttle::check_dfs(
        || {
            let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let seen = thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    x.store(1, Relaxed);
                    y.load(Relaxed)
                });
                y.store(1, Relaxed);
                (x.load(Relaxed), thread.join().unwrap())
            });
            assert_ne!(seen, (0, 0));
        },
        None,
    );
}

#[test]
fn a_body_that_does_something_else_each_time_is_found() {
    static FLIPS: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    let flips = || {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| count.fetch_add(1, SeqCst));
            if FLIPS.fetch_not(SeqCst) {
                count.load(SeqCst);
            } else {
                count.store(1, SeqCst);
            }
        });
    };
    let text = report(|| shuttle::check_uncontrolled_nondeterminism(flips, 2));
    assert!(text.contains("the test did something else"), "{text}");
    shuttle::check_random(flips, 2);
}

#[test]
fn a_depth_aims_at_bugs_of_that_depth() {
    // Four steps of one thread, each between two of the other.
    let deep = || {
        let turn = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&turn);
        let pass = |turn: &AtomicUsize, odd: usize| {
            for step in 0..3 {
                let expected = 2 * step + odd;
                _ = turn.compare_exchange(expected, expected + 1, SeqCst, SeqCst);
            }
        };
        let thread = thread::spawn(move || pass(&theirs, 1));
        pass(&turn, 0);
        thread.join().unwrap();
        assert!(turn.load(SeqCst) < 6, "all turns were taken");
    };
    // Without a change of priorities one of the threads runs first, to its end.
    shuttle::check_pct(deep, 500, 1);
    assert!(report(|| shuttle::check_pct(deep, 500, 5)).contains("all turns were taken"));
    assert!(report(|| shuttle::check_pct(deep, 1, 0)).contains("the depth must be at least 1"));
    assert!(report(|| shuttle::check_pct(deep, 1, 1_001)).contains("`pct_depth` must be at most 1000"));
}

#[test]
fn an_incomplete_search_passes_only_as_far_as_was_asked() {
    assert_eq!(Runner::new(DfsScheduler::new(Some(1), false), Config::new()).run(loses_an_update), 1);
}

/// A report breaks lines at 80 columns.
#[test]
#[should_panic(expected = "a text that is longer than a line of a report is there in one piece, as in shuttle")]
fn the_text_of_a_panic_is_what_a_test_expects() {
    shuttle::check_random(
        || panic!("a text that is longer than a line of a report is there in one piece, as in shuttle, for any length"),
        1,
    );
}
