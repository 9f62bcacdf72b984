//! Loops that wait: each ends with the right verdict, with and without a hint, and soon.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rsmc::sync::Mutex;
use rsmc::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, SeqCst},
};
use rsmc::{Config, Explorer, Failure, FailureKind, MemoryModel, Report, Verdict, hint, thread};
use rsmc_core::session::check_body;
use rsmc_core::step::{End, Run};
use rsmc_core::trace::reads_from_class;

/// Explores, within a few seconds.
#[track_caller]
fn explore(body: impl Fn() + Sync) -> Report {
    let started = Instant::now();
    let report = rsmc::explore(&Config::default(), body);
    assert!(started.elapsed() < Duration::from_secs(5), "took {:?}", started.elapsed());
    report
}

#[track_caller]
fn verified(body: impl Fn() + Sync) -> Report {
    let report = explore(body);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
    report
}

#[track_caller]
fn failure(body: impl Fn() + Sync) -> Failure {
    match explore(body).verdict {
        Verdict::Failed(failure) => *failure,
        verdict => panic!("{verdict:?}"),
    }
}

/// `spin_loop` where there are hints, nothing where there are none.
fn pause(hints: bool) {
    if hints {
        hint::spin_loop();
    }
}

fn flag_wait(hints: bool) {
    let (flag, data) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !flag.load(SeqCst) {
                pause(hints);
            }
            assert_eq!(data.load(SeqCst), 7);
        });
        data.store(7, SeqCst);
        flag.store(true, SeqCst);
    });
}

#[test]
fn a_flag_is_waited_for() {
    // Looks that find the flag unset are no part of an execution.
    assert_eq!(verified(|| flag_wait(true)).executions, 1);
    assert_eq!(verified(|| flag_wait(false)).executions, 1);
}

fn ticket_lock(hints: bool) {
    let (next, owner, inside) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    let work = || {
        let ticket = next.fetch_add(1, SeqCst);
        while owner.load(SeqCst) != ticket {
            pause(hints);
        }
        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two threads inside");
        inside.fetch_sub(1, SeqCst);
        owner.store(ticket + 1, SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

#[test]
fn a_ticket_lock_excludes() {
    verified(|| ticket_lock(true));
    verified(|| ticket_lock(false));
}

fn swap_lock(hints: bool, threads: usize) {
    let (lock, inside) = (AtomicBool::new(false), AtomicU32::new(0));
    let work = || {
        while lock.swap(true, SeqCst) {
            pause(hints);
        }
        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two threads inside");
        inside.fetch_sub(1, SeqCst);
        lock.store(false, SeqCst);
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}

#[test]
fn a_swap_lock_with_several_waiters_ends() {
    verified(|| swap_lock(true, 2));
    verified(|| swap_lock(true, 3));
    verified(|| swap_lock(false, 2));
}

fn cas_retry(hints: bool) {
    let x = AtomicU32::new(0);
    let add = || {
        loop {
            let old = x.load(SeqCst);
            if x.compare_exchange(old, old + 1, SeqCst, SeqCst).is_ok() {
                break;
            }
            pause(hints);
        }
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(x.load(SeqCst), 2);
}

#[test]
fn a_cas_loop_retries() {
    verified(|| cas_retry(true));
    verified(|| cas_retry(false));
}

/// Gives up after `tries` looks at the flag; says whether it saw it.
fn bounded(flag: &AtomicBool, tries: u32, hints: bool) -> bool {
    (0..tries).any(|_| {
        let seen = flag.load(SeqCst);
        if !seen {
            pause(hints);
        }
        seen
    })
}

/// That a bounded retry gives up is an execution like any other: it must be found.
#[test]
fn a_bounded_retry_may_give_up() {
    for hints in [true, false] {
        let failure = failure(move || {
            let flag = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| assert!(bounded(&flag, 5, hints), "gave up"));
                flag.store(true, SeqCst);
            });
        });
        assert_eq!(failure.kind, FailureKind::Panic);
        assert!(failure.message.contains("gave up"), "{}", failure.message);
    }
}

/// A retry that is bounded by more than the patience waits, and is let go where nobody can set the flag any more.
#[test]
fn a_long_bounded_retry_leaves_in_the_end() {
    for hints in [true, false] {
        let report = verified(move || {
            let flag = AtomicBool::new(false);
            thread::scope(|scope| {
                let retry = scope.spawn(|| bounded(&flag, 500, hints));
                assert!(!retry.join().unwrap());
            });
            assert!(!flag.load(SeqCst));
        });
        assert_eq!(report.executions, 1);
    }
}

#[test]
#[rustfmt::skip]
fn waiting_for_what_nobody_writes_is_a_livelock() {
    for hints in [true, false] {
        let line = line!() + 4;
        let failure = failure(move || {
            let flag = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| while !flag.load(SeqCst) { pause(hints) });
                scope.spawn(|| flag.store(false, SeqCst));
            });
        });
        assert_eq!(failure.kind, FailureKind::Livelock);
        let place = format!("spinning.rs:{line}");
        assert!(failure.message.contains(&place), "{} should name {place}", failure.message);
    }
}

