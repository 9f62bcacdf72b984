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
//! panics, deadlocks, livelocks, leaks an `Arc` or races on a tracked cell. The body must be deterministic but for
//! scheduling.
//!
//! # What is not
//!
//! - By default ([`MemoryModel::C11`]) a check explores all that Rust's memory model allows, except load buffering: no
//!   load takes a store that comes after it in program order and reads-from. It judges data races by Rust's own
//!   happens-before under every model.
//! - A check sees only what goes through the shim: no real threads, real locks, real time or randomness.
//! - A `compare_exchange_weak` fails, and a wait ends, without cause at most [`Config::spurious`] times in one
//!   execution (by default once).
//! - A loop without any operation of the shim (`loop {}`), and waiting for a lock of std that another modelled thread
//!   holds, ends the process after [`Config::stuck_after`], with the seed.
//! - A check looks for threads that keep each other from locks for ever, though each of them gives back what it has,
//!   but does not exclude them.
//! - A check does not explore how often a loop that counts looks beyond [`Config::spin_bound`] equal iterations, nor
//!   more equal rounds than an eighth of that of a loop that changes something and takes it back.
//!
//! # Loops that wait
//!
//! An iteration that changes nothing is no part of an execution: a thread that comes back to where it was, with its
//! local variables, the heap and memory as they were, waits until something that it has read is different. If that
//! never happens, it is a livelock. A loop whose state never repeats, since it counts, is ordinary code for
//! [`Config::spin_bound`] equal iterations. Then it either waits, too, or gives up: its reads return what the last ones
//! returned, until it does something else. The check explores both, and the report names the loop. A loop that does not
//! give up within [`Config::max_steps`] operations waits for ever. A loop that changes something in every round and
//! takes it back, as one that polls under a spin lock of the user's, waits after a few equal rounds, and is named, too.
//!
//! A check compares states on x86-64 and AArch64 Unix, and with the feature `allocator` (on by default): it makes
//! rsmc's allocator the global one of the program. Switch the feature off in a program that has an allocator of its
//! own; then all loops are bounded as above. A check does not see changes of statics, of std's thread-locals and of
//! memory from before the check.

mod annotate;
mod audit;
mod ctrl_c;
mod ends;
mod env;
mod files;
mod jobs;
mod long;
mod outcomes;
mod returned;
mod run;
mod said;
pub mod spec;
mod summary;
mod terminal;

pub use rsmc_core::base::{EventId, LocId, ThreadId};
pub use rsmc_core::report::RenderOptions;
pub use rsmc_core::seed::{Seed, SeedError};
pub use rsmc_core::session::ExplorerKind as Explorer;
pub use rsmc_core::session::{
    Cause, Config, ConfigError, Estimate, Failure, FailureKind, Fewest, Limit, MemoryModel, Needs, PreemptionBound,
    Remedy, Report, Verdict,
};
pub use rsmc_core::trace::{Trace, Weakened, WeakenedError};
/// Makes a [specification](mod@spec), and its test, of a module with the functions of a sequential model.
///
/// ```
/// use rsmc::sync::Mutex;
///
/// /// A set of numbers behind a lock.
/// #[derive(Default)]
/// struct Set(Mutex<Vec<u32>>);
///
/// impl Set {
///     fn insert(&self, number: u32) -> bool {
///         let mut numbers = self.0.lock().unwrap();
///         let is_new = !numbers.contains(&number);
///         numbers.extend(is_new.then_some(number));
///         is_new
///     }
///
///     fn contains(&self, number: u32) -> bool {
///         self.0.lock().unwrap().contains(&number)
///     }
/// }
///
/// #[rsmc::spec(calls = 3)]
/// mod set {
///     use super::Set;
///     use std::collections::BTreeSet;
///
///     pub fn new() -> Set {
///         Set::default()
///     }
///
///     #[op]
///     fn insert(set: &mut BTreeSet<u32>, number: u32) -> bool {
///         set.insert(number)
///     }
///
///     #[op(number in [1, 2, 3])]
///     fn contains(set: &mut BTreeSet<u32>, number: u32) -> bool {
///         set.contains(&number)
///     }
/// }
/// #
/// # fn main() {
/// #     set::spec().check();
/// # }
/// ```
///
/// `cargo test` runs `set::linearizable`: all scenarios of up to three calls, with all executions of each, against the
/// functions of the module. They are ordinary functions, and the module may have other items. A scenario that fails is
/// kept by a test in it, with `spec().execute("insert(1) | insert(1)")` in its body. Write the module where other tests
/// are, in a module with `#[cfg(test)]`.
///
pub use rsmc_macros::spec;
pub use rsmc_macros::{audit, test};
pub use rsmc_shim::{
    Label, MODELLED, Nondet, alloc, cell, choose, coerce_arc, future, hint, if_model, label, nondet, sync, thread,
    thread_local, time,
};

pub use crate::audit::{Audit, AuditedOrdering, Needed, audit};
pub use crate::env::EnvError;
pub use crate::outcomes::{Outcome, Outcomes, outcomes};
pub use crate::run::{check, check_with, dot, explore, html, json, render, render_in};

/// With the feature `allocator`, a check sees what executions allocate: see [loops that wait](crate#loops-that-wait).
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: rsmc_core::runtime::Allocator = rsmc_core::runtime::Allocator;

/// The items that the attributes expand to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::audit::Assertion;
    pub use crate::returned::{ByTermination, Returned, returned};
    pub use crate::run::{
        __rust_end_short_backtrace as run_test, __rust_end_short_backtrace_of_audit as run_audit, Model, parse_seed,
        run_model,
    };
    pub use crate::spec::values::alike;
}
