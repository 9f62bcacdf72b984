//! The checks that go on in the process, and the last words about one when the process ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::ThreadId;
use crate::runtime::execution::{Execution, Progress};
use crate::step::{Observed, Run};

/// The event that ends a check in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A signal ends the process: its number.
    Signal(i32),
    /// The process ends by `exit`.
    Exit,
    /// No operation came for so long, and the process is going to be ended.
    Stuck(Duration),
}

/// The knowledge about a check when its process ends in the middle of it.
#[derive(Clone, Copy, Debug)]
pub struct LastWords<'a> {
    /// The event that ends it.
    pub fate: Fate,
    /// The name of the check in which it happened; for a thread that no check knows, the names of those that go on,
    /// with commas between.
    pub check: &'a str,
    /// Whether it happened in a thread of the check.
    pub is_inside: bool,
    /// The execution; `None` if none goes on, or if it cannot be looked at.
    pub moment: Option<Moment<'a>>,
}

/// An execution that goes no further.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The run so far.
    pub run: &'a Run,
    /// The thread that runs.
    pub thread: ThreadId,
    /// The observations that the program was seen to make.
    pub observed: &'a Observed,
}

static CHECKS: Mutex<Checks> = Mutex::new(Checks { all: Vec::new(), nobody_looks: false });

/// The checks that go on.
pub(super) struct Checks {
    pub(super) all: Vec<Arc<Check>>,
    /// The watchdog sleeps until it is woken.
    pub(super) nobody_looks: bool,
}

thread_local! {
    /// The check of which an execution goes on here, or null. Signal handlers read it.
    static HERE: Cell<*const Check> = const { Cell::new(std::ptr::null()) };
}

/// The check of which an execution goes on on this OS thread, or null. It is there as long as that goes on.
pub(super) fn here() -> *const Check {
    HERE.get()
}

/// The names of the checks that go on; none if the table is locked.
pub(super) fn names() -> Vec<String> {
    CHECKS.try_lock().map_or_else(|_| Vec::new(), |checks| checks.all.iter().map(|check| check.name.clone()).collect())
}

/// Whether there is a check; false if the table is locked.
pub(super) fn somebody_goes_on() -> bool {
    CHECKS.try_lock().is_ok_and(|checks| !checks.all.is_empty())
}

pub(super) fn lock() -> MutexGuard<'static, Checks> {
    CHECKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A check, as the watchdog sees it.
#[derive(Debug, Default)]
pub(super) struct Check {
    pub(super) name: String,
    /// The time after which it is stuck; with `None` it may take as long as it likes.
    pub(super) stuck_after: Option<Duration>,
    /// The OS thread on which it runs.
    pub(super) thread: usize,
    /// The number of bytes of the stack of each modelled thread.
    pub(super) stack_size: usize,
    progress: Progress,
    /// The execution that goes on.
    pub(super) execution: AtomicPtr<Execution>,
    /// The value of `progress` that the watchdog saw, and the number of microseconds for which it has seen it.
    seen: AtomicU64,
    idle: AtomicU64,
}

/// The entry of a check in the table, for as long as it goes on.
#[derive(Debug)]
pub(super) struct Watched(Arc<Check>);

impl Watched {
    /// The check of an execution, which is not in the table.
    pub(super) fn new(execution: &Execution) -> Self {
        Self(Arc::new(Check { progress: execution.progress.clone(), ..Check::default() }))
    }

    /// A check on the OS thread `thread`, which is in the table until this is dropped, and whether the watchdog sleeps
    /// until it is woken.
    pub(super) fn in_table(
        execution: &Execution,
        name: &str,
        stuck_after: Option<Duration>,
        thread: usize,
    ) -> (Self, bool) {
        let check = Arc::new(Check {
            name: name.to_owned(),
            stuck_after,
            thread,
            stack_size: execution.stack_size(),
            progress: execution.progress.clone(),
            ..Check::default()
        });
        let mut checks = lock();
        checks.all.push(Arc::clone(&check));
        (Self(check), std::mem::take(&mut checks.nobody_looks))
    }

    /// Begins an execution, which goes on until the result is dropped.
    pub(super) fn begin(&self, execution: &Execution) -> GoesOn<'_> {
        // Where the watchdog sees an execution, its signal finds the check.
        let before = HERE.replace(Arc::as_ptr(&self.0));
        self.0.execution.store(std::ptr::from_ref(execution).cast_mut(), Ordering::Release);
        GoesOn { check: &self.0, before }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        lock().all.retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

/// See [`Watched::begin`].
pub(super) struct GoesOn<'a> {
    check: &'a Check,
    before: *const Check,
}

impl Drop for GoesOn<'_> {
    fn drop(&mut self) {
        self.check.execution.store(std::ptr::null_mut(), Ordering::Release);
        HERE.set(self.before);
    }
}

impl Check {
    fn is_running(&self) -> bool {
        !self.execution.load(Ordering::Acquire).is_null()
    }

    /// Whether the check has made no progress for too long, after `passed` since the last look.
    pub(super) fn stands_still(&self, passed: Duration) -> bool {
        let now = self.progress.now();
        if self.seen.swap(now, Ordering::Relaxed) != now || !self.is_running() {
            self.idle.store(0, Ordering::Relaxed);
            return false;
        }
        let passed = u64::try_from(passed.as_micros()).unwrap_or(u64::MAX);
        let idle = self.idle.fetch_add(passed, Ordering::Relaxed) + passed;
        self.stuck_after.is_some_and(|most| u128::from(idle) >= most.as_micros())
    }

    /// Begins to count its time anew, since its thread was found at something else.
    pub(super) fn starts_anew(&self) {
        self.idle.store(0, Ordering::Relaxed);
    }

    /// Whether it has made progress since the last look.
    pub(super) fn has_gone_on(&self) -> bool {
        self.progress.now() != self.seen.load(Ordering::Relaxed) || !self.is_running()
    }
}
