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
        let (x, end) = (AtomicU32::new(0), Instant::now() + Duration::from_millis(10));
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

thread_local! {
    static READERS: Cell<u32> = const { Cell::new(0) };
}

/// A reader of a structure that outlives the executions, as long as it is not dropped.
struct Reader;

impl Reader {
    fn new() -> Self {
        READERS.set(READERS.get() + 1);
        Self
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        READERS.set(READERS.get() - 1);
    }
}

/// A thread holds a reader while it waits in a loop. rsmc gives up the executions in which it learns about the loop,
/// and yet no reader is left behind.
fn waits_as_a_reader(body: fn(&AtomicU32)) {
    for (explorer, memory) in PAIRS {
        let report = rsmc::explore(&config(explorer, memory), move || {
            assert_eq!(READERS.get(), 0, "a reader of an earlier execution is left");
            let x = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&x);
            let writer = thread::spawn(move || other.store(1, SeqCst));
            body(&x);
            writer.join().unwrap();
        });
        assert!(matches!(report.verdict, Verdict::Verified), "{explorer} {memory}: {}", render(&report, None));
        assert_eq!(READERS.get(), 0, "{explorer} {memory}");
    }
}

#[test]
fn a_reader_that_waits_is_dropped() {
    waits_as_a_reader(|x| {
        let _reader = Reader::new();
        while x.load(SeqCst) == 0 {
            hint::spin_loop();
        }
    });
}

#[test]
fn a_reader_in_each_iteration_is_dropped() {
    waits_as_a_reader(|x| {
        loop {
            let _reader = Reader::new();
            if x.load(SeqCst) == 1 {
                break;
            }
            hint::spin_loop();
        }
    });
}

#[test]
fn a_reader_that_waits_in_a_loop_that_counts_is_dropped() {
    waits_as_a_reader(|x| {
        LOOKS.set(0);
        let _reader = Reader::new();
        while x.load(SeqCst) == 0 && LOOKS.get() < 10 {
            LOOKS.set(LOOKS.get() + 1);
            hint::spin_loop();
        }
    });
}

/// The same where counts of references, and the ends of threads, turn out to be observed.
#[test]
fn a_reader_is_dropped_where_more_is_observed() {
    waits_as_a_reader(|x| {
        let value = Arc::new(5);
        let other = Arc::clone(&value);
        let counter = thread::spawn(move || {
            let _reader = Reader::new();
            Arc::strong_count(&other)
        });
        let _reader = Reader::new();
        drop(value);
        while !counter.is_finished() {
            hint::spin_loop();
        }
        assert!((1..3).contains(&counter.join().unwrap()));
        while x.load(SeqCst) == 0 {
            hint::spin_loop();
        }
    });
}

/// Where a thread waits for ever, executions that are given up have no end, and only some of them go on.
#[test]
fn a_thread_that_never_ends_is_not_followed_for_long() {
    static LOOKS: StdAtomicU32 = StdAtomicU32::new(0);
    let config = Config::default().keep_going(true).shrink(0);
    let report = rsmc::explore(&config, || {
        let x = Arc::new(AtomicU32::new(0));
        let adders: Vec<_> = (0..3)
            .map(|_| {
                let x = Arc::clone(&x);
                thread::spawn(move || (0..3).for_each(|_| _ = x.fetch_add(1, SeqCst)))
            })
            .collect();
        while x.load(SeqCst) < 10 {
            LOOKS.fetch_add(1, SeqCst);
            hint::spin_loop();
        }
        adders.into_iter().for_each(|adder| adder.join().unwrap());
    });
    assert!(report.runs > 500, "{} runs", report.runs);
    let looks = LOOKS.load(SeqCst);
    assert!(looks > 10_000 && looks < 70 * 10_000, "{looks} looks in {} runs", report.runs);
}

/// A failure that ends the process, or a thread, is reported also where an execution has it that was given up.
#[test]
fn what_breaks_off_behind_a_loop_is_reported() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    fn recurse(depth: u64) -> u64 {
        if depth == u64::MAX { 0 } else { std::hint::black_box(depth + recurse(depth + 1)) }
    }
    fn kind(then: fn()) -> FailureKind {
        let report = rsmc::explore(&Config::default(), move || {
            let x = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&x);
            let writer = thread::spawn(move || other.store(1, SeqCst));
            while x.load(SeqCst) == 0 {
                hint::spin_loop();
            }
            then();
            writer.join().unwrap();
        });
        let Verdict::Failed(failure) = &report.verdict else { panic!("{}", render(&report, None)) };
        failure.kind
    }
    let aborts = || {
        let _panics = Panics;
        panic!("first");
    };
    assert_eq!(kind(aborts), FailureKind::Panic);
    assert_eq!(kind(|| _ = recurse(0)), FailureKind::StackOverflow);
}
