//! What is new in a run, compared with the run from which it was made.
//!
//! A run is made from a mutation of an earlier one. At a decision that both have, a mutation is what the decision's event
//! and its new source need. New are the mutated event, the one reversed with it, and all that comes after the sequence
//! that was forced. What else was forced is before these in the causal order, or has nothing to do with them: it needs
//! what it needed before. So at such a decision only sources that are new are looked at.

use crate::base::{BitSet, LocId};
use crate::explore::rf_smc::Entry;
use crate::step::Run;

/// The events of a run that are new.
#[derive(Debug, Default)]
pub(super) struct News {
    events: BitSet,
    locs: BitSet,
}

impl News {
    /// Finds what is new in a run; nothing is before place `since` of `τ`.
    pub(super) fn find(&mut self, run: &Run, tau: &[Entry], since: usize) {
        self.events.reset(run.trace.events.len());
        self.locs.reset(run.trace.locs.len());
        for entry in tau[since..].iter().filter(|entry| entry.placed.is_new) {
            let at = run.trace.position(entry.placed.id).expect("every event of τ is in the run");
            self.events.insert(at);
            self.locs.insert(run.trace.events[at].op.loc.0 as usize);
        }
    }

    /// Whether an event is new.
    pub(super) fn has(&self, event: usize) -> bool {
        self.events.contains(event)
    }

    /// Whether an event at a location is new.
    pub(super) fn are_at(&self, loc: LocId) -> bool {
        self.locs.contains(loc.0 as usize)
    }
}
