//! A check from its configuration to its verdict: the loop plan → run → analyse → observe.

mod config;
mod outcome;

pub use config::{Config, ConfigError, ExplorerKind, MemoryModel};
pub use outcome::{Failure, FailureKind, Limit, Report, Verdict};
