//! The reports of failing checks, which harm no other check.

use std::collections::HashMap;
use std::hash::RandomState;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize as StdAtomicUsize, Ordering::Relaxed as StdRelaxed};
use std::time::Instant;

use crate::support::shared::Shared;
use crate::support::{OnDrop, count, failure, verified, verified_alone};
use rsmc::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};
use rsmc::sync::{Arc, Mutex};
use rsmc::{Config, Explorer, Failure, FailureKind, MemoryModel, Seed, Verdict, thread};

/// A writer publishes through a flag with these orderings; a reader looks.
fn publish(store: std::sync::atomic::Ordering, load: std::sync::atomic::Ordering) -> impl Fn() + Sync {
    move || {
        let (flag, data) = (AtomicBool::new(false), Shared::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.write(7);
                flag.store(true, store);
            });
            if flag.load(load) {
                assert_eq!(data.read(), 7);
            }
        });
    }
}

#[test]
fn races_are_judged_by_the_declared_orderings() {
    verified(publish(Release, Acquire));
    verified(publish(SeqCst, SeqCst));
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed), (Relaxed, Relaxed)] {
        let failure = failure(publish(store, load));
        assert_eq!(failure.kind, FailureKind::DataRace, "{store:?} {load:?}");
        assert_eq!(failure.message.matches("failures.rs:").count(), 3, "cell and both accesses: {}", failure.message);
    }
}

#[test]
fn fences_order_accesses_and_a_release_sequence_carries_on() {
    verified(|| {
        let (flag, data) = (AtomicU32::new(0), Shared::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.write(1);
                rsmc::sync::atomic::fence(Release);
                flag.store(1, Relaxed);
            });
            scope.spawn(|| flag.fetch_add(1, Relaxed));
            if flag.load(Relaxed) == 2 {
                rsmc::sync::atomic::fence(Acquire);
                data.read();
            }
        });
    });
}

#[test]
fn two_locks_in_opposite_order_deadlock() {
    let failure = failure(|| {
        let (a, b) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _a = a.lock().unwrap();
                let _b = b.lock().unwrap();
            });
            scope.spawn(|| {
                let _b = b.lock().unwrap();
                let _a = a.lock().unwrap();
            });
        });
    });
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert_eq!(failure.waiting.len(), 3, "both threads and the body that waits for them");
    for held in ["held by thread t1", "held by thread t2"] {
        assert!(failure.message.contains(held), "{}", failure.message);
    }
}

#[test]
fn a_lock_taken_twice_deadlocks_with_itself() {
    let failure = failure(|| {
        let lock = Mutex::new(());
        let _first = lock.lock().unwrap();
        let _second = lock.lock().unwrap();
    });
    assert!(failure.message.contains("which it holds itself"), "{}", failure.message);
}

#[test]
fn an_unpark_that_comes_twice_before_the_park_is_one() {
    let failure = failure(|| {
        let waiter = thread::spawn(|| {
            thread::park();
            thread::park();
        });
        let other = waiter.thread().clone();
        let unparker = thread::spawn(move || other.unpark());
        waiter.thread().unpark();
        waiter.join().unwrap();
        unparker.join().unwrap();
    });
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert!(failure.message.contains("waits to be unparked"), "{}", failure.message);
}

#[test]
fn a_panic_received_by_join_is_no_failure_and_one_that_is_not_is() {
    verified_alone(|| assert!(thread::spawn(|| panic!("expected")).join().is_err()));
    let lost = failure(|| drop(thread::spawn(|| panic!("lost"))));
    assert!(lost.message.contains("lost"), "{}", lost.message);
    let passed_on = failure(|| thread::spawn(|| panic!("the cause")).join().unwrap());
    assert!(passed_on.message.contains("the cause"), "{}", passed_on.message);
}

#[test]
fn a_lock_is_poisoned_by_the_panic_of_its_holder_only() {
    verified(|| {
        let (held, free) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            let holder = scope.spawn(|| {
                let _guard = held.lock().unwrap();
                panic!("while holding");
            });
            scope.spawn(|| drop(free.lock().unwrap()));
            assert!(holder.join().is_err());
        });
        assert!(held.is_poisoned() && !free.is_poisoned());
    });
}

