//! Mirrors [`std::thread`]. What a thread runs need not be `Send`: all threads of a check are on one OS thread.

use std::io;

pub use rsmc_shim::thread::{AccessError, JoinHandle, LocalKey, Thread, ThreadId, current, panicking, park, yield_now};

/// Starts a thread of the model.
///
/// # Panics
/// Outside a model.
#[track_caller]
pub fn spawn<F, T>(code: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    rsmc_shim::thread::Builder::new().spawn_in_check(code)
}

/// Properties of a thread to be started.
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder(rsmc_shim::thread::Builder);

impl Builder {
    /// No name, and a stack of the usual size.
    #[expect(clippy::new_without_default, reason = "loom has no default either")]
    pub fn new() -> Self {
        Self(rsmc_shim::thread::Builder::new())
    }

    /// Gives the thread a name.
    pub fn name(self, name: String) -> Self {
        Self(self.0.name(name))
    }

    /// Asks for a stack of some bytes. All stacks of a model have the same size, which the check chooses.
    pub fn stack_size(self, size: usize) -> Self {
        Self(self.0.stack_size(size))
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// None; the result is as in std.
    ///
    /// # Panics
    /// Outside a model, or if the name contains a null byte.
    #[track_caller]
    pub fn spawn<F, T>(self, code: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        Ok(self.0.spawn_in_check(code))
    }
}
