//! Loops that keep something where rsmc does not see it, in statics and thread-locals of std: they are ordinary code,
//! and the report says so.

use std::cell::Cell;
use std::sync::atomic::AtomicU32 as StdAtomicU32;
use std::time::{Duration, Instant};

use rsmc::sync::Arc;
use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::{Config, Explorer, FailureKind, MemoryModel, Report, Verdict, hint, render, thread};
use rsmc_core::machine::Sees;

const PAIRS: [(Explorer, MemoryModel); 5] = [
    (Explorer::ReadsFrom, MemoryModel::C11),
    (Explorer::ReadsFrom, MemoryModel::Tso),
    (Explorer::ReadsValueFrom, MemoryModel::Sc),
    (Explorer::View, MemoryModel::Pso),
    (Explorer::Exhaustive, MemoryModel::Sc),
];

fn config(explorer: Explorer, memory: MemoryModel) -> Config {
    Config::default().explorer(explorer).memory(memory).spin_bound(4)
}

/// That the report says which loop it is.
#[track_caller]
fn names_the_loop(report: &Report) {
    let text = render(report, None);
    assert!(text.contains("keeps something where rsmc"), "{text}");
}

#[track_caller]
fn is_verified(body: fn()) {
    for (explorer, memory) in PAIRS {
        let report = rsmc::explore(&config(explorer, memory), body);
        assert!(matches!(report.verdict, Verdict::Verified), "{explorer} {memory}: {}", render(&report, None));
        names_the_loop(&report);
    }
}

thread_local! {
    static LOOKS: Cell<u32> = const { Cell::new(0) };
}

/// The loop looks ten times, and no thread writes.
fn looks_ten_times() {
    LOOKS.set(0);
    let x = AtomicU32::new(0);
    while x.load(SeqCst) == 0 && LOOKS.get() < 10 {
        LOOKS.set(LOOKS.get() + 1);
        hint::spin_loop();
    }
}

#[test]
fn a_loop_that_counts_in_a_thread_local_gives_up() {
    is_verified(looks_ten_times);
}

/// rsmc does not see the time of std. Loops with a deadline end nevertheless, and a flag that nobody sets is waited for
/// for ever only where there is no deadline.
#[test]
fn a_loop_that_looks_at_a_clock_of_std_ends() {
    fn waits_for_an_end() {
        let (x, end) = (AtomicU32::new(0), Instant::now() + Duration::from_millis(3));
        while x.load(SeqCst) == 0 && Instant::now() < end {
            hint::spin_loop();
        }
        assert!(Instant::now() >= end);
    }
    fn beside_a_writer() {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let writer = thread::spawn(move || other.store(1, SeqCst));
        waits_for_an_end();
        while x.load(SeqCst) == 0 {
            hint::spin_loop();
        }
        writer.join().unwrap();
    }
    is_verified(waits_for_an_end);
    is_verified(beside_a_writer);
    let report = rsmc::explore(&Config::default(), || {
        waits_for_an_end();
        let x = AtomicU32::new(0);
        while x.load(SeqCst) == 0 {
            hint::spin_loop();
        }
    });
    let Verdict::Failed(failure) = &report.verdict else { panic!("{}", render(&report, None)) };
    assert_eq!(failure.kind, FailureKind::Livelock);
}

/// Without the tests of whether it keeps something, it is taken for a livelock, and no maximum is noticed.
#[test]
fn that_no_loop_is_tested_is_noticed() {
    let config = config(Explorer::ReadsFrom, MemoryModel::Sc).sees(Sees::Untested);
    let report = rsmc::explore(&config, looks_ten_times);
    let Verdict::Failed(failure) = &report.verdict else { panic!("{}", render(&report, None)) };
    assert_eq!(failure.kind, FailureKind::Livelock);
    assert_ne!(rsmc::outcomes(&config, keeps_a_maximum), [0, 1]);
}

/// What a loop that gives up does then is found, too, and its seed replays it.
#[test]
fn a_loop_that_counts_in_a_static_gives_up_before_the_writer() {
    static BUDGET: StdAtomicU32 = StdAtomicU32::new(0);
    fn body() {
        BUDGET.store(20, SeqCst);
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let writer = thread::spawn(move || other.store(1, SeqCst));
        while x.load(SeqCst) == 0 && BUDGET.load(SeqCst) > 0 {
            BUDGET.fetch_sub(1, SeqCst);
        }
        assert!(BUDGET.load(SeqCst) > 0, "it gave up");
        writer.join().unwrap();
    }
    for (explorer, memory) in PAIRS {
        let report = rsmc::explore(&config(explorer, memory), body);
        let Verdict::Failed(failure) = &report.verdict else {
            panic!("{explorer} {memory}: {}", render(&report, None))
        };
        assert_eq!((failure.kind, failure.message.contains("it gave up")), (FailureKind::Panic, true), "{failure:?}");
        let replay = rsmc::explore(&config(explorer, memory).replay(failure.seed.clone()), body);
        let Verdict::Failed(again) = &replay.verdict else { panic!("{explorer} {memory}: {}", render(&replay, None)) };
        assert_eq!(again.message, failure.message);
    }
}

/// What the loop saw is kept in a static, and decides later what its thread does.
fn keeps_a_maximum() -> u32 {
    static MAXIMUM: StdAtomicU32 = StdAtomicU32::new(0);
    MAXIMUM.store(0, SeqCst);
    let (x, done) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (of_x, of_done) = (Arc::clone(&x), Arc::clone(&done));
    let writer = thread::spawn(move || {
        of_x.store(1, SeqCst);
        of_x.store(0, SeqCst);
        of_done.store(1, SeqCst);
    });
    while done.load(SeqCst) == 0 {
        MAXIMUM.fetch_max(x.load(SeqCst), SeqCst);
    }
    // Another operation, so that it shows what was kept.
    if MAXIMUM.load(SeqCst) == 1 {
        x.load(SeqCst);
    }
    writer.join().unwrap();
    MAXIMUM.load(SeqCst)
}

#[test]
fn a_loop_that_keeps_a_maximum_in_a_static() {
    for (explorer, memory) in PAIRS {
        assert_eq!(rsmc::outcomes(&config(explorer, memory), keeps_a_maximum), [0, 1], "{explorer} {memory}");
    }
}

/// A loop that keeps nothing is trusted: it has one execution.
#[test]
fn a_loop_that_keeps_nothing_is_left_alone() {
    for (explorer, memory) in PAIRS {
        let report = rsmc::explore(&config(explorer, memory), || {
            let x = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&x);
            let writer = thread::spawn(move || other.store(1, SeqCst));
            while x.load(SeqCst) == 0 {}
            writer.join().unwrap();
        });
        assert!(!render(&report, None).contains("keeps something where"), "{}", render(&report, None));
        assert!(
            explorer == Explorer::Exhaustive || report.executions == 1,
            "{explorer} {memory}: {}",
            report.executions
        );
    }
}