#[test]
fn a_panic_in_a_destructor_is_a_failure() {
    let failure = failure(|| drop(OnDrop(|| panic!("in drop"))));
    assert!(failure.message.contains("in drop"), "{}", failure.message);
}

/// std aborts here; a check must not.
#[test]
fn a_panic_in_a_destructor_during_unwinding_does_not_abort() {
    let failure = failure(|| {
        let _guard = OnDrop(|| panic!("second"));
        panic!("first");
    });
    assert_eq!(failure.kind, FailureKind::Panic);
    assert!(failure.message.contains("std would abort"), "{}", failure.message);
}

#[test]
fn of_several_panics_the_one_that_leaves_the_thread_is_reported() {
    let several = |resumed: usize| {
        let failure = failure(move || {
            let caught = ["first", "second", "third"].map(|name| catch_unwind(|| panic!("the {name}")).unwrap_err());
            let panic = caught.into_iter().nth(resumed).unwrap();
            std::panic::resume_unwind(if resumed == 2 { Box::new("another") } else { panic });
        });
        assert_eq!(failure.kind, FailureKind::Panic);
        failure
    };
    for (resumed, name) in ["the first", "the second"].into_iter().enumerate() {
        let failure = several(resumed);
        assert!(failure.message.contains(name) && failure.message.contains("failures.rs:"), "{}", failure.message);
    }
    let failure = several(2);
    assert!(failure.message.contains("another") && !failure.message.contains("third"), "{}", failure.message);
}

/// The threads of a deadlock are unwound; a destructor that panics then is left alone.
#[test]
fn a_panic_while_a_deadlock_is_unwound_does_not_abort() {
    let failure = failure(|| {
        let _guard = OnDrop(|| panic!("the queue is not empty"));
        let lock = Mutex::new(());
        let _first = lock.lock().unwrap();
        let _second = lock.lock().unwrap();
    });
    assert_eq!(failure.kind, FailureKind::Deadlock);
}

#[test]
fn no_destructor_of_a_stuck_thread_runs() {
    static DROPS: StdAtomicUsize = StdAtomicUsize::new(0);
    static COMPLETE: StdAtomicUsize = StdAtomicUsize::new(0);
    let report = rsmc::explore(&Config::default().keep_going(true), || {
        let _counts = OnDrop(|| count(&DROPS));
        let lock = Arc::new(Mutex::new(()));
        let there = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _counts = OnDrop(|| count(&DROPS));
            std::mem::forget(there.lock());
        });
        drop(lock.lock());
        drop(thread.join());
        count(&COMPLETE);
    });
    assert!(matches!(report.verdict, Verdict::Failed(_)));
    // The thread always ends.
    let (runs, complete) = (report.runs + report.extra_runs, COMPLETE.load(StdRelaxed) as u64);
    assert!((1..runs).contains(&complete), "{complete} of {runs}");
    assert_eq!(DROPS.load(StdRelaxed) as u64, runs + complete);
}

#[test]
fn a_stack_overflow_is_reported() {
    #[allow(unconditional_recursion, reason = "that is the point")]
    fn deep(n: u64) -> u64 {
        let frame = std::hint::black_box([n; 64]);
        deep(n + 1) + frame[(n % 64) as usize]
    }
    let report = rsmc::explore(&Config::default().stack_size(64 * 1024), || {
        thread::spawn(|| std::hint::black_box(deep(0))).join().unwrap();
    });
    let Verdict::Failed(failure) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(failure.kind, FailureKind::StackOverflow);
    assert!(failure.message.contains("stack_size"), "{}", failure.message);
}

