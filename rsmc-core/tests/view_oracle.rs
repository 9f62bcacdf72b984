//! ViewXplore against brute force: every view class once, with its outcomes, deadlocks and panics.

use rsmc_core::explore::ViewXplore;
use rsmc_core::explore::view_xplore::Traversal;

use crate::litmus_brute as brute;
use crate::oracle::{self, Oracle, mixes};

const VIEW: Oracle = Oracle {
    class: brute::view_class,
    explorer: |memory, number| {
        let depth_first = number.is_multiple_of(2);
        let traversal = if depth_first { Traversal::DepthFirst } else { Traversal::BreadthFirst };
        Box::new(ViewXplore::new(memory, traversal))
    },
};

mixes!(VIEW);
