//! Analyses of an execution, as pure functions of a trace.

pub mod happens_before;
pub mod last_drops;
pub mod race;