#[test]
fn a_thousand_threads_work() {
    let started = Instant::now();
    let report = verified(|| {
        let done: Arc<Vec<AtomicUsize>> = Arc::new((0..1_000).map(AtomicUsize::new).collect());
        let work = |i: usize| {
            let done = Arc::clone(&done);
            thread::spawn(move || done[i].store(1_000 + i, SeqCst))
        };
        let threads: Vec<_> = (0..1_000).map(work).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(done.iter().enumerate().all(|(i, x)| x.load(SeqCst) == 1_000 + i));
    });
    assert_eq!((report.executions, report.threads), (1, 1_001));
    let shared = rsmc::explore(&Config::default().explorer(Explorer::Random).max_executions(3), || {
        let sum = Arc::new(Mutex::new(0));
        let work = |_| {
            let sum = Arc::clone(&sum);
            thread::spawn(move || *sum.lock().unwrap() += 1)
        };
        let threads: Vec<_> = (0..1_000).map(work).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*sum.lock().unwrap(), 1_000);
    });
    assert_eq!(shared.failures, 0);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn checks_at_once_do_not_disturb_each_other() {
    static SHARED: AtomicUsize = AtomicUsize::new(5);
    let body = || {
        assert_eq!(SHARED.load(SeqCst), 5, "a static starts afresh in every execution");
        thread::scope(|scope| {
            scope.spawn(|| SHARED.fetch_add(1, SeqCst));
            scope.spawn(|| SHARED.fetch_add(1, SeqCst));
            scope.spawn(|| SHARED.fetch_add(1, SeqCst));
        });
        assert_eq!(SHARED.load(SeqCst), 8);
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || (0..20).for_each(|_| assert_eq!(verified(body).executions, 6)));
        }
    });
    assert_eq!(SHARED.load(SeqCst), 5);
}

#[test]
fn checks_do_not_nest() {
    let failure = failure(|| rsmc::check(|| {}));
    assert!(failure.message.contains("checks do not nest"), "{}", failure.message);
}

#[test]
fn real_time_is_reported_with_the_event_that_differed() {
    let failure = failure(|| {
        let x = AtomicU32::new(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
        thread::scope(|scope| {
            scope.spawn(|| x.store(now, SeqCst));
            scope.spawn(|| x.load(SeqCst));
            scope.spawn(|| x.load(SeqCst));
        });
    });
    assert_eq!(failure.kind, FailureKind::Nondeterminism);
    assert!(failure.message.contains("Store(") && failure.message.contains("failures.rs:"), "{}", failure.message);
}

/// Threads store to many atomics, each in the order of the keys of a map, and the main thread reads one of them.
fn store_in_order_of_keys(hashing: impl Fn() -> RandomState + Sync) {
    let x: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(0)).collect();
    let store = || {
        let mut map = HashMap::with_hasher(hashing());
        map.extend((0..64).map(|key| (key, ())));
        map.keys().for_each(|&key: &usize| x[key].store(1, SeqCst));
    };
    thread::scope(|scope| {
        scope.spawn(store);
        scope.spawn(store);
        assert!(x[7].load(SeqCst) < 2);
    });
}

#[test]
fn a_random_hash_map_is_reported() {
    let random = || std::thread::spawn(RandomState::new).join().unwrap();
    assert_eq!(failure(|| store_in_order_of_keys(random)).kind, FailureKind::Nondeterminism);
}

/// Each modelled thread takes its own keys, and in each execution the same.
#[test]
#[cfg(target_os = "linux")]
fn maps_of_std_hash_in_the_same_way_in_each_execution() {
    assert_eq!(verified(|| store_in_order_of_keys(RandomState::new)).executions, 3);
}

/// Every second time a load at the same line reads the same value, and from no write.
#[test]
fn another_source_of_the_same_value_is_reported() {
    let times = StdAtomicUsize::new(0);
    let failure = failure(|| {
        let slots = [AtomicU32::new(0), AtomicU32::new(1)];
        let slot = &slots[times.fetch_add(1, StdRelaxed) % 2];
        thread::scope(|scope| {
            scope.spawn(|| slots[0].store(1, SeqCst));
            slot.load(SeqCst);
        });
    });
    assert_eq!(failure.kind, FailureKind::Nondeterminism);
}

