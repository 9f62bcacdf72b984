//! The door for the shim: every modelled operation enters the runtime here, in a module for its subject.
//!
//! Functions that return an `Option` return `None` where the calling OS thread is in no execution; the shim then
//! does what std does. All of them take the place of the user's call from their caller.

pub mod atomics;
pub mod calls;
pub mod cells;
pub mod choices;
pub mod counts;
mod enter;
pub mod executions;
pub mod loops;
pub mod objects;
pub mod slots;
pub mod threads;
pub mod time;
pub mod tokens;
pub mod tracked;
