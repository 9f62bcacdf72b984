//! The memory of threads that are left behind is taken back.
#![cfg(target_os = "linux")]

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::Duration;

use rsmc::sync::Arc;
use rsmc::sync::atomic::AtomicBool;
use rsmc::{Config, Explorer, Verdict, thread};

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

#[test]
fn what_checks_have_left_makes_room_for_others() {
    let test = "left_memory::what_checks_have_left_makes_room_for_others";
    child::alone(test, Duration::from_secs(300), hundreds_of_checks);
}

/// Hundreds of checks in a process with room for the memory of some sixty. Each ends in a deadlock and leaves a little
/// behind. Without memory of its own a check would unwind the thread.
fn hundreds_of_checks() {
    let most = libc::rlimit { rlim_cur: 64 << 30, rlim_max: 64 << 30 };
    // SAFETY: the struct is whole.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const most) }, 0);
    for number in 0..300 {
        let report = rsmc::explore(&Config::default().shrink(0), || {
            let _lasting = Unwound(vec![1_u8; 1_000]);
            thread::park();
        });
        assert!(matches!(report.verdict, Verdict::Failed(_)), "{report:?}");
        assert_eq!(UNWOUND.load(Relaxed), 0, "by check {number}");
    }
}

static UNWOUND: AtomicUsize = AtomicUsize::new(0);

/// Counts when it is dropped.
struct Unwound(Vec<u8>);

impl Drop for Unwound {
    fn drop(&mut self) {
        UNWOUND.fetch_add(self.0.len(), Relaxed);
    }
}

/// The memory of this process.
fn resident() -> u64 {
    rsmc_core::session::resident_memory(None).expect("it is Linux")
}
