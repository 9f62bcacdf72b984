//! The task that runs, and a time stamp.

use std::fmt;

use rsmc_core::runtime::hook;

use crate::run::running;

/// The number of a task: a thread, or a future that was spawned. The body is task 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(usize);

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskId").field(&self.0).finish()
    }
}

impl From<usize> for TaskId {
    fn from(number: usize) -> Self {
        Self(number)
    }
}

impl From<TaskId> for usize {
    fn from(task: TaskId) -> usize {
        task.0
    }
}

/// The task that runs; `None` outside of a check.
#[must_use]
pub fn try_get_current_task() -> Option<TaskId> {
    hook::threads::current().map(|thread| TaskId(thread.0 as usize))
}

/// The task that runs.
///
/// # Panics
/// Outside of a check.
#[must_use]
#[track_caller]
pub fn get_current_task() -> Option<TaskId> {
    Some(me())
}

/// The task that runs.
///
/// # Panics
/// Outside of a check.
#[must_use]
#[track_caller]
pub fn me() -> TaskId {
    try_get_current_task().expect("there is a current task in a check only")
}

/// The number of operations so far in this execution: a time stamp for what happens in it.
///
/// # Panics
/// Outside of a check. With `check_dfs`: one execution stands there for all that differ only in the order of operations
/// that do not affect each other, and have other time stamps.
///
/// ```
/// use rsmc_shuttle as shuttle;
/// use shuttle::current::context_switches;
///
/// shuttle::check_random(
///     || {
///         let before = context_switches();
///         shuttle::sync::atomic::AtomicBool::new(false).store(true, shuttle::sync::atomic::Ordering::SeqCst);
///         assert!(before < context_switches());
///     },
///     1,
/// );
/// ```
#[must_use]
#[track_caller]
pub fn context_switches() -> usize {
    assert!(
        !running().is_some_and(|running| running.explores_classes),
        "`check_dfs` has no time stamps: one execution stands for others that have other ones; use `check_random`"
    );
    hook::executions::operations().expect("there are time stamps in a check only")
}
