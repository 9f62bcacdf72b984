//! Checks of real code: a thread of its own for the coroutines.

use crate::machine::Rules;
use crate::runtime::Runtime;
use crate::session::{Config, ConfigError, Report, check_counted};
use crate::step::Run;

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
    assert!(!crate::runtime::in_run(), "a check was started inside the body of another: checks do not nest");
    config.validate()?;
    let memory = config.effective_memory();
    let Config { max_steps, spin_bound, spurious, .. } = *config;
    let rules = Rules { memory, max_steps, spin_bound, spurious };
    let explore = move || {
        let mut executor = Runtime::new(body, rules, config.stack_size);
        check_counted(config, &mut executor, observe)
    };
    let report = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("rsmc".to_owned());
        builder.spawn_scoped(scope, explore).expect("this process can start a thread").join()
    });
    Ok(report.unwrap_or_else(|payload| std::panic::resume_unwind(payload)))
}
