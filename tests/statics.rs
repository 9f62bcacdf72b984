//! Statics in a check: every execution finds their first values, checks at once keep apart, and code outside finds what
//! it left.
#![cfg(target_os = "linux")]

use std::sync::atomic::{AtomicUsize as StdAtomicUsize, Ordering::Relaxed as StdRelaxed};

use crate::support::{OnDrop, count, verified};
use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicUsize, Ordering::*};
use rsmc::sync::{LazyLock, Mutex, OnceLock, RwLock};
use rsmc::{Config, Explorer, FailureKind, Report, Verdict, thread};

/// A cell that its users keep others from.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: the tests access it under a lock, or before they start threads.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: see above.
        self.0.with_mut(|value| change(unsafe { &mut *value }))
    }
}

fn random(executions: u64, body: impl Fn() + Sync) -> Report {
    let report = rsmc::explore(&Config::default().explorer(Explorer::Random).max_executions(executions), body);
    assert!(matches!(report.verdict, Verdict::Incomplete(_)), "{}", rsmc::render(&report, None));
    assert_eq!(report.executions, executions);
    report
}

mod all {
    use super::*;

    pub static X: AtomicUsize = AtomicUsize::new(7);
    pub static M: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    pub static R: RwLock<(u32, Option<Box<u32>>)> = RwLock::new((3, None));
    pub static CELL: Shared<[u64; 3]> = Shared::new([1, 2, 3]);
    pub static LIST: Shared<Option<String>> = Shared::new(None);
    pub static NAMES: Mutex<(&str, Vec<String>)> = Mutex::new(("first", Vec::new()));
    pub static LAZY: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![5]));
    pub static ONCE: OnceLock<String> = OnceLock::new();
    rsmc::thread_local!(pub static LOCAL: std::cell::Cell<u32> = const { std::cell::Cell::new(9) });

    /// Expects the first values, and leaves others.
    pub fn use_all() {
        assert_eq!(X.load(SeqCst), 7);
        assert!(M.lock().unwrap().is_empty());
        assert_eq!(*R.read().unwrap(), (3, None));
        CELL.change(|cell| assert_eq!(*cell, [1, 2, 3]));
        LIST.change(|list| assert_eq!(*list, None));
        assert_eq!(*NAMES.lock().unwrap(), ("first", vec![]));
        assert_eq!(*LAZY.lock().unwrap(), [5]);
        assert_eq!((ONCE.get(), LOCAL.get()), (None, 9));
        thread::scope(|scope| {
            scope.spawn(change_all);
            change_all();
        });
        assert_eq!(X.load(SeqCst), 9);
        assert_eq!((M.lock().unwrap().len(), LAZY.lock().unwrap().len()), (2, 3));
        assert_eq!(*R.read().unwrap(), (5, Some(Box::new(5))));
        CELL.change(|cell| assert_eq!(cell[2], 5));
        LIST.change(|list| assert_eq!(list.as_deref(), Some("xx")));
        assert_eq!((ONCE.get().map(String::len), LOCAL.get()), (Some(4), 10));
    }

    fn change_all() {
        X.fetch_add(1, SeqCst);
        let mut all = M.lock().unwrap();
        all.push(1);
        CELL.change(|cell| cell[2] += 1);
        LIST.change(|list| list.get_or_insert_default().push('x'));
        drop(all);
        let mut both = R.write().unwrap();
        both.0 += 1;
        both.1 = Some(Box::new(both.0));
        drop(both);
        let mut names = NAMES.lock().unwrap();
        let other = if names.0 == "first" { "second" } else { "third" };
        names.1.push(other.to_owned());
        names.0 = other;
        drop(names);
        LAZY.lock().unwrap().push(6);
        ONCE.get_or_init(|| "once".to_owned());
        LOCAL.set(LOCAL.get() + 1);
    }
}

