//! rsmc-shuttle under shuttle's name, for `[patch.crates-io]`.

pub use rsmc_shuttle::*;
