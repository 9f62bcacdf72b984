//! Exhaustive concurrency testing as an ordinary part of `cargo test`.
//!
//! Write a test against the types of `rsmc-shim`, which are std's in ordinary builds, and mark it
//! [`#[rsmc::test]`](macro@test). Its body is run once per class of executions until every class has been seen or
//! one fails. A failure prints the schedule and a seed that replays it.
//!
//! ```should_panic
//! use rsmc::sync::{Arc, atomic::{AtomicUsize, Ordering::SeqCst}};
//! use rsmc::thread;
//!
//! // In a test module: `#[rsmc::test] fn counter() { … }`. `rsmc::check` does the same anywhere.
//! rsmc::check(|| {
//!     let counter = Arc::new(AtomicUsize::new(0));
//!     let other = Arc::clone(&counter);
//!     let thread = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
//!     counter.store(counter.load(SeqCst) + 1, SeqCst);
//!     thread.join().unwrap();
//!     assert_eq!(counter.load(SeqCst), 2); // fails: both may load 0
//! });
//! ```
//!
//! # What is guaranteed
//!
//! [`Verdict::Verified`] from an exhaustive explorer means: under the chosen memory model no execution of the body
//! panics, deadlocks, livelocks, leaks an `Arc` or races on a tracked cell. The body must be deterministic but for scheduling.
//!
//! # What is not
//!
//! - By default ([`MemoryModel::C11`]) all is explored that Rust's memory model allows, but for load buffering: no load
//!   takes a store that comes after it in program order and reads-from. Data races are judged by Rust's own
//!   happens-before under every model.
//! - Only what goes through the shim is seen: real threads, real locks, real time and randomness are not.
//! - A `compare_exchange_weak` fails, and a wait ends, without cause at most [`Config::spurious`] times in one execution
//!   (by default once).
//! - A loop without any operation of the shim (`loop {}`) is not noticed.
//!
//! # Loops that wait
//!
//! A loop that repeats an iteration 32 times in a row, reading the same values, is taken as one that waits for
//! another thread, and its thread is not run again before one of the values changes. Where nothing can change any
//! more, it is let go once more up to [`Config::max_steps`]; if it still repeats itself, that is a livelock.
//! `hint::spin_loop` and `thread::yield_now` mark the end of an iteration.

mod env;
mod files;
mod jobs;
mod long;
mod outcomes;
mod run;
mod terminal;

pub use rsmc_core::base::{EventId, LocId, ThreadId};
pub use rsmc_core::report::Manner;
pub use rsmc_core::seed::{Seed, SeedError};
pub use rsmc_core::session::ExplorerKind as Explorer;
pub use rsmc_core::session::{
    Config, ConfigError, Estimate, Failure, FailureKind, Fewest, Limit, MemoryModel, Needs, Remedy, Report, Verdict,
};
pub use rsmc_core::trace::Trace;
pub use rsmc_macros::test;
pub use rsmc_shim::{
    Label, Nondet, alloc, cell, choose, coerce_arc, future, hint, label, nondet, sync, thread, thread_local, time,
};

pub use crate::env::EnvError;
pub use crate::outcomes::{Outcome, Outcomes, outcomes};
pub use crate::run::{check, check_with, dot, explore, html, json, render, render_in};

/// What `#[rsmc::test]` expands to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::run::{TestResult, parse_seed, run_test};
}
