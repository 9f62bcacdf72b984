//! Analyses of an execution, as pure functions of a trace.

pub mod drops;
pub mod happens_before;
pub mod race;
