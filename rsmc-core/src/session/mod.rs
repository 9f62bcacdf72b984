//! A check from its configuration to its verdict: the loop plan → run → analyse → observe.

mod body;
mod config;
mod judge;
mod outcome;
mod run;

pub use body::check_body;
pub use config::{Config, ConfigError, ExplorerKind, MemoryModel};
pub use outcome::{Failure, FailureKind, Limit, Report, Verdict};
pub use run::{check, check_counted};
