//! The execution in progress on this OS thread.

use std::cell::Cell;
use std::ptr::null;

use crate::runtime::execution::Execution;

thread_local! {
    /// The execution in progress, or null. Every operation reads it, so it is one word that is read in place.
    static CURRENT: Cell<*const Execution> = const { Cell::new(null()) };
}

/// Acts in the execution in progress on this OS thread, if there is one.
#[inline]
pub(super) fn in_current<R>(act: impl FnOnce(&Execution) -> R) -> Option<R> {
    let execution = CURRENT.get();
    // SAFETY: `progress` borrows the execution for as long as it is set, and the caller runs meanwhile.
    (!execution.is_null()).then(|| act(unsafe { &*execution }))
}

/// Acts while `execution` is the one in progress.
pub(super) fn progress(execution: &Execution, act: impl FnOnce()) {
    struct Until(*const Execution);
    impl Drop for Until {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _until = Until(CURRENT.replace(execution));
    act();
}

/// Whether this OS thread is inside an execution.
#[inline]
pub fn in_run() -> bool {
    !CURRENT.get().is_null()
}
