//! A check from its configuration to its verdict: the loop plan → run → analyse → observe.

mod asked;
mod body;
mod checkpoint;
mod config;
pub mod jobs;
mod judge;
mod long;
mod nearest;
mod outcome;
mod remedy;
mod run;
mod same;
mod shrink;
mod tally;
mod trivial;
mod weakest;

pub use crate::explore::rf_smc::Estimate;
pub use body::{
    assert_no_check, check_body, check_body_divided, check_body_long, trace_body, watch_body, work_on_body,
};
pub use checkpoint::Checkpoint;
pub use config::{Config, ConfigError, ExplorerKind, MemoryModel};
pub use long::{Long, Progress};
pub use nearest::nearest;
pub use outcome::{Failure, FailureKind, Limit, Report, Verdict};
pub use remedy::Remedy;
pub use run::{Seen, check, check_counted, check_divided, check_long, check_watched};
pub use shrink::Fewest;
pub use weakest::Needs;
