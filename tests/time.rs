//! Time in a check, and cells that are shared by `unsafe`.

use std::collections::BTreeSet;
use std::time::Instant as StdInstant;

use crate::support::{explore, failure, verified, verified_alone};
use rsmc::cell::Cell;
use rsmc::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use rsmc::sync::mpsc::{RecvTimeoutError, channel};
use rsmc::sync::{Condvar, Mutex};
use rsmc::time::{Duration, Instant};
use rsmc::{Config, Explorer, FailureKind, Report, Verdict, hint, thread};

const MILLI: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

/// The results of the executions of a body that must not fail.
#[track_caller]
fn results<T: Ord + Send + Clone>(explorer: Explorer, body: impl Fn() -> T + Sync) -> (BTreeSet<T>, Report) {
    let found = rsmc::outcomes(&Config::default().explorer(explorer), body);
    let report = found.report();
    assert!(matches!(report.verdict, Verdict::Verified), "{}", rsmc::render(report, None));
    (found.values().cloned().collect(), report.clone())
}

/// As many as brute force finds.
#[track_caller]
fn all_results<T: Ord + Send + Clone>(body: impl Fn() -> T + Sync) -> BTreeSet<T> {
    let found = results(Explorer::ReadsFrom, &body).0;
    assert!(found == results(Explorer::Exhaustive, &body).0, "reads-from and brute force differ");
    found
}

#[test]
fn every_execution_has_the_same_time() {
    let start = StdInstant::now();
    let (times, report) = results(Explorer::ReadsFrom, || {
        let shared = Mutex::new(0);
        thread::scope(|scope| {
            let work = || {
                thread::sleep(HOUR);
                *shared.lock().unwrap() += 1;
                Instant::now()
            };
            let threads = [scope.spawn(work), scope.spawn(work)];
            thread::sleep(2 * HOUR);
            let main = Instant::now();
            (main, threads.map(|thread| thread.join().unwrap()), Instant::now())
        })
    });
    assert!(report.executions > 1 && start.elapsed() < Duration::from_secs(60));
    let times: Vec<_> = times.into_iter().collect();
    let [(main, children, end)] = times[..] else { panic!("{times:?}") };
    assert_eq!((main - children[0], children[0], end - main), (HOUR, children[1], MILLI));
    assert_eq!(format!("{main:?}"), "Instant(7200.001s)");
    assert_eq!(format!("{:?}", main - 3 * HOUR), "Instant(-3599.999s)");
}

#[test]
fn clocks_follow_spawns_and_joins() {
    verified(|| {
        let start = Instant::now();
        thread::sleep(HOUR);
        let (tell, told) = channel();
        let child = thread::spawn(move || {
            let begin = Instant::now();
            assert_eq!(begin - start, HOUR + MILLI);
            thread::sleep(HOUR);
            tell.send(Instant::now()).unwrap();
        });
        let end = told.recv().unwrap();
        assert_eq!(end - start, 2 * HOUR + 2 * MILLI);
        // To hear of it moves no clock, to wait for the thread does.
        assert_eq!(Instant::now() - start, HOUR + MILLI);
        assert_eq!(Instant::now().checked_duration_since(end), None);
        child.join().unwrap();
        assert_eq!(Instant::now() - end, MILLI);
        // A thread that is behind moves no clock.
        let late = thread::spawn(|| ());
        thread::sleep(HOUR);
        late.join().unwrap();
        assert_eq!(Instant::now() - end, HOUR + 2 * MILLI);
    });
}

#[test]
fn a_thread_that_panics_takes_its_time_too() {
    verified_alone(|| {
        let start = Instant::now();
        let child = thread::spawn(|| {
            thread::sleep(HOUR);
            panic!("late");
        });
        assert!(child.join().is_err() && start.elapsed() > HOUR);
    });
}

#[test]
fn waits_take_time_if_they_end_in_vain() {
    let parked = all_results(|| {
        let (start, main) = (Instant::now(), thread::current());
        thread::scope(|scope| {
            scope.spawn(move || main.unpark());
            thread::park_timeout(HOUR);
            start.elapsed()
        })
    });
    assert_eq!(parked, BTreeSet::from([MILLI, HOUR + MILLI]));
    let received = all_results(|| {
        let (start, (sender, receiver)) = (Instant::now(), channel());
        let child = thread::spawn(move || sender.send(7));
        let received = receiver.recv_timeout(HOUR);
        let elapsed = start.elapsed();
        let sent = child.join().unwrap().is_ok();
        (received.is_ok(), received == Err(RecvTimeoutError::Timeout), sent, elapsed)
    });
    assert_eq!(received, BTreeSet::from([(true, false, true, MILLI), (false, true, true, HOUR + MILLI)]));
    let notified = all_results(|| {
        let (start, lock, changed) = (Instant::now(), Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                *lock.lock().unwrap() = true;
                changed.notify_one();
            });
            let guard = lock.lock().unwrap();
            let (guard, result) = changed.wait_timeout_while(guard, HOUR, |ready| !*ready).unwrap();
            (*guard, result.timed_out(), start.elapsed())
        })
    });
    assert_eq!(
        notified,
        BTreeSet::from([(true, false, MILLI), (false, true, HOUR + MILLI), (true, false, HOUR + MILLI)])
    );
}

