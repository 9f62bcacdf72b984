//! `τ` in a run: the positions of its events, and the events that are ahead of a decision.

use crate::base::{BitSet, Digest};
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::delta::Delta;
use crate::explore::rf_smc::entry::key_of;
use crate::explore::rf_smc::tau::NamedEntry;
use crate::step::Run;

/// The frame of a run; keeps its memory from one run to the next.
///
/// Entries are added from the first to the last, and decisions are visited from the last to the first.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// By entry of `τ`: its position in the run.
    places: Vec<u32>,
    /// By event of the run, as soon as it is asked: its place in `τ`.
    numbers: Vec<u32>,
    /// By event of the run: the name of the event and its source.
    keys: Vec<Digest>,
    /// The events of the entries before `behind_from`.
    ahead: BitSet,
    behind_from: usize,
    /// The events that are new since the run's parent.
    pub(super) delta: Delta,
    /// The events that are before a write behind `τ`.
    pub(super) needed: BitSet,
}

impl Frame {
    /// Begins with a run, no event of which is in `τ` yet.
    pub(super) fn begin(&mut self, run: &Run) {
        let events = run.trace.events.len();
        self.places.clear();
        self.numbers.clear();
        self.keys.resize(events, Digest::EMPTY);
        self.ahead.reset(events);
        self.behind_from = events;
        self.delta.begin(run);
    }

    /// Adds the next entry of `τ`, the event at this position.
    #[inline]
    pub(super) fn place(&mut self, run: &Run, at: usize, entry: &NamedEntry) {
        debug_assert_eq!(entry.key, key_of(&run.trace, &run.trace.events[at]));
        self.places.push(at as u32);
        self.ahead.insert(at);
        self.keys[at] = entry.key;
    }

    /// Moves back to a decision; returns the event that stands there, or nothing where its thread is frozen.
    pub(super) fn turn_to(&mut self, decision: &Decision) -> Option<usize> {
        let rest = decision.at + usize::from(!decision.frozen);
        self.behind_from = self.behind_from.min(self.places.len());
        let next = rest.min(self.behind_from);
        self.places[next..self.behind_from].iter().for_each(|&place| self.ahead.remove(place as usize));
        self.behind_from = next;
        self.stands_at(decision)
    }

    /// The event that stands at a decision, or nothing where its thread is frozen.
    pub(super) fn stands_at(&self, decision: &Decision) -> Option<usize> {
        (!decision.frozen).then(|| self.places[decision.at] as usize)
    }

    /// The events before the decision in `τ`, and the one that stands there.
    pub(super) fn ahead(&self) -> &BitSet {
        &self.ahead
    }

    /// The events before a decision, in the order of `τ`.
    pub(super) fn before(&self, decision: &Decision) -> impl Iterator<Item = usize> {
        self.places[..decision.at].iter().map(|&at| at as usize)
    }

    /// The events behind the current decision, in the order of `τ`.
    pub(super) fn behind(&self) -> impl Iterator<Item = usize> {
        self.places[self.behind_from..].iter().map(|&at| at as usize)
    }

    /// The number of entries of `τ` up to the last one of these events.
    pub(super) fn last_of(&mut self, events: &[u32]) -> usize {
        if self.numbers.is_empty() {
            self.numbers.resize(self.places.len(), 0);
            for (number, &at) in self.places.iter().enumerate() {
                self.numbers[at as usize] = number as u32;
            }
        }
        events.iter().map(|&at| self.numbers[at as usize] as usize + 1).max().unwrap_or(0)
    }

    /// The name of an event and its source.
    #[inline]
    pub(super) fn key(&self, at: usize) -> Digest {
        self.keys[at]
    }
}
