//! Configurations that cannot be carried out.

use thiserror::Error;

use crate::model::MemoryModel;
use crate::session::ExplorerKind;
use crate::session::explorers::implemented;
use crate::session::nearest::then_known;

/// A configuration that cannot be carried out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// An unknown name.
    #[error("there is no {what} `{name}`{} {}", then_known(name, known), known.join(", "))]
    UnknownName {
        /// The kind of name.
        what: &'static str,
        /// The name.
        name: String,
        /// The known names.
        known: &'static [&'static str],
    },
    /// A pair of explorer and memory model that is not implemented.
    #[error(
        "the explorer `{explorer}` is not implemented for the memory model `{memory}`; implemented are {}",
        implemented()
    )]
    NotImplemented {
        /// The explorer.
        explorer: ExplorerKind,
        /// The memory model.
        memory: MemoryModel,
    },
    /// A seed that was made under another memory model.
    #[error(
        "the seed was made under the memory model `{seed}`, and this test runs under `{memory}`: run the test with \
         the model of the seed, for instance with RSMC_MEMORY={seed}"
    )]
    SeedOfAnotherModel {
        /// The model of the seed.
        seed: MemoryModel,
        /// The model of the test.
        memory: MemoryModel,
    },
    /// A bound of preemptions or delays with an explorer that knows none.
    #[error(
        "`{name}` needs the explorer `{}`, and this check has `{explorer}`: RSMC_{}=none removes the bound",
        ExplorerKind::ReadsFrom, name.to_uppercase()
    )]
    NoBound {
        /// The argument.
        name: &'static str,
        /// The explorer.
        explorer: ExplorerKind,
    },
    /// A number that is too small.
    #[error("`{name}` must be at least {least}")]
    TooSmall {
        /// The setting.
        name: &'static str,
        /// The smallest value allowed.
        least: u64,
    },
    /// A number that is too large.
    #[error("`{name}` must be at most {most}")]
    TooLarge {
        /// The setting.
        name: &'static str,
        /// The largest value allowed.
        most: u64,
    },
}
