//! `RwLock` in a check: what is explored, what is reported, what starts anew.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize as StdAtomicUsize, Ordering::Relaxed as StdRelaxed};
use std::time::Duration;

use crate::support::{OnDrop, child, count, explore, failure, verified};
use rsmc::cell::UnsafeCell;
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::sync::{Mutex, RwLock, TryLockError};
use rsmc::{Config, Explorer, Failure, FailureKind, Verdict, thread};

/// A counter that only its users keep from races.
#[derive(Default)]
struct Counter(UnsafeCell<u32>);

// SAFETY: that this does not hold is what tests are about; threads of a check share one OS thread.
unsafe impl Sync for Counter {}

impl Counter {
    fn add(&self) {
        // SAFETY: see above.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn get(&self) -> u32 {
        // SAFETY: see above.
        self.0.with(|value| unsafe { *value })
    }
}

#[track_caller]
fn deadlock(body: impl Fn() + Sync) -> Failure {
    let failure = failure(body);
    assert_eq!(failure.kind, FailureKind::Deadlock, "{}", failure.message);
    failure
}

/// The lines of the report about who waits.
#[track_caller]
fn waits(body: impl Fn() + Sync) -> Vec<String> {
    let report = explore(body);
    assert!(matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock));
    let text = rsmc::render(&report, None);
    let head = text.split("\n\n").next().unwrap().replace("\n      ", " ");
    head.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

/// `at FILE:LINE`, of this file.
fn at(line: u32) -> String {
    format!("at {}:{line}", file!())
}

#[test]
fn reading_again_while_a_writer_waits_is_a_deadlock() {
    let line = line!() + 2;
    let waits = waits(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write().unwrap() += 1);
            let first = lock.read().unwrap();
            assert_eq!(*first, *lock.read().unwrap());
        });
    });
    assert_eq!(waits.len(), 2, "{waits:?}");
    let main = format!("main {} waits for lock, which it holds itself since #", at(line + 4));
    let writer = format!("t1 {} waits for lock, held by main since #", at(line + 2));
    assert!(waits[0].starts_with(&main) && waits[1].starts_with(&writer), "{waits:#?}");
}

/// Coming for the lock and going is not shown as locking and unlocking it.
#[test]
fn the_schedule_shows_who_uses_the_lock_and_who_waits() {
    let report = explore(|| {
        let lock = RwLock::new(0);
        let reads = lock.read().unwrap();
        *lock.write().unwrap() = *reads;
    });
    let text = rsmc::render(&report, None);
    assert!(text.contains("read lock") && text.contains("write lock: waits for main"), "{text}");
    assert!(text.contains("waits: write lock") && !text.contains(" lock lock"), "{text}");
}

#[test]
fn reading_again_where_nobody_writes_is_none() {
    verified(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.read().unwrap());
            let first = lock.read().unwrap();
            assert_eq!(*first, *lock.read().unwrap());
        });
    });
}

/// An attempt does not queue, so it may be made while reading.
#[test]
fn trying_to_read_again_is_none() {
    let failed = StdAtomicUsize::new(0);
    verified(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write().unwrap() += 1);
            let first = lock.read().unwrap();
            match lock.try_read() {
                Ok(second) => assert_eq!(*first, *second),
                Err(error) => {
                    assert!(matches!(error, TryLockError::WouldBlock));
                    count(&failed);
                }
            }
        });
    });
    assert!(failed.load(StdRelaxed) > 0, "a writer that waits lets it fail");
}

#[test]
fn writing_while_one_reads_is_a_deadlock() {
    let line = line!() + 1;
    let failure = deadlock(|| {
        let lock = RwLock::new(0);
        let reads = lock.read().unwrap();
        *lock.write().unwrap() = *reads;
    });
    let lock = format!("waits for the RwLock created {}, which it holds itself, {}", at(line + 1), at(line + 3));
    assert!(failure.message.contains(&lock), "{}", failure.message);
}

#[test]
fn reading_while_one_writes_is_a_deadlock() {
    let line = line!() + 1;
    let waits = waits(|| {
        let lock = RwLock::new(0);
        let mut writes = lock.write().unwrap();
        *writes = *lock.read().unwrap();
    });
    let [main] = &waits[..] else { panic!("{waits:?}") };
    assert!(main.starts_with(&format!("main {} waits for lock, which it holds itself since #1", at(line + 3))));
}

