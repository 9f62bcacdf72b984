//! Checks with worker processes: the counts of one process, failures with their seeds, crashes, and workers that are
//! killed.
//!
//! Linux only where other processes are looked for in /proc.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use rsmc::sync::atomic::Ordering::SeqCst;
use rsmc::sync::atomic::{AtomicU32, fence};
use rsmc::sync::{Arc, Mutex};
use rsmc::{Config, Explorer, Failure, FailureKind, MemoryModel, Report, Verdict, thread};

#[allow(dead_code, reason = "not every program is counted")]
mod programs {
    use rsmc::hint::spin_loop;
    use rsmc::sync::Arc;
    use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use rsmc::thread::{JoinHandle, spawn};

    const ORDER: Ordering = Ordering::Relaxed;
    include!("programs/bodies.rs");
}

/// With workers from the first run on, however small the program is.
fn with_jobs(jobs: usize) -> Config {
    Config::default().jobs(jobs).divide_after(Duration::ZERO)
}

/// What is the same with any number of workers. The runs that are given up are not: each process learns by itself
/// before which operations loops wait.
fn counts(report: &Report) -> (u64, u64, usize, usize, bool) {
    assert_eq!(report.notes, Vec::<String>::new());
    let verified = matches!(report.verdict, Verdict::Verified);
    (report.executions, report.failures, report.threads, report.events, verified)
}

/// The number of failing executions for each cause. A message is that of any of them.
fn by_cause(report: &Report) -> Vec<(FailureKind, u64)> {
    let counted: u64 = report.causes.iter().map(|cause| cause.executions).sum();
    assert_eq!(counted, report.failures);
    let mut causes: Vec<_> = report.causes.iter().map(|cause| (cause.kind, cause.executions)).collect();
    causes.sort_by_key(|&(kind, executions)| (executions, format!("{kind:?}")));
    causes
}

/// Expects equal counts with 1, 2 and 3 workers.
#[track_caller]
fn same(config: &Config, body: impl Fn() + Sync) -> Report {
    let of = |jobs| rsmc::explore(&config.clone().jobs(jobs).divide_after(Duration::ZERO), &body);
    let one = of(1);
    for jobs in [2, 3] {
        let report = of(jobs);
        assert_eq!(counts(&report), counts(&one), "{jobs} jobs");
        assert_eq!(by_cause(&report), by_cause(&one), "{jobs} jobs");
        if report.blocked + report.failures == 0 {
            assert_eq!(report.runs, one.runs, "{jobs} jobs");
        }
    }
    one
}

#[test]
fn counts_are_those_of_one_process() {
    for memory in [MemoryModel::Sc, MemoryModel::Pso, MemoryModel::C11] {
        let config = Config::default().memory(memory);
        same(&config, || programs::readinc(4));
        same(&config, || programs::fib_bench(3));
        same(&config, || programs::casrot(5));
    }
    same(&Config::default(), || programs::msqueue(2));
    same(&Config::default(), || programs::linuxrwlocks(3));
}

#[test]
fn loops_that_wait() {
    let config = Config::default().memory(MemoryModel::Sc);
    for jobs in [1, 2] {
        let report = rsmc::explore(&config.clone().jobs(jobs), || programs::ticketlock(3));
        assert!(matches!(report.verdict, Verdict::Verified));
        assert_eq!(report.executions, 6, "one for each order");
        assert!(report.runs > report.executions, "something was learned, or given up");
    }
}

/// Each process asks by itself where an attempt would have come at once.
#[test]
fn attempts_that_come_too_late() {
    for memory in [MemoryModel::Sc, MemoryModel::C11] {
        let report = same(&Config::default().memory(memory), || {
            // On the stack of a thread that counts as well.
            let x = AtomicU32::new(0);
            let count = || {
                let mut now = x.load(Relaxed);
                while let Err(other) = x.compare_exchange(now, now + 1, Relaxed, Relaxed) {
                    now = other;
                }
            };
            thread::scope(|scope| {
                (0..3).for_each(|_| drop(scope.spawn(count)));
                count();
            });
        });
        if !cfg!(debug_assertions) {
            assert_eq!(report.executions, 24);
        }
    }
}

