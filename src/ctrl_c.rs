//! A handler for Ctrl-C, and the end of a process from inside of it.
//!
//! On Unix the handler runs as a signal handler, so it may do no more than change atomics and call [`end_at_once`].

/// Installs a handler for Ctrl-C for the rest of the process. A handler that the program has is left alone, and later
/// calls change nothing.
pub(crate) fn handle(handler: fn()) {
    system::handle(handler);
}

/// Ends the process without running anything else.
pub(crate) fn end_at_once(status: i32) -> ! {
    system::end_at_once(status)
}

#[cfg(unix)]
mod system {
    use std::mem::zeroed;
    use std::ptr::{null, null_mut};
    use std::sync::OnceLock;

    static HANDLER: OnceLock<fn()> = OnceLock::new();

    pub(super) fn handle(handler: fn()) {
        // SAFETY: all zeros are a `sigaction`.
        let mut old: libc::sigaction = unsafe { zeroed() };
        // SAFETY: the call writes the present action into `old`.
        let is_known = unsafe { libc::sigaction(libc::SIGINT, null(), &mut old) } == 0;
        if !is_known || old.sa_sigaction != libc::SIG_DFL || HANDLER.set(handler).is_err() {
            return;
        }
        let run: extern "C" fn(libc::c_int) = run;
        // SAFETY: all zeros are a `sigaction`, with an empty mask.
        let mut new: libc::sigaction = unsafe { zeroed() };
        new.sa_sigaction = run as libc::sighandler_t;
        // Stacks of modelled threads are small.
        new.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        // SAFETY: `run` is a handler without `SA_SIGINFO`, and does only what a signal handler may.
        unsafe { libc::sigaction(libc::SIGINT, &new, null_mut()) };
    }

    extern "C" fn run(_signal: libc::c_int) {
        if let Some(handler) = HANDLER.get() {
            handler();
        }
    }

    pub(super) fn end_at_once(status: i32) -> ! {
        // SAFETY: `_exit` may be called anywhere, also in a signal handler.
        unsafe { libc::_exit(status) }
    }
}

#[cfg(windows)]
mod system {
    pub(super) fn handle(handler: fn()) {
        // Otherwise there is a handler already.
        drop(ctrlc::try_set_handler(handler));
    }

    pub(super) fn end_at_once(status: i32) -> ! {
        rsmc_core::runtime::expect_exit();
        std::process::exit(status)
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    pub(super) fn handle(_handler: fn()) {}

    pub(super) fn end_at_once(status: i32) -> ! {
        std::process::exit(status)
    }
}