#[test]
fn a_thousand_executions_find_the_same_values() {
    random(1_000, all::use_all);
    verified(all::use_all);
    // So does code outside.
    assert_eq!((all::X.load(SeqCst), &**all::M.lock().unwrap()), (7, &[][..]));
    assert_eq!(*all::R.read().unwrap(), (3, None));
    assert!(all::ONCE.get().is_none() && all::NAMES.lock().unwrap().0 == "first");
    all::CELL.change(|cell| assert_eq!(*cell, [1, 2, 3]));
}

type Calls = OnDrop<fn()>;

/// A value that counts how many of its kind are dropped.
struct Counted(&'static StdAtomicUsize, u32);

impl Counted {
    fn new(made: &StdAtomicUsize, dropped: &'static StdAtomicUsize, number: u32) -> Self {
        count(made);
        Self(dropped, number)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        count(self.0);
    }
}

#[test]
fn what_executions_leave_is_dropped_once_or_left() {
    static MADE: StdAtomicUsize = StdAtomicUsize::new(0);
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    static M: Mutex<Vec<Counted>> = Mutex::new(Vec::new());
    static R: RwLock<Option<Counted>> = RwLock::new(None);
    static CELL: Shared<Option<Counted>> = Shared::new(None);
    static OTHER: Mutex<u32> = Mutex::new(0);
    let make = |number| Counted::new(&MADE, &DROPPED, number);
    let report = rsmc::explore(&Config::default().keep_going(true), || {
        assert!(M.lock().unwrap().is_empty() && R.read().unwrap().is_none());
        CELL.change(|cell| assert!(cell.replace(make(0)).is_none()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut all = M.lock().unwrap();
                all.push(make(1));
                *OTHER.lock().unwrap() += 1;
            });
            let mut other = OTHER.lock().unwrap();
            let mut all = M.lock().unwrap();
            all.push(make(2));
            *R.write().unwrap() = Some(make(3));
            *other += 1;
            drop((all, other));
            assert_ne!(M.lock().unwrap().first().unwrap().1, 1, "the thread came first");
        });
    });
    let Verdict::Failed(failure) = &report.verdict else { panic!("{report:?}") };
    assert!([FailureKind::Panic, FailureKind::Deadlock].contains(&failure.kind), "{failure:?}");
    // One deadlock, one panic; the thread comes after the first use of `M` by the other, or after the second.
    assert_eq!((report.executions, report.failures), (4, 2));
    // Where threads are stuck, or a run is given up, values are left. Elsewhere all four are dropped.
    let (made, dropped) = (MADE.load(StdRelaxed), DROPPED.load(StdRelaxed));
    assert!((4 * 3..made).contains(&dropped), "{dropped} of {made}");
    assert!(M.lock().unwrap().is_empty() && R.read().unwrap().is_none() && *OTHER.lock().unwrap() == 0);
    CELL.change(|cell| assert!(cell.is_none()));
}

#[test]
fn two_checks_at_once_keep_apart() {
    static M: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static R: RwLock<u64> = RwLock::new(40);
    static CELL: Shared<u32> = Shared::new(5);
    let body = |first_lock: bool| {
        move || {
            if first_lock {
                assert_eq!(M.lock().unwrap().len(), 0);
            }
            CELL.change(|cell| assert_eq!(std::mem::replace(cell, 6), 5));
            assert_eq!(*R.read().unwrap(), 40);
            thread::scope(|scope| {
                for own in 1..=2 {
                    scope.spawn(move || {
                        M.lock().unwrap().push(own);
                        *R.write().unwrap() += 1;
                    });
                }
            });
            let all = M.lock().unwrap();
            assert!(matches!(**all, [1, 2] | [2, 1]), "{all:?}");
            assert_eq!((*R.read().unwrap(), CELL.change(|cell| *cell)), (42, 6));
        }
    };
    let alone = verified(body(true)).executions;
    assert!(alone > 2, "{alone}");
    std::thread::scope(|scope| {
        for first_lock in [true, false] {
            let rounds = move || (0..20).for_each(|_| assert_eq!(verified(body(first_lock)).executions, alone));
            scope.spawn(rounds);
        }
    });
    assert_eq!((M.lock().unwrap().len(), *R.read().unwrap()), (0, 40));
}