/// Each finds that something is to be done while it reads, and waits for the other to stop reading.
#[test]
fn two_readers_that_want_to_write_are_a_deadlock() {
    let upgrade = |keep: bool| {
        explore(move || {
            let lock = RwLock::new(0);
            let increment = || {
                let reads = lock.read().unwrap();
                if *reads == 0 {
                    let _kept = keep.then_some(reads);
                    *lock.write().unwrap() += 1;
                }
            };
            thread::scope(|scope| {
                scope.spawn(increment);
                scope.spawn(increment);
            });
            assert!((1..=2).contains(&*lock.read().unwrap()));
        })
    };
    assert!(matches!(&upgrade(true).verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock));
    let report = upgrade(false);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
}

#[test]
fn a_forgotten_guard_is_named() {
    let line = line!() + 2;
    let waits = waits(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let reads = || std::mem::forget(lock.read());
            scope.spawn(reads).join().unwrap();
            *lock.write().unwrap() = 1;
        });
    });
    let [main] = &waits[..] else { panic!("{waits:?}") };
    let expected = format!("main {} waits for lock, held by t1 since #", at(line + 4));
    assert!(main.starts_with(&expected), "{main}");
}

#[test]
fn locks_in_opposite_order_are_a_deadlock() {
    let run = |second: fn(&RwLock<u32>)| {
        explore(move || {
            let (a, b) = (RwLock::new(0), RwLock::new(0));
            thread::scope(|scope| {
                scope.spawn(|| {
                    let _a = a.read().unwrap();
                    second(&b);
                });
                let _b = b.read().unwrap();
                second(&a);
            });
        })
    };
    let report = run(|lock| *lock.write().unwrap() += 1);
    let Verdict::Failed(failure) = &report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert_eq!(failure.message.matches("waits for the RwLock").count(), 2, "{}", failure.message);
    let report = run(|lock| assert_eq!(*lock.read().unwrap(), 0));
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
}

#[test]
fn writers_exclude_each_other_and_readers() {
    let report = verified(|| {
        let (lock, writing, reading) = (RwLock::new(()), AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _guard = lock.write().unwrap();
                    assert_eq!((writing.fetch_add(1, Relaxed), reading.load(Relaxed)), (0, 0));
                    writing.fetch_sub(1, Relaxed);
                });
            }
            let _guard = lock.read().unwrap();
            reading.fetch_add(1, Relaxed);
            assert_eq!(writing.load(Relaxed), 0);
            reading.fetch_sub(1, Relaxed);
        });
    });
    assert!(report.executions >= 6, "{report:?}");
}

#[test]
fn two_readers_are_inside_at_once() {
    let together = StdAtomicUsize::new(0);
    verified(|| {
        let (lock, reading) = (RwLock::new(()), AtomicU32::new(0));
        let read = || {
            let _guard = lock.read().unwrap();
            if reading.fetch_add(1, SeqCst) == 1 {
                count(&together);
            }
            reading.fetch_sub(1, SeqCst);
        };
        thread::scope(|scope| {
            scope.spawn(read);
            read();
        });
    });
    assert!(together.load(StdRelaxed) > 0);
}

#[test]
fn what_is_written_under_the_lock_is_no_race() {
    verified(|| {
        let (lock, counter) = (RwLock::new(()), Counter::default());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _guard = lock.write().unwrap();
                    counter.add();
                });
            }
            let _guard = lock.read().unwrap();
            assert!(counter.get() <= 2);
        });
        assert_eq!(counter.get(), 2);
    });
}

/// Two readers at once, one of which writes: no order of coming for the lock and leaving it is between the accesses.
#[test]
fn what_is_written_by_readers_is_a_race() {
    let failure = failure(|| {
        let (lock, counter) = (RwLock::new(()), Counter::default());
        let add = || {
            let _guard = lock.read().unwrap();
            counter.add();
        };
        thread::scope(|scope| {
            scope.spawn(add);
            scope.spawn(add);
        });
    });
    assert_eq!(failure.kind, FailureKind::DataRace, "{}", failure.message);
}

#[test]
fn what_is_read_without_the_lock_is_a_race() {
    let failure = failure(|| {
        let (lock, counter) = (RwLock::new(()), Counter::default());
        thread::scope(|scope| {
            scope.spawn(|| {
                let _guard = lock.write().unwrap();
                counter.add();
            });
            counter.get();
        });
    });
    assert_eq!(failure.kind, FailureKind::DataRace, "{}", failure.message);
}

