//! The end of a process, in words.

use std::process::ExitStatus;

/// The words for a process that ended, and whether it did that itself.
pub(super) fn of(status: Option<ExitStatus>) -> (String, bool) {
    let Some(status) = status else { return ("lost its connection".to_owned(), false) };
    match (status.code(), signal(status)) {
        (Some(code), _) => (format!("ended with code {code}"), true),
        (None, Some(signal)) => (format!("was ended by {}", name(signal)), !OUTSIDE.contains(&signal)),
        (None, None) => ("ended".to_owned(), false),
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Signals that come from outside: SIGHUP, SIGINT, SIGKILL (also for want of memory) and SIGTERM.
const OUTSIDE: [i32; 4] = [1, 2, 9, 15];

/// The names of signals that have the same number on all common systems.
const NAMES: [(i32, &str); 10] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (15, "SIGTERM"),
];

fn name(signal: i32) -> String {
    let known = NAMES.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
