//! Checks that do not go on, and processes that end in the middle of a check: the last words about them.
//!
//! Problem. A modelled thread that waits for a lock of std, or never comes to an operation, holds the OS thread of its check, and
//! with it all other modelled threads. A segmentation fault, an abort or an `exit` takes the process along. Either way nobody
//! would learn which execution it was.
//!
//! Method. One OS thread of the process, the watchdog, looks at all checks now and then. Each counts what its threads ask of the
//! runtime. Where an execution goes on and its count stays for `stuck_after`, the watchdog stops the OS thread of the check by a
//! signal, so that the execution can be looked at, and ends the process. Where the process dies, the thread that dies asks the
//! watchdog for the last words, and waits for them (`signals`): rendering a seed needs memory, and a signal handler may have none.
//!
//! Cost. An addition for each operation, a lock and an entry in a table for each check; a process has the watchdog from its first
//! check on, which sleeps while there is none.
//!
//! Limits. Time counts only while an execution goes on, and not while the runtime itself computes, a debugger holds the process, or
//! output waits for somebody who reads it. `SIGKILL`, `_exit` and `quick_exit` leave no time for last words. Where there are no
//! signals, the execution cannot be looked at, and there is no seed.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::base::ThreadId;
use crate::runtime::execution::Execution;
use crate::runtime::signals::{self, Stopped};
use crate::step::{Observed, Run};

/// What happened to a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A signal ends the process: its number.
    Signal(i32),
    /// The process ends by `exit`.
    Exit,
    /// No operation came for so long, and the process is going to be ended.
    Stuck(Duration),
}

/// What is known of a check when its process ends in the middle of it.
#[derive(Clone, Copy, Debug)]
pub struct LastWords<'a> {
    /// What happened.
    pub fate: Fate,
    /// The check in which it happened; of a thread that no check knows, those that go on, with commas between.
    pub check: &'a str,
    /// Whether it happened in a thread of the check.
    pub is_inside: bool,
    /// The execution; `None` if none goes on, or if it cannot be looked at.
    pub moment: Option<Moment<'a>>,
}

/// An execution that goes no further.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// What happened in it.
    pub run: &'a Run,
    /// The thread that runs.
    pub thread: ThreadId,
    /// What the program was seen to observe.
    pub observed: &'a Observed,
}

