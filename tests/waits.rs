//! How much is explored of programs that wait, beside what GenMC 0.11 explores of them (complete and blocked).

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
