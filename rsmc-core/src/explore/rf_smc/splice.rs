//! Inserting the revisited event into the run: the quickest answer.
//!
//! Problem. The other entries of a new sequence, in the order of the run, are an execution under SC, if the run is one:
//! they are closed under the causal order. None of them needs the revisited event. Where can it come? An update that is
//! reversed with it comes right before it: it takes the source of the revisited event, and no other entry needs it.
//!
//! Method. Right before its source is overwritten, if what is before it in program order has happened there. Otherwise
//! some of the entries come before it and the others after it, both in the order of the run. Its causal past comes
//! before it. Where a write of some location comes before it, so do the readers of an older one there (closure, rule
//! 4); and where an entry after it reads a write that comes before it, so do the writes that are older than that (rule
//! 3, if they are causally before the reader). If its source is the last write of its location that comes before it,
//! this is an execution. If not, the newer ones come even before the source, and all that comes before them by the same
//! rules. If the source is among that, and all had to be there, there is no execution under SC.
//!
//! Cost. The writes of a location; or the reads and writes of the run, times how often a write brings along a
//! reader that brings along a write.
//!
//! Source. The rules of the closure (`consistency::closure`), of which only those that the revisited event needs are
//! applied.

use std::ops::RangeInclusive;

use crate::base::{BitSet, LocId};
use crate::explore::rf_smc::entry::RevisedEntry;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, preds_of};
use crate::step::Run;

/// The place of the revisited event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Place {
    /// As [`Splicer::parts`] says.
    Found,
    Nowhere,
    Unknown,
}

/// Inserts revisited events; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(in super::super) struct Splicer {
    /// The position in the run before which the revisited event comes, if all others stay in their order.
    gap: Option<usize>,
    /// The entries that come before the revisited event.
    before: BitSet,
    /// Those of `before` that come before the source, too, and before the rest.
    first: BitSet,
    /// Whether all entries of both sets must be there in every execution under SC.
    must: bool,
}

/// A question: the event to insert, and the entries among which it is inserted.
struct Question<'a> {
    run: &'a Run,
    graph: &'a Graph,
    /// The other entries.
    members: &'a BitSet,
    /// The revisited event, and the update that comes right before it.
    actor: &'a RevisedEntry,
    second: Option<&'a RevisedEntry>,
    /// The write that the first of these takes.
    source: Option<usize>,
}

impl Splicer {
    /// The parts of the execution that was found. The revisited event comes before part 2.
    pub(in super::super) fn parts(&self) -> RangeInclusive<usize> {
        usize::from(self.gap.is_some() || self.first.is_empty())..=2
    }

    /// Visits the other entries that come in a part.
    pub(in super::super) fn for_each_in(&self, part: usize, members: &BitSet, visit: impl FnMut(usize)) {
        let part_of = |member| if self.before.contains(member) { usize::from(!self.first.contains(member)) } else { 2 };
        match self.gap {
            Some(gap) if part == 1 => members.iter().take_while(|&member| member < gap).for_each(visit),
            Some(gap) => members.iter_from(gap).for_each(visit),
            None => members.iter().filter(|&member| part_of(member) == part).for_each(visit),
        }
    }

    /// Begins with all entries in one part, the last.
    pub(in super::super) fn clear(&mut self, run: &Run) {
        self.gap = None;
        self.before.reset(run.trace.events.len());
        self.first.reset(run.trace.events.len());
    }

    /// Looks for a place for the revisited event, and the update right before it, among the other entries: events of a
    /// run whose order is one under SC.
    pub(in super::super) fn find(
        &mut self,
        run: &Run,
        graph: &Graph,
        members: &BitSet,
        (actor, second): (&RevisedEntry, Option<&RevisedEntry>),
    ) -> Place {
        let source = second.unwrap_or(actor).source.and_then(|source| source.event());
        let question = Question { run, graph, members, actor, second, source };
        self.gap = question.gap();
        if self.gap.is_some() {
            return Place::Found;
        }
        self.clear(run);
        self.must = true;
        question.add_past(&mut self.before);
        loop {
            match self.grow(&question) {
                Some(true) => {}
                Some(false) => return Place::Found,
                None if self.must && graph.is_sc() => return Place::Nowhere,
                None => return Place::Unknown,
            }
        }
    }