#[test]
fn code_outside_keeps_out_of_an_execution_and_loses_nothing() {
    static M: Mutex<u64> = Mutex::new(0);
    static R: RwLock<u64> = RwLock::new(0);
    const OUTSIDE: u64 = 300;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..OUTSIDE {
                *M.lock().unwrap() += 1;
                *R.write().unwrap() += 1;
                std::thread::yield_now();
            }
        });
        let report = random(1_000, || {
            *M.lock().unwrap() = 1 << 40;
            *R.write().unwrap() = 1 << 40;
            let add = || {
                *M.lock().unwrap() += 1;
                *R.write().unwrap() += 1;
            };
            thread::scope(|scope| {
                scope.spawn(add);
                add();
            });
            assert_eq!((*M.lock().unwrap(), *R.read().unwrap()), ((1 << 40) + 2, (1 << 40) + 2));
        });
        assert_eq!(report.failures, 0);
    });
    assert_eq!((*M.lock().unwrap(), *R.read().unwrap()), (OUTSIDE, OUTSIDE));
}

#[test]
fn what_ordinary_code_left_is_put_back_only_if_a_copy_may_stand_for_it() {
    static NUMBER: Mutex<(u32, Option<bool>)> = Mutex::new((1, None));
    static OWNS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static COUNTS: Mutex<Option<Counted>> = Mutex::new(None);
    static ALONE: Mutex<Option<&mut u32>> = Mutex::new(None);
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    static MADE: StdAtomicUsize = StdAtomicUsize::new(0);
    *NUMBER.lock().unwrap() = (30_000, Some(true));
    *OWNS.lock().unwrap() = vec![1];
    *COUNTS.lock().unwrap() = Some(Counted::new(&MADE, &DROPPED, 0));
    *ALONE.lock().unwrap() = Some(Box::leak(Box::new(7)));
    let taken = StdAtomicUsize::new(0);
    random(1_000, || {
        assert_eq!(std::mem::take(&mut *NUMBER.lock().unwrap()), (30_000, Some(true)));
        OWNS.lock().unwrap().push(2);
        COUNTS.lock().unwrap().as_mut().unwrap().1 += 1;
        // Who has taken the reference has it alone.
        if ALONE.lock().unwrap().take().is_some() {
            count(&taken);
        }
    });
    assert_eq!(*NUMBER.lock().unwrap(), (30_000, Some(true)));
    assert_eq!(OWNS.lock().unwrap().len(), 1_001);
    assert_eq!(COUNTS.lock().unwrap().as_ref().unwrap().1, 1_000);
    assert_eq!((taken.load(StdRelaxed), DROPPED.load(StdRelaxed)), (1, 0));
}

/// Such a value was made by code that can make it once only.
#[test]
fn what_was_made_in_the_place_of_a_static_stays() {
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    static LATER: std::sync::LazyLock<Mutex<Calls>> =
        std::sync::LazyLock::new(|| Mutex::new(OnDrop(|| count(&DROPPED))));
    static NUMBER: std::sync::LazyLock<Mutex<u32>> = std::sync::LazyLock::new(|| Mutex::new(0));
    random(100, || {
        let _ = LATER.lock().unwrap().0;
        *NUMBER.lock().unwrap() += 1;
    });
    assert_eq!((DROPPED.load(StdRelaxed), *NUMBER.lock().unwrap()), (0, 100));
}