fn lost_update() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| x.store(x.load(SeqCst) + 1, SeqCst));
        scope.spawn(|| x.store(x.load(SeqCst) + 1, SeqCst));
    });
    assert_eq!(x.load(SeqCst), 2, "an update is lost");
}

#[test]
fn a_seed_replays_its_execution_only_and_fails_the_same_way() {
    let first = failure(lost_update);
    let seed: Seed = first.seed.to_string().parse().unwrap();
    let report = rsmc::explore(&Config::default().replay(seed.clone()), lost_update);
    assert_eq!((report.runs, report.executions), (1, 1));
    let Verdict::Failed(again) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!((again.kind, &again.message, &again.seed), (first.kind, &first.message, &first.seed));
    let table = |failure: &Failure| rsmc_text(failure);
    assert_eq!(table(&again), table(&first));
    // Another program: an error that says so.
    let stale = rsmc::explore(&Config::default().replay(seed), || {
        let lock = Mutex::new(0);
        thread::scope(|scope| drop(scope.spawn(|| *lock.lock().unwrap() += 1)));
    });
    let Verdict::Failed(stale) = stale.verdict else { panic!("{:?}", stale.verdict) };
    assert_eq!(stale.kind, FailureKind::StaleSeed);
    assert!(stale.message.contains("does not fit this test any more"), "{}", stale.message);
}

/// The message of a replay of a body that is not the one of the seed.
fn stale_message(seed: &Seed, body: impl Fn() + Sync) -> String {
    let report = rsmc::explore(&Config::default().replay(seed.clone()), body);
    let Verdict::Failed(stale) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(stale.kind, FailureKind::StaleSeed);
    stale.message
}

#[test]
fn a_stale_seed_says_what_changed() {
    let seed = failure(lost_update).seed;
    let with = |update: fn(&AtomicU32)| {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| update(&x));
            scope.spawn(|| update(&x));
        });
    };
    let stores_first = stale_message(&seed, || with(|x| x.store(1, SeqCst)));
    assert!(
        stores_first.contains("operation 1 was a load and is a store now, at tests/failures.rs:"),
        "{stores_first}"
    );
    let relaxed = stale_message(&seed, || with(|x| x.store(x.load(Relaxed) + 1, SeqCst)));
    assert!(relaxed.contains("operation 1 is a load as before"), "{relaxed}");
    let ends = stale_message(&seed, || with(|x| assert!(x.load(SeqCst) < 9)));
    assert!(ends.contains("was a store"), "{ends}");
}

/// What was run instead of the seed's execution is shown in no form.
#[test]
fn a_stale_seed_shows_no_execution() {
    let seed = failure(lost_update).seed;
    let config = Config::default().replay(seed.clone());
    let report = rsmc::explore(&config, || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| drop(scope.spawn(|| x.store(x.load(Relaxed), SeqCst))));
        panic!("of no interest");
    });
    let text = rsmc::render(&report, Some("a::test"));
    let lines: Vec<&str> = text.lines().collect();
    assert!(!text.contains("schedule") && !text.contains("locations") && !text.contains("of no interest"), "{text}");
    assert_eq!(lines.len(), 6, "{text}");
    assert_eq!(lines[0], "stale seed: the seed does not fit this test any more");
    assert!(lines[1].starts_with("  operation 1 is a load as before, at tests/failures.rs:"), "{text}");
    assert!(lines[4].contains("run without RSMC_REPLAY"), "{text}");
    let Verdict::Failed(stale) = &report.verdict else { panic!("{text}") };
    assert_eq!((&stale.seed, stale.trace.events.len(), stale.panics.len()), (&seed, 0, 0));
    let page = rsmc::html(&report, &config, None).unwrap();
    assert!(page.contains("not possible any more") && !page.contains("of no interest"), "{page}");
    assert!(!rsmc::dot(&report, &config, None).unwrap().contains(" -> "));
    assert!(rsmc::json(&report, &config, None).unwrap().contains("\"steps\":[],"));
}

