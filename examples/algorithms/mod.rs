//! Real algorithms, each with its right form and the mistakes people make in it.
//!
//! They are written the way code under test is: against `rsmc_shim`, which is std in an ordinary build. Every file
//! ends with *bodies*, what one would mark `#[rsmc::test]`: `correct…`, which is right under every memory model, and
//! `broken…` for the same scenario with one mistake. Some mistakes show only where stores are delayed, or where loads
//! read old values: their bodies say under which models they are right. `tests/examples.rs` states what rsmc says about
//! each body under SC, TSO, PSO and C11.

pub mod arc_swap;
pub mod chase_lev;
pub mod dekker_lock;
pub mod michael_scott_queue;
pub mod mpsc_parking;
pub mod oneshot;
pub mod peterson_lock;
pub mod publish;
pub mod ref_count;
pub mod seqlock;
pub mod spin_lock;
pub mod spsc_ring;
pub mod treiber_stack;
