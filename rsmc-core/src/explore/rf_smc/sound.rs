//! Checks of data that another process wrote, and of runs against their schedules: can an exploration go on from them?
//!
//! Problem. A checkpoint comes from a file. Its contents may not be what was written, with a checksum that is right
//! nevertheless; and the program may not do again what it did.
//!
//! Method. Before it is used, all is checked that can be wrong by itself: numbers that name nothing, decisions that do
//! not stand on their path, events that come twice. Its claims about executions cannot be judged so: a schedule says
//! which events its run has, and what they take, so that is compared when there is the run ([`RfSmc::misplaced`]). If
//! it differs, the run counts as one that did something else than the one before. So does a run of this process's own
//! schedules: the program may not be deterministic.
//!
//! Cost. Linear in the data; and in `τ`, for each run of a schedule that another process planned, and for one of
//! [`RARELY`] others. The rest of these cost time linear in the new part of `τ`.
//!
//! Limits. The names that were seen are believed. An event has the name of its write, not of its object: an operation
//! on another object that reads its first value is not noticed.

use rustc_hash::FxHashSet;

use crate::base::{Digest, EventId};
use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::checkpoint::Checkpoint;
use crate::explore::rf_smc::decision::SavedDecision;
use crate::explore::rf_smc::entry::key_of;
use crate::explore::rf_smc::schedule::{Branch, Chosen};
use crate::explore::rf_smc::suspended::SavedChildren;
use crate::explore::rf_smc::tau::NamedEntry;
use crate::explore::rf_smc::tree::SavedTree;
use crate::step::{Route, Run, Step};

/// A bound of all counts: a larger one was not counted.
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

    /// Whether the events of a path have known threads, and none comes twice.
    fn has_path(self, tau: &[NamedEntry]) -> bool {
        let mut seen = FxHashSet::default();
        tau.iter().all(|entry| self.has(entry.entry.id) && seen.insert(entry.entry.id))
    }

    /// Whether a decision stands on a path, which is sound.
    fn has_place(self, decision: &SavedDecision, tau: &[NamedEntry]) -> bool {
        self.has(decision.id) && decision.stays.is_none_or(|id| self.has(id)) && decision.at <= tau.len()
    }

    /// Whether a schedule fits a decision after this path, which is sound.
    fn has_branch(self, branch: &Branch, decision: &SavedDecision, before: &[NamedEntry]) -> bool {
        let mut seen: FxHashSet<EventId> = before.iter().map(|entry| entry.entry.id).collect();
        let is_new = |id: EventId| self.has(id) && seen.insert(id);
        let events = branch.suffix.iter().map(|entry| entry.id).all(is_new);
        events && self.has_route(&branch.route) && (!branch.suffix.is_empty() || decision.stays.is_some())
    }

    /// Whether a decision fits a path, which is sound, and its schedules fit the decision.
    pub(super) fn has_decision(self, decision: &SavedDecision, tau: &[NamedEntry]) -> bool {
        self.has_place(decision, tau)
            && decision.pending.iter().all(|branch| self.has_branch(branch, decision, &tau[..decision.at]))
    }

    /// Whether decisions stand in their order on a path.
    fn has_decisions(self, decisions: &[&SavedDecision], tau: &[NamedEntry]) -> bool {
        let stands = |decision: &&SavedDecision| {
            let who = tau.get(decision.at).map(|entry| entry.entry.id);
            self.has_decision(decision, tau) && (decision.frozen || who.is_none_or(|who| who == decision.id))
        };
        self.has_path(tau) && decisions.is_sorted_by_key(|decision| decision.at) && decisions.iter().all(stands)
    }
}

impl Checkpoint {
    /// Whether an exploration can go on from it; `threads` threads have names, besides the body.
    pub fn is_sound(&self, threads: usize) -> bool {
        let known = Known(u32::try_from(threads).unwrap_or(u32::MAX));
        let mut decisions: Vec<&SavedDecision> = self.decisions.iter().collect();
        let mut tau = self.tau.clone();
        let first = self.runs < MOST_COUNTED
            && (self.started || decisions.is_empty() && self.suspended.is_empty())
            && self.livelocks.iter().all(|(_, route)| known.has_route(route))
            && known.has_decisions(&decisions, &tau);
        // Suspended paths are resumed in this order.
        first && self.suspended.iter().rev().all(|children| known.takes_up(children, &mut decisions, &mut tau))
    }
}

impl Known {
    /// Whether a suspended path fits the current one. If so, it becomes the current one.
    fn takes_up<'a>(
        self,
        children: &'a SavedChildren,
        decisions: &mut Vec<&'a SavedDecision>,
        tau: &mut Vec<NamedEntry>,
    ) -> bool {
        if let Some((above, aside, rest)) = &children.current {
            if !(1..=decisions.len()).contains(above) {
                return false;
            }
            decisions.truncate(*above);
            tau.truncate(decisions[above - 1].at);
            decisions.extend(aside);
            tau.extend(rest);
            // At the child's decision another event stands now.
            if !self.has_path(tau) || !aside.iter().all(|decision| self.has_decision(decision, tau)) {
                return false;
            }
        }
        let fits = |(number, branch): &(usize, Branch)| {
            decisions.get(*number).is_some_and(|decision| {
                decision.at <= tau.len() && self.has_branch(branch, decision, &tau[..decision.at])
            })
        };
        children.pending.iter().all(fits)
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
                let is_below = |(above, id): (usize, EventId)| {
                    above < number && known.has(id) && self.nodes[above].decision.at <= node.decision.at
                };
                node.parent().is_none_or(is_below) && known.has_decision(&node.decision, tau)
            })
    }
}

/// Of so many runs one is compared as a whole with its schedule, the others with the new part of it.
const RARELY: u64 = 16;

impl RfSmc {
    /// The position of an event at which a run differs from its schedule: it reads from other writes.
    pub(super) fn misplaced_in(&self, run: &Run) -> Option<usize> {
        let (sum_of_schedule, is_own) = match &self.current {
            Chosen::Branch(branch) => (branch.key, false),
            Chosen::Schedule(schedule) => (schedule.key, true),
            Chosen::Nothing | Chosen::Livelock(..) | Chosen::Preview(_) => return None,
        };
        if !run.is_maximal() && (is_own || run.repeated.is_none()) {
            return None;
        }
        let since = self.decisions.last().map_or(0, |decision| decision.at);
        let last = run.trace.events.len().checked_sub(1)?;
        let mut sum = Digest::EMPTY;
        // Debug builds assert that the rest of `τ` is as it was (`Frame::place`), so they compare all of it before.
        let is_short = is_own && !cfg!(debug_assertions) && !self.runs.is_multiple_of(RARELY);
        for (place, entry) in self.tau.iter().enumerate().skip(if is_short { since } else { 0 }) {
            // They are what the schedule forces, and come first if another process has made it.
            let Some(at) = run.trace.position(entry.entry.id).filter(|&at| is_own || at < self.tau.len()) else {
                return Some(last);
            };
            let key = key_of(&run.trace, &run.trace.events[at]);
            if place >= since {
                sum = sum.with(key);
            } else if entry.key != key {
                return Some(at);
            }
        }
        (sum != sum_of_schedule).then_some(last)
    }
}
