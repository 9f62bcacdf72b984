//! Surviving std's abort.
//!
//! std aborts the process when a destructor panics while a panic already unwinds its thread. By then the thread is
//! beyond repair, but the process is not: where the abort is expected, its signal is caught on the stack of the
//! modelled thread, which is left for good, and the check goes on to report what happened.
//!
//! Unix only. Elsewhere the thread is left from within the panic hook, before std aborts; std then keeps its lock of
//! the hook for ever, so that code that replaces the hook later (libtest does at its very end) hangs.

#[cfg(unix)]
pub(super) use unix::catch_abort;

#[cfg(unix)]
mod unix {
    use std::sync::OnceLock;

    use crate::runtime::current::in_current;

    /// The handler of the signal that was there before ours.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// Catches aborts that are expected from now on, and lets every other one pass.
    pub(crate) fn catch_abort() {
        BEFORE.get_or_init(|| {
            // SAFETY: a zeroed `sigaction` is a valid one. SA_NODEFER leaves the signal unblocked, since the handler
            // does not return where it leaves a modelled thread.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_flags = libc::SA_NODEFER;
                action.sa_sigaction = on_abort as extern "C" fn(libc::c_int) as libc::sighandler_t;
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(libc::SIGABRT, &raw const action, &raw mut before);
                before
            }
        });
    }

    extern "C" fn on_abort(signal: libc::c_int) {
        in_current(|execution| {
            if execution.broken.get() {
                // On the stack of the thread that aborts: leaving it is leaving an ordinary function.
                execution.abandon();
            }
        });
        // Any other abort is in earnest.
        if let Some(before) = BEFORE.get() {
            // SAFETY: `before` is what the system gave us.
            unsafe {
                libc::sigaction(signal, before, std::ptr::null_mut());
                libc::raise(signal);
            }
        }
    }
}
