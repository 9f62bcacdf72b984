//! Threads that a check does not know: real ones that the body starts, and that use its objects.
//!
//! Such a thread is in no execution, so the shim would do for it what std does, on memory that the check does not look
//! at. The check notices that where an object belongs to an execution that goes on elsewhere; but not for a static,
//! which ordinary code may use at the same time. A static lies near the statics of this file, and what a body creates
//! does not: it is on a stack, or in memory that was allocated by a thread that is not the first one.
//!
//! An object that no execution has used belongs to the check in whose memory it is: on the stack of one of its threads,
//! or among what user code of it has allocated. Limits: without the check's allocator objects on the heap are not seen.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A check that goes on, as others see it.
#[derive(Debug, Default)]
struct Check {
    /// The execution that runs; 0 between executions.
    execution: AtomicU64,
    /// Whether anything was noticed. It is read before `misuse`.
    noticed: AtomicBool,
    /// The message about a thread that it does not know; `None` where ordinary code used a static of it.
    misuse: Mutex<Option<String>>,
    /// The memory of its objects that no execution has used: the heap of the execution that runs, and the stacks of its
    /// threads.
    heap: Mutex<Range<usize>>,
    stacks: Mutex<Vec<Range<usize>>>,
}

/// A use of a check's objects from outside, which was noticed in an execution.
pub(super) enum Notice {
    /// A thread that the check does not know used what belongs to it.
    Misuse(String),
    /// Ordinary code used a static that the check uses, too.
    Meanwhile,
}

/// The number of checks that go on. It is read before the table.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// All memory of checks, now and before, lies between these. They are read before the table.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);
static CHECKS: Mutex<Vec<Arc<Check>>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entry of a check in the table, for as long as it goes on.
#[derive(Debug)]
pub(super) struct Registered(Arc<Check>);

impl Registered {
    pub(super) fn new() -> Self {
        let check = Arc::default();
        lock(&CHECKS).push(Arc::clone(&check));
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Self(check)
    }

    /// Adds a stack, which the check has from now on.
    pub(super) fn has_stack(&self, stack: Range<usize>) {
        covers(&stack);
        lock(&self.0.stacks).push(stack);
    }

    /// The stacks that it has.
    pub(super) fn stacks(&self) -> Vec<Range<usize>> {
        lock(&self.0.stacks).clone()
    }

    /// Begins an execution with this heap.
    pub(super) fn begin(&self, execution: u64, heap: Range<usize>) {
        covers(&heap);
        *lock(&self.0.heap) = heap;
        self.0.execution.store(execution, Ordering::Relaxed);
    }

    /// Ends the execution, and returns what was noticed in it.
    pub(super) fn end(&self) -> Option<Notice> {
        self.0.execution.store(0, Ordering::Relaxed);
        if !self.0.noticed.load(Ordering::Relaxed) {
            return None;
        }
        self.0.noticed.store(false, Ordering::Relaxed);
        Some(lock(&self.0.misuse).take().map_or(Notice::Meanwhile, Notice::Misuse))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
        lock(&CHECKS).retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

/// Whether a check goes on in this process, on any OS thread.
#[inline]
pub(super) fn goes_on() -> bool {
    RUNNING.load(Ordering::Relaxed) > 0
}

/// Called outside executions: tells the check to which the object at `address` belongs, if one goes on, and returns
/// what to panic with. `execution` is the one that used the object last. `what` is called only then.
#[inline]
pub(super) fn notice(
    execution: u64,
    address: usize,
    may_be_static: bool,
    what: impl FnOnce() -> String,
) -> Option<String> {
    if !goes_on() || (execution == 0 && is_elsewhere(address)) {
        None
    } else {
        report(execution, address, may_be_static, what)
    }
}

/// Notes that a check has this memory.
fn covers(memory: &Range<usize>) {
    if memory.is_empty() {
        return;
    }
    LOWEST.fetch_min(memory.start, Ordering::Relaxed);
    HIGHEST.fetch_max(memory.end, Ordering::Relaxed);
}

/// Whether no check has had memory there.
fn is_elsewhere(address: usize) -> bool {
    address < LOWEST.load(Ordering::Relaxed) || address >= HIGHEST.load(Ordering::Relaxed)
}

impl Check {
    /// Whether an object is its own, and an execution of it goes on.
    fn owns(&self, used_in: u64, address: usize) -> bool {
        let goes_on = self.execution.load(Ordering::Relaxed);
        match used_in {
            0 => goes_on != 0 && self.has_memory_at(address),
            used_in => goes_on == used_in,
        }
    }

    fn has_memory_at(&self, address: usize) -> bool {
        lock(&self.heap).contains(&address) || lock(&self.stacks).iter().any(|stack| stack.contains(&address))
    }
}

#[cold]
fn report(execution: u64, address: usize, may_be_static: bool, what: impl FnOnce() -> String) -> Option<String> {
    const NEAR: usize = 1 << 30;
    let checks = lock(&CHECKS);
    let check = checks.iter().find(|check| check.owns(execution, address))?;
    check.noticed.store(true, Ordering::Relaxed);
    if may_be_static && address.abs_diff(std::ptr::from_ref(&CHECKS).addr()) < NEAR {
        return None;
    }
    let message = what();
    lock(&check.misuse).get_or_insert(message.clone());
    Some(message)
}