/// What was looked up while reading need not hold any more while writing.
#[test]
fn a_check_before_the_write_is_too_early() {
    let run = |again: bool| {
        explore(move || {
            let (slot, made) = (RwLock::new(None), AtomicU32::new(0));
            let get = || {
                let there = *slot.read().unwrap();
                there.unwrap_or_else(|| {
                    let mut slot = slot.write().unwrap();
                    let there = slot.filter(|_| again);
                    there.unwrap_or_else(|| *slot.insert(made.fetch_add(1, Relaxed)))
                })
            };
            thread::scope(|scope| {
                let other = scope.spawn(get);
                let mine = get();
                assert_eq!(mine, other.join().unwrap());
            });
        })
    };
    let Verdict::Failed(failure) = run(false).verdict else { panic!("two values are made") };
    assert_eq!(failure.kind, FailureKind::Panic);
    let report = run(true);
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(&report, None));
}

#[test]
fn a_static_lock_starts_anew() {
    static LOCK: RwLock<u64> = RwLock::new(0);
    let report = rsmc::explore(&Config::default().keep_going(true), || {
        assert!(!LOCK.is_poisoned());
        let before = std::mem::replace(&mut *LOCK.try_write().unwrap(), 1);
        assert!(before == 0 || !cfg!(target_os = "linux"));
        thread::scope(|scope| {
            let poisons = scope.spawn(|| {
                let _guard = LOCK.write();
                panic!("while it writes");
            });
            scope.spawn(|| std::mem::forget(LOCK.read()));
            assert!(poisons.join().is_err());
        });
    });
    // Where it is forgotten first, the writer waits for ever.
    let Verdict::Failed(failure) = &report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert!(report.executions > report.failures, "{report:?}");
    assert!(!LOCK.is_poisoned());
}

#[test]
fn a_static_lock_is_poisoned_if_it_was_so_outside() {
    static LOCK: RwLock<u32> = RwLock::new(0);
    let poisons = || {
        let _guard = LOCK.write().unwrap();
        panic!("outside");
    };
    assert!(catch_unwind(AssertUnwindSafe(poisons)).is_err());
    for _ in 0..2 {
        verified(|| {
            assert!(LOCK.is_poisoned() && LOCK.read().is_err());
            LOCK.clear_poison();
            assert!(LOCK.write().is_ok());
        });
    }
    assert!(LOCK.is_poisoned());
}

/// The poison is there for who comes later, and for who waits.
#[test]
fn a_writer_that_panics_poisons() {
    let seen = [StdAtomicUsize::new(0), StdAtomicUsize::new(0)];
    verified(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let poisons = scope.spawn(|| {
                let mut guard = lock.write().unwrap_or_else(|error| error.into_inner());
                *guard = 1;
                panic!("while it writes");
            });
            let (poisoned, value) = match lock.read() {
                Ok(guard) => (false, *guard),
                Err(error) => (true, *error.into_inner()),
            };
            assert_eq!(u32::from(poisoned), value);
            count(&seen[usize::from(poisoned)]);
            assert!(poisons.join().is_err());
        });
        assert!(lock.is_poisoned());
    });
    assert!(seen.iter().all(|seen| seen.load(StdRelaxed) > 0));
}

#[test]
fn a_reader_that_panics_does_not_poison() {
    verified(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _guard = lock.read().unwrap();
                panic!("while it reads");
            });
            *lock.write().unwrap() = 1;
            assert!(panics.join().is_err());
        });
        assert_eq!(*lock.read().unwrap(), 1);
    });
}

/// Destructors of threads that are stuck use the lock that they are stuck at, and others.
#[test]
fn threads_that_are_stuck_run_no_destructor() {
    let dropped = StdAtomicUsize::new(0);
    let report = rsmc::explore(&Config::default().keep_going(true), || {
        let (lock, other) = (RwLock::new(0), RwLock::new(0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _uses = OnDrop(|| {
                        *other.write().unwrap() += 1;
                        count(&dropped);
                    });
                    let reads = lock.read().unwrap();
                    *lock.write().unwrap() = *reads;
                });
            }
        });
    });
    let Verdict::Failed(failure) = &report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!((failure.kind, report.failures), (FailureKind::Deadlock, report.executions));
    assert_eq!(dropped.load(StdRelaxed), 0);
}

/// A thread that is unwound gives its place in the queue up, so that the destructors of others find the lock free.
#[test]
fn who_waits_for_a_thread_in_the_queue_writes_nothing() {
    let written = StdAtomicUsize::new(0);
    let report = rsmc::explore(&Config::default().keep_going(true), || {
        let (lock, reads) = (RwLock::new(0), AtomicBool::new(false));
        let _writes = OnDrop(|| {
            *lock.write().unwrap() += 1;
            count(&written);
        });
        thread::scope(|scope| {
            scope.spawn(|| {
                let _first = lock.read().unwrap();
                reads.store(true, Release);
                drop(lock.write());
            });
            scope.spawn(|| drop(lock.read()));
        });
    });
    assert_eq!(report.failures, report.executions);
    assert_eq!(written.load(StdRelaxed), 0);
}

