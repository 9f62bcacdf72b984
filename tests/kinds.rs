//! Every kind of failure: the smallest example, its report in `kinds/<kind>.txt`, and a near miss that passes.
//! `RSMC_BLESS=1` rewrites the reports.

use std::cell::Cell as StdCell;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32 as StdAtomicU32, Ordering::*};
use std::time::Duration;

use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};
use rsmc::sync::{Arc, Mutex, MutexGuard};
use rsmc::{Config, FailureKind, Report, Seed, Verdict, thread};

/// A body that fails, and one that nearly does but passes.
struct Example {
    config: Config,
    fails: fn(),
    passes: fn(),
}

fn example(kind: FailureKind) -> Example {
    let config = Config::default();
    let of = |fails, passes| Example { config: config.clone(), fails, passes };
    match kind {
        FailureKind::Panic => of(|| update(false), || update(true)),
        FailureKind::Deadlock => of(|| transfer([0, 1], [1, 0]), || transfer([0, 1], [0, 1])),
        FailureKind::DataRace => of(|| publish(Relaxed), || publish(Release)),
        FailureKind::Livelock => of(|| wait_for(2), || wait_for(1)),
        FailureKind::StepLimit => Example { config: config.max_steps(20), fails: || add(30), passes: || add(20) },
        FailureKind::Nondeterminism => of(random, joined),
        FailureKind::StackOverflow => Example {
            config: config.stack_size(16 * 1024),
            fails: || assert_ne!(depth(1 << 20), 1),
            passes: || assert_eq!(depth(10), 11),
        },
        FailureKind::Crash => Example {
            config: config.jobs(2).divide_after(Duration::ZERO),
            fails: || abort_at(1),
            passes: || abort_at(2),
        },
        FailureKind::StaleSeed => Example { config: config.replay(seed()), fails: || add(1), passes: || update(false) },
        FailureKind::UseAfterFree => of(|| take_away(Look::Once), || take_away(Look::Never)),
        FailureKind::DoubleFree => of(|| take_twice(false), || take_twice(true)),
        FailureKind::Leak => of(|| std::mem::forget(Arc::new(1)), || drop(Arc::new(1))),
        FailureKind::ThreadLeft => {
            Example { config: config.check_joins(true), fails: || drop(thread::spawn(|| ())), passes: joined }
        }
        FailureKind::WrongThread => of(|| give_away(Drop::There), || give_away(Drop::Here)),
        FailureKind::Misuse => of(|| count(AtomicU32::new(0)), || drop(std::thread::spawn(|| ()).join())),
        FailureKind::NothingShared => of(of_std, || update(true)),
        kind => panic!("{kind:?} has no example"),
    }
}

/// Panic: an update in two steps is lost.
fn update(whole: bool) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                if whole {
                    x.fetch_add(1, SeqCst);
                } else {
                    x.store(x.load(SeqCst) + 1, SeqCst);
                }
            });
        }
    });
    assert_eq!(x.load(SeqCst), 2);
}

/// Deadlock: two locks in opposite orders.
fn transfer(one: [usize; 2], other: [usize; 2]) {
    let accounts = [Mutex::new(1), Mutex::new(2)];
    thread::scope(|scope| {
        for [from, to] in [one, other] {
            let accounts = &accounts;
            scope.spawn(move || {
                let from = accounts[from].lock().unwrap();
                let to = accounts[to].lock().unwrap();
                drop((from, to));
            });
        }
    });
}

/// Data race: a value is published without a release.
fn publish(order: std::sync::atomic::Ordering) {
    struct Mailbox(UnsafeCell<u32>, AtomicBool);
    // SAFETY: who reads the cell has seen the flag.
    unsafe impl Sync for Mailbox {}
    let mailbox = &Mailbox(UnsafeCell::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(move || {
            // SAFETY: nobody reads before the flag is set.
            mailbox.0.with_mut(|value| unsafe { *value = 7 });
            mailbox.1.store(true, order);
        });
        if mailbox.1.load(Acquire) {
            // SAFETY: the flag is set, so nobody writes any more.
            mailbox.0.with(|value| assert_eq!(unsafe { *value }, 7));
        }
    });
}

