//! The new sequence that a revisit asks for: the events before the decision, the revisited event, and its causal past.

use crate::base::{BitSet, Digest};
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::entry::RevisedEntry;
use crate::explore::rf_smc::frame::Frame;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, Revisit, preds_of, source_of};
use crate::explore::rf_smc::tau::Entry;
use crate::step::Run;
use crate::trace::{Action, Op};

/// A new sequence; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(super) struct NewSequence {
    /// The entry at the decision's place; none where its thread stays in its loop.
    pub(super) first: Option<RevisedEntry>,
    /// The event that is reversed with it.
    pub(super) second: Option<RevisedEntry>,
    /// The events behind the decision that these two need.
    needed: BitSet,
    /// See [`NewSequence::find_unchanged`].
    unchanged: BitSet,
}

/// The revised entries of a new sequence, by [`OpRef::number`].
pub(super) struct Revised([Option<(usize, RevisedEntry)>; 2]);

impl Revised {
    pub(super) fn at(&self, number: usize) -> Option<&RevisedEntry> {
        self.0.iter().flatten().find(|(other, _)| *other == number).map(|(_, entry)| entry)
    }
}

impl NewSequence {
    /// Turns to the sequence of a revisit at the frame's decision.
    pub(super) fn revisit(&mut self, run: &Run, graph: &Graph, frame: &Frame, decision: &Decision, revisit: &Revisit) {
        self.find_needed(run, graph, revisit);
        self.needed.subtract(frame.ahead());
        let first = RevisedEntry::of(run, revisit.actor);
        let first = first.takes(revisit.source, revisit.value, revisit.effect.written().is_some());
        self.first = Some(RevisedEntry { op: Op { action: revisit.action, ..first.op }, ..first });
        if let OpRef::Event(at) = revisit.actor {
            self.needed.remove(at);
        }
        let is_behind = |who: &OpRef| !matches!(who, OpRef::Event(at) if !self.needed.contains(*at));
        let old = run.trace.position(decision.id).map(|at| &run.trace.events[at]);
        let second = revisit.reversed.filter(is_behind).zip(old);
        self.second = second.map(|(who, old)| RevisedEntry::of(run, who).reversed_with(old));
    }

    /// Turns to the sequence that ends before the decision.
    pub(super) fn end_before_decision(&mut self, run: &Run) {
        (self.first, self.second) = (None, None);
        self.needed.reset(run.trace.events.len());
    }

    /// The causal past of the new sources.
    fn find_needed(&mut self, run: &Run, graph: &Graph, revisit: &Revisit) {
        let needed = &mut self.needed;
        needed.reset(run.trace.events.len());
        let program_past = |who: OpRef, needed: &mut BitSet| match who {
            OpRef::Event(at) => graph.add_program_past(graph.order.preds(at), needed),
            OpRef::Waiting(i) => graph.add_program_past(graph.next_preds(run.waiting[i].id.thread), needed),
        };
        program_past(revisit.actor, needed);
        let Some(second) = revisit.reversed else {
            if let Some(OpRef::Event(write)) = revisit.source {
                graph.add_past(write, needed);
            }
            return;
        };
        program_past(second, needed);
        if let OpRef::Event(first) = revisit.actor
            && let Some(write) = source_of(&run.trace.events[first])
        {
            graph.add_past(write, needed);
        }
        if let OpRef::Event(at) = second {
            needed.insert(at);
        }
    }

    /// The name of the sequence: the set of its (event, source) pairs behind the decision.
    pub(super) fn key(&self, run: &Run, frame: &Frame) -> Digest {
        let revised = self.first.iter().chain(&self.second);
        let key = revised.fold(Digest::EMPTY, |key, entry| key.with(entry.key(run)));
        let second = self.second.map(|entry| entry.who);
        let unchanged = self.needed.iter().filter(|&at| second != Some(OpRef::Event(at)));
        unchanged.fold(key, |key, at| key.with(frame.key(at)))
    }

    /// Finds the events of the run that the sequence has with the sources that they have in the run.
    pub(super) fn find_unchanged(&mut self, frame: &Frame, decision: &Decision) {
        self.unchanged.clone_from(frame.ahead());
        self.unchanged.union(self.needed.words());
        let reversed = self.second.and_then(|second| second.who.event());
        frame.stands_at(decision).iter().chain(&reversed).for_each(|&at| self.unchanged.remove(at));
    }

    /// The events that [`NewSequence::find_unchanged`] found.
    pub(super) fn unchanged(&self) -> &BitSet {
        &self.unchanged
    }

    /// Adds the events that the sequence needs for its revised entries.
    pub(super) fn add_required(&self, run: &Run, graph: &Graph, required: &mut BitSet) {
        required.union(self.needed.words());
        for entry in self.first.iter().chain(&self.second) {
            graph.add_program_past(preds_of(run, graph, entry.who), required);
            if let Some(OpRef::Event(source)) = entry.source {
                graph.add_past(source, required);
            }
        }
    }

    /// The revised entries, in a run with `events` events.
    pub(super) fn revised(&self, events: usize) -> Revised {
        let number = |entry: RevisedEntry| (entry.who.number(events), entry);
        Revised([self.first.map(number), self.second.map(number)])
    }

    /// The events that come between the revised entries, in the order of `τ`; the second of these may be among them.
    fn needed_in_place(&self, frame: &Frame) -> impl Iterator<Item = usize> {
        frame.behind().filter(|&at| self.needed.contains(at))
    }

    /// The second entry, if it did not happen in the run: then it comes last.
    fn second_waiting(&self) -> Option<RevisedEntry> {
        self.second.filter(|second| matches!(second.who, OpRef::Waiting(_)))
    }

    /// The entries from the decision's place on, for `τ`.
    pub(super) fn entries(&self, run: &Run, frame: &Frame) -> impl Iterator<Item = Entry> {
        let second = self.second.map(|second| second.who);
        let changed = |entry: RevisedEntry| Entry { id: entry.id, is_new: true };
        let needed = self.needed_in_place(frame).map(move |at| {
            let is_new = second == Some(OpRef::Event(at));
            Entry { id: run.trace.events[at].id, is_new }
        });
        self.first.map(changed).into_iter().chain(needed).chain(self.second_waiting().map(changed))
    }

    /// The entries from the decision's place on, with their operations and sources.
    pub(super) fn suffix(&self, run: &Run, frame: &Frame) -> impl Iterator<Item = RevisedEntry> {
        let revised = self.revised(run.trace.events.len());
        let entry = move |at| revised.at(at).copied().unwrap_or_else(|| RevisedEntry::of(run, OpRef::Event(at)));
        self.first.into_iter().chain(self.needed_in_place(frame).map(entry)).chain(self.second_waiting())
    }

    /// Whether the sequence has no more spurious outcomes than the run may have. The events of the run are within the
    /// bound, so only the first entry can exceed it.
    pub(super) fn is_within_bound(&self, run: &Run, frame: &Frame, decision: &Decision) -> bool {
        let is_spurious = |action: Action| action.is_spurious();
        if !self.first.is_some_and(|first| is_spurious(first.op.action)) {
            return true;
        }
        let unchanged = frame.before(decision).chain(self.needed_in_place(frame));
        let actions = unchanged.map(|at| run.trace.events[at].op.action);
        actions.filter(|&action| is_spurious(action)).count() < run.spurious as usize
    }
}
