//! Parts of a model that are not explored.

/// Goes on with the exploration after [`stop_exploring`].
pub fn explore() {}

/// In loom, everything up to the next [`explore`] runs in one order only.
pub fn stop_exploring() {}

/// As [`stop_exploring`], for the rest of the execution.
pub fn skip_branch() {}