/// Whether a reader looks at what may be taken away.
enum Look {
    Once,
    Never,
}

/// Use after free: what one thread frees, another one has just found.
fn take_away(look: Look) {
    let shared = AtomicPtr::new(Box::into_raw(Box::new(AtomicU32::new(1))));
    thread::scope(|scope| {
        // SAFETY: nobody else frees it.
        scope.spawn(|| drop(unsafe { Box::from_raw(shared.swap(null_mut(), AcqRel)) }));
        let found = shared.load(Acquire);
        if matches!(look, Look::Once) && !found.is_null() {
            // SAFETY: none; this is the mistake.
            unsafe { (*found).load(Relaxed) };
        }
    });
}

/// Double free: two threads find the same, and both free it.
fn take_twice(at_once: bool) {
    let shared = AtomicPtr::new(Box::into_raw(Box::new(AtomicU32::new(1))));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let found = if at_once { shared.swap(null_mut(), AcqRel) } else { shared.load(Acquire) };
                shared.store(null_mut(), Release);
                if !found.is_null() {
                    // SAFETY: nobody else has it if it was taken at once; otherwise this is the mistake.
                    drop(unsafe { Box::from_raw(found) });
                }
            });
        }
    });
}

/// Livelock: a loop waits for a value that nobody writes.
fn wait_for(value: u32) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| x.store(1, Release));
        while x.load(Acquire) != value {
            rsmc::hint::spin_loop();
        }
    });
}

/// Step limit: too many operations.
fn add(times: u32) {
    let x = AtomicU32::new(0);
    (0..times).for_each(|_| drop(x.fetch_add(1, Relaxed).to_string()));
}

/// Nondeterminism: the body knows how often it has run.
fn random() {
    std::thread_local! { static RUNS: StdAtomicU32 = const { StdAtomicU32::new(0) } } // a check has a thread
    let (x, even) = (AtomicU32::new(0), RUNS.with(|runs| runs.fetch_add(1, Relaxed).is_multiple_of(2)));
    thread::scope(|scope| {
        scope.spawn(|| x.store(1, Relaxed));
        if even { drop(x.load(Relaxed).to_string()) } else { x.store(2, Relaxed) }
    });
}

/// Near misses: the same in every run, and joined.
fn joined() {
    let x = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&x);
    let writer = thread::spawn(move || other.store(1, Relaxed));
    x.load(Relaxed);
    writer.join().unwrap();
}

/// Nothing shared: the atomic is std's.
fn of_std() {
    let x = StdAtomicU32::new(0);
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(|| x.fetch_add(1, Relaxed)))));
}

/// Stack overflow: a recursion that is deep for the stack.
fn depth(left: u32) -> u32 {
    let here = std::hint::black_box(StdCell::new([left; 64]));
    if left == 0 { 1 } else { 1 + depth(here.get()[7] - 1) }
}

/// Crash: an abort in one of two executions.
fn abort_at(value: u32) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| x.store(1, Relaxed));
        if x.load(Relaxed) == value {
            std::process::abort();
        }
    });
}

/// Stale seed: the schedule is one of another test.
fn seed() -> Seed {
    match rsmc::explore(&Config::default(), || update(false)).verdict {
        Verdict::Failed(failure) => failure.seed,
        verdict => panic!("{verdict:?}"),
    }
}

/// The place where a guard is dropped.
#[derive(PartialEq)]
enum Drop {
    Here,
    There,
}

/// Wrong thread: a guard that was smuggled into another thread.
fn give_away(at: Drop) {
    struct Smuggled<'a>(MutexGuard<'a, u32>);
    // SAFETY: what happens then is what the test is about.
    unsafe impl Send for Smuggled<'_> {}
    let lock = Mutex::new(1);
    let guard = Smuggled(lock.lock().unwrap());
    if at == Drop::Here {
        return drop(guard);
    }
    thread::scope(|scope| {
        scope.spawn(move || drop({ guard }.0));
    });
}