/// Whether a flag was raised in time, by asking again and again.
fn raised_within(limit: Duration, flag: &AtomicBool, pause: impl Fn()) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if flag.load(Acquire) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        pause();
    }
}

#[test]
fn a_loop_that_polls_the_time_ends_with_either_result() {
    let run = |limit, pause: fn()| {
        results(Explorer::ReadsFrom, move || {
            let flag = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| flag.store(true, Release));
                raised_within(limit, &flag, pause)
            })
        })
    };
    for pause in [|| (), hint::spin_loop, || thread::sleep(MILLI)] as [fn(); 3] {
        for limit in [MILLI, 10 * MILLI, Duration::from_secs(5), HOUR] {
            let (found, report) = run(limit, pause);
            assert_eq!(found, BTreeSet::from([false, true]));
            // One for each iteration in which the flag is raised, and one in which it is not.
            assert!(report.executions <= 32, "{limit:?}: {}", report.executions);
        }
    }
    // It also ends where nobody raises the flag.
    let (found, report) =
        results(Explorer::ReadsFrom, || raised_within(HOUR, &AtomicBool::new(false), hint::spin_loop));
    assert_eq!((found, report.executions), (BTreeSet::from([false]), 1));
}

#[test]
fn few_polls_are_as_brute_force_has_them() {
    let found = all_results(|| {
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            let raises = scope.spawn(|| flag.store(true, Release));
            let start = Instant::now();
            let raised = raised_within(3 * MILLI, &flag, || ());
            let elapsed = start.elapsed();
            raises.join().unwrap();
            (raised, elapsed)
        })
    });
    let raised = [2, 3, 4].map(|polls| (true, polls * MILLI));
    assert_eq!(found, BTreeSet::from_iter([(false, 5 * MILLI)].into_iter().chain(raised)));
}

#[test]
fn a_loop_that_waits_until_a_deadline_ends() {
    let received = all_results(|| {
        let (sender, receiver) = channel();
        let child = thread::spawn(move || (0..2).try_for_each(|number| sender.send(number)));
        let deadline = Instant::now() + HOUR;
        let mut received = 0;
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            match receiver.recv_timeout(left) {
                Ok(number) => assert_eq!(number, received),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            received += 1;
        }
        let late = Instant::now() > deadline;
        let _ = child.join().unwrap();
        (received, late)
    });
    assert_eq!(received, BTreeSet::from([(0, true), (1, true), (2, true), (2, false)]));
    let notified = all_results(|| {
        let (lock, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                *lock.lock().unwrap() = true;
                changed.notify_one();
            });
            let deadline = Instant::now() + HOUR;
            let mut ready = lock.lock().unwrap();
            while !*ready && let Some(left) = deadline.checked_duration_since(Instant::now()) {
                ready = changed.wait_timeout(ready, left).unwrap().0;
            }
            (*ready, Instant::now() > deadline)
        })
    });
    assert_eq!(notified, BTreeSet::from([(true, false), (true, true), (false, true)]));
}

/// A wait whose result no thread looks at: the deadline never comes nearer.
#[test]
fn a_loop_that_forgets_the_time_is_found() {
    let report = rsmc::explore(&Config::default().max_steps(1000), || {
        let (_sender, receiver) = channel::<()>();
        while receiver.recv_timeout(HOUR) == Err(RecvTimeoutError::Timeout) {}
    });
    assert!(matches!(&report.verdict, Verdict::Failed(failure)
        if matches!(failure.kind, FailureKind::StepLimit | FailureKind::Livelock)));
}

/// A thread that sleeps longer is not later.
#[test]
fn time_orders_no_threads() {
    let failure = failure(|| {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(MILLI);
                done.store(true, Release);
            });
            thread::sleep(HOUR);
            assert!(done.load(Acquire), "not done after an hour");
        });
    });
    assert!(failure.message.contains("not done after an hour"), "{}", failure.message);
}

