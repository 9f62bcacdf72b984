//! The schedule of a failure is made small, and the report says which memory models allow the failure.

use crate::support::shared::Shared;
use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::*};
use rsmc::sync::{Arc, Mutex};
use rsmc::{Config, Explorer, Failure, FailureKind, Fewest, MemoryModel, Needs, Report, Verdict, thread};

#[track_caller]
fn failure(report: Report) -> Failure {
    match report.verdict {
        Verdict::Failed(failure) => *failure,
        verdict => panic!("{verdict:?}"),
    }
}

/// Searches at random, where schedules are long-winded.
fn at_random(memory: MemoryModel) -> Config {
    Config::default().memory(memory).explorer(Explorer::Random).seed(7)
}

/// Checks that a failure is shrunk to so many switches under SC, in the same way each time, and that its seed replays.
#[track_caller]
fn shrinks_to(switches: u32, kind: FailureKind, body: impl Fn() + Sync) {
    let config = at_random(MemoryModel::Sc);
    let first = failure(rsmc::explore(&config.clone().shrink(0), &body));
    let report = rsmc::explore(&config, &body);
    let (runs, text) = (report.extra_runs, rsmc::render(&report, None));
    let small = failure(report);
    assert_eq!((first.kind, small.kind), (kind, kind));
    assert_eq!((small.switches, small.fewest), (switches, Fewest::Possible), "{text}");
    assert!(first.switches >= switches && first.fewest == Fewest::Unsought);
    let line = if switches == 1 { "1 context switch".to_owned() } else { format!("{switches} context switches") };
    assert!(text.contains(&format!("\n{line}, the fewest possible\n")), "{text}");

    let again = rsmc::explore(&config, &body);
    assert_eq!(again.extra_runs, runs);
    assert_eq!(failure(again).seed, small.seed);

    let seed = small.seed.to_string().parse().unwrap();
    let report = rsmc::explore(&config.replay(seed), &body);
    assert_eq!(report.extra_runs, 0);
    let replayed = failure(report);
    assert_eq!((replayed.kind, replayed.message), (kind, small.message));
    assert_eq!((replayed.seed, replayed.switches, replayed.fewest), (small.seed, switches, Fewest::Unsought));
}

/// Several threads add to a counter in two steps.
fn lost_update(threads: u32, times: u32, order: Ordering) -> impl Fn() + Sync {
    move || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| (0..times).for_each(|_| x.store(x.load(order) + 1, order)));
            }
        });
        assert_eq!(x.load(order), threads * times);
    }
}

#[test]
fn a_panic() {
    shrinks_to(3, FailureKind::Panic, lost_update(2, 1, SeqCst));
    shrinks_to(3, FailureKind::Panic, lost_update(2, 4, SeqCst));
}

#[test]
fn a_deadlock() {
    shrinks_to(1, FailureKind::Deadlock, || {
        let locks = [Mutex::new(0), Mutex::new(1)];
        thread::scope(|scope| {
            for [first, second] in [[0, 1], [1, 0]] {
                let locks = &locks;
                scope.spawn(move || {
                    drop(locks[first].lock());
                    let _first = locks[first].lock().unwrap();
                    drop(locks[second].lock().unwrap());
                });
            }
        });
    });
}

/// A writer publishes a cell and an atomic value, relaxed; the reader looks at both.
fn publish() {
    let (data, value, ready) = (Shared::new(0), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.write(1);
            value.store(1, Relaxed);
            ready.store(1, Relaxed);
        });
        if ready.load(Relaxed) == 1 {
            assert_eq!((data.read(), value.load(Relaxed)), (1, 1));
        }
    });
}

#[test]
fn a_data_race() {
    shrinks_to(1, FailureKind::DataRace, publish);
}

#[test]
fn a_livelock() {
    shrinks_to(1, FailureKind::Livelock, || {
        let (x, other) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                other.store(1, SeqCst);
                x.store(1, SeqCst);
                other.store(2, SeqCst);
            });
            while x.load(SeqCst) != 2 {
                rsmc::hint::spin_loop();
            }
        });
    });
}

#[test]
fn a_leak() {
    shrinks_to(1, FailureKind::Leak, || {
        let (x, shared) = (AtomicU32::new(0), Arc::new(1));
        thread::scope(|scope| {
            scope.spawn(|| (1..4).for_each(|value| x.store(value, SeqCst)));
            if x.load(SeqCst) == 3 {
                std::mem::forget(Arc::clone(&shared));
            }
        });
    });
}