/// A destructor that tries for ever to get what it cannot get is left alone.
#[test]
fn destructors_do_not_try_for_ever() {
    let failure = deadlock(|| {
        let lock = RwLock::new(0);
        std::mem::forget(lock.read());
        let _tries = OnDrop(|| while lock.try_write().is_err() {});
        drop(lock.write());
    });
    assert!(failure.message.contains("RwLock"), "{}", failure.message);
}

/// A limit ends executions at every operation of the lock. If it is one of a destructor, there is another.
#[test]
fn an_execution_may_end_anywhere() {
    child::alone("rwlock::an_execution_may_end_anywhere", Duration::from_secs(120), executions_end_anywhere);
}

/// The same in a process of its own: a check unwinds its threads, destructors included, where other checks have left no
/// room for its memory.
fn executions_end_anywhere() {
    let (dropped, ends) = (StdAtomicUsize::new(0), StdAtomicUsize::new(0));
    for (steps, seed) in (1..26).flat_map(|steps| (0..40).map(move |seed| (steps, seed))) {
        let config = Config::default().explorer(Explorer::Random).seed(seed).max_executions(1).max_steps(steps);
        let report = rsmc::explore(&config, || {
            // An execution may be run again.
            dropped.store(0, StdRelaxed);
            let lock = RwLock::new(0);
            let last = || {
                *lock.write().unwrap() += 1;
                count(&dropped);
            };
            let _last = (OnDrop(last), OnDrop(last));
            thread::scope(|scope| {
                scope.spawn(|| *lock.write().unwrap() += 1);
                scope.spawn(|| *lock.read().unwrap());
                *lock.write().unwrap() += 1;
            });
        });
        let ended = matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::StepLimit);
        ends.fetch_add(usize::from(ended), StdRelaxed);
        assert!(ended || matches!(report.verdict, Verdict::Incomplete(_)), "{:?}", report.verdict);
        assert_eq!(dropped.load(StdRelaxed) == 2, !ended, "with {steps} steps, seed {seed}");
    }
    assert!((800..1000).contains(&ends.load(StdRelaxed)), "{ends:?}");
}

/// Whether the data of statics is put back at the end of executions.
const PUT_BACK: bool = cfg!(target_os = "linux");

/// Several checks, and code outside, use one static lock on OS threads of their own. Every guard is alone with the
/// data, or with readers of its own side, and what checks write is put back where that is possible.
#[test]
fn checks_at_once_and_code_outside_keep_apart() {
    static LOCK: RwLock<[u64; 2]> = RwLock::new([0; 2]);
    let write = || {
        let mut guard = LOCK.write().unwrap();
        guard[0] += 1;
        std::thread::yield_now();
        guard[1] += 1;
    };
    let read = || {
        let guard = LOCK.read().unwrap();
        let before = guard[1];
        std::thread::yield_now();
        assert_eq!((guard[0], guard[1]), (before, before));
    };
    let written = StdAtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let report = verified(|| {
                    thread::scope(|scope| {
                        scope.spawn(read);
                        scope.spawn(read);
                        write();
                    });
                });
                written.fetch_add(if PUT_BACK { 0 } else { report.runs as usize }, StdRelaxed);
            });
            scope.spawn(|| {
                for _ in 0..200 {
                    write();
                    read();
                }
                written.fetch_add(200, StdRelaxed);
            });
        }
    });
    let all = written.load(StdRelaxed) as u64;
    assert_eq!(*LOCK.read().unwrap(), [all, all]);
}

/// The same of a mutex.
#[test]
fn checks_at_once_and_code_outside_keep_apart_with_a_mutex() {
    static LOCK: Mutex<u64> = Mutex::new(0);
    let add = || {
        let mut guard = LOCK.lock().unwrap();
        let before = *guard;
        std::thread::yield_now();
        *guard = before + 1;
    };
    let added = StdAtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let report = verified(|| {
                    thread::scope(|scope| {
                        scope.spawn(add);
                        add();
                    });
                });
                added.fetch_add(if PUT_BACK { 0 } else { 2 * report.runs as usize }, StdRelaxed);
            });
            scope.spawn(|| {
                (0..200).for_each(|_| add());
                added.fetch_add(200, StdRelaxed);
            });
        }
    });
    assert_eq!(*LOCK.lock().unwrap(), added.load(StdRelaxed) as u64);
}