/// The steps of the seed are possible one by one, but C11 does not allow all of them with the stronger orderings.
#[test]
fn a_stale_seed_may_read_what_the_mended_program_cannot() {
    let body = |store, load| {
        let flags = [AtomicBool::new(false), AtomicBool::new(false)];
        let enter = |me: usize| {
            flags[me].store(true, store);
            !flags[1 - me].load(load)
        };
        let (one, other) = thread::scope(|scope| {
            let other = scope.spawn(|| enter(1));
            (enter(0), other.join().unwrap())
        });
        assert!(!(one && other), "both are in");
    };
    let seed = failure(|| body(Release, Acquire)).seed;
    let stale = stale_message(&seed, || body(SeqCst, SeqCst));
    assert!(stale.contains("operation 1 is a store as before"), "{stale}");
    let mended = rsmc::explore(&Config::default().pin(seed), || body(SeqCst, SeqCst));
    assert!(matches!(mended.verdict, Verdict::Verified) && mended.notes.len() == 1, "{:?}", mended.notes);
}

#[test]
fn a_pinned_seed_is_run_first_and_then_all_is_explored() {
    let seed = failure(lost_update).seed;
    let pinned = || Config::default().pin(seed.clone());
    let report = rsmc::explore(&pinned(), lost_update);
    let Verdict::Failed(again) = &report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!((report.runs, report.executions, report.failures), (1, 0, 1));
    assert_eq!(again.seed, seed);
    let all = rsmc::explore(&pinned().keep_going(true), lost_update);
    let alone = rsmc::explore(&Config::default().keep_going(true), lost_update);
    assert_eq!((all.executions, all.failures, all.runs), (alone.executions, alone.failures + 1, alone.runs + 1));
    // What was mended is verified, and the seed that no longer fits is named.
    let mended = rsmc::explore(&pinned(), || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(|| x.fetch_add(1, SeqCst)))));
    });
    assert!(matches!(mended.verdict, Verdict::Verified) && mended.notes.len() == 1, "{:?}", mended.notes);
    let text = rsmc::render(&mended, None).replace("\n  ", " ");
    assert!(text.contains("note: pinned seed 1 was passed over: it does not fit this test any more"), "{text}");
    assert!(text.contains("operation 1 was a load and is an update now"), "{text}");
    let other = rsmc::explore(&pinned().memory(MemoryModel::Sc), lost_update);
    assert!(matches!(other.verdict, Verdict::Failed(_)) && other.notes[0].contains("this check is under sc"));
}

/// The events of a failure, as text.
fn rsmc_text(failure: &Failure) -> String {
    failure.trace.events.iter().map(|event| format!("{:?} {:?} {}\n", event.id, event.op.action, event.read)).collect()
}