#[test]
fn locks_choices_and_failures_that_are_all_counted() {
    same(&Config::default().keep_going(true), || {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            let first = other.0.lock().unwrap();
            drop((other.1.lock().unwrap(), first));
        });
        if rsmc::choose(3) == 1 {
            let first = locks.1.lock().unwrap();
            drop((locks.0.lock().unwrap(), first));
        }
        thread.join().unwrap();
    });
}

/// Which threads are started depends on what is read, so workers meet threads in another order.
#[test]
fn threads_that_not_every_execution_has() {
    same(&Config::default(), || {
        let x = Arc::new(AtomicU32::new(0));
        let spawns = |value: u32| {
            let x = Arc::clone(&x);
            thread::spawn(move || {
                let more: Vec<_> = (0..x.fetch_add(value, SeqCst))
                    .map(|_| {
                        let x = Arc::clone(&x);
                        thread::spawn(move || drop(x.fetch_add(4, SeqCst).to_string()))
                    })
                    .collect();
                more.into_iter().for_each(|thread| thread.join().unwrap());
            })
        };
        let threads = [spawns(1), spawns(1), spawns(1)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A thread asks whether another has ended, in some executions only.
#[test]
fn what_is_learned_by_a_worker() {
    same(&Config::default(), || {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        if x.load(SeqCst) == 1 {
            drop(thread.is_finished().to_string());
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_limit_of_executions_is_met() {
    for jobs in [2, 3] {
        let report = rsmc::explore(&with_jobs(jobs).max_executions(100), || programs::readinc(4));
        assert_eq!(report.executions, 100);
        assert!(matches!(report.verdict, Verdict::Incomplete(rsmc::Limit::Executions(100))));
    }
}

#[test]
fn a_limit_of_time_is_kept() {
    let report = rsmc::explore(&with_jobs(2).max_duration(Duration::from_secs(1)), || programs::readinc(8));
    assert!(matches!(report.verdict, Verdict::Incomplete(rsmc::Limit::Duration(_))));
    assert!(report.executions > 10, "what workers found until then counts");
    assert!(report.elapsed < Duration::from_secs(10));
}

#[test]
fn random_executions_are_those_of_one_process() {
    let config = Config::default().explorer(Explorer::Random).max_executions(300);
    same(&config, || programs::readinc(3));
    let first = |jobs| failure(&config.clone().jobs(jobs).divide_after(Duration::ZERO), lost_update);
    let (one, two) = (first(1), first(2));
    assert_eq!((one.kind, one.seed), (two.kind, two.seed));
}

/// Fails in few executions: three threads read before anybody writes.
fn lost_update() {
    let x = Arc::new(AtomicU32::new(0));
    let spawn = |_| {
        let x = Arc::clone(&x);
        thread::spawn(move || x.store(x.load(SeqCst) + 1, SeqCst))
    };
    let threads: Vec<_> = (0..3).map(spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_ne!(x.load(SeqCst), 1);
}

#[track_caller]
fn failure(config: &Config, body: impl Fn() + Sync) -> Failure {
    let report = rsmc::explore(config, body);
    match report.verdict {
        Verdict::Failed(failure) => *failure,
        verdict => panic!("{verdict:?}, {:?}", report.notes),
    }
}

#[test]
fn a_failure_of_a_worker_has_a_trace_and_a_seed() {
    for memory in [MemoryModel::Sc, MemoryModel::C11] {
        let found = failure(&with_jobs(2).memory(memory), lost_update);
        assert_eq!(found.kind, FailureKind::Panic);
        assert!(found.trace.events.len() >= 7, "{:?}", found.trace);
        let again = failure(&Config::default().memory(memory).replay(found.seed), lost_update);
        assert_eq!(again.message, found.message);
    }
}

/// The worker that runs into this is gone.
fn crashes_once(crash: fn()) {
    let (x, y) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (a, b) = (Arc::clone(&x), Arc::clone(&y));
    let thread = thread::spawn(move || {
        a.store(1, SeqCst);
        b.store(1, SeqCst);
        a.store(2, SeqCst);
    });
    let (seen, then) = (y.load(SeqCst), x.load(SeqCst));
    fence(SeqCst);
    if (seen, then) == (1, 2) {
        crash();
    }
    thread.join().unwrap();
}

/// A check in a process of its own, which a crash may end.
fn replay_crashes(test: &str, seed: &str) {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--include-ignored", "--test-threads=1"])
        .env("RSMC_REPLAY", seed)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), None, "a signal ended it: {}", String::from_utf8_lossy(&output.stdout));
}

fn segmentation_fault() {
    // SAFETY: none: nothing can be written there, which is what the test is about.
    unsafe { std::ptr::without_provenance_mut::<u32>(8).write_volatile(1) };
}

#[rsmc::test]
#[ignore = "ends the process; run by another test"]
fn aborts() {
    crashes_once(|| std::process::abort());
}

#[rsmc::test]
#[ignore = "ends the process; run by another test"]
fn writes_to_nowhere() {
    crashes_once(segmentation_fault);
}

#[track_caller]
fn is_reported(crash: fn(), signal: &str, test: &str) {
    let found = failure(&with_jobs(2), || crashes_once(crash));
    assert_eq!(found.kind, FailureKind::Crash);
    assert_eq!(found.message, format!("a worker process was ended by {signal} in this execution"));
    replay_crashes(test, &found.seed.to_string());
}

#[test]
#[cfg(unix)]
fn an_abort_is_reported_with_its_schedule() {
    is_reported(|| std::process::abort(), "SIGABRT", "jobs::aborts");
}

#[test]
#[cfg(unix)]
fn a_segmentation_fault_is_reported_with_its_schedule() {
    is_reported(segmentation_fault, "SIGSEGV", "jobs::writes_to_nowhere");
}

/// The workers of a test that runs in this process.
#[cfg(target_os = "linux")]
fn workers_of(test: &str) -> Vec<String> {
    let is_worker = |number: &String| {
        let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        let ours = parent == Some(std::process::id());
        ours && String::from_utf8_lossy(&environment)
            .split('\0')
            .any(|line| line.starts_with("RSMC_WORKER=") && line.contains(&format!("/{test}@")))
    };
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    processes.filter(is_worker).collect()
}

/// Workers are killed again and again, and nothing is lost; at the end none is left.
#[test]
#[cfg(target_os = "linux")]
fn workers_that_are_killed_lose_nothing() {
    const NAME: &str = "jobs::workers_that_are_killed_lose_nothing";
    let (over, killed) = (AtomicBool::new(false), AtomicU64::new(0));
    let report = std::thread::scope(|scope| {
        if std::env::var_os("RSMC_WORKER").is_none() {
            scope.spawn(|| {
                // The third death in one job would end the check: it may be what kills them.
                while !over.load(Relaxed) && killed.load(Relaxed) < 2 {
                    std::thread::sleep(Duration::from_millis(150));
                    if let Some(worker) = workers_of(NAME).first() {
                        assert!(std::process::Command::new("kill").args(["-9", worker]).status().unwrap().success());
                        killed.fetch_add(1, Relaxed);
                    }
                }
            });
        }
        let report = rsmc::explore(&with_jobs(2), || programs::readinc(7));
        over.store(true, Relaxed);
        report
    });
    assert_eq!(counts(&report).0, 262_144);
    assert!(killed.load(Relaxed) > 0, "some were killed");
    assert_eq!(workers_of(NAME), Vec::<String>::new());
}

/// The body of a check panics the coordinator, or the test goes on after a failure: no worker stays behind.
#[test]
#[cfg(target_os = "linux")]
fn no_worker_outlives_its_check() {
    failure(&with_jobs(3), lost_update);
    assert_eq!(workers_of("jobs::no_worker_outlives_its_check"), Vec::<String>::new());
}

/// Where no worker can come to the check, it goes on alone, and says so.
#[test]
fn without_workers_the_check_goes_on() {
    let explore = || rsmc::explore(&with_jobs(2), || programs::readinc(3));
    let thread = std::thread::Builder::new().name("no test has this name".to_owned());
    let report = thread.spawn(explore).unwrap().join().unwrap();
    assert_eq!(report.executions, 16);
    assert!(matches!(report.verdict, Verdict::Verified));
    assert_eq!(report.notes.len(), 1);
    assert!(rsmc::render(&report, None).contains("note: explored by one process: a worker process did not come"));
}

/// An explorer that cannot be divided says so.
#[test]
fn what_is_not_divided() {
    let report = rsmc::explore(&with_jobs(2).explorer(Explorer::Exhaustive), || programs::sb(2));
    assert_eq!(report.notes, ["`jobs` = 2 makes no difference: `exhaustive` explores in one process"]);
}