#[test]
fn a_destructor_finds_the_first_value_of_its_own_static() {
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    static POOL: Mutex<Vec<Calls>> = Mutex::new(Vec::new());
    static TABLE: LazyLock<Mutex<Vec<Calls>>> = LazyLock::new(Mutex::default);
    fn returns() {
        count(&DROPPED);
        let mut pool = POOL.lock().unwrap();
        assert_eq!(pool.len(), 0);
        pool.push(OnDrop(|| TABLE.lock().unwrap().push(OnDrop(|| count(&DROPPED)))));
    }
    let report = random(100, || {
        assert_eq!((POOL.lock().unwrap().len(), TABLE.lock().unwrap().len()), (0, 0));
        POOL.lock().unwrap().push(OnDrop(returns));
    });
    assert_eq!(DROPPED.load(StdRelaxed) as u64, 2 * report.runs);
    assert_eq!(POOL.lock().unwrap().len(), 0);
}

#[test]
fn a_destructor_that_panics_keeps_nothing_from_being_put_back() {
    static POOL: Mutex<Vec<Calls>> = Mutex::new(Vec::new());
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    static OTHER: Mutex<Option<Counted>> = Mutex::new(None);
    static MADE: StdAtomicUsize = StdAtomicUsize::new(0);
    let report = random(100, || {
        assert!(POOL.lock().unwrap().is_empty() && OTHER.lock().unwrap().is_none());
        POOL.lock().unwrap().push(OnDrop(|| panic!("not ready")));
        *OTHER.lock().unwrap() = Some(Counted::new(&MADE, &DROPPED, 0));
    });
    assert_eq!((DROPPED.load(StdRelaxed) as u64, MADE.load(StdRelaxed) as u64), (report.runs, report.runs));
}

/// What it gave access to may still be in use, so it is not dropped.
#[test]
fn the_value_behind_a_forgotten_guard_is_leaked() {
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    static MADE: StdAtomicUsize = StdAtomicUsize::new(0);
    static M: Mutex<Vec<Counted>> = Mutex::new(Vec::new());
    static R: RwLock<Vec<Counted>> = RwLock::new(Vec::new());
    let report = random(100, || {
        let (mut m, mut r) = (M.lock().unwrap(), R.write().unwrap());
        assert_eq!((m.len(), r.len()), (0, 0));
        m.push(Counted::new(&MADE, &DROPPED, 0));
        r.push(Counted::new(&MADE, &DROPPED, 0));
        std::mem::forget((m, r));
    });
    assert_eq!((MADE.load(StdRelaxed) as u64, DROPPED.load(StdRelaxed)), (2 * report.runs, 0));
}

#[test]
fn an_unsized_view_of_a_static_is_put_back() {
    static ALL: Mutex<[u32; 2]> = Mutex::new([1, 2]);
    verified(|| {
        let view: &Mutex<[u32]> = &ALL;
        thread::scope(|scope| {
            scope.spawn(|| view.lock().unwrap()[0] += 1);
            view.lock().unwrap()[1] += 1;
        });
        assert_eq!(*ALL.lock().unwrap(), [2, 3]);
    });
    assert_eq!(*ALL.lock().unwrap(), [1, 2]);
}

/// A value that is not `Sync` and has something to drop.
struct Noisy(std::cell::Cell<u32>);

static NOISES: StdAtomicUsize = StdAtomicUsize::new(0);

impl Drop for Noisy {
    fn drop(&mut self) {
        NOISES.fetch_add(1, StdRelaxed);
    }
}

rsmc_shim::__lazy_static! {
    static ref NOISY: Noisy = Noisy(std::cell::Cell::new(1));
}

/// That of `lazy_static!` in the crates that have loom's and shuttle's API.
#[test]
fn a_lazy_static_is_made_and_dropped_in_each_execution() {
    let report = verified(|| {
        let turn = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                NOISY.0.set(NOISY.0.get() + 1);
                turn.store(1, SeqCst);
            });
            turn.load(SeqCst);
        });
        assert_eq!(NOISY.0.get(), 2);
    });
    assert_eq!(NOISES.load(StdRelaxed) as u64, report.runs);
}
