//! Analyses of an execution, as pure functions of a trace.

pub mod race;
