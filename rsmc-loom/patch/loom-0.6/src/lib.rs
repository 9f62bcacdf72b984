//! rsmc-loom under loom's name, for `[patch.crates-io]`.

pub use rsmc_loom::*;
