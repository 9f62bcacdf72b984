//! The second executor, for real code: modelled threads are coroutines on one OS thread.
//!
//! - `births`: what has to be gone at the end of an execution.
//! - `coroutine`: stackful coroutines with reused stacks. `unsafe` is here, where `current` calls it, and in
//!   `abort`.
//! - `arena`: the check's allocator, so that a change of the heap is seen and addresses are always the same; `blocks`,
//!   `pieces`: how its memory is divided. `leave`, `reclaim`: threads that are left in the middle, and what they own.
//! - `frame`: what registers and stack hold when user code calls us; `liveness`: which of the registers are still read;
//!   `state`: what a thread's future depends on.
//! - `atomics`, `choices` and `loops`: the parts of the door for atomics, for choices and for loops that wait. `identity`: part of every object of the shim.
//! - `abort`: surviving the abort of a destructor that panics during unwinding.
//! - `current`: the one thread-local, the door from the shim to the execution in progress.
//! - `execution`: the loop that resumes threads, and what a thread does at a scheduling point.
//! - `foreign`: threads that a check does not know.
//! - `teardown`: what becomes of the threads that have not ended when an execution is over.
//! - `holders`: who has what threads wait for by a token, for reports.
//! - `locals`: values that belong to a modelled thread.
//! - [`object`]: blocking primitives as state machines.
//! - `memcheck`: what valgrind has to be told of stacks and fingerprints.
//! - `panics`: the process's panic hook, which keeps quiet about modelled threads and writes down what they said.
//! - `slots`: values that objects of the shim have in one execution only, and what the shim puts back at its end.
//!   Dropping values is `unsafe`, too.
//! - `time`: a clock for each modelled thread.
//! - `watch`: checks that do not go on, and processes that end in the middle of one; `signals`: what signal handlers do there.
//! - [`hook`]: what the shim calls. Everything else is private.

mod abort;
mod arena;
mod atomics;
mod births;
mod blocks;
mod choices;
mod coroutine;
mod current;
mod execution;
mod fibers;
mod foreign;
mod frame;
mod holders;
pub mod hook;
mod identity;
mod leaks;
mod leave;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix))]
mod liveness;
/// Nothing has a frame.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), unix)))]
mod liveness {
    pub(super) type Registers = u32;

    pub(super) fn needed_at(_: u64) -> Registers {
        Registers::MAX
    }
}
mod locals;
mod locations;
mod loops;
mod memcheck;
mod memory;
pub mod object;
mod objects;
mod panics;
mod pieces;
mod reclaim;
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
pub use births::Birth;
pub use current::{Runtime, Savings, in_run};
pub use identity::Identity;
pub use locals::Gone;
pub use locations::Tag;
pub use slots::{PutBack, Slot};
pub use time::ORIGIN;
pub use watch::{Fate, LastWords, Moment, Teller, expect_exit, tell_by};