/// Polling under a lock waits like the rest: until another thread has had the lock.
#[test]
fn polling_under_a_lock_waits() {
    for hints in [true, false] {
        verified(move || {
            let done = Mutex::new(false);
            thread::scope(|scope| {
                scope.spawn(|| *done.lock().unwrap() = true);
                while !*done.lock().unwrap() {
                    pause(hints);
                }
            });
        });
    }
}

/// Whether the store that ends the loop comes before the one that begins it decides nothing that a read shows.
#[test]
fn a_store_that_comes_too_early_is_a_livelock() {
    let failure = failure(|| {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.store(2, SeqCst));
            x.store(1, SeqCst);
            while x.load(SeqCst) == 1 {
                hint::spin_loop();
            }
        });
    });
    assert_eq!(failure.kind, FailureKind::Livelock);
}

/// What another thread does only where the store came too early. (The loop may then spin for ever, too.)
#[test]
fn an_assertion_behind_a_missed_store_is_found() {
    for hints in [true, false] {
        let body = move || {
            let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
            thread::scope(|scope| {
                scope.spawn(|| {
                    x.store(2, SeqCst);
                    let seen = y.load(SeqCst);
                    x.store(3, SeqCst);
                    assert_eq!(seen, 1, "the other thread has not started");
                });
                y.store(1, SeqCst);
                x.store(1, SeqCst);
                while x.load(SeqCst) == 1 {
                    pause(hints);
                }
            });
        };
        let mut panics = 0;
        let mut observe = |run: &Run, _| panics += run.panics.len();
        check_body(&Config::default().keep_going(true), &body, |body| body.check().observe(&mut observe).run())
            .unwrap();
        assert!(panics > 0);
    }
}

/// Peterson's lock waits for one of two locations.
fn peterson(rounds: u32) {
    let (flags, turn, inside) =
        ([AtomicBool::new(false), AtomicBool::new(false)], AtomicU32::new(0), AtomicU32::new(0));
    let enter = |me: usize| {
        for _ in 0..rounds {
            flags[me].store(true, SeqCst);
            turn.store(1 - me as u32, SeqCst);
            while flags[1 - me].load(SeqCst) && turn.load(SeqCst) == 1 - me as u32 {
                hint::spin_loop();
            }
            assert_eq!(inside.fetch_add(1, SeqCst), 0, "two threads inside");
            inside.fetch_sub(1, SeqCst);
            flags[me].store(false, SeqCst);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| enter(0));
        scope.spawn(|| enter(1));
    });
}