/// The search is too long for a proof, but the schedule is improved.
#[test]
fn with_few_runs() {
    let config = at_random(MemoryModel::Sc);
    let body = lost_update(3, 6, SeqCst);
    let first = failure(rsmc::explore(&config.clone().shrink(0), &body));
    let report = rsmc::explore(&config.shrink(200), &body);
    // One more is for the call paths.
    assert!(report.extra_runs <= 200 + 1, "{report:?}");
    let small = failure(report);
    assert!(first.switches > 10, "{}", first.switches);
    assert!(small.switches <= 5 && small.fewest == Fewest::Found, "{} {:?}", small.switches, small.fewest);
}

/// A loop that turns out to wait ends the candidate, and the search goes on without that knowledge.
#[test]
fn without_what_candidates_show() {
    let body = || {
        let (flag, x) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                x.store(1, SeqCst);
                while flag.load(SeqCst) == 0 {}
                x.store(2, SeqCst);
            });
            let early = x.load(SeqCst);
            flag.store(1, SeqCst);
            assert!(early == 0 || x.load(SeqCst) != 1 || other.is_finished());
        });
    };
    for memory in [MemoryModel::Sc, MemoryModel::C11] {
        let report = rsmc::explore(&at_random(memory), body);
        let small = failure(report);
        let again = failure(rsmc::explore(&at_random(memory).replay(small.seed.clone()), body));
        assert_eq!((small.message, small.seed), (again.message, again.seed));
    }
}

/// The words of the report about memory models.
#[track_caller]
fn needs(memory: MemoryModel, body: impl Fn() + Sync) -> String {
    let config = Config::default().memory(memory);
    let report = rsmc::explore(&config, body);
    let text = rsmc::render(&report, None);
    let needs = failure(report).needs.expect("it was asked").to_string();
    assert!(text.contains(&format!("\n{needs}\n")), "{text}");
    needs
}

fn store_buffering() {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let seen = thread::scope(|scope| {
        let other = scope.spawn(|| {
            x.store(1, Relaxed);
            y.load(Relaxed)
        });
        y.store(1, Relaxed);
        (x.load(Relaxed), other.join().unwrap())
    });
    assert_ne!(seen, (0, 0));
}

fn message_passing() {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            x.store(1, Relaxed);
            y.store(1, Relaxed);
        });
        assert!(y.load(Relaxed) == 0 || x.load(Relaxed) == 1);
    });
}

/// Two readers disagree on the order of two writes.
fn independent_reads() {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let seen = thread::scope(|scope| {
        scope.spawn(|| x.store(1, Relaxed));
        scope.spawn(|| y.store(1, Relaxed));
        let other = scope.spawn(|| (x.load(Acquire), y.load(Acquire)));
        ((y.load(Acquire), x.load(Acquire)), other.join().unwrap())
    });
    assert_ne!(seen, ((1, 0), (1, 0)));
}

#[test]
fn the_strongest_model() {
    use MemoryModel::{C11, Pso, Tso};
    for memory in [Tso, Pso, C11] {
        assert_eq!(needs(memory, lost_update(2, 1, Relaxed)), "also under SC");
        assert_eq!(needs(memory, store_buffering), "needs TSO store buffering");
    }
    for memory in [Pso, C11] {
        assert_eq!(needs(memory, message_passing), "needs PSO: stores that overtake each other");
    }
    assert_eq!(needs(C11, independent_reads), "needs C11: not under SC, TSO and PSO");
    let config = Config::default().memory(MemoryModel::Sc);
    assert_eq!(failure(rsmc::explore(&config, lost_update(2, 1, Relaxed))).needs, None);
}

/// Under C11 two switches would do, if a thread read what was overwritten before.
#[test]
fn no_late_read_without_need() {
    let small = failure(rsmc::explore(&Config::default(), lost_update(2, 1, Relaxed)));
    assert_eq!((small.switches, small.fewest), (3, Fewest::OneMore));
}

#[test]
fn data_races_are_races_under_every_model() {
    let report = rsmc::explore(&Config::default(), publish);
    let text = rsmc::render(&report, None);
    let fails = Some((MemoryModel::Pso, FailureKind::Panic));
    assert_eq!(failure(report).needs, Some(Needs::Race { fails, open: Vec::new() }), "{text}");
    assert!(text.contains("\na data race by Rust's rules; without it, PSO fails by a panic\n"), "{text}");
    let said = needs(MemoryModel::C11, || {
        let (data, ready) = (Shared::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.write(1);
                ready.store(1, Relaxed);
            });
            assert!(ready.load(Relaxed) == 0 || data.read() == 1);
        });
    });
    assert_eq!(said, "a data race by Rust's rules; values correct under SC, TSO and PSO");
}

#[test]
fn nothing_is_run_after_a_failure_without_shrinking() {
    let report = rsmc::explore(&Config::default().shrink(0), store_buffering);
    assert_eq!(report.extra_runs, 0);
    let failure = failure(report);
    assert_eq!((failure.fewest, failure.needs), (Fewest::Unsought, None));
}
