//! The code that tests and benchmarks of rsmc share and that no user needs. It is not published.
//!
//! - [`litmus`]: a small language for concurrent programs, with an executor that has no coroutines.
//! - [`lab`]: the explorers with which the papers compare themselves.
//! - [`naive_sc`](fn@naive_sc) and [`naive`]: verifiers that try everything, the oracles of those in
//!   `rsmc_core::consistency`.

pub mod lab;
pub mod litmus;
mod naive_buffers;
mod naive_sc;

pub use naive_buffers::{naive, naive_pso, naive_tso};
pub use naive_sc::naive_sc;
