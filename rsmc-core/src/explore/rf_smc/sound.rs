//! Whether what another process has left can be gone on from.
//!
//! Problem. A checkpoint comes from a file. What is in it may not be what was written, with a checksum that is right
//! nevertheless; and the program may not do again what it did.
//!
//! Method. Before it is used, all that can be wrong by itself is looked for: numbers that name nothing, decisions that do not
//! stand on their path, events that come twice. What it says of executions cannot be judged so: a schedule says which events
//! its run has, and what they take, so that is compared when there is the run ([`RfSmc::misplaced`]). If it differs, the run
//! counts as one that did something else than the one before.
//!
//! Cost. Linear in what is left; and in `τ`, for each run of a schedule that another process planned.
//!
//! Limits. What was seen is believed.

use rustc_hash::FxHashSet;

use crate::base::{Digest, EventId};
use crate::explore::rf_smc::checkpoint::{Checkpoint, SavedDecision};
use crate::explore::rf_smc::entry::key_of;
use crate::explore::rf_smc::subtree::{Branch, Own, Place};
use crate::explore::rf_smc::suspended::SavedChildren;
use crate::explore::rf_smc::tree::SavedTree;
use crate::explore::rf_smc::{Chosen, NamedEntry, RfSmc};
use crate::step::{Route, Run, Step};

/// Larger counts are none that were counted.
pub const MOST_COUNTED: u64 = 1 << 48;

/// The threads that have names: ids up to this one.
#[derive(Clone, Copy)]
pub(super) struct Known(u32);

impl Known {
    fn has(self, id: EventId) -> bool {
        id.thread.0 <= self.0
    }

    fn has_step(self, step: Step) -> bool {
        let (_, takes) = step.performed();
        step.thread().0 <= self.0 && takes.flatten().is_none_or(|write| self.has(write))
    }

    fn has_route(self, route: &Route) -> bool {
        route.steps.iter().all(|&(step, _)| self.has_step(step)) && route.modification.iter().all(|&id| self.has(id))
    }

    /// No event comes twice.
    fn has_path(self, tau: &[NamedEntry]) -> bool {
        let mut seen = FxHashSet::default();
        tau.iter().all(|entry| self.has(entry.entry.id) && seen.insert(entry.entry.id))
    }

    /// A decision on a path that is sound.
    pub(super) fn has_place(self, place: &Place, tau: &[NamedEntry]) -> bool {
        self.has(place.id) && place.stays.is_none_or(|id| self.has(id)) && place.at <= tau.len()
    }

    /// A schedule of a decision after this path, which is sound.
    fn has_branch(self, branch: &Branch, place: &Place, before: &[NamedEntry]) -> bool {
        let mut seen: FxHashSet<EventId> = before.iter().map(|entry| entry.entry.id).collect();
        let is_new = |id: EventId| self.has(id) && seen.insert(id);
        let events = branch.suffix.iter().map(|entry| entry.id).all(is_new);
        events && self.has_route(&branch.route) && (!branch.suffix.is_empty() || place.stays.is_some())
    }

    pub(super) fn has_own(self, own: &Own, tau: &[NamedEntry]) -> bool {
        self.has_place(&own.place, tau)
            && own.pending.iter().all(|branch| self.has_branch(branch, &own.place, &tau[..own.place.at]))
    }

    /// Decisions in their order on a path.
    fn has_decisions(self, decisions: &[&SavedDecision], tau: &[NamedEntry]) -> bool {
        let stands = |decision: &&SavedDecision| {
            let Own { place, .. } = &decision.own;
            let who = tau.get(place.at).map(|entry| entry.entry.id);
            self.has_own(&decision.own, tau)
                && decision.explored < u32::MAX / 2
                && (place.frozen || who.is_none_or(|who| who == place.id))
        };
        self.has_path(tau)
            && decisions.is_sorted_by_key(|decision| decision.own.place.at)
            && decisions.iter().all(stands)
    }
}

impl Checkpoint {
    /// Whether an exploration can go on from it; so many threads have names, besides the body.
    pub fn is_sound(&self, threads: usize) -> bool {
        let known = Known(u32::try_from(threads).unwrap_or(u32::MAX));
        let mut decisions: Vec<&SavedDecision> = self.decisions.iter().collect();
        let mut tau = self.tau.clone();
        let first = self.runs < MOST_COUNTED
            && (self.started || decisions.is_empty() && self.suspended.is_empty())
            && self.livelocks.iter().all(|(_, route)| known.has_route(route))
            && known.has_decisions(&decisions, &tau);
        // What was put aside is chosen up in this order.
        first && self.suspended.iter().rev().all(|detour| known.takes_up(detour, &mut decisions, &mut tau))
    }
}

impl Known {
    /// Whether what was put aside for a detour fits to the path; then it is the path.
    fn takes_up<'a>(
        self,
        detour: &'a SavedChildren,
        decisions: &mut Vec<&'a SavedDecision>,
        tau: &mut Vec<NamedEntry>,
    ) -> bool {
        if let Some((above, aside, rest)) = &detour.current {
            if !(1..=decisions.len()).contains(above) {
                return false;
            }
            decisions.truncate(*above);
            tau.truncate(decisions[above - 1].own.place.at);
            decisions.extend(aside);
            tau.extend(rest);
            // Where the detour began, somebody else stands now.
            if !self.has_path(tau) || !aside.iter().all(|decision| self.has_own(&decision.own, tau)) {
                return false;
            }
        }
        let fits = |(number, branch): &(usize, Branch)| {
            decisions.get(*number).is_some_and(|decision| {
                let place = &decision.own.place;
                place.at <= tau.len() && self.has_branch(branch, place, &tau[..place.at])
            })
        };
        detour.pending.iter().all(fits)
    }
}

impl SavedTree {
    /// As [`Checkpoint::is_sound`].
    pub fn is_sound(&self, threads: usize) -> bool {
        let known = Known(u32::try_from(threads).unwrap_or(u32::MAX));
        self.livelocks.iter().all(|route| known.has_route(route))
            && self.paths.iter().all(|tau| known.has_path(tau))
            && self.nodes.iter().enumerate().all(|(number, node)| {
                let Some(tau) = self.paths.get(node.path) else { return false };
                let is_below = |(above, id, _): (usize, EventId, bool)| {
                    above < number && known.has(id) && self.nodes[above].own.place.at <= node.own.place.at
                };
                node.parent.is_none_or(is_below) && known.has_own(&node.own, tau)
            })
    }
}

impl RfSmc {
    /// Where a run is not what another process has said of its schedule: the position of an event.
    pub(super) fn misplaced_in(&self, run: &Run) -> Option<usize> {
        let Chosen::Branch(branch) = &self.current else { return None };
        if !run.is_maximal() && run.repeated.is_none() {
            return None;
        }
        let since = self.decisions.last().map_or(0, |decision| decision.at);
        let last = run.trace.events.len().checked_sub(1)?;
        let mut sum = Digest::EMPTY;
        for (place, entry) in self.tau.iter().enumerate() {
            // They are what the schedule forces, and come first.
            let Some(at) = run.trace.position(entry.entry.id).filter(|&at| at < self.tau.len()) else {
                return Some(last);
            };
            let key = key_of(&run.trace, &run.trace.events[at]);
            if place >= since {
                sum = sum.with(key);
            } else if entry.key != key {
                return Some(at);
            }
        }
        (sum != branch.key).then_some(last)
    }
}
