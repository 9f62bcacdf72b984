//! The entries of `τ`.

use serde::{Deserialize, Serialize};

use crate::base::{Digest, EventId};

/// An event of a new sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) id: EventId,
    /// No run before the one for which it came into `τ` has it, or it read something else there.
    pub(super) is_new: bool,
}

/// An event of `τ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NamedEntry {
    pub(super) entry: Entry,
    /// The name of it and its source; nothing until the event has happened.
    pub(super) key: Digest,
    /// It came into `τ` by a schedule, not by what a run did after its schedule.
    pub(super) marked: bool,
}
