//! The events of a run that are new, compared with the run's parent.
//!
//! A run is made from a revisit of an earlier run, its parent. At a decision that both have, a revisit consists of what
//! the decision's event and its new source need. New are the revisited event, the one reversed with it, and all events
//! behind the forced sequence. The other forced events are before these in the causal order, or unrelated: each needs
//! what it needed before. So at such a decision only sources that are new are considered.

use crate::base::{BitSet, Id, LocId};
use crate::step::Run;
use crate::trace::Event;

/// The events of a run that are new.
#[derive(Debug, Default)]
pub(super) struct Delta {
    events: BitSet,
    locs: Vec<AtLoc>,
}

/// The new events at a location.
#[derive(Clone, Copy, Debug)]
enum AtLoc {
    Nothing,
    /// Events that write nothing.
    Reads,
    /// Writes; this one happened first.
    Writes(u32),
}

impl Delta {
    /// Begins with a run of which nothing is new.
    pub(super) fn begin(&mut self, run: &Run) {
        self.events.reset(run.trace.events.len());
        self.locs.clear();
        self.locs.resize(run.trace.locs.len(), AtLoc::Nothing);
    }

    /// Notes that the event at this position is new.
    #[inline]
    pub(super) fn add(&mut self, at: usize, event: &Event) {
        self.events.insert(at);
        let loc = &mut self.locs[event.op.loc.index()];
        *loc = match *loc {
            AtLoc::Writes(first) if event.written.is_some() => AtLoc::Writes(first.min(at as u32)),
            AtLoc::Nothing | AtLoc::Reads if event.written.is_some() => AtLoc::Writes(at as u32),
            AtLoc::Nothing => AtLoc::Reads,
            known => known,
        };
    }

    /// Whether an event is new.
    #[inline]
    pub(super) fn has(&self, event: usize) -> bool {
        self.events.contains(event)
    }

    /// Whether an event at a location is new.
    #[inline]
    pub(super) fn are_at(&self, loc: LocId) -> bool {
        !matches!(self.locs[loc.index()], AtLoc::Nothing)
    }

    /// The new write of a location that happened first.
    #[inline]
    pub(super) fn first_write(&self, loc: LocId) -> Option<usize> {
        if let AtLoc::Writes(first) = self.locs[loc.index()] { Some(first as usize) } else { None }
    }
}
