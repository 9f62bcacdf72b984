//! Checks that do not go on, and processes that end in the middle of a check: the last words about them.
//!
//! Problem. A modelled thread that waits for a lock of std, or never comes to an operation, holds the OS thread of its
//! check, and with it all other modelled threads. A segmentation fault, an abort or an `exit` takes the process along.
//! Either way the user would not learn which execution it was.
//!
//! Method. One OS thread of the process, the watchdog, looks at all checks now and then. Each counts what its threads
//! ask of the runtime. Where an execution goes on and its count stays for `stuck_after`, the watchdog stops the OS
//! thread of the check by a signal, so that the execution can be looked at, and ends the process. Where the process
//! dies, the thread that dies asks the watchdog for the last words, and waits for them (`signals`): rendering a seed
//! needs memory, and a signal handler may have none.
//!
//! Cost. An addition for each operation, a lock and an entry in a table for each check; a process has the watchdog from
//! its first check on, which sleeps while there is none.
//!
//! Limits. Time counts only while an execution goes on, and not while the runtime itself computes, a debugger holds the
//! process, or output waits for a reader. `SIGKILL`, `_exit` and `quick_exit` leave no time for last words. Where there
//! are no signals, the execution cannot be looked at, and there is no seed.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::runtime::checks::{self, Check, Fate, LastWords, Watched};
use crate::runtime::execution::Execution;
use crate::runtime::signals::{self, Stopped};

/// Tells the user last words. It is called in a thread of its own, while the rest of the process may hold any lock.
pub type Teller = fn(&LastWords<'_>);

static TELLER: OnceLock<Teller> = OnceLock::new();
/// Makes `teller` tell last words from the next check on. Only the first call counts; without one there are no last
/// words, and no watchdog.
pub fn tell_by(teller: Teller) {
    let _ = TELLER.set(teller);
}

/// Lets the process end by `exit` from now on without last words about the checks that go on, since they are
/// interrupted.
pub fn expect_exit() {
    signals::expect_exit();
}

/// Begins the check on this OS thread, of which this is the execution.
pub(super) fn begin(execution: &Execution, name: &str, stuck_after: Option<Duration>) -> Watched {
    if TELLER.get().is_none() {
        return Watched::new(execution);
    }
    signals::install(execution.stack_size(), watch);
    let (watched, wakes) = Watched::in_table(execution, name, stuck_after, signals::this_thread());
    if wakes {
        signals::wake();
    }
    watched
}

/// The time between two looks at the checks, if one of them is stuck after this time.
fn every(stuck_after: Duration) -> Duration {
    (stuck_after / 8).clamp(Duration::from_millis(5), Duration::from_millis(500))
}

/// The time to sleep; `None`: until there is a check.
fn until_next_look() -> Option<Duration> {
    let mut checks = checks::lock();
    let soonest = checks.all.iter().filter_map(|check| check.stuck_after).map(every).min();
    checks.nobody_looks = soonest.is_none();
    soonest
}

/// The loop of the watchdog.
fn watch() {
    let mut last = Instant::now();
    loop {
        let pause = until_next_look();
        if let Some((fate, dying)) = signals::sleep(pause) {
            tell(fate, dying);
            signals::was_told();
            continue;
        }
        // A process that was stopped, or a machine that slept, has lost no more than a look or two.
        let passed = last.elapsed().min(2 * pause.unwrap_or_default());
        last = Instant::now();
        for check in &checks::lock().all {
            if check.stands_still(passed) {
                suspect(check);
            }
        }
    }
}

/// Looks at a check that has made no progress for too long, and ends the process if it is stuck.
fn suspect(check: &Check) {
    if is_traced() || waits_for_a_reader() {
        return check.starts_anew();
    }
    let stopped = signals::stop(check);
    if check.has_gone_on() {
        return check.starts_anew();
    }
    let fate = Fate::Stuck(check.stuck_after.unwrap_or_default());
    let words = LastWords { fate, check: &check.name, is_inside: true, moment: None };
    let is_ours = match stopped {
        // It does not listen to signals.
        None => {
            say(&words);
            false
        }
        Some(stopped) => stopped.look(|moment| {
            if moment.is_some() {
                say(&LastWords { moment, ..words });
            }
            moment.is_none()
        }),
    };
    if !is_ours {
        signals::die();
    }
    // The runtime itself is at work.
    check.starts_anew();
}

fn tell(fate: Fate, dying: Option<Stopped<'_>>) {
    match dying {
        Some(dying) => dying.look(|moment| {
            say(&LastWords { fate, check: &dying.check().name, is_inside: true, moment });
        }),
        None => {
            let going_on = checks::names();
            if !going_on.is_empty() {
                say(&LastWords { fate, check: &going_on.join(", "), is_inside: false, moment: None });
            }
        }
    }
}

fn say(words: &LastWords<'_>) {
    if let Some(teller) = TELLER.get() {
        drop(std::panic::catch_unwind(|| teller(words)));
    }
}

/// Whether a debugger looks at this process.
fn is_traced() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}

/// Whether some thread of this process is writing to stdout or stderr, and the reader does not read that.
fn waits_for_a_reader() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("syscall")).ok()).any(|call| {
        let mut words = call.split_whitespace();
        let number = words.next().and_then(|word| word.parse().ok());
        number.is_some_and(signals::writes) && words.next().is_some_and(|file| ["0x1", "0x2"].contains(&file))
    })
}
