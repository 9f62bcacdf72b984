//! The machine: everything of an execution that does not depend on who supplies the operations.
//!
//! An executor (coroutines, litmus interpreter) tells the machine which operation each thread stands before
//! ([`Machine::arrive`]), asks who goes on ([`Machine::who_next`]) and lets it act ([`Machine::perform`]). The machine
//! keeps memory, decides what is enabled, follows the plan, recognises spin loops and records the trace.
//!
//! Invariants.
//! - Every thread stands before a visible operation, waits in a join or for its stores to become visible, or has
//!   ended, whenever a step is chosen: starts, finished joins and passed fences are continued first, since they
//!   commute with everything.
//! - A forced step is taken as it is or the run ends as [`crate::step::End::Diverged`]; it is never replaced.
//! - `perform` records exactly one event.

mod accesses;
mod ahead;
mod choose;
mod core;
mod dice;
mod end;
mod endless;
mod freed;
mod graphs;
mod names;
mod patience;
mod pure;
mod rules;

pub use self::accesses::Begun;
pub use self::ahead::{Doubts, Place};
pub use self::core::{Machine, Next, Outcome};
pub use self::freed::{Suspect, suspects};
pub use self::pure::{Glance, Glimpse, Preserved, State};
pub use self::rules::{Rules, Sees};
