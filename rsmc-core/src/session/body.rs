//! Checks of real code. A check runs its coroutines in an OS thread of its own, or in its caller's.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::machine::Rules;
use crate::runtime::Runtime;
use crate::session::{Check, Config, ConfigError};
use crate::step::Executor as _;

/// The body of a check with its executor, in the thread of the check.
pub struct Body<'b> {
    config: &'b Config,
    runtime: Runtime<'b>,
}

impl Body<'_> {
    /// A check of the body. It fails if the threads of the body share nothing.
    pub fn check(&mut self) -> Check<'_> {
        Check::of_code(self.config, &mut self.runtime)
    }
}

/// Makes an executor of `body`, and returns what `check` makes of it.
///
/// The check has an OS thread of its own, unless [`Config::own_thread`] says otherwise: after a destructor has panicked
/// while its thread was unwound, std counts one panic too many on the OS thread for ever.
///
/// # Errors
/// If the configuration cannot be carried out.
///
/// # Panics
/// If called inside an execution: checks do not nest. If `check` panics.
///
/// ```
/// use rsmc_core::session::{Config, check_body};
///
/// let report = check_body(&Config::default(), &|| (), |body| body.check().run()).unwrap();
/// assert_eq!(report.executions, 1);
/// ```
#[track_caller]
pub fn check_body<T: Send>(
    config: &Config,
    body: &(dyn Fn() + Sync),
    check: impl FnOnce(&mut Body<'_>) -> T + Send,
) -> Result<T, ConfigError> {
    let (mut check, mut result) = (Some(check), None);
    in_a_thread(config, body, &mut |body| result = check.take().map(|check| check(body)))?;
    Ok(result.expect("the check has returned"))
}

/// Runs `check` once. It is compiled once, not for every check of a test program.
#[track_caller]
fn in_a_thread(
    config: &Config,
    body: &(dyn Fn() + Sync),
    check: &mut (dyn FnMut(&mut Body<'_>) + Send),
) -> Result<(), ConfigError> {
    assert_no_check();
    config.validate()?;
    let memory = config.effective_memory();
    let Config { max_steps, spin_bound, spurious, .. } = *config;
    let waiting = config.waiting || !config.explorer.is_random();
    let &Config { sees, reuse, pardons, .. } = config;
    let rules = Rules { memory, max_steps, spin_bound, spurious, waiting, sees, reuse, stirred: None, pardons };
    let stuck_after = Some(config.stuck_after).filter(|time| !time.is_zero());
    let name = config.test.as_deref().unwrap_or_default();
    // The caller's functions, which stand still meanwhile, have their variables behind this one.
    let here = 0_usize;
    let caller = (&raw const here).addr();
    let check = move || {
        let mut runtime = Runtime::new(body, rules, config.stack_size).called_from(caller).of_check(name, stuck_after);
        runtime.weaken(&config.weakened);
        check(&mut Body { config, runtime })
    };
    let result = match config.own_thread {
        true => std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().name("rsmc".to_owned());
            builder.spawn_scoped(scope, check).expect("this process can start a thread").join()
        }),
        false => catch_unwind(AssertUnwindSafe(check)),
    };
    match result {
        Ok(()) => Ok(()),
        Err(payload) => passed_on(payload),
    }
}

/// Asserts that the caller is not inside an execution.
///
/// # Panics
/// If called inside an execution.
///
/// ```
/// rsmc_core::session::assert_no_check();
/// ```
#[track_caller]
pub fn assert_no_check() {
    assert!(!crate::runtime::in_run(), "a check was started inside the body of another: checks do not nest");
}

/// Passes a panic of the check itself on to its caller. It is raised anew: inside an execution panics print nothing.
#[track_caller]
fn passed_on(payload: Box<dyn Any + Send>) -> ! {
    match payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied()) {
        Some(message) => panic!("{message}"),
        None => std::panic::resume_unwind(payload),
    }
}