/// Reads-from runs the classes of a body that brute force finds. The body is right.
fn is_exact(memory: MemoryModel, body: impl Fn() + Sync) {
    let classes = |explorer| {
        let mut classes = HashSet::new();
        let mut observe = |run: &Run, counted| match run.end {
            End::Learned => classes.clear(),
            _ if counted => classes.extend([reads_from_class(&run.trace)]),
            _ => {}
        };
        let config = Config::default().memory(memory).explorer(explorer);
        let report = check_body(&config, &body, |body| body.check().observe(&mut observe).run()).unwrap();
        assert!(matches!(report.verdict, Verdict::Verified), "{:?}", report.verdict);
        classes
    };
    let (found, every) = (classes(Explorer::ReadsFrom), classes(Explorer::Exhaustive));
    assert_eq!((found.len(), found.symmetric_difference(&every).count()), (every.len(), 0));
}

#[test]
fn petersons_lock_has_as_many_classes_as_brute_force_finds() {
    is_exact(MemoryModel::C11, || peterson(1));
    verified(|| peterson(2));
}

/// A thread polls under a lock, and another tries to take it.
#[test]
fn a_polled_lock_has_as_many_classes_as_brute_force_finds() {
    is_exact(MemoryModel::Sc, || {
        let (lock, ready, skipped) = (Mutex::new(()), AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    let _guard = lock.lock().unwrap();
                    if ready.load(SeqCst) == 1 {
                        break;
                    }
                }
            });
            scope.spawn(|| {
                if lock.try_lock().is_err() {
                    skipped.store(1, SeqCst);
                }
            });
            let _ = skipped.load(SeqCst);
            ready.store(1, SeqCst);
        });
    });
}

/// A loop that is left and entered again reads the same value at the same line, and does not wait: with the hint before
/// the test, and without a hint. (Waiting was once told by the line alone, and these were verified.)
#[test]
fn a_loop_that_was_left_may_be_entered_again() {
    let wait = |x: &AtomicU32, hint: bool| loop {
        let value = x.load(Acquire);
        if hint {
            hint::spin_loop();
        }
        if value != 0 {
            return value;
        }
    };
    for (times, hint) in [(2, true), (4, false)] {
        let failure = failure(move || {
            let x = AtomicU32::new(0);
            thread::scope(|scope| {
                scope.spawn(|| {
                    x.store(1, SeqCst);
                    x.store(2, SeqCst);
                });
                let seen: Vec<u32> = (0..times).map(|_| wait(&x, hint)).collect();
                assert!(seen.iter().any(|&value| value != 1), "always 1");
            });
        });
        assert_eq!(failure.kind, FailureKind::Panic, "{}", failure.message);
    }
}

/// The flag is set for a moment only: a waiter may miss it.
#[test]
fn a_pulse_can_be_missed() {
    for hints in [true, false] {
        let failure = failure(move || {
            let flag = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !flag.load(SeqCst) {
                        pause(hints)
                    }
                });
                scope.spawn(|| {
                    flag.store(true, SeqCst);
                    flag.store(false, SeqCst);
                });
            });
        });
        assert_eq!(failure.kind, FailureKind::Livelock);
    }
}

#[test]
#[rustfmt::skip]
fn a_loop_that_never_ends_is_named() {
    let line = line!() + 2;
    let failure = failure(|| {
        let count = AtomicU32::new(0); loop { count.fetch_add(1, SeqCst); }
    });
    assert_eq!(failure.kind, FailureKind::StepLimit);
    assert!(failure.message.contains(&format!("spinning.rs:{line}")), "{}", failure.message);
}

/// Two locks that back off for each other: with bad luck for ever, so the right answer is a limit, not a hang.
#[test]
fn two_threads_that_undo_each_other_end_at_a_limit() {
    let config = Config::default().max_steps(300).max_executions(50);
    let started = Instant::now();
    rsmc::explore(&config, || {
        let flags = [AtomicBool::new(false), AtomicBool::new(false)];
        let enter = |me: usize| {
            loop {
                flags[me].store(true, SeqCst);
                if !flags[1 - me].load(SeqCst) {
                    break;
                }
                flags[me].store(false, SeqCst);
                hint::spin_loop();
            }
            flags[me].store(false, SeqCst);
        };
        thread::scope(|scope| {
            scope.spawn(|| enter(0));
            scope.spawn(|| enter(1));
        });
    });
    assert!(started.elapsed() < Duration::from_secs(5));
}
