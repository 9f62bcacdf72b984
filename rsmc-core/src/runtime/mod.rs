//! The second executor, for real code: modelled threads are coroutines on one OS thread.
//!
//! - `births`: values that have to be gone at the end of an execution.
//! - `coroutine`: stackful coroutines with reused stacks. It knows its jobs as a trait, and no execution. `job`: the
//!   jobs of modelled threads; `fibers`: these threads and their stacks.
//! - `arena`: the check's allocator, so that a change of the heap is seen and addresses are always the same; `blocks`,
//!   `pieces`: how its memory is divided. `leave`, `reclaim`: threads that are left in the middle, and the memory that
//!   they own.
//! - `frame`: the registers and the stack when user code calls us; `liveness`: the registers that are still read;
//!   `state`: all that a thread's future depends on.
//! - `identity`: part of every object of the shim.
//! - `abort`: surviving the abort of a destructor that panics during unwinding.
//! - `current`: the thread-local that leads from the shim to the execution in progress.
//! - `execution`: the loop that resumes threads, and what a thread does at a scheduling point. Its parts are data and
//!   import nothing of it: `births`, `fibers`, `foreign`, `holders`, `locals`, `locations`, `slots` and `time`.
//! - `executor`: the executor of sessions, which starts executions.
//! - `foreign`: threads that a check does not know.
//! - `teardown`: the end of the threads that have not ended when an execution is over.
//! - `holders`: the threads that have the objects for which others wait by a token, for reports.
//! - `locals`: values that belong to a modelled thread.
//! - [`object`]: blocking primitives as state machines.
//! - `hash_keys`: the keys of std's hash maps, which are the same in each execution.
//! - `memcheck`: the requests that tell valgrind of stacks and fingerprints.
//! - `observing`: what the program observes of counts and ends, and from when on that counts.
//! - `panics`: the process's panic hook, which keeps quiet about modelled threads and writes down what they said.
//! - `slots`: values that objects of the shim have in one execution only, and what the shim puts back at its end;
//!   `leftovers`: the end of both when the execution is over.
//! - `time`: a clock for each modelled thread.
//! - `watch`: checks that do not go on, and processes that end in the middle of one; `checks`: the table of checks;
//!   `signals`: the signal handlers for both.
//! - [`hook`]: the functions that the shim calls, by subject. Everything else is private.

mod abort;
mod arena;
mod births;
mod blocks;
mod call_paths;
mod candidates;
mod capture;
mod checks;
mod coroutine;
mod current;
mod execution;
mod executor;
mod fibers;
mod file_names;
mod foreign;
mod frame;
mod hash_keys;
mod holders;
pub mod hook;
mod identity;
mod job;
mod leaks;
mod leave;
mod leftovers;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix))]
mod liveness;
/// The stand-in where nothing has a frame.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix)))]
mod liveness {
    pub(super) type Registers = u32;

    pub(super) fn needed_at(_: u64) -> Registers {
        Registers::MAX
    }
}
mod locals;
mod locations;
mod memcheck;
mod memory;
pub mod object;
mod objects;
mod observing;
mod panics;
mod pieces;
mod reclaim;
mod references;
#[cfg(unix)]
mod signals;
#[cfg(not(unix))]
#[path = "signals_elsewhere.rs"]
mod signals;
mod slots;
mod state;
mod teardown;
mod time;
mod watch;

pub use arena::Allocator;
pub use births::{Birth, Reference};
pub use checks::{Fate, LastWords, Moment};
pub use current::in_run;
pub use executor::{Runtime, Savings};
pub use holders::Place;
pub use identity::{Identity, Object};
pub use locals::Gone;
pub use locations::Tag;
pub use slots::{PutBack, Slot};
pub use time::ORIGIN;
pub use watch::{Teller, expect_exit, tell_by};
