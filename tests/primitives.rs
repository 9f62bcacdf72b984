//! Primitives other than atomics and locks, in a check: what is explored, what is reported, what starts anew.

use std::sync::atomic::{AtomicUsize as StdAtomicUsize, Ordering::Relaxed as StdRelaxed};
use std::time::Duration;

use crate::support::{OnDrop, count, explore, failure, pairs, verified};
use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::sync::{Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock};
use rsmc::{Config, FailureKind, Verdict, thread};

#[test]
fn locals_start_anew_and_are_dropped_where_a_thread_ends() {
    use std::cell::RefCell;
    static MADE: StdAtomicUsize = StdAtomicUsize::new(0);
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            count(&DROPPED);
        }
    }
    rsmc::thread_local! {
        static OWN: Counted = {
            count(&MADE);
            Counted
        };
        static LAST: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
    }
    static LOCK: Mutex<()> = Mutex::new(());
    // A thread that ends with a guard in a local gives the lock back; one that is stuck is left with it.
    let report = rsmc::explore(&Config::default().keep_going(true), || {
        let take = || OWN.with(|_| LAST.set(Some(LOCK.lock().unwrap())));
        let threads = [thread::spawn(take), thread::spawn(take)];
        OWN.with(|_| ());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        take();
        let stuck = thread::spawn(take);
        stuck.join().unwrap();
    });
    assert!(matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock));
    assert_eq!((report.executions, report.failures), (2, 2));
    let (runs, made, dropped) = (report.runs + report.extra_runs, MADE.load(StdRelaxed), DROPPED.load(StdRelaxed));
    assert_eq!((made as u64, dropped as u64), (4 * runs, 2 * runs));
}

#[test]
fn once_types_of_statics_start_anew() {
    static MADE: StdAtomicUsize = StdAtomicUsize::new(0);
    static DROPPED: StdAtomicUsize = StdAtomicUsize::new(0);
    static TABLE: LazyLock<OnDrop<fn()>> = LazyLock::new(|| {
        count(&MADE);
        OnDrop(|| {
            count(&DROPPED);
            // A destructor may use the shim, though the execution is over.
            assert_eq!(*USES.lock().unwrap(), ());
        })
    });
    static USES: Mutex<()> = Mutex::new(());
    static NAME: OnceLock<u32> = OnceLock::new();
    static SETUP: Once = Once::new();
    let report = verified(|| {
        assert!(!SETUP.is_completed() && NAME.get().is_none());
        thread::scope(|scope| {
            for own in 0..2 {
                scope.spawn(move || {
                    drop(USES.lock());
                    let _ = &TABLE.0;
                    SETUP.call_once(|| NAME.set(own).unwrap());
                    assert!(NAME.get().is_some());
                });
            }
        });
    });
    assert!(report.executions > 2, "{report:?}");
    let made = MADE.load(StdRelaxed);
    let dropped = if cfg!(target_os = "linux") { made } else { made - 1 };
    assert_eq!((made as u64, DROPPED.load(StdRelaxed)), (report.runs, dropped));
    assert!(!SETUP.is_completed() && NAME.get().is_none());
}

#[test]
fn a_value_that_needs_itself_is_a_deadlock() {
    let failure = failure(|| {
        let cell: OnceLock<u32> = OnceLock::new();
        cell.get_or_init(|| *cell.get_or_init(|| 1));
    });
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert!(failure.message.contains("OnceLock") && failure.message.contains("itself"), "{}", failure.message);
}

#[test]
fn who_waits_for_a_value_that_nobody_makes_is_named() {
    let failure = failure(|| drop(OnceLock::<u32>::new().wait().to_string()));
    assert_eq!(failure.kind, FailureKind::Livelock);
}

#[test]
fn a_panic_while_a_local_is_dropped_is_reported() {
    rsmc::thread_local!(static OWN: OnDrop<fn()> = OnDrop(|| panic!("it is not empty")));
    let failure = failure(|| drop(thread::spawn(|| OWN.with(|_| ())).join()));
    assert!(failure.message.contains("it is not empty"), "{}", failure.message);
}

#[test]
fn no_time_passes() {
    let report = rsmc::explore(&Config::default(), || {
        let ready = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_secs(3600));
                ready.store(1, Release);
            });
            while ready.load(Acquire) == 0 {
                thread::sleep(Duration::from_secs(3600));
            }
        });
    });
    assert!(matches!(report.verdict, Verdict::Verified), "{:?}", report.verdict);
}

