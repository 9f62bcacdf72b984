//! Running one test in a process of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use serde::Deserialize;
use wait_timeout::ChildExt;

use crate::Error;
use crate::build::{Suite, Test};
use crate::list::{Checker, Crate};
use crate::results::{Ended, Outcome};
use crate::source::corpus;

/// After its limit, rsmc has so long to say how far it came.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// loom prints the number of an execution whenever it has done so many.
const LOOM_INTERVAL: u64 = 1_000;

/// Runs a test until it ends or its time is up. What it prints is kept below [`corpus`], in `logs`.
pub fn run(one: &Crate, checker: Checker, suite: &Suite, test: &Test, limit: Duration) -> Result<Ended, Error> {
    let files = Files::new(one, checker, test)?;
    let log = File::create(&files.log)?;
    let mut command = command(one, checker, suite, test, limit);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).env("RSMC_SUMMARY", &files.summary);
    let before = children_seconds()?;
    let mut child = command.spawn()?;
    let patience = if checker == Checker::Rsmc { limit + LAST_WORDS } else { limit };
    let status = child.wait_timeout(patience)?;
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    // Of the processor, since others may use the machine.
    let seconds = children_seconds()? - before;
    let text = String::from_utf8_lossy(&fs::read(&files.log)?).into_owned();
    Ok(match checker {
        Checker::Loom => of_loom(status, &text, seconds),
        Checker::Rsmc => of_rsmc(status, &files.summary, seconds)?,
    })
}

/// The files that one test leaves.
struct Files {
    /// What it prints.
    log: PathBuf,
    /// What rsmc says of each check.
    summary: PathBuf,
}

impl Files {
    fn new(one: &Crate, checker: Checker, test: &Test) -> Result<Self, Error> {
        let folder = corpus().join("logs").join(&one.name);
        fs::create_dir_all(&folder)?;
        let name = format!("{}.{checker}", test.name.replace("::", "."));
        let summary = folder.join(format!("{name}.jsonl"));
        if summary.exists() {
            fs::remove_file(&summary)?;
        }
        Ok(Self { log: folder.join(format!("{name}.log")), summary })
    }
}

fn command(one: &Crate, checker: Checker, suite: &Suite, test: &Test, limit: Duration) -> Command {
    let mut command = Command::new(&test.executable);
    command.current_dir(&suite.folder).args([&test.path, "--exact", "--nocapture", "--test-threads=1"]);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("LOOM_") || name.starts_with("RSMC_")) {
            command.env_remove(name);
        }
    }
    match checker {
        // The number of executions; tests that make a builder of their own print it only if they have a subscriber.
        Checker::Loom => {
            command.env("LOOM_LOG", "loom=info").env("LOOM_CHECKPOINT_INTERVAL", LOOM_INTERVAL.to_string());
        }
        Checker::Rsmc => {
            command.env("RSMC_MAX_DURATION", format!("{}s", limit.as_secs()));
        }
    }
    command.envs(&one.env);
    command
}

/// The seconds of the processor that all children have taken so far.
fn children_seconds() -> Result<f64, Error> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let times = [usage.user_time(), usage.system_time()];
    Ok(times.iter().map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6).sum())
}

fn of_loom(status: Option<ExitStatus>, text: &str, seconds: f64) -> Ended {
    let outcome = match status {
        None => Outcome::Unfinished,
        Some(status) if status.success() => Outcome::Passed,
        Some(_) => Outcome::Failed,
    };
    let numbers = |before: &str, after: &str| -> Vec<u64> {
        let of_line = |line: &str| line.split_once(before)?.1.split_once(after)?.0.trim().parse().ok();
        text.lines().filter_map(of_line).collect()
    };
    let done: u64 = numbers("Completed in ", " iterations").iter().sum();
    let begun = numbers("= Iteration ", " =").last().copied().filter(|_| outcome != Outcome::Passed);
    let executions = done + begun.unwrap_or(0);
    Ended { outcome, seconds, executions: (executions > 0).then_some(executions), kind: None }
}

/// A line of `RSMC_SUMMARY`, as far as it counts here.
#[derive(Deserialize)]
struct Line {
    verdict: String,
    executions: u64,
    kind: Option<String>,
    limit: Option<String>,
}

fn of_rsmc(status: Option<ExitStatus>, summary: &Path, seconds: f64) -> Result<Ended, Error> {
    let text = if summary.exists() { fs::read_to_string(summary)? } else { String::new() };
    let lines: Vec<Line> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let is_late =
        lines.iter().any(|line| line.verdict == "incomplete" && line.limit.as_deref() == Some("max_duration"));
    let outcome = match status {
        None => Outcome::Unfinished,
        Some(_) if is_late => Outcome::Unfinished,
        Some(status) if status.success() => Outcome::Passed,
        Some(_) => Outcome::Failed,
    };
    let executions = (!lines.is_empty()).then(|| lines.iter().map(|line| line.executions).sum());
    let kind = lines.into_iter().find_map(|line| line.kind).filter(|_| outcome == Outcome::Failed);
    Ok(Ended { outcome, seconds, executions, kind })
}
