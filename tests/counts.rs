//! Classes of programs whose counts are known, each run exactly once: reads-from under SC, and views under all models.

use rsmc::sync::atomic::Ordering::SeqCst;
use rsmc::{Config, Explorer, MemoryModel, Report, Verdict};

mod programs {
    use rsmc::sync::Arc;
    use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use rsmc::thread::{JoinHandle, spawn};

    include!("programs/bodies.rs");
}

fn explore(body: fn(usize), n: usize) -> Report {
    let config = Config::default().explorer(Explorer::ReadsFrom).memory(MemoryModel::Sc).keep_going(true);
    rsmc::explore(&config, move || body(n))
}

#[track_caller]
fn counts(body: fn(usize), expected: impl IntoIterator<Item = (usize, u64)>) {
    for (n, expected) in expected {
        let report = explore(body, n);
        assert!(matches!(report.verdict, Verdict::Verified), "n = {n}: {:?}", report.verdict);
        assert_eq!((report.executions, report.runs, report.blocked), (expected, expected, 0), "n = {n}");
    }
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// 2n over n.
fn central_binomial(n: u64) -> u64 {
    (1..=n).fold(1, |product, i| product * (n + i) / i)
}

#[test]
fn readinc() {
    counts(programs::readinc, [(2, 3), (3, 16), (4, 125), (5, 1_296), (6, 16_807)]);
}

#[test]
fn msv() {
    counts(programs::msv, (1..=7).map(|n| (n, central_binomial(n as u64))));
}

#[test]
fn readers() {
    counts(programs::readers, (1..=10).map(|n| (n, 1 << n)));
}

#[test]
fn ainc() {
    counts(programs::ainc, (1..=6).map(|n| (n, factorial(n as u64))));
}

#[test]
fn binc() {
    counts(programs::binc, [(2, 4), (3, 36), (4, 576)]);
}

#[test]
fn casrot() {
    counts(programs::casrot, [(2, 2), (3, 5), (4, 14), (5, 43), (6, 144), (7, 523), (8, 2_048)]);
}

#[test]
fn casw() {
    counts(programs::casw, [(2, 4), (3, 24), (4, 200), (5, 2_160)]);
}

#[test]
fn lastzero() {
    counts(programs::lastzero, [(2, 5), (3, 12), (5, 64), (8, 704), (10, 3_328)]);
}

#[test]
fn nwr() {
    counts(programs::nwr, (1..=8).map(|n| (n, n as u64 + 1)));
}

#[test]
fn sb() {
    counts(programs::sb, [(2, 3), (3, 7), (4, 15), (6, 63)]);
}

#[test]
fn treiber() {
    counts(programs::treiber, [(2, 46)]);
}

#[test]
fn msqueue() {
    counts(programs::msqueue, [(2, 222)]);
}

/// One execution per view class, under every model: the programs have no relaxed stores.
#[track_caller]
fn views(body: fn(usize), expected: impl IntoIterator<Item = (usize, u64)>) {
    for (n, expected) in expected {
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            let config = Config::default().explorer(Explorer::View).memory(memory).keep_going(true);
            let report = rsmc::explore(&config, move || body(n));
            assert!(matches!(report.verdict, Verdict::Verified), "n = {n}: {:?}", report.verdict);
            assert_eq!(report.executions, expected, "n = {n} under {memory}");
            // More than 32 equal loads in a row are taken as waiting, and let go in a run that is given up.
            assert_eq!(report.blocked, u64::from(n > 32), "n = {n} under {memory}");
        }
    }
}

/// Ordered Bell numbers; for 7 it is 47,293.
#[test]
fn views_of_readinc() {
    views(programs::readinc, [(2, 3), (3, 13), (4, 75), (5, 541), (6, 4_683)]);
}

#[test]
fn views_of_msv() {
    views(programs::msv, (1..=7).chain([200]).map(|n| (n, 1)));
}

/// Addresses differ from run to run, so they count by who wrote them: in a pointer, and in a number.
#[test]
fn views_of_addresses() {
    use rsmc::sync::atomic::{AtomicPtr, AtomicUsize};

    let config = Config::default().explorer(Explorer::View).memory(MemoryModel::Sc);
    let report = rsmc::explore(&config, || {
        let (pointer, number) = (AtomicPtr::new(std::ptr::null_mut()), AtomicUsize::new(0));
        rsmc::thread::scope(|scope| {
            for value in 0..2 {
                let (pointer, number) = (&pointer, &number);
                scope.spawn(move || {
                    let mut own = Box::new(value);
                    pointer.store(&raw mut *own, SeqCst);
                    number.store((&raw const *own).addr(), SeqCst);
                });
            }
            (pointer.load(SeqCst), number.load(SeqCst))
        });
    });
    assert!(matches!(report.verdict, Verdict::Verified), "{:?}", report.verdict);
    // Null or either thread's pointer, and then what is still possible of the number.
    assert_eq!(report.executions, 9);
}
