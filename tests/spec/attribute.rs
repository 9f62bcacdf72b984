//! `#[rsmc::spec]`: it makes the specification that the builder makes, and tests of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rsmc::spec::{Covered, Criterion, DefaultValues, Spec, SpecReport, opaque, symmetric};
use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::examples::algorithms::chase_lev::{Deque, Stolen};
use crate::spec::NEVER_OVER;
use crate::spec::counter::Counter;
use crate::spec::semaphore::{Semaphore, Set};

/// All that two checks of the same specification have in common.
fn figures(report: &SpecReport) -> (Vec<Covered>, usize, u64, Option<String>) {
    assert!(report.scenario.is_some() || report.is_complete(), "{report}");
    let calls = report.covered.clone();
    (calls, report.ordered, report.report.executions, report.scenario.clone())
}

#[track_caller]
fn assert_same<T: Sync, M: Clone + PartialEq>(attribute: Spec<T, M>, builder: Spec<T, M>) {
    assert_eq!(format!("{attribute:?}"), format!("{builder:?}"), "the operations");
    assert_eq!(figures(&attribute.explore()), figures(&builder.budget(NEVER_OVER).explore()));
}

#[rsmc::spec(calls = 2, budget = "10m", key in symmetric([1, 2]))]
mod set {
    use super::*;

    pub(super) fn new() -> Set {
        Set::default()
    }

    #[op]
    fn insert(set: &mut BTreeSet<u8>, key: u8) -> bool {
        set.insert(key)
    }

    #[op(call = |set, key| set.remove(*key))]
    fn remove(set: &mut BTreeSet<u8>, key: &u8) -> bool {
        set.remove(key)
    }

    #[op(key in [1, 2], call = Set::contains)]
    fn contains(set: &mut BTreeSet<u8>, key: u8) -> bool {
        set.contains(&key)
    }
}

/// The keys of two operations are the same ones, though of two types; the third one says another thing.
#[test]
fn values_of_a_name() {
    let keys = symmetric([1, 2]);
    let builder = Spec::new(Set::default, BTreeSet::new)
        .op("insert", keys.clone(), |set: &Set, &key| set.insert(key), |model, &key| model.insert(key))
        .op("remove", keys, |set, &key| set.remove(key), |model, key| model.remove(key))
        .op("contains", [1, 2], |set, &key| set.contains(key), |model, key| model.contains(key));
    assert_same(set::spec(), builder.calls(2));
}

#[rsmc::spec(calls = 3, threads = 2, init = 1, end = 1, budget = "10m")]
mod deque {
    use super::*;

    pub(super) fn new() -> Deque {
        Deque::new(4)
    }

    fn model() -> VecDeque<u32> {
        VecDeque::new()
    }

    #[op(value in opaque(1..), on_one_thread = "owner")]
    fn push(deque: &mut VecDeque<u32>, value: u32) {
        deque.push_back(value);
    }

    #[op(on_one_thread = "owner")]
    fn take(deque: &mut VecDeque<u32>) -> Option<u32> {
        deque.pop_back()
    }

    #[op_where]
    fn steal(deque: &mut VecDeque<u32>, stolen: &Stolen) -> bool {
        match stolen {
            Stolen::Lost => true,
            other => deque.pop_front() == other.element(),
        }
    }
}

#[test]
fn operations_of_one_thread() {
    let builder = super::deque(Deque::take, Deque::steal).calls(3).threads(2).init(1).end(1);
    assert_same(deque::spec(), builder);
}

#[rsmc::spec(calls = 3, budget = "10m")]
mod semaphore {
    use super::*;

    pub(super) fn new() -> Semaphore {
        Semaphore::default()
    }

    #[blocking]
    fn acquire(permits: &mut u32) -> Option<()> {
        *permits = permits.checked_sub(1)?;
        Some(())
    }

    #[op]
    fn release(permits: &mut u32) {
        *permits += 1;
    }
}

#[test]
fn operations_that_wait() {
    assert_same(semaphore::spec(), super::permits(Semaphore::release).calls(3));
}

/// A failure has the same scenario, and memory models have a test each.
#[rsmc::spec(calls = 3, budget = "10m", memory = ["sc", "c11"])]
#[should_panic(expected = "increment() !a | ?a sum()")]
mod counter {
    use super::*;

    pub(super) fn new() -> Counter {
        Counter::new()
    }

    #[op]
    fn increment(count: &mut u32) {
        *count += 1;
    }

    #[op]
    fn sum(count: &mut u32) -> u32 {
        *count
    }
}

