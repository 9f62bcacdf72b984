//! Sequential consistency: one value per location, and every write is seen by all at once.
//!
//! Source. L. Lamport, "How to make a multiprocessor computer that correctly executes multiprocess programs",
//! 1979. Rust's orderings make no difference here; they count for data races only (`analysis::race`).

use crate::model::{Description, StoreBuffers};
use crate::trace::Op;

/// The model.
pub(super) const DESCRIPTION: Description = Description {
    name: "sc",
    title: "SC",
    buffers: StoreBuffers::None,
    is_graph: false,
    stronger: &[],
    needs: Some("also under SC"),
    weak_steps: "delayed stores",
};

/// No store waits.
pub(super) fn buffers(_op: &Op) -> bool {
    false
}
