//! Checks that take long: their progress, how they are stopped, and where they go on.
//!
//! - `place`, `file`: the checkpoint of a check that was stopped.
//! - `shown`: the progress of a check, on a terminal or in lines.
//! - `status`: lines at the end of a terminal that are drawn again and again.
//! - `interrupt`: Ctrl-C.

pub(crate) mod file;
mod interrupt;
pub(crate) mod place;
mod shown;
mod status;

use std::path::Path;
use std::time::Duration;

use rsmc_core::report::command;
use rsmc_core::session::{Checkpoint, Config, ConfigError, Progress, Report, Verdict};
use thiserror::Error;

use crate::jobs::{self, Which};
use crate::long::file::Refused;
pub(crate) use crate::long::interrupt::Listening;
use crate::long::shown::Shown;

/// The reason why a check is not run.
#[derive(Debug, Error)]
pub(crate) enum NotRun {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The interval between two looks at a check that goes on.
const EVERY: Duration = Duration::from_millis(100);

/// The time from which a check counts as long. A shorter one shows nothing, and Ctrl-C ends it as it ends everything.
const LONG: Duration = Duration::from_secs(1);

/// Runs a check: from its checkpoint if that is asked for, and to a checkpoint if it is stopped. If it took long, it
/// listens for Ctrl-C until the report is out ([`Listening::end`]).
#[track_caller]
pub(crate) fn check(
    which: &Which,
    config: &Config,
    resumes: bool,
    body: &(dyn Fn() + Sync),
) -> Result<(Report, Option<Listening>), NotRun> {
    if config.replay.is_some() || jobs::is_worker() {
        return Ok((jobs::check(which, config, body, |body, crew| body.check().crew(crew).run())?, None));
    }
    let path = place::of(which.short_name(), "checkpoint");
    let found = match &path {
        Some(path) if resumes => read(path, which.name(), config)?,
        _ => None,
    };
    let begun = resumes.then(|| beginning(found.as_ref()));
    let resumed = found.is_some();
    let Ran { mut report, checkpoint, interrupts } = run(which, config, found, body)?;
    report.notes.extend(begun);
    match (&checkpoint, &path) {
        (Some(checkpoint), path) => report.notes.push(keep(which, path.as_deref(), checkpoint)),
        (None, Some(path)) if resumed && is_over(&report) => report.notes.extend(forget(path)),
        (None, _) => {}
    }
    Ok((report, interrupts))
}

/// Reads a checkpoint; `None` if there is no file.
fn read(path: &Path, check: &str, config: &Config) -> Result<Option<Checkpoint>, Refused> {
    let found: Option<Checkpoint> = file::read(path, check)?;
    match found.as_ref().and_then(|checkpoint| checkpoint.misfit(config)) {
        None => Ok(found),
        Some(why) => Err(Refused::settings(path, why)),
    }
}

/// The result of a check.
struct Ran {
    report: Report,
    checkpoint: Option<Checkpoint>,
    interrupts: Option<Listening>,
}

fn run(
    which: &Which,
    config: &Config,
    resume: Option<Checkpoint>,
    body: &(dyn Fn() + Sync),
) -> Result<Ran, ConfigError> {
    let mut shown = Shown::new(which.test());
    let mut interrupts = None;
    let mut pulse = |progress: &Progress| {
        if progress.elapsed < LONG {
            return true;
        }
        shown.show(progress);
        !interrupts.get_or_insert_with(Listening::start).is_interrupted()
    };
    let result = jobs::check(which, config, body, |body, crew| {
        body.check().crew(crew).pulse(EVERY, &mut pulse).resume(resume).run_part()
    });
    shown.clear();
    let (report, checkpoint) = result?;
    Ok(Ran { report, checkpoint, interrupts })
}

fn is_over(report: &Report) -> bool {
    matches!(report.verdict, Verdict::Verified | Verdict::Failed(_))
}

/// The note about where a check that is to be resumed begins.
fn beginning(checkpoint: Option<&Checkpoint>) -> String {
    match checkpoint {
        Some(checkpoint) => format!("resumed after {} executions", checkpoint.executions()),
        None => "there was no checkpoint to resume from, so it started from the beginning".to_owned(),
    }
}

/// Writes a checkpoint, and says how to go on from it.
fn keep(which: &Which, path: Option<&Path>, checkpoint: &Checkpoint) -> String {
    let Some(path) = path else {
        return "it cannot be resumed: the system does not say where the executable is".to_owned();
    };
    match file::write(path, which.name(), checkpoint) {
        Ok(()) => {
            let command = which.for_cargo().map_or("… in front of the same command".to_owned(), command);
            format!("to go on from here:\nRSMC_RESUME=1 {command}")
        }
        Err(error) => format!("it cannot be resumed: {} cannot be written: {error}", path.display()),
    }
}

/// Deletes the checkpoint of a check that is over; says so if it cannot be.
fn forget(path: &Path) -> Option<String> {
    let error = std::fs::remove_file(path).err()?;
    Some(format!("{} is not needed any more, and cannot be deleted: {error}", path.display()))
}
