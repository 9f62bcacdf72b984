//! The executions of programs that wait, beside those that GenMC 0.11 explores of them (complete and blocked).

#[allow(dead_code, reason = "each user needs a part of it")]
mod programs {
    use rsmc::hint::spin_loop;
    use rsmc::sync::Arc;
    use rsmc::sync::atomic::{AtomicU32, Ordering, Ordering::SeqCst};
    use rsmc::thread::{JoinHandle, spawn};

    const ORDER: Ordering = SeqCst;
    include!("programs/bodies.rs");
    include!("programs/waiting.rs");
}

use std::time::Instant;

use rsmc::hint::spin_loop;
use rsmc::sync::Arc;
use rsmc::sync::atomic::{AtomicU32, Ordering::*};
use rsmc::thread::spawn;
use rsmc::{Config, MemoryModel, Verdict};

/// A program, what GenMC explores of it, and how much of that is allowed here. Four times as much is the aim.
struct Row(&'static str, fn(usize), usize, u64, u64);

const ROWS: [Row; 16] = [
    Row("ticketlock", programs::ticketlock, 3, 6, 4),
    Row("ticketlock", programs::ticketlock, 4, 24, 4),
    Row("ticketlock", programs::ticketlock, 5, 120, 4),
    Row("barrier", programs::barrier, 2, 6, 4),
    Row("barrier", programs::barrier, 3, 24, 4),
    Row("barrier", programs::barrier, 4, 120, 4),
    Row("mcs", programs::mcs, 3, 66, 4),
    Row("mcs", programs::mcs, 4, 1080, 4),
    Row("rwlock", programs::rwlock, 1, 4, 4),
    Row("ttas", programs::ttas, 3, 94, 4),
    Row("seqlock", programs::seqlock, 1, 15, 4),
    Row("seqlock", programs::seqlock, 2, 225, 4),
    Row("treiber", programs::treiber, 2, 46, 4),
    Row("treiber", programs::treiber, 3, 8268, 4),
    // GenMC also leaves out an attempt that is taken back, even if another thread has seen it.
    Row("rwlock", programs::rwlock, 2, 34, 24),
    // 222 are the classes with every failed attempt in them.
    Row("msqueue", programs::msqueue, 2, 222, 1),
];

/// For release builds: without optimisation old values are kept, and there is more to explore.
#[test]
#[allow(clippy::print_stdout, reason = "the figures, for who asks with --nocapture")]
fn little_more_is_explored_than_by_genmc() {
    for Row(name, body, n, genmc, allowed) in ROWS {
        if cfg!(debug_assertions) && genmc > 100 {
            continue;
        }
        let started = Instant::now();
        let config = Config::default().memory(MemoryModel::Sc);
        let report = rsmc::explore(&config, || body(n));
        assert!(matches!(report.verdict, Verdict::Verified), "{name}({n}): {:?}", report.verdict);
        let (executions, blocked) = (report.executions, report.blocked);
        println!("{name}({n}): {executions} + {blocked} in {:?}, GenMC {genmc}", started.elapsed());
        if !cfg!(debug_assertions) {
            assert!(executions + blocked <= allowed * genmc, "{name}({n}): {executions} + {blocked}, GenMC {genmc}");
        }
    }
}

/// Threads that take a lock by a compare-exchange that may fail without cause.
fn by_weak_exchange(lock: &AtomicU32) {
    while lock.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
        spin_loop();
    }
    lock.store(0, Release);
}

/// Takes the lock with a look before each attempt.
fn by_looks(lock: &AtomicU32) {
    while lock.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
        while lock.load(Relaxed) == 1 {
            spin_loop();
        }
    }
    lock.store(0, Release);
}

/// Threads that add without a lock.
fn by_reload(sum: &AtomicU32) {
    loop {
        let value = sum.load(Relaxed);
        if sum.compare_exchange_weak(value, value + 1, AcqRel, Relaxed).is_ok() {
            break;
        }
    }
}

/// The classes are the orders in which the threads succeed: failures without cause add none.
#[test]
#[allow(clippy::print_stdout, reason = "the figures, for who asks with --nocapture")]
fn failures_without_cause_are_no_classes() {
    for (name, body, given_up) in
        [("lock", by_weak_exchange as fn(&AtomicU32), 22), ("lock after looks", by_looks, 55), ("sum", by_reload, 54)]
    {
        for memory in [MemoryModel::Sc, MemoryModel::C11] {
            let report = rsmc::explore(&Config::default().memory(memory), move || {
                let x = Arc::new(AtomicU32::new(0));
                let run = |_| {
                    spawn({
                        let x = Arc::clone(&x);
                        move || body(&x)
                    })
                };
                let threads: Vec<_> = (0..3).map(run).collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            });
            println!("{name} under {memory}: {} + {}", report.executions, report.blocked);
            assert!(matches!(report.verdict, Verdict::Verified), "{name}: {:?}", report.verdict);
            if !cfg!(debug_assertions) {
                assert_eq!((report.executions, report.blocked <= given_up), (6, true), "{name}: {}", report.blocked);
            }
        }
    }
}
