//! shuttle's API on rsmc: a suite that was written for shuttle 0.9 runs unchanged.
//!
//! In a crate of your own, put this in place of shuttle:
//!
//! ```toml
//! shuttle = { package = "rsmc-shuttle", version = "0.9" }
//! ```
//!
//! [`check_random`] and [`check_pct`] then draw as many samples as they ask for, and [`check_dfs`] runs one execution
//! per reads-from class: all outcomes, in fewer executions than there are schedules. A failure panics with rsmc's
//! report: the shortest schedule that fails, and a seed for [`replay()`].
//!
//! ```should_panic
//! use rsmc_shuttle as shuttle;
//! use shuttle::sync::{Arc, Mutex};
//!
//! shuttle::check_random(
//!     || {
//!         let lock = Arc::new(Mutex::new(0));
//!         let other = Arc::clone(&lock);
//!         shuttle::thread::spawn(move || *other.lock().unwrap() = 1);
//!         assert_eq!(*lock.lock().unwrap(), 0); // fails: the thread may be faster
//!     },
//!     100,
//! );
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | the crate | [`check_random`], [`check_pct`], [`check_dfs`], [`replay()`], …, [`Runner`], [`Config`] |
//! | [`scheduler`] | the schedulers that a [`Runner`] takes |
//! | [`sync`] | locks, [`mpsc`](sync::mpsc), [`atomic`](sync::atomic); [`Arc`](sync::Arc) is std's |
//! | [`thread`], [`thread_local!`], [`mod@lazy_static`] | threads, and values for each of them or for each execution |
//! | [`future`] | [`block_on`](future::block_on), [`spawn`](future::spawn), handles that abort |
//! | [`rand`] | [`thread_rng`](rand::thread_rng), whose values belong to the execution |
//! | [`current`] | the task that runs, and a time stamp |
//! | [`hint`] | [`spin_loop`](hint::spin_loop) |
//!
//! `docs/coming-from-shuttle.md` in the repository of rsmc has each item of shuttle, what differs, and what is missing.
//!
//! # Where it differs from shuttle
//!
//! - Outside a check the types do what those of std do, where shuttle panics.
//! - A wait may end without cause, and a weak compare-exchange may fail so, once in an execution; what times out may
//!   time out. std allows all of it, and shuttle explores it for [`thread::park`] only.
//! - Loops that wait need no `yield_now` and no bound on steps. Yields and sleeps are no steps: where threads share
//!   only what is std's, a check has one execution, or a loop that waits for it does not end.
//! - The samples of a check are the same each time, unless `SHUTTLE_RANDOM_SEED` is another number.
//! - `RSMC_EXPLORER=reads-from RSMC_MAX_EXECUTIONS=…` explores what a suite only samples, and `RSMC_MEMORY=c11` does
//!   so under Rust's own memory model: every atomic is sequentially consistent here, as in shuttle.
//! - Memory that is used after it was freed, or freed twice, fails, for what goes through atomics, cells and locks.

mod check;
mod config;
pub mod current;
pub mod future;
pub mod hint;
pub mod lazy_static;
mod portfolio;
pub mod rand;
mod run;
pub mod scheduler;
pub mod sync;
pub mod thread;

pub use crate::check::{
    check, check_dfs, check_pct, check_random, check_random_with_seed, check_uncontrolled_nondeterminism, replay,
    replay_from_file,
};
pub use crate::config::{Config, FailurePersistence, MaxSteps};
pub use crate::portfolio::PortfolioRunner;
pub use crate::run::Runner;
pub use rsmc_shim::thread_local;

/// The variable by which shuttle is asked for no warnings. Nothing here: there are none.
pub const SILENCE_WARNINGS: &str = "SHUTTLE_SILENCE_WARNINGS";

/// The variable by which shuttle is asked for backtraces of tasks. Nothing here: a report has the call paths of the
/// threads that wait.
pub const CAPTURE_BACKTRACE: &str = "SHUTTLE_CAPTURE_BACKTRACE";

#[doc(hidden)]
pub mod __private {
    pub use rsmc_shim::__lazy_static;
}
