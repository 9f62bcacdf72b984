//! Running a check and saying how it went: the only place that panics or prints.

use std::cell::RefCell;
use std::fmt::Debug;
use std::panic::Location;
use std::rc::Rc;

use rsmc_core::report;
use rsmc_core::seed::Seed;
use rsmc_core::session::{Config, ConfigError, Limit, Report, Verdict, trace_body};

use crate::env;
use crate::jobs::{self, Which};

/// Checks `body` with the default configuration, as overridden by the environment.
///
/// # Panics
/// With the rendered report if an execution fails or a limit is reached, like a failing test. With an explanation
/// if a variable of the environment is wrong, or if called inside another check.
///
/// ```
/// use rsmc::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// rsmc::check(|| {
///     let x = AtomicU32::new(0);
///     rsmc::thread::scope(|scope| {
///         scope.spawn(|| x.fetch_add(1, Relaxed));
///         scope.spawn(|| x.fetch_add(1, Relaxed));
///     });
///     assert_eq!(x.load(Relaxed), 2);
/// });
/// ```
#[track_caller]
pub fn check(body: impl Fn() + Sync) {
    check_with(Config::default(), body);
}

/// Checks `body` with a configuration, as overridden by the environment.
///
/// # Panics
/// As [`check`]; also if the configuration cannot be carried out.
#[track_caller]
pub fn check_with(config: Config, body: impl Fn() + Sync) {
    settle(config, None, &body);
}

/// Checks `body` and returns what was found, without a panic and without looking at the environment.
///
/// # Panics
/// If the configuration cannot be carried out, or if called inside another check.
///
/// ```
/// use rsmc::{Config, Explorer, Verdict, sync::atomic::{AtomicU32, Ordering::SeqCst}};
///
/// let report = rsmc::explore(&Config::default().explorer(Explorer::ReadsFrom), || {
///     let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
///     rsmc::thread::scope(|scope| {
///         scope.spawn(|| { x.store(1, SeqCst); y.load(SeqCst) });
///         scope.spawn(|| { y.store(1, SeqCst); x.load(SeqCst) });
///     });
/// });
/// assert!(matches!(report.verdict, Verdict::Verified));
/// assert_eq!(report.executions, 3);
/// ```
#[track_caller]
pub fn explore(config: &Config, body: impl Fn() + Sync) -> Report {
    match jobs::check(&Which::next(None, Location::caller()), config, &body) {
        Ok(report) => report,
        Err(error) => panic!("rsmc: {error}"),
    }
}

/// A report as text: the schedule for a failure, one line otherwise. `name` is how `cargo test` calls the test.
pub fn render(report: &Report, name: Option<&str>) -> String {
    report::any(report, name)
}

/// What a test body may return.
#[doc(hidden)]
pub trait TestResult {
    /// Panics if the result is an error.
    fn settle(self);
}

impl TestResult for () {
    fn settle(self) {}
}

impl<E: Debug> TestResult for Result<(), E> {
    #[track_caller]
    fn settle(self) {
        if let Err(error) = self {
            panic!("the test returned an error: {error:?}");
        }
    }
}

#[doc(hidden)]
#[track_caller]
pub fn run_test<R: TestResult>(name: &str, config: Config, body: impl Fn() -> R + Sync) {
    // `cargo test` leaves the crate's name out.
    let name = name.split_once("::").map_or(name, |(_, rest)| rest);
    settle(config, Some(name), &|| body().settle());
}

#[doc(hidden)]
#[track_caller]
pub fn parse_seed(text: &str) -> Seed {
    match text.parse() {
        Ok(seed) => seed,
        Err(error) => panic!("rsmc: {error}"),
    }
}

#[track_caller]
fn settle(config: Config, name: Option<&str>, body: &(dyn Fn() + Sync)) {
    let read = env::read().and_then(|variables| Ok((env::apply(config, &variables)?, env::wants_trace(&variables))));
    let (config, is_traced) = match read {
        Ok(read) => read,
        Err(error) => panic!("rsmc: {error}"),
    };
    let which = Which::next(name, Location::caller());
    if jobs::is_passed(&which) {
        return;
    }
    let report = if is_traced { trace(&config, body) } else { jobs::check(&which, &config, body) };
    let report = match report {
        Ok(report) => report,
        Err(error) => panic!("rsmc: {error}"),
    };
    let text = render(&report, name);
    if passes(&config, &report) {
        #[allow(clippy::print_stdout, reason = "what a passing test found out; cargo shows it with --nocapture")]
        {
            println!("rsmc: {text}");
        }
    } else {
        panic!("{text}");
    }
}

/// Stacks are at least as large where every operation is printed on them.
const TRACED_STACK: usize = 1024 * 1024;

/// As [`jobs::check`] in this process; every operation is printed while it happens.
#[track_caller]
fn trace(config: &Config, body: &(dyn Fn() + Sync)) -> Result<Report, ConfigError> {
    let config = config.clone().stack_size(config.stack_size.max(TRACED_STACK));
    trace_body(&config, body, || {
        let live = RefCell::new(report::Live::default());
        Rc::new(move |run| {
            #[allow(clippy::print_stderr, reason = "asked for by RSMC_LOG, and captured with what the body prints")]
            live.borrow_mut().news(run).iter().for_each(|line| eprintln!("{line}"));
        })
    })
}

/// A check that ended at a limit passes only if the user asked for that limit, or for samples (`random`, `pct`).
fn passes(config: &Config, report: &Report) -> bool {
    match &report.verdict {
        Verdict::Verified | Verdict::Incomplete(Limit::Executions(_) | Limit::Replay) => true,
        Verdict::Incomplete(Limit::Duration(_)) => config.max_duration_chosen,
        _ => false,
    }
}
