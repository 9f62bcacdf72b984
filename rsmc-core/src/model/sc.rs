//! Sequential consistency: one value per location, and every write is seen by all at once.
//!
//! Source. L. Lamport, "How to make a multiprocessor computer that correctly executes multiprocess programs",
//! 1979. Rust's orderings make no difference here; they count for data races only (`analysis::race`).

use crate::trace::Op;

/// No store waits.
pub(super) fn buffers(_op: &Op) -> bool {
    false
}
