//! The memory of threads that are left behind is taken back.
#![cfg(target_os = "linux")]

use std::sync::atomic::Ordering::Release;
use std::time::Duration;

use rsmc::sync::Arc;
use rsmc::sync::atomic::AtomicBool;
use rsmc::{Config, Explorer, thread};

use crate::support::child;

#[test]
fn what_nobody_knows_any_more_is_taken_back() {
    child::alone(
        "left_memory::what_nobody_knows_any_more_is_taken_back",
        Duration::from_secs(300),
        thousands_of_deadlocks,
    );
}

/// Thousands of executions that end in a deadlock leave 40 kB each behind: several times what a check has. Nothing runs
/// after the failure: call paths would have std read the line tables of this executable.
fn thousands_of_deadlocks() {
    let config = Config::default().explorer(Explorer::Random).seed(1).max_executions(10_000).shrink(0);
    let report = rsmc::explore(&config.keep_going(true), || {
        let stop = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&stop);
        let stuck = thread::spawn(move || {
            let _large = vec![1_u8; 40_000];
            there.store(true, Release);
            thread::park();
        });
        stuck.join().unwrap();
    });
    assert!(report.failures > 5_000, "{report:?}");
    // Where a block did not fit any more, states could not be compared, and the report would say so.
    assert!(!format!("{report:?}").contains("is_blind: true"), "{report:?}");
    assert!(resident() < 160 << 20, "{} bytes", resident());
}

/// The memory of this process.
fn resident() -> u64 {
    rsmc_core::session::resident_memory(None).expect("it is Linux")
}