/// Misuse: a real thread uses an object of the body.
fn count(x: AtomicU32) {
    x.store(1, Relaxed);
    std::thread::scope(|scope| drop(scope.spawn(|| x.fetch_add(1, Relaxed)).join()));
}

/// A report as if no time had passed.
fn without_time(mut report: Report) -> Report {
    report.elapsed = Duration::ZERO;
    report
}

/// The report, without what changes from time to time, and when code is added above an example: the seed.
fn report(config: &Config, body: fn()) -> (Verdict, String) {
    let report = without_time(rsmc::explore(config, body));
    let text = rsmc::render(&report, Some("example"));
    let line = |line: &str| match line.split_once("RSMC_REPLAY=") {
        Some((before, after)) => {
            let after = after.split_once(' ').map_or("", |(_, after)| after);
            format!("{before}RSMC_REPLAY=<seed> {after}").trim_end().to_owned()
        }
        None => line.trim_end().to_owned(),
    };
    let text: Vec<String> = text.lines().map(line).collect();
    (report.verdict, text.join("\n") + "\n")
}

fn check_golden(kind: FailureKind, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kinds/{kind:?}.txt"));
    if std::env::var_os("RSMC_BLESS").is_some() {
        std::fs::write(&path, text).expect("the file can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(golden == text, "{kind:?}.txt differs (RSMC_BLESS=1 rewrites it); the report is now\n\n{text}");
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "wider than 80 columns: {wide:#?}");
}

#[test]
fn every_kind_has_an_example_and_a_near_miss() {
    for &kind in FailureKind::ALL {
        let Example { config, fails, passes } = example(kind);
        let (verdict, text) = report(&config, fails);
        let Verdict::Failed(failure) = verdict else { panic!("{kind:?}: {verdict:?}") };
        assert_eq!(failure.kind, kind, "{text}");
        check_golden(kind, &text);
        let (verdict, text) = report(&config, passes);
        // The near miss of a stale seed is the seed of the same test, which fails as it did.
        let is_replay = matches!(&verdict, Verdict::Failed(again) if again.kind == FailureKind::Panic);
        let passed = matches!(verdict, Verdict::Verified) || (kind == FailureKind::StaleSeed && is_replay);
        assert!(passed, "{kind:?}: {text}");
    }
}

mod pictures;
mod problems;

/// A waker in memory that the other thread frees, after both have said that they close. The use is within a call that
/// does not return, so it has no row: the report names the next one of its thread. And where the compiler has made a
/// jump of the call that frees, no function of another crate stands for it.
#[test]
fn a_use_after_free_within_a_call() {
    struct Shared {
        is_open: AtomicBool,
        waker: rsmc::future::AtomicWaker,
    }
    let report = rsmc::explore(&Config::default(), || {
        let shared = Box::new(Shared { is_open: AtomicBool::new(true), waker: rsmc::future::AtomicWaker::new() });
        let shared = AtomicPtr::new(Box::into_raw(shared));
        let close = || {
            let shared = shared.load(Relaxed);
            // SAFETY: none; the memory may be freed.
            unsafe {
                let was_open = (*shared).is_open.swap(false, SeqCst);
                (*shared).waker.wake();
                if !was_open {
                    drop(Box::from_raw(shared));
                }
            }
        };
        thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(close))));
    });
    let text = rsmc::render(&report, None);
    assert!(text.contains("uses waker") && !text.contains("generator"), "{text}");
    let used = text.lines().find(|line| line.contains("uses waker at")).expect("the use has a line");
    let number = used.rsplit_once("(#").expect("it has a row").1.trim_end_matches(')');
    let user = used.split_whitespace().next().unwrap();
    let mut rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert!(rows.any(|row| row.starts_with(&["✗", number]) && row.ends_with(&[user, "panic"])), "{text}");
}
