//! Heuristic-URF: orderings that every witness must have, until they contradict each other or no more are found.
//!
//! Problem. Find out quickly that there is no witness. Most questions of ViewXplore have the answer no.
//!
//! Source. Stamos, "Optimal Exploration of Sequentially Consistent Executions of Concurrent Programs under View
//! Equivalence" (thesis, NTUA 2025), 5.2, algorithm 4.
//!
//! Deviation. Its rules look at reads with a single possible write only. Those of the closure of RVF-SMC
//! (`closure`) look at all of them, and include these; so URF is that closure, from which the complete step goes on.
//! Under SC only: with buffers the closure needs one good write per read.

use crate::base::Poset;
use crate::consistency::{Instance, close};

/// False if the instance has no witness under SC; true if it may have one.
pub fn urf(instance: &Instance) -> bool {
    close(instance, &mut Poset::default()).is_ok()
}
