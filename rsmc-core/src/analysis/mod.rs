//! What an execution shows besides its values: pure functions of a trace.

pub mod race;
