//! Places of a failure that only its message names: neither a step nor a waiting thread has them.

use crate::step::{Held, Leaked, Run};
use crate::trace::Site;

/// A place of a failure, with what happens there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spot {
    /// A description in one line.
    pub message: String,
    /// The place.
    pub site: Site,
    /// The references to an object that is left, if they are known.
    pub held: Vec<Held>,
}

impl Spot {
    pub(super) fn new(message: impl Into<String>, site: Site) -> Self {
        Self { message: message.into(), site, held: Vec::new() }
    }
}

/// The objects that are left, each with the place where it was created. Memory is among them only if `check_lost` says
/// so.
pub(super) fn leaks(run: &Run, check_lost: bool) -> Vec<Spot> {
    let leaks = run.leaks.iter().filter(|leak| check_lost || leak.what == Leaked::Value);
    let spot = leaks.map(|leak| {
        let object = format!("the {} created at {}", leak.kind, leak.created);
        let lost = "was not freed by the end, and nothing leads to it any more";
        let message = match leak.what {
            Leaked::Value => format!("{object} was not dropped by the end"),
            Leaked::MemoryOf => format!("the memory of {object} {lost}"),
            Leaked::MemoryBehind => format!("memory to which {object} has pointed {lost}"),
        };
        Spot { held: leak.held.clone(), ..Spot::new(message, leak.created) }
    });
    spot.collect()
}
