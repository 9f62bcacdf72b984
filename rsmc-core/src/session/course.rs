//! The state of a running check, which its loop, its coordinator and its report share.

use crate::session::Checkpoint;
use crate::session::findings::Findings;
use crate::session::progress::Clock;

/// See the module.
pub(super) struct Course<'c> {
    pub(super) findings: Findings<'c>,
    pub(super) clock: Clock<'c>,
    /// The state from which another check goes on, if this one was stopped.
    pub(super) checkpoint: Option<Checkpoint>,
}
