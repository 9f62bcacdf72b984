//! loom's API on rsmc: a suite that was written for loom 0.7, 0.6 or 0.5 runs unchanged.
//!
//! In a crate of your own, put this in place of loom:
//!
//! ```toml
//! [target.'cfg(loom)'.dependencies]
//! loom = { package = "rsmc-loom", version = "0.7" }
//! ```
//!
//! [`model()`] then runs its closure once per class of executions, under Rust's own memory model, and panics with
//! rsmc's report: the shortest schedule that fails, and a seed that replays it.
//!
//! ```
//! use rsmc_loom as loom;
//! use loom::sync::{Arc, atomic::{AtomicUsize, Ordering::SeqCst}};
//!
//! loom::model(|| {
//!     let count = Arc::new(AtomicUsize::new(0));
//!     let other = Arc::clone(&count);
//!     let thread = loom::thread::spawn(move || other.fetch_add(1, SeqCst));
//!     count.fetch_add(1, SeqCst);
//!     thread.join().unwrap();
//!     assert_eq!(count.load(SeqCst), 2);
//! });
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`model`](mod@model) | [`model()`], [`model::Builder`] and loom's variables of the environment |
//! | [`sync`] | [`Arc`](sync::Arc), locks, [`Notify`](sync::Notify), [`mpsc`](sync::mpsc), [`atomic`](sync::atomic) |
//! | [`cell`] | [`UnsafeCell`](cell::UnsafeCell) and [`Cell`](cell::Cell), whose accesses are checked for data races |
//! | [`thread`], [`thread_local!`], [`lazy_static!`] | threads, and values for each of them or for each execution |
//! | [`alloc`] | memory and values that must be given back |
//! | [`future`] | [`block_on`](future::block_on), [`AtomicWaker`](future::AtomicWaker) |
//! | [`hint`] | [`spin_loop`](hint::spin_loop) |
//!
//! # Where it differs from loom
//!
//! - Outside [`model()`] the types do what those of std do, where loom panics; only [`thread::spawn`] panics there.
//! - All sources that a load can have are explored, under C11. loom misses some of them and adds others: it treats
//!   `SeqCst` accesses as `AcqRel`.
//! - Loops that wait need no `yield_now`, no bound on branches and no bound on preemptions.
//! - Types have what those of std have, beyond loom's: `const fn new`, `Weak`, `sync_channel`, ….
//! - What times out may time out: [`Condvar::wait_timeout`](sync::Condvar::wait_timeout) does not in loom.
//! - Memory that is used after it was freed, or freed twice, fails without `alloc::Track`.

pub mod alloc;
pub mod cell;
pub mod explore;
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

pub use crate::explore::{explore, skip_branch, stop_exploring};
pub use crate::model::model;
pub use rsmc_shim::thread_local;

/// The number of threads that a model can have in loom. Here a model can have any number of them.
pub const MAX_THREADS: usize = 5;

#[doc(hidden)]
pub mod __private {
    pub use rsmc_shim::__lazy_static;
}
