//! A check from its configuration to its verdict. [`Check`] is the way in; `driver` has the loop.

mod body;
mod check;
mod checkpoint;
mod config;
mod course;
mod driver;
mod explanation;
mod explorers;
mod failure_kind;
mod failure_signature;
mod findings;
pub mod jobs;
mod judge;
mod model_attribution;
mod nearest;
mod outcome;
mod probe;
mod progress;
mod remedy;
mod run;
mod shrink;
mod tally;
mod trivial;

pub use crate::explore::PreemptionBound;
pub use crate::explore::rf_smc::Estimate;
pub use body::{Body, assert_no_check, check_body};
pub use check::Check;
pub use checkpoint::Checkpoint;
pub use config::{Config, ConfigError, MemoryModel};
pub use driver::Seen;
pub use explanation::{Fewest, Needs, Remedy};
pub use explorers::ExplorerKind;
pub use failure_kind::FailureKind;
pub use nearest::nearest;
pub use outcome::{Failure, Limit, Report, Verdict};
pub use progress::Progress;
