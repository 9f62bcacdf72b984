//! A watch for work that takes too long, or too much memory.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Until this is dropped.
pub struct Soon {
    _over: Sender<()>,
}

/// Ends the process and says what it was, if it takes longer.
pub fn soon(most: Duration, what: String) -> Soon {
    let (over, is_over) = channel();
    std::thread::spawn(move || {
        if is_over.recv_timeout(most) == Err(RecvTimeoutError::Timeout) {
            use std::io::Write;
            drop(writeln!(std::io::stderr(), "longer than {most:?}: {what}"));
            std::process::abort();
        }
    });
    Soon { _over: over }
}

/// The memory of the process.
pub struct Memory {
    before: u64,
}

impl Memory {
    pub fn new() -> Self {
        Self { before: most() }
    }

    /// It never had so many bytes more than before.
    #[track_caller]
    pub fn assert_below(&self, bytes: u64) {
        let more = most() - self.before;
        assert!(more < bytes, "{} MiB", more >> 20);
    }
}

/// The most that the process had so far, where the system says it.
fn most() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0) << 10
}
