//! A body under every explorer that proves and every memory model it knows: the right verdict, soon, and never
//! "verified" without an execution.

use std::time::{Duration, Instant};

use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::{Config, Explorer, FailureKind, Report, Verdict, render, thread};
use rsmc_core::session::check_body;

use super::pairs;

/// The verdict that a check should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Verified,
    Livelock,
    /// With these words.
    Panic(&'static str),
}
pub use Expected::{Livelock, Panic, Verified};

pub fn first_line(report: &Report) -> String {
    render(report, None).lines().next().unwrap_or_default().to_owned()
}

/// Asks every explorer, and says all that is wrong at once.
#[track_caller]
pub fn everywhere(expected: Expected, body: impl Fn() + Sync) {
    in_each(pairs(), expected, body);
}

#[track_caller]
pub fn in_each(pairs: impl Iterator<Item = Config>, expected: Expected, body: impl Fn() + Sync) {
    let mut wrong = String::new();
    for config in pairs {
        let (explorer, memory) = (config.explorer, config.memory.expect("it is set"));
        let (limit, started) = (if explorer == Explorer::Exhaustive { 20 } else { 3 }, Instant::now());
        let config = config.max_duration(Duration::from_secs(limit)).max_steps(5_000).shrink(0);
        let report = check_body(&config, &body, |body| body.check().run()).unwrap();
        let is_right = match (&report.verdict, expected) {
            (Verdict::Verified, Verified) => report.executions > 0,
            (Verdict::Failed(failure), Livelock) => failure.kind == FailureKind::Livelock,
            (Verdict::Failed(failure), Panic(words)) => {
                failure.kind == FailureKind::Panic && failure.message.contains(words)
            }
            _ => false,
        };
        if !is_right || started.elapsed() > Duration::from_secs(limit) {
            wrong += &format!("\n  {explorer} under {memory}, {:?}: {}", started.elapsed(), first_line(&report));
        }
    }
    assert!(wrong.is_empty(), "expected {expected:?}{wrong}");
}

/// With the default settings, in under a second.
#[track_caller]
pub fn soon(body: impl Fn() + Sync) {
    let started = Instant::now();
    let config = Config::default().max_duration(Duration::from_secs(1)).shrink(0);
    let report = check_body(&config, &body, |body| body.check().run()).unwrap();
    assert!(matches!(report.verdict, Verdict::Verified), "{}", first_line(&report));
    assert!(report.executions > 0 && started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

/// The code of a thread that has two atomics.
pub type Code<'a> = &'a (dyn Fn(&AtomicU32, &AtomicU32) + Sync);

/// Two atomics, and threads that use them.
pub fn with(loops: &[Code<'_>]) {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for run in loops {
            scope.spawn(|| run(&x, &y));
        }
    });
}

pub fn writes_x(x: &AtomicU32, _: &AtomicU32) {
    x.store(1, SeqCst);
}
