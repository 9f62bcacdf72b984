//! Bounds of preemptions and delays in real code: the figures of `docs/explorers.md`.

use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use rsmc::{Config, Explorer, MemoryModel, Verdict, explore, thread};
use rsmc_core::report::{Counts, verified};

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

/// The executions with at most 0, 1, 2 and 3 preemptions, and without a bound of these.
fn executions(memory: MemoryModel, delays: Option<u32>, body: fn()) -> [u64; 5] {
    [Some(0), Some(1), Some(2), Some(3), None].map(|bound| {
        let mut config = Config::default().memory(memory);
        config.delay_bound = delays;
        let report = explore(&bound.map_or(config.clone(), |most| config.preemption_bound(most)), body);
        assert!(matches!(report.verdict, Verdict::Verified), "{report:?}");
        report.executions
    })
}

#[test]
fn the_figures_of_the_page() {
    let page = std::fs::read_to_string("docs/explorers.md").expect("the page is there");
    let mut missing = Vec::new();
    let programs: [(&str, fn()); 3] = [("counters", counters), ("sums", sums), ("locks", locks)];
    for (name, body) in programs {
        for (memory, delays) in [
            (MemoryModel::Sc, None),
            (MemoryModel::C11, Some(0)),
            (MemoryModel::C11, Some(1)),
            (MemoryModel::C11, None),
        ] {
            let found = executions(memory, delays, body).map(|count| count.to_string()).join(" | ");
            let bound = delays.map(|most| format!(", delay_bound = {most}")).unwrap_or_default();
            let row = format!("| {name} | {memory}{bound} | {found} |");
            missing.extend((!page.contains(&row)).then_some(row));
        }
    }
    assert!(missing.is_empty(), "the page lacks these rows:\n{}", missing.join("\n"));
}

/// A main thread that does something before it starts the others and after it has joined them cannot be interrupted, so
/// it is no reason to look further beyond the bound.
#[test]
fn a_main_thread_that_only_waits_costs_nothing() {
    let of = |works: bool, bound: u32, memory: MemoryModel| {
        let body = move || {
            let (own, other, mine) = (AtomicUsize::new(1), AtomicUsize::new(1), AtomicUsize::new(0));
            let add = |to: &AtomicUsize| (0..3).for_each(|_| to.store(own.load(SeqCst) + other.load(SeqCst), SeqCst));
            if works {
                mine.store(1, SeqCst);
            }
            thread::scope(|scope| {
                let threads = [scope.spawn(|| add(&own)), scope.spawn(|| add(&other))];
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            });
            if works {
                assert_eq!(mine.load(SeqCst), 1);
            }
        };
        let report = explore(&Config::default().memory(memory).preemption_bound(bound), body);
        assert!(matches!(report.verdict, Verdict::Verified), "{report:?}");
        report.executions
    };
    for memory in [MemoryModel::Sc, MemoryModel::C11] {
        for bound in 0..4 {
            assert_eq!(of(true, bound, memory), of(false, bound, memory), "{memory} {bound}");
        }
    }
}

/// No class is run twice while the bound rises, and in the end there is none.
#[test]
fn a_bound_that_rises_covers_all() {
    let report = explore(&Config::default().rising_preemption_bound(), sums);
    assert!(matches!(report.verdict, Verdict::Verified), "{report:?}");
    assert_eq!(report.executions, executions(MemoryModel::C11, None, sums)[4]);
}

#[test]
fn a_report_says_what_is_covered() {
    let said = |config: &Config| verified(&Counts::from(&explore(config, sums)));
    let delays = said(&Config::default().delay_bound(0));
    assert!(delays.starts_with("verified for all executions with at most 0 delays: 1107 classes"), "{delays}");
    let both = said(&Config::default().preemption_bound(1).delay_bound(1));
    let begins = "verified for all executions with at most 1 preemption and 1 delay: 132 classes (reads-from, c11)";
    assert!(both.starts_with(begins), "{both}");
}

#[test]
#[should_panic(expected = "`delay_bound` needs the explorer `reads-from`, and this check has `view`")]
fn other_explorers_have_no_bounds() {
    explore(&Config::default().explorer(Explorer::View).delay_bound(1), sums);
}
