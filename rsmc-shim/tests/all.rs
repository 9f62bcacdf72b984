//! The tests of the shim, one module a subject, in one executable.

mod against_std;
mod docs;
mod doors;
mod ends;
mod extras;
mod futures;
mod model;
mod reexports;
mod std_methods;
#[cfg(feature = "model")]
mod support;