#[rsmc::spec(criterion = "sequentially-consistent", calls = 2, budget = "10m", explorer = "exhaustive", memory = "sc")]
mod counter_by_itself {
    use super::*;

    pub(super) fn new() -> Counter {
        Counter::new()
    }

    #[op]
    fn increment(count: &mut u32) {
        *count += 1;
    }

    #[op]
    fn sum(count: &mut u32) -> u32 {
        *count
    }

    /// The test has the name of the criterion.
    #[allow(unused_imports)]
    use sequentially_consistent as _;
}

#[test]
fn criteria_and_configurations() {
    assert_same(counter::spec().calls(2), super::counter().calls(2));
    let config = rsmc::Config::default().explorer(rsmc::Explorer::Exhaustive).memory(rsmc::MemoryModel::Sc);
    let builder = super::counter().calls(2).config(config).criterion(Criterion::SequentiallyConsistent);
    assert_same(counter_by_itself::spec(), builder);
}

#[rsmc::spec(calls = 2, budget = "10m")]
#[should_panic(expected = "three are too many")]
mod sum {
    use super::*;

    pub(super) fn new() -> AtomicU8 {
        AtomicU8::new(0)
    }

    #[op(call = |sum, by| { sum.fetch_add(by, Relaxed); })]
    fn add(sum: &mut u8, by: u8) {
        *sum += by;
    }

    #[validate]
    fn is_small(sum: &AtomicU8) {
        assert!(sum.load(Relaxed) < 3, "three are too many");
    }
}

/// Looks at the structure come last; integers are 1 and 2.
#[test]
fn looks_at_the_end() {
    let scenario = sum::spec().explore().scenario;
    let too_many = ["add(1), add(2)", "add(2), add(1)", "add(2), add(2)"];
    assert!(too_many.contains(&scenario.as_deref().unwrap_or_default()), "{scenario:?}");
}

/// A map behind a lock, with texts in it.
#[derive(Default)]
struct Texts(Mutex<BTreeMap<(u8, bool), String>>);

impl Texts {
    fn insert(&self, key: u8, side: bool, text: &str) -> Option<String> {
        self.0.lock().unwrap().insert((key, side), text.to_owned())
    }

    fn get(&self, (key, side): (u8, bool)) -> Option<String> {
        self.0.lock().unwrap().get(&(key, side)).cloned()
    }
}

#[rsmc::spec(calls = 1, budget = "10m", allow_trivial = true)]
mod texts {
    use super::*;

    type Model = BTreeMap<(u8, bool), String>;

    pub(super) fn new() -> Texts {
        Texts::default()
    }

    #[op]
    fn insert(texts: &mut Model, key: u8, side: bool, text: &str) -> Option<String> {
        texts.insert((key, side), text.to_owned())
    }

    #[op(key in [(1, true)])]
    fn get(texts: &mut Model, mut key: (u8, bool)) -> Option<String> {
        key.0 += 0;
        texts.get(&key).cloned()
    }

    #[cfg(any())]
    #[op]
    fn there_is_none(texts: &mut Model) {}
}

#[test]
fn several_arguments() {
    let report = texts::spec().explore();
    assert_eq!(report.covered[0].scenarios, 2 * 2 * 2 + 1, "{report}");
    rsmc::check(|| texts::spec().execute("insert(2, true, \"b\"), get(1, true) | insert(1, false, \"a\")"));
    assert_eq!(format!("{:?}", texts::spec()), "Spec { operations: [\"insert\", \"get\"], .. }");
}

#[rsmc::spec(calls = 2, budget = "10m")]
#[should_panic(expected = "not lock-free")]
mod progress {
    use super::*;

    #[derive(Default)]
    pub(super) struct Sum(Mutex<u32>);

    impl Sum {
        fn add(&self, number: u32) {
            *self.0.lock().unwrap() += number;
        }

        fn get(&self) -> u32 {
            *self.0.lock().unwrap()
        }
    }

    pub(super) fn new() -> Sum {
        Sum::default()
    }

    #[op(number in [1])]
    fn add(sum: &mut u32, number: u32) {
        *sum += number;
    }

    #[op(lock_free)]
    fn get(sum: &mut u32) -> u32 {
        *sum
    }
}

#[test]
fn progress_of_operations() {
    // Others wait for a thread in `get`, and for one in `add` they may.
    assert_eq!(progress::spec().explore().scenario.as_deref(), Some("add(1) | get() @1"));
}

#[test]
fn default_values_are_few() {
    assert_eq!(Option::<bool>::default_values(), [None, Some(false), Some(true)]);
    assert_eq!(<&str>::default_values(), String::default_values());
}