    /// Adds the entries that come before the revisited event, or before its source, because of those that do so
    /// already. Returns whether there was one; `None` if the source, or a write that is after it in any case, comes
    /// before the source.
    fn grow(&mut self, question: &Question<'_>) -> Option<bool> {
        let &Question { graph, actor, source, .. } = question;
        let mut grown = false;
        let mut overwritten = None;
        for write in question.newer_than_source().filter(|&write| self.before.contains(write)) {
            if source.is_none_or(|source| graph.precedes(source, write)) {
                return None;
            }
            grown |= !self.first.contains(write);
            graph.add_past(write, &mut self.first);
            overwritten = Some(write);
        }
        if let Some(write) = overwritten {
            let readers = graph.readers(write);
            grown |= question.add(&mut self.first, &mut self.must, readers, |_| true);
            grown |= question.complete(&mut self.first, &mut self.must);
            self.before.union(self.first.words());
        }
        if source.is_some_and(|source| self.first.contains(source)) {
            return None;
        }
        if question.writes() {
            let readers = graph.readers_of(actor.op.loc, source);
            grown |= question.add(&mut self.before, &mut self.must, readers, |_| true);
        }
        Some(grown | question.complete(&mut self.before, &mut self.must))
    }
}

impl<'a> Question<'a> {
    /// Whether something is written to the location of the revisited event.
    fn writes(&self) -> bool {
        self.actor.writes || self.second.is_some()
    }

    /// Adds what is causally before the revisited event.
    fn add_past(&self, events: &mut BitSet) {
        let &Self { run, graph, actor, second, source, .. } = self;
        for member in [Some(actor), second].into_iter().flatten() {
            graph.add_program_past(preds_of(run, graph, member.who), events);
        }
        if let Some(source) = source {
            graph.add_past(source, events);
        }
    }

    /// The entries that write the location of the revisited event after its source.
    fn newer_than_source(&self) -> impl Iterator<Item = usize> + use<'a> {
        let &Self { members, graph, actor, source, .. } = self;
        graph.writes_after(actor.op.loc, source).filter(|&write| members.contains(write))
    }

    /// The position in the run before which the revisited event can come while all others stay in their order: where
    /// its source is about to be overwritten, or the end if nothing is read.
    fn gap(&self) -> Option<usize> {
        let &Self { run, graph, actor, second, .. } = self;
        if !second.unwrap_or(actor).op.action.reads() {
            return Some(run.trace.events.len());
        }
        let overwrites = self.newer_than_source().next();
        let is_taken = || overwrites.is_some_and(|write| self.writes() && run.trace.events[write].updates());
        debug_assert!(!is_taken(), "what would be a second update of its source is not asked (`revisit`)");
        let gap = overwrites.unwrap_or(run.trace.events.len());
        let fits = |who: OpRef| preds_of(run, graph, who).iter().all(|&pred| (pred as usize) < gap);
        (fits(actor.who) && second.is_none_or(|second| fits(second.who))).then_some(gap)
    }

    /// Adds to the events that come first the events that come before them. Returns whether there was one.
    fn complete(&self, first: &mut BitSet, must: &mut bool) -> bool {
        let graph = self.graph;
        let mut grown = false;
        for loc in self.run.trace.locs.ids() {
            let mut older = None;
            for write in graph.writes(loc) {
                if first.contains(write) {
                    let is_older = older.is_none_or(|older| graph.precedes(older, write));
                    grown |= self.add(first, must, graph.readers_of(loc, older), |_| is_older);
                    grown |= self.add_older(first, must, loc, write);
                    older = Some(write);
                }
            }
        }
        grown
    }

    /// Adds the writes of a location that happened before one which is read behind the events that come first.
    fn add_older(&self, first: &mut BitSet, must: &mut bool, loc: LocId, write: usize) -> bool {
        let is_behind = |&reader: &usize| self.members.contains(reader) && !first.contains(reader);
        let Some(reader) = self.graph.readers(write).find(is_behind) else { return false };
        let older = self.graph.writes(loc).take_while(|&older| older != write);
        self.add(first, must, older, |older| self.graph.precedes(older, reader))
    }

    /// Adds those of some events that are entries, and all events causally before them. Returns whether there was one.
    /// `is_forced` says whether an event must be there.
    fn add(
        &self,
        first: &mut BitSet,
        must: &mut bool,
        events: impl Iterator<Item = usize>,
        is_forced: impl Fn(usize) -> bool,
    ) -> bool {
        let mut grown = false;
        for event in events {
            if self.members.contains(event) && !first.contains(event) {
                self.graph.add_past(event, first);
                *must &= is_forced(event);
                grown = true;
            }
        }
        grown
    }
}
