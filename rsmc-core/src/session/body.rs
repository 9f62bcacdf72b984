//! Checks of real code: a thread of its own for the coroutines.

use std::any::Any;

use crate::machine::Rules;
use crate::runtime::Runtime;
use crate::session::jobs::{Crew, Link, work};
use crate::session::trivial::fail_if_trivial;
use crate::session::{Checkpoint, Config, ConfigError, ExplorerKind, Long, Report, Seen};
use crate::session::{check, check_counted, check_divided, check_long, check_watched};
use crate::step::{Executor, Run, Watcher};

/// Runs a check of `body`; `observe` sees every run, and whether it counts as an execution.
///
/// The check has an OS thread of its own: a destructor that panics while its thread is unwound would leave the
/// caller's thread in a state from which std aborts.
///
/// # Errors
/// If the configuration cannot be carried out.
///
/// # Panics
/// If it is called inside an execution: checks do not nest.
#[track_caller]
pub fn check_body(
    config: &Config,
    body: &(dyn Fn() + Sync),
    observe: &mut (dyn FnMut(&Run, bool) + Send),
) -> Result<Report, ConfigError> {
    report_on(config, body, |executor| check_counted(config, executor, observe))
}

/// As [`check_body`]; `watch` also sees when the exploration starts over.
///
/// # Errors
/// If the configuration cannot be carried out.
///
/// # Panics
/// If it is called inside an execution: checks do not nest.
#[track_caller]
pub fn watch_body(
    config: &Config,
    body: &(dyn Fn() + Sync),
    watch: &mut (dyn FnMut(Seen<'_>) + Send),
) -> Result<Report, ConfigError> {
    report_on(config, body, |executor| check_watched(config, executor, watch))
}

/// As [`check_body`]; the watcher sees every execution while it goes on. It is made in the thread of the check, and called on
/// the stacks of the modelled threads.
///
/// # Errors
/// If the configuration cannot be carried out.
///
/// # Panics
/// If it is called inside an execution: checks do not nest.
#[track_caller]
pub fn trace_body(
    config: &Config,
    body: &(dyn Fn() + Sync),
    watcher: impl FnOnce() -> Watcher + Send,
) -> Result<Report, ConfigError> {
    report_on(config, body, |executor| {
        executor.watch(Some(watcher()));
        check(config, executor, &mut |_| {})
    })
}

/// As [`check_body`], with workers; `observe` sees what is run in this process.
///
/// # Errors
/// If the configuration cannot be carried out.
///
/// # Panics
/// If it is called inside an execution: checks do not nest.
#[track_caller]
pub fn check_body_divided(
    config: &Config,
    body: &(dyn Fn() + Sync),
    observe: &mut (dyn FnMut(&Run, bool) + Send),
    crew: &mut (dyn Crew + Send),
) -> Result<Report, ConfigError> {
    report_on(config, body, |executor| check_divided(config, executor, observe, crew))
}

/// As [`check_body`], with workers if there are any, for a check that may take long; see [`check_long`]. `watch` sees what is
/// run in this process.
///
/// # Errors
/// If the configuration cannot be carried out.
///
/// # Panics
/// If it is called inside an execution: checks do not nest. If it is to go on from a checkpoint that does not fit.
#[track_caller]
pub fn check_body_long(
    config: &Config,
    body: &(dyn Fn() + Sync),
    watch: &mut (dyn FnMut(Seen<'_>) + Send),
    crew: Option<&mut (dyn Crew + Send)>,
    long: Long<'_>,
) -> Result<(Report, Option<Checkpoint>), ConfigError> {
    let mut checkpoint = None;
    let report = report_on(config, body, |executor| {
        let (report, own) = check_long(config, executor, watch, crew.map(|crew| crew as &mut dyn Crew), long);
        checkpoint = own;
        report
    })?;
    Ok((report, checkpoint))
}

/// Does jobs of a check of `body` until there are no more. `link` makes the link, in the thread of the check.
///
/// # Errors
/// If the configuration cannot be carried out.
///
/// # Panics
/// If it is called inside an execution: checks do not nest.
#[track_caller]
pub fn work_on_body<L: Link>(
    config: &Config,
    body: &(dyn Fn() + Sync),
    link: impl FnOnce() -> L + Send,
) -> Result<(), ConfigError> {
    with_executor(config, body, |executor| work(config, executor, &mut link()))
}

/// Asserts that no check goes on here.
///
/// # Panics
/// If it is called inside an execution.
///
/// ```
/// rsmc_core::session::assert_no_check();
/// ```
#[track_caller]
pub fn assert_no_check() {
    assert!(!crate::runtime::in_run(), "a check was started inside the body of another: checks do not nest");
}

/// The report on a check of `body`, which fails where its threads share nothing.
#[track_caller]
fn report_on(
    config: &Config,
    body: &(dyn Fn() + Sync),
    explore: impl FnOnce(&mut Runtime<'_>) -> Report + Send,
) -> Result<Report, ConfigError> {
    with_executor(config, body, explore).map(|report| fail_if_trivial(config, report))
}

/// Makes an executor of `body` in a thread of its own.
#[track_caller]
fn with_executor<T: Send>(
    config: &Config,
    body: &(dyn Fn() + Sync),
    explore: impl FnOnce(&mut Runtime<'_>) -> T + Send,
) -> Result<T, ConfigError> {
    assert_no_check();
    config.validate()?;
    let memory = config.effective_memory();
    let Config { max_steps, spin_bound, spurious, .. } = *config;
    let waiting = config.waiting || !matches!(config.explorer, ExplorerKind::Random | ExplorerKind::Pct);
    let rules = Rules { memory, max_steps, spin_bound, spurious, waiting, sees: config.sees, reuse: config.reuse };
    let stuck_after = Some(config.stuck_after).filter(|time| !time.is_zero());
    let name = config.test.as_deref().unwrap_or_default();
    let explore = move || explore(&mut Runtime::new(body, rules, config.stack_size).of_check(name, stuck_after));
    let result = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("rsmc".to_owned());
        builder.spawn_scoped(scope, explore).expect("this process can start a thread").join()
    });
    match result {
        Ok(result) => Ok(result),
        Err(payload) => passed_on(payload),
    }
}

/// Passes a panic of the check itself on to its caller. It is raised anew: inside an execution panics print nothing.
#[track_caller]
fn passed_on(payload: Box<dyn Any + Send>) -> ! {
    match payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied()) {
        Some(message) => panic!("{message}"),
        None => std::panic::resume_unwind(payload),
    }
}
