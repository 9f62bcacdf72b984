//! The engine of rsmc. Users want the crate `rsmc`; this one holds the parts it is made of.
//!
//! The layers are folders, and each imports only from those before it (`tests/layers.rs` holds the same table):
//!
//! ```text
//! base ◀ trace ◀ model ◀ consistency ◀ analysis
//!                  ▲
//!                step ◀ machine ◀ runtime ◀ session ◀ report
//!                step ◀ { seed, explore } ◀
//! ```
//!
//! Start reading at `step` (what an explorer and an executor say to each other), then [`explore::rf_smc`] for the
//! algorithm and `machine` for what a step does.

pub mod analysis;
pub mod base;
pub mod consistency;
pub mod explore;
pub mod machine;
pub mod model;
pub mod report;
pub mod runtime;
pub mod seed;
pub mod session;
pub mod step;
pub mod trace;
