//! ViewXplore against brute force: every view class once, with its outcomes, deadlocks and panics.

#[path = "litmus_brute.rs"]
#[allow(dead_code, reason = "each test uses a part of it")]
mod brute;
mod oracle;

use oracle::{Oracle, mixes};
use rsmc_core::explore::ViewXplore;
use rsmc_core::explore::view_xplore::Traversal;

const VIEW: Oracle = Oracle {
    class: brute::view_class,
    explorer: |memory, number| {
        let depth_first = number.is_multiple_of(2);
        let traversal = if depth_first { Traversal::DepthFirst } else { Traversal::BreadthFirst };
        Box::new(ViewXplore::new(memory, traversal))
    },
};

mixes!(VIEW);
