//! The answers of other runs to the questions of a report: does the failure need so many switches, this memory model,
//! these orderings?
//!
//! They are data, which a [`Failure`](super::Failure) has. `shrink`, `model_attribution` and `remedy` find them.

use std::fmt;
use std::sync::atomic::Ordering;

use crate::session::nearest::list;
use crate::session::{FailureKind, MemoryModel};
use crate::trace::Site;

/// The number of context switches of a schedule, compared with the fewest that its failure needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fewest {
    /// No smaller schedule was looked for, or none can be.
    Unsought,
    /// The fewest that were found within the limits.
    Found,
    /// No execution with this failure has fewer.
    Possible,
    /// One more than the fewest possible, which saves a delayed store or a read of an old value.
    OneMore,
}

/// The memory models that allow a failure that was found under a model weaker than SC.
///
/// Its text is that of reports: `also under SC`, `needs TSO store buffering`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needs {
    /// A failure other than a data race.
    Model {
        /// The strongest model under which the failure was found.
        strongest: MemoryModel,
        /// The stronger models that were not explored completely.
        open: Vec<MemoryModel>,
    },
    /// A data race by Rust's rules, whatever values there are.
    Race {
        /// The strongest model of SC, TSO and PSO under which something else fails, if one was found, and the kind of
        /// that failure.
        fails: Option<(MemoryModel, FailureKind)>,
        /// The models of these whose exploration was incomplete and showed no such failure.
        open: Vec<MemoryModel>,
    },
}

/// Orderings with which no execution of the test fails: found by exploring.
///
/// Its text is that of reports: "no execution fails with `Release` at src/queue.rs:41".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remedy {
    /// The places in the source, and the weakest ordering that the operations there need.
    pub changes: Vec<(Site, Ordering)>,
}

/// The models of machines, the strongest first.
pub(super) fn machines() -> impl Iterator<Item = MemoryModel> {
    MemoryModel::ALL.into_iter().filter(|model| !model.is_graph())
}

/// The models of machines that are stronger than a model.
fn stronger(model: MemoryModel) -> impl Iterator<Item = MemoryModel> {
    machines().filter(move |&other| model.is_weaker_than(other))
}

/// Several models as a list in a sentence.
fn titles(models: impl IntoIterator<Item = MemoryModel>) -> String {
    list(models.into_iter().map(title))
}

fn title(model: MemoryModel) -> &'static str {
    model.description().title
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Needs::Model { strongest, open } if open.is_empty() || strongest.is_sequential() => {
                match strongest.description().needs {
                    Some(needs) => f.write_str(needs),
                    None => write!(f, "needs {}: not under {}", title(*strongest), titles(stronger(*strongest))),
                }
            }
            Needs::Model { strongest, open } => {
                write!(f, "under {}", title(*strongest))?;
                let excluded = titles(stronger(*strongest).filter(|model| !open.contains(model)));
                if !excluded.is_empty() {
                    write!(f, ", not under {excluded}")?;
                }
                write!(f, "; not found under {} within the limits", titles(open.iter().copied()))
            }
            Needs::Race { fails: Some((model, kind)), .. } => {
                write!(f, "a data race by Rust's rules; without it, {} fails by {}", title(*model), kind_name(*kind))
            }
            Needs::Race { fails: None, open } if open.is_empty() => {
                write!(f, "a data race by Rust's rules; values correct under {}", titles(machines()))
            }
            Needs::Race { fails: None, open } => {
                write!(f, "a data race by Rust's rules; values under {} not all seen", titles(open.iter().copied()))
            }
        }
    }
}

fn kind_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Panic => "a panic",
        FailureKind::Deadlock => "a deadlock",
        FailureKind::Livelock => "a livelock",
        FailureKind::UseAfterFree => "a use of freed memory",
        FailureKind::DoubleFree => "memory that is freed twice",
        FailureKind::Leak => "a leak",
        _ => "another failure",
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = |(site, order): &(Site, Ordering)| format!("`{order:?}` at {site}");
        let changes: Vec<String> = self.changes.iter().map(change).collect();
        write!(f, "no execution fails with {}", changes.join(" and "))
    }
}