#[test]
fn an_instant_from_outside_is_no_instant_of_a_check() {
    let outside = Instant::now();
    assert!(outside <= Instant::now() && outside.elapsed() < HOUR);
    let report = explore(|| assert!(outside.elapsed() < HOUR));
    let line = line!() - 1;
    let text = rsmc::render(&report, None);
    assert!(matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Panic));
    assert!(text.contains("taken outside") && text.contains(&format!("time.rs:{line}")), "{text}");
    let report = explore(|| assert!(outside < Instant::now()));
    let line = line!() - 1;
    let text = rsmc::render(&report, None);
    assert!(text.contains("taken outside") && text.contains(&format!("time.rs:{line}")), "{text}");
    let late = explore(|| assert!(Instant::now() + Duration::MAX > outside));
    let line = line!() - 1;
    assert!(rsmc::render(&late, None).contains(&format!("time.rs:{line}")));
}

/// A number that threads share, since `unsafe` code says that they may.
struct Shared(Cell<u32>);

// SAFETY: the tests that use it run in checks, whose threads are on one OS thread. Whether they take turns is what is
// tested.
unsafe impl Sync for Shared {}

/// Two threads, one of which tells the other that it may go on.
fn hand_over(release: rsmc::sync::atomic::Ordering, first: fn(&Cell<u32>), second: fn(&Cell<u32>)) -> Report {
    explore(move || {
        let (shared, ready) = (Shared(Cell::new(1)), AtomicBool::new(false));
        let shared = &shared;
        thread::scope(|scope| {
            scope.spawn(|| {
                first(&shared.0);
                ready.store(true, release);
            });
            if ready.load(Acquire) {
                second(&shared.0);
            }
        });
    })
}

#[test]
fn a_race_on_a_cell_is_found_and_a_near_miss_verified() {
    let reads: [fn(&Cell<u32>); 3] = [
        |cell| assert!(cell.get() > 0),
        |cell| assert!(*cell >= Cell::new(1)),
        |cell| assert!(format!("{:?}", cell.clone()).contains("Cell")),
    ];
    let writes: [fn(&Cell<u32>); 5] = [
        |cell| cell.set(2),
        |cell| assert!(cell.replace(3) > 0),
        |cell| cell.update(|value| value + 1),
        |cell| Cell::new(2).swap(cell),
        |cell| cell.set(cell.take() + 1),
    ];
    let passes = |report: &Report| matches!(report.verdict, Verdict::Verified);
    let races = |report: &Report| {
        let text = rsmc::render(report, None);
        let names_it = text.contains("Cell created at tests/time.rs") && !text.contains("UnsafeCell");
        let kind = matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::DataRace);
        assert!(!kind || names_it, "{text}");
        kind
    };
    for write in writes {
        for other in reads.into_iter().chain(writes) {
            assert!(passes(&hand_over(Release, write, other)) && passes(&hand_over(Release, other, write)));
            assert!(races(&hand_over(Relaxed, write, other)) && races(&hand_over(Relaxed, other, write)));
        }
    }
    for read in reads {
        assert!(reads.into_iter().all(|other| passes(&hand_over(Relaxed, read, other))));
    }
    // What needs the cell for itself is no access.
    verified_alone(|| {
        let mut shared = Shared(Cell::new(1));
        thread::scope(|scope| {
            let shared = &shared;
            scope.spawn(|| shared.0.set(2));
        });
        *shared.0.get_mut() += 1;
        assert_eq!(shared.0.into_inner(), 3);
    });
}

/// Time that is asked for after a loop is a part of what the loop does, and other time is not: threads that do the same
/// find the same times.
#[test]
fn a_loop_that_sleeps() {
    let gives_up = all_results(|| {
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| flag.store(true, Release));
            let start = Instant::now();
            while !flag.load(Acquire) && start.elapsed() < 4 * MILLI {
                thread::sleep(MILLI);
            }
            flag.load(Acquire)
        })
    });
    assert_eq!(gives_up, BTreeSet::from([false, true]));
    let (waited, _) = results(Explorer::ReadsFrom, || {
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| flag.store(true, Release));
            let start = Instant::now();
            while !flag.load(Acquire) {
                thread::sleep(MILLI);
            }
            start.elapsed()
        })
    });
    assert!(waited.len() > 30 && waited.first() == Some(&MILLI), "{waited:?}");
    for explorer in [Explorer::ReadsFrom, Explorer::Exhaustive] {
        let (times, _) = results(explorer, || {
            let count = AtomicU32::new(0);
            thread::scope(|scope| {
                let sleeper = scope.spawn(|| {
                    while count.load(Acquire) < 2 {
                        thread::sleep(MILLI);
                    }
                });
                count.fetch_add(1, Release);
                count.fetch_add(1, Release);
                sleeper.join().unwrap();
                Instant::now()
            })
        });
        assert_eq!(times.len(), 1, "{explorer}: {times:?}");
    }
}