#[test]
fn a_notification_that_comes_too_early_is_lost() {
    let failure = failure(|| {
        let (ready, changed) = (Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| changed.notify_one());
            drop(changed.wait(ready.lock().unwrap()));
        });
    });
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert!(failure.message.contains("primitives.rs"), "{}", failure.message);
}

/// A thread is notified behind a write, inside of the lock or outside.
#[test]
fn a_notification_orders_no_accesses_of_cells() {
    struct Data(UnsafeCell<u32>);
    // SAFETY: a race is reported, and all modelled threads are on one OS thread.
    unsafe impl Sync for Data {}
    impl Data {
        fn set(&self, value: u32) {
            // SAFETY: as above.
            self.0.with_mut(|data| unsafe { *data = value });
        }

        fn get(&self) -> u32 {
            // SAFETY: as above.
            self.0.with(|data| unsafe { *data })
        }
    }
    let report = |config: &Config, is_inside: bool| {
        rsmc::explore(config, move || {
            let (waits, changed, data) = (Mutex::new(false), Condvar::new(), Data(UnsafeCell::new(0)));
            thread::scope(|scope| {
                scope.spawn(|| {
                    let mut guard = waits.lock().unwrap();
                    *guard = true;
                    let (guard, result) = changed.wait_timeout(guard, Duration::MAX).unwrap();
                    drop(guard);
                    if !result.timed_out() {
                        assert_eq!(data.get(), 1);
                    }
                });
                let guard = waits.lock().unwrap();
                if !*guard {
                    return;
                }
                let inside = is_inside.then_some(guard);
                data.set(1);
                changed.notify_one();
                drop(inside);
            });
        })
    };
    for config in pairs().map(|config| config.spurious(0)) {
        let (right, wrong) = (report(&config, true), report(&config, false));
        assert!(matches!(right.verdict, Verdict::Verified), "{}", rsmc::render(&right, None));
        let Verdict::Failed(failure) = wrong.verdict else { panic!("{:?}", wrong.verdict) };
        assert_eq!(failure.kind, FailureKind::DataRace);
    }
}

/// A full and an empty buffer share one condition: the wrong one may be woken.
#[test]
fn one_notification_too_few_is_a_deadlock() {
    let run = |notify: fn(&Condvar)| {
        explore(move || {
            let (items, changed) = (Mutex::new(0_u32), Condvar::new());
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        *changed.wait_while(items.lock().unwrap(), |items| *items == 0).unwrap() -= 1;
                        notify(&changed);
                    });
                }
                for _ in 0..2 {
                    *changed.wait_while(items.lock().unwrap(), |items| *items == 1).unwrap() += 1;
                    notify(&changed);
                }
            });
        })
    };
    let too_few = run(Condvar::notify_one);
    assert!(matches!(&too_few.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock));
    let enough = run(Condvar::notify_all);
    assert!(matches!(enough.verdict, Verdict::Verified), "{}", rsmc::render(&enough, None));
}

/// The second thread of one execution is called otherwise than that of another, and has its name when both are over.
#[test]
fn a_thread_has_the_name_of_its_own_execution() {
    type Name = Option<&'static str>;
    static KEPT: std::sync::Mutex<Vec<(Name, thread::JoinHandle<()>)>> = std::sync::Mutex::new(Vec::new());
    let body = || {
        let name = [None, Some("a"), Some("b")][rsmc::choose(3)];
        let builder = name.into_iter().fold(thread::Builder::new(), |builder, name| builder.name(name.to_owned()));
        let met = std::sync::Arc::new(AtomicU32::new(0));
        let theirs = std::sync::Arc::clone(&met);
        let child = builder.spawn(move || {
            assert_eq!(thread::current().name(), name);
            theirs.store(1, SeqCst);
        });
        KEPT.lock().unwrap().push((name, child.unwrap()));
        met.load(SeqCst);
    };
    assert_eq!(verified(body).executions, 6);
    let kept = std::mem::take(&mut *KEPT.lock().unwrap());
    assert!(kept.len() >= 6, "{}", kept.len());
    for (name, child) in kept {
        assert_eq!(child.thread().name(), name);
    }
}
