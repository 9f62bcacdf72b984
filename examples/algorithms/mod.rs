//! Real algorithms, each with its right form and the mistakes people make in it.
//!
//! They are written the way code under test is: against `rsmc_shim`, which is std in an ordinary build. Every file
//! ends with *bodies*, what one would mark `#[rsmc::test]`: `correct`, and `broken…` for the same scenario with one
//! mistake. `tests/examples.rs` states what rsmc says about each.

pub mod michael_scott_queue;
pub mod peterson_lock;
pub mod ref_count;
pub mod spsc_ring;
pub mod treiber_stack;
