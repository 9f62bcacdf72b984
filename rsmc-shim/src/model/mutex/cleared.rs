//! The poisoned locks that are held, each with whether its holder has cleared the poison.
//!
//! In a check, poison is part of a lock's value, and a release sets it. So the holder's `clear_poison` only leaves a
//! note here for its release. All threads of a check share one OS thread.

use std::cell::RefCell;

use rsmc_core::base::ThreadId;
use rsmc_core::runtime::{Slot, hook};

struct Held {
    lock: usize,
    by: Option<ThreadId>,
    cleared: bool,
}

thread_local!(static HELD: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) });

fn with<R>(act: impl FnOnce(&mut Vec<Held>) -> R) -> Option<R> {
    HELD.try_with(|held| act(&mut held.borrow_mut())).ok()
}

/// Notes that the calling thread has taken a lock that is poisoned.
pub(super) fn begin(lock: usize) {
    hook::slots::at_end(forget);
    hook::executions::aside(|| {
        with(|held| {
            held.retain(|held| held.lock != lock);
            held.push(Held { lock, by: hook::threads::current(), cleared: false });
        });
    });
}

/// Forgets all locks: the execution is over, and threads may have been left with a lock.
fn forget() -> Vec<Slot> {
    with(Vec::clear);
    Vec::new()
}

/// The calling thread clears the poison of a lock; false if it does not hold it poisoned.
pub(super) fn mark(lock: usize) -> bool {
    let me = hook::threads::current();
    with(|held| {
        let mine = held.iter_mut().find(|held| held.lock == lock && held.by == me);
        mine.map(|held| held.cleared = true).is_some()
    })
    .unwrap_or(false)
}

/// Whether the calling thread holds the lock and has cleared its poison.
pub(super) fn by_me(lock: usize) -> bool {
    let me = hook::threads::current();
    with(|held| held.iter().any(|held| held.lock == lock && held.by == me && held.cleared)).unwrap_or(false)
}

/// Forgets a lock that was taken poisoned and is about to be released; true if its poison was cleared.
pub(super) fn end(lock: usize) -> bool {
    with(|held| {
        let at = held.iter().position(|held| held.lock == lock)?;
        Some(held.swap_remove(at).cleared)
    })
    .flatten()
    .unwrap_or(false)
}
