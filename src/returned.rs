//! The results that a test body may return: those of `main`, as for libtest.
//!
//! The attribute writes the call of [`Returned::assert_success`] at the name of the test, so that a failure is there
//! and not in a file of rsmc. The failure names the error itself and not its exit code: the method of `Returned` itself
//! comes before that of the trait.

use std::fmt::Debug;
use std::process::{ExitCode, Termination};

/// The result of a test body.
#[doc(hidden)]
pub struct Returned<T>(T);

#[doc(hidden)]
pub fn returned<T: Termination>(value: T) -> Returned<T> {
    Returned(value)
}

impl<T: Termination, E: Debug> Returned<Result<T, E>> {
    /// Panics if the result is an error, or a code that says that it failed.
    #[track_caller]
    pub fn assert_success(self) {
        match self.0 {
            Ok(value) => succeed(value),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}

/// Results that are no `Result`.
#[doc(hidden)]
pub trait ByTermination {
    /// Panics if the code says that it failed.
    fn assert_success(self);
}

impl<T: Termination> ByTermination for Returned<T> {
    #[track_caller]
    fn assert_success(self) {
        succeed(self.0);
    }
}

#[track_caller]
fn succeed(value: impl Termination) {
    let code = value.report();
    assert!(code == ExitCode::SUCCESS, "the test returned {code:?}, which is not success");
}