/// Tells somebody last words. It is called in a thread of its own, while the rest of the process may hold any lock.
pub type Teller = fn(&LastWords<'_>);

static TELLER: OnceLock<Teller> = OnceLock::new();
static CHECKS: Mutex<Checks> = Mutex::new(Checks { all: Vec::new(), nobody_looks: false });

/// The checks that go on.
struct Checks {
    all: Vec<Arc<Check>>,
    /// The watchdog sleeps until it is woken.
    nobody_looks: bool,
}

/// From the next check on, last words are told by `teller`. Only the first call counts; without one there are none, and no
/// watchdog.
pub fn tell_by(teller: Teller) {
    let _ = TELLER.set(teller);
}

/// From now on the process may end by `exit` without last words about the checks that go on: somebody interrupts them.
pub fn expect_exit() {
    signals::expect_exit();
}

/// Whether there is a check, as far as that can be told at once.
pub(super) fn somebody_goes_on() -> bool {
    CHECKS.try_lock().is_ok_and(|checks| !checks.all.is_empty())
}

fn lock_checks() -> MutexGuard<'static, Checks> {
    CHECKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A check, as the watchdog sees it.
#[derive(Debug, Default)]
pub(super) struct Check {
    name: String,
    /// Nothing: it may take as long as it likes.
    stuck_after: Option<Duration>,
    /// The OS thread that it has.
    pub(super) thread: usize,
    /// How many bytes the stack of each modelled thread has.
    pub(super) stack_size: usize,
    /// Changes whenever a thread asks something of the runtime.
    progress: AtomicU64,
    /// The execution that goes on.
    pub(super) execution: AtomicPtr<Execution>,
    /// What the watchdog saw of `progress`, and for how many microseconds.
    seen: AtomicU64,
    idle: AtomicU64,
}

/// The entry of a check in the table, for as long as it goes on.
#[derive(Debug, Default)]
pub(super) struct Watched(Arc<Check>);

impl Watched {
    /// A check on this OS thread.
    pub(super) fn new(name: &str, stuck_after: Option<Duration>, stack_size: usize) -> Self {
        if TELLER.get().is_none() {
            return Self::default();
        }
        signals::install(stack_size);
        let thread = signals::this_thread();
        let check = Arc::new(Check { name: name.to_owned(), stuck_after, thread, stack_size, ..Check::default() });
        let wakes = {
            let mut checks = lock_checks();
            checks.all.push(Arc::clone(&check));
            std::mem::take(&mut checks.nobody_looks)
        };
        if wakes {
            signals::wake();
        }
        Self(check)
    }

    pub(super) fn check(&self) -> &Check {
        &self.0
    }

    /// A thread asks something of the runtime.
    #[inline]
    pub(super) fn go_on(&self) {
        let progress = &self.0.progress;
        progress.store(progress.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// An execution goes on, until what is returned is dropped.
    pub(super) fn begin(&self, execution: &Execution) -> GoesOn<'_> {
        self.go_on();
        self.0.execution.store(std::ptr::from_ref(execution).cast_mut(), Ordering::Release);
        GoesOn(&self.0)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        lock_checks().all.retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

/// See [`Watched::begin`].
pub(super) struct GoesOn<'a>(&'a Check);

impl Drop for GoesOn<'_> {
    fn drop(&mut self) {
        self.0.execution.store(std::ptr::null_mut(), Ordering::Release);
    }
}

impl Check {
    fn is_running(&self) -> bool {
        !self.execution.load(Ordering::Acquire).is_null()
    }

    /// Whether nothing came of it for too long, now that so much time has passed again.
    fn stands_still(&self, passed: Duration) -> bool {
        let now = self.progress.load(Ordering::Relaxed);
        if self.seen.swap(now, Ordering::Relaxed) != now || !self.is_running() {
            self.idle.store(0, Ordering::Relaxed);
            return false;
        }
        let passed = u64::try_from(passed.as_micros()).unwrap_or(u64::MAX);
        let idle = self.idle.fetch_add(passed, Ordering::Relaxed) + passed;
        self.stuck_after.is_some_and(|most| u128::from(idle) >= most.as_micros())
    }

    /// Its thread was found at something else.
    fn starts_anew(&self) {
        self.idle.store(0, Ordering::Relaxed);
    }

    fn has_gone_on(&self) -> bool {
        self.progress.load(Ordering::Relaxed) != self.seen.load(Ordering::Relaxed) || !self.is_running()
    }
}

/// How often checks are looked at, if one of them is stuck after this time.
fn every(stuck_after: Duration) -> Duration {
    (stuck_after / 8).clamp(Duration::from_millis(5), Duration::from_millis(500))
}

/// How long to sleep; `None`: until there is a check.
fn until_next_look() -> Option<Duration> {
    let mut checks = lock_checks();
    let soonest = checks.all.iter().filter_map(|check| check.stuck_after).map(every).min();
    checks.nobody_looks = soonest.is_none();
    soonest
}

/// What the watchdog does.
pub(super) fn watch() {
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
        for check in &lock_checks().all {
            if check.stands_still(passed) {
                suspect(check);
            }
        }
    }
}

/// Nothing has come of a check for too long.
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
            let going_on: Vec<String> = match CHECKS.try_lock() {
                Ok(checks) => checks.all.iter().map(|check| check.name.clone()).collect(),
                Err(_) => Vec::new(),
            };
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

/// Whether some thread of this process has written to stdout or stderr, and whoever should read that does not.
fn waits_for_a_reader() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("syscall")).ok()).any(|call| {
        let mut words = call.split_whitespace();
        let number = words.next().and_then(|word| word.parse().ok());
        number.is_some_and(signals::writes) && words.next().is_some_and(|file| ["0x1", "0x2"].contains(&file))
    })
}