#[test]
fn a_failing_check_panics_with_the_report() {
    let payload = catch_unwind(AssertUnwindSafe(|| rsmc::check(lost_update))).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    for part in ["an update is lost", "RSMC_REPLAY=rsmc3-", "AtomicU32", "schedule"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn what_is_not_implemented_is_a_clear_error() {
    let config = Config::default().explorer(Explorer::View).memory(MemoryModel::C11);
    let payload = catch_unwind(AssertUnwindSafe(|| rsmc::explore(&config, || {}))).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    let expected = "`view` is not implemented for the memory model `c11`; implemented are reads-from, exh";
    assert!(text.contains(expected), "{text}");
}

/// Store buffering: fails under TSO and PSO, not under SC.
fn store_buffering() {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let seen = thread::scope(|scope| {
        let first = scope.spawn(|| {
            x.store(1, Relaxed);
            y.load(Relaxed)
        });
        let second = scope.spawn(|| {
            y.store(1, Relaxed);
            x.load(Relaxed)
        });
        (first.join().unwrap(), second.join().unwrap())
    });
    assert_ne!(seen, (0, 0));
}

#[test]
fn a_seed_knows_its_memory_model() {
    let tso = Config::default().memory(MemoryModel::Tso);
    let Verdict::Failed(failure) = rsmc::explore(&tso, store_buffering).verdict else { panic!("it fails") };
    for config in [Config::default(), tso] {
        let report = rsmc::explore(&config.replay(failure.seed.clone()), store_buffering);
        assert!(matches!(report.verdict, Verdict::Failed(_)), "{:?}", report.verdict);
        assert_eq!((report.runs, report.memory), (1, MemoryModel::Tso));
    }
    let sc = Config::default().memory(MemoryModel::Sc).replay(failure.seed.clone());
    let payload = catch_unwind(AssertUnwindSafe(|| rsmc::explore(&sc, store_buffering))).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.contains("made under the memory model `tso`, and this test runs under `sc`"), "{text}");
}

#[test]
fn max_steps_counts_operations() {
    let body = || {
        let x = AtomicU32::new(0);
        (0..3).for_each(|i| x.store(i, Relaxed));
    };
    let verdict = |steps| rsmc::explore(&Config::default().max_steps(steps), body).verdict;
    assert!(matches!(verdict(3), Verdict::Verified));
    let Verdict::Failed(failure) = verdict(2) else { panic!("three are more than two") };
    assert_eq!(failure.kind, FailureKind::StepLimit);
}

/// `Report: Display`.
#[test]
fn a_report_can_be_printed() {
    let report = rsmc::explore(&Config::default(), || assert_eq!(1, 2, "never"));
    let text = report.to_string();
    assert!(
        text.starts_with("panic: assertion `left == right` failed: never\n  in main at tests/failures.rs"),
        "{text}"
    );
    let report = rsmc::explore(&Config::default(), || ());
    assert!(report.to_string().starts_with("verified: 1 execution"), "{report}");
}

#[test]
fn a_limit_is_no_proof() {
    let body = || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| x.fetch_add(1, SeqCst)))));
    };
    let report = rsmc::explore(&Config::default().max_executions(10), body);
    assert_eq!(report.executions, 10);
    assert!(matches!(report.verdict, Verdict::Incomplete(_)));
    let text = rsmc::render(&report, None);
    assert!(text.starts_with("incomplete, NOT a proof") && text.contains("\n  left: 3 to 58 runs, "), "{text}");
    // A limit that is just enough is a proof.
    assert!(matches!(rsmc::explore(&Config::default().max_executions(24), body).verdict, Verdict::Verified));
}

#[test]
fn random_explorers_find_it_too_and_repeat_themselves() {
    for explorer in [Explorer::Random, Explorer::Pct] {
        let config = Config::default().explorer(explorer).seed(3);
        let runs = [(); 2].map(|()| {
            let report = rsmc::explore(&config, lost_update);
            assert!(matches!(report.verdict, Verdict::Failed(_)), "{explorer:?}");
            report.runs
        });
        assert_eq!(runs[0], runs[1]);
    }
}

/// The line of a check that passes.
fn line(body: fn()) -> String {
    rsmc::render(&rsmc::explore(&Config::default(), body), None)
}

#[test]
fn a_check_that_tests_nothing_says_so() {
    let real_thread = || drop(std::thread::spawn(|| ()).join());
    assert!(line(real_thread).contains("no other was started through `rsmc_shim::thread`"), "{}", line(real_thread));
    let nothing_shared = || {
        let real = std::sync::Arc::new(StdAtomicUsize::new(0));
        let theirs = std::sync::Arc::clone(&real);
        let thread = thread::spawn(move || {
            AtomicU32::new(0).store(1, Relaxed);
            theirs.fetch_add(1, StdRelaxed);
        });
        real.fetch_add(1, StdRelaxed);
        thread.join().unwrap();
    };
    assert_eq!(failure(nothing_shared).kind, FailureKind::NothingShared);
    let meant = rsmc::render(&rsmc::explore(&Config::default().allow_trivial(true), nothing_shared), None);
    assert!(meant.starts_with("verified: ") && meant.contains("is used by two of them"), "{meant}");
    let in_any_order = || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.store(1, Relaxed));
        });
        assert_eq!(x.load(Relaxed), 1);
    };
    assert!(line(in_any_order).contains("their order makes no difference"), "{}", line(in_any_order));
}
