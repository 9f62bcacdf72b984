//! Bounds of preemptions in real code: the figures of `docs/explorers.md`.

use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use rsmc::{Config, MemoryModel, Verdict, explore, thread};

/// Three threads that add twice, by a load and a store.
fn counters() {
    let count = AtomicUsize::new(0);
    let add = || (0..2).for_each(|_| count.store(count.load(SeqCst) + 1, SeqCst));
    thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(add))));
}

/// Two threads that add the sum of both numbers to their own, four times.
fn sums() {
    let (own, other) = (AtomicUsize::new(1), AtomicUsize::new(1));
    let add = |to: &AtomicUsize| (0..4).for_each(|_| to.store(own.load(SeqCst) + other.load(SeqCst), SeqCst));
    thread::scope(|scope| {
        scope.spawn(|| add(&own));
        scope.spawn(|| add(&other));
    });
}

/// Four threads that take the first of two locks, the second, and the first again.
fn locks() {
    let (first, second) = (Mutex::new(0), Mutex::new(0));
    let add = || [&first, &second, &first].into_iter().for_each(|lock| *lock.lock().unwrap() += 1);
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(add))));
}

/// The executions with at most 0, 1, 2 and 3 preemptions, and without a bound.
fn executions(memory: MemoryModel, body: fn()) -> [u64; 5] {
    [Some(0), Some(1), Some(2), Some(3), None].map(|bound| {
        let config = Config::default().memory(memory);
        let report = explore(&bound.map_or(config.clone(), |most| config.preemption_bound(most)), body);
        assert!(matches!(report.verdict, Verdict::Verified), "{report:?}");
        report.executions
    })
}

#[test]
fn the_figures_of_the_page() {
    let page = std::fs::read_to_string("docs/explorers.md").expect("the page is there");
    let programs: [(&str, fn()); 3] = [("counters", counters), ("sums", sums), ("locks", locks)];
    for (name, body) in programs {
        for memory in [MemoryModel::Sc, MemoryModel::C11] {
            let found = executions(memory, body).map(|count| count.to_string()).join(" | ");
            let row = format!("| {name} | {memory} | {found} |");
            assert!(page.contains(&row), "the page has no row {row}");
        }
    }
}

/// No class is run twice while the bound rises, and in the end there is none.
#[test]
fn a_bound_that_rises_covers_all() {
    let report = explore(&Config::default().rising_preemption_bound(), sums);
    assert!(matches!(report.verdict, Verdict::Verified), "{report:?}");
    assert_eq!(report.executions, executions(MemoryModel::C11, sums)[4]);
}
