//! The common part of tests of checks.

pub mod child;
pub mod dice;
pub mod everywhere;
pub mod schema;
pub mod shared;
pub mod structure;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rsmc::{Config, Explorer, Failure, MemoryModel, Report, Verdict};

pub fn explore(body: impl Fn() + Sync) -> Report {
    rsmc::explore(&Config::default(), body)
}

#[track_caller]
pub fn failure(body: impl Fn() + Sync) -> Failure {
    match explore(body).verdict {
        Verdict::Failed(failure) => *failure,
        verdict => panic!("{verdict:?}"),
    }
}

#[track_caller]
pub fn verified(body: impl Fn() + Sync) -> Report {
    let report = explore(body);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
    report
}

/// As [`verified`], for threads that are meant to share nothing.
#[track_caller]
pub fn verified_alone(body: impl Fn() + Sync) -> Report {
    let report = rsmc::explore(&Config::default().allow_trivial(true), body);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
    assert!(report.threads > 1 && !report.shares, "{report:?}");
    report
}

/// Every explorer that proves, under every model that it knows.
pub fn pairs() -> impl Iterator<Item = Config> {
    use Explorer::{Exhaustive, ReadsFrom, ReadsValueFrom, View};
    use MemoryModel::{C11, Pso, Sc, Tso};
    let pairs = [
        (ReadsFrom, &[Sc, Tso, Pso, C11][..]),
        (Exhaustive, &[Sc, Tso, Pso, C11]),
        (View, &[Sc, Tso, Pso]),
        (ReadsValueFrom, &[Sc]),
    ];
    let with = |explorer| move |&memory: &MemoryModel| Config::default().explorer(explorer).memory(memory);
    pairs.into_iter().flat_map(move |(explorer, memories)| memories.iter().map(with(explorer)))
}

/// The results of a body in all executions, the same for every explorer and model; `spurious` is the setting.
#[track_caller]
pub fn results<T: Ord + Send + Clone + std::fmt::Debug>(spurious: u32, body: impl Fn() -> T + Sync) -> BTreeSet<T> {
    let mut all: Option<BTreeSet<T>> = None;
    for config in pairs() {
        let found = Mutex::new(BTreeSet::new());
        let config = config.spurious(spurious);
        let report = rsmc::explore(&config, || {
            let result = body();
            found.lock().unwrap().insert(result);
        });
        assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
        let found = found.into_inner().unwrap();
        let all = all.get_or_insert_with(|| found.clone());
        assert_eq!(*all, found, "{:?} {:?}", config.explorer, config.memory);
    }
    all.expect("there are explorers")
}

/// A value whose destructor does something.
pub struct OnDrop<F: Fn()>(pub F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

pub fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}
