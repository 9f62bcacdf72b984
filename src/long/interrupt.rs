//! Ctrl-C during long checks: they stop between two executions and say what they have covered; then the process ends,
//! with status 130. A second Ctrl-C ends it at once.
//!
//! One process may run several checks at once. Each that takes long listens; the last of those that listen ends the
//! process. While no check listens, Ctrl-C does what it does without a handler. A handler that the program has is left
//! alone: then checks do not stop.

use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use rsmc_core::runtime::expect_exit;

use crate::ctrl_c;

/// The exit status of a process that was interrupted.
const STATUS: i32 = 130;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicUsize = AtomicUsize::new(0);

/// A check that listens, until it is dropped.
pub(crate) struct Listening;

impl Listening {
    pub(super) fn start() -> Self {
        static INSTALLED: Once = Once::new();
        LISTENING.fetch_add(1, SeqCst);
        INSTALLED.call_once(|| ctrl_c::handle(interrupt));
        Self
    }

    pub(super) fn is_interrupted(&self) -> bool {
        INTERRUPTED.load(SeqCst)
    }

    /// If there was a Ctrl-C, says how the check went, and ends the process as soon as no other check listens.
    pub(crate) fn end(self, report: &str) {
        if !self.is_interrupted() {
            return;
        }
        // Not by `eprintln`, which libtest would keep until the end of the test. A failed write does not matter.
        drop(writeln!(std::io::stderr(), "\nrsmc: {report}"));
        drop(self);
        if LISTENING.load(SeqCst) == 0 {
            expect_exit();
            std::process::exit(STATUS);
        }
        loop {
            std::thread::park();
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENING.fetch_sub(1, SeqCst);
    }
}

/// The handler. It may run as a signal handler.
fn interrupt() {
    let again = INTERRUPTED.swap(true, SeqCst);
    if again || LISTENING.load(SeqCst) == 0 {
        ctrl_c::end_at_once(STATUS);
    }
}
