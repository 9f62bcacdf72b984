//! Inserting the actor into the run: the quickest answer.
//!
//! Problem. The members of a new sequence but for the actor, in the order of the run, are an execution under SC, if the run
//! is one: they are closed under the causal order. Nobody of them needs the actor. Where can it come? With it comes, right
//! before it, the update that is reversed with it, if there is one: it takes what the actor took, and nobody else needs it.
//!
//! Method. Right before its source is overwritten, if what is before it in program order has happened there. Otherwise
//! some of the members come before it and the others after it, both in the order of the run. Before it comes what
//! is causally before it; and where a write of some location comes before it, so does who reads an older one there
//! (closure, rule 4); and where somebody after it reads a write that comes before it, so do the writes that are older
//! than that (rule 3, if they are causally before the reader). If its source is the last write of its location that comes
//! before it, this is an execution. If not, and another one that is newer must come before it, there is none under SC.
//!
//! Cost. The writes of a location; or the reads and writes of the run, times how often a write brings along a
//! reader that brings along a write.
//!
//! Source. The rules of the closure (`consistency::closure`), of which only those that the actor needs are applied.

use crate::base::{BitSet, LocId};
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::mutate::{Actor, preds_of};
use crate::explore::rf_smc::schedule::Member;
use crate::step::Run;

/// Where the actor can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Place {
    /// Between [`Inserter::before`] and the other members.
    Found,
    Nowhere,
    Unknown,
}

/// Inserts actors; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(in super::super) struct Inserter {
    before: BitSet,
    /// Whether all of `before` must come before the actor in every execution under SC.
    must: bool,
}

/// What is to be inserted where.
struct Question<'a> {
    run: &'a Run,
    graph: &'a Graph,
    /// The other members.
    members: &'a BitSet,
    /// The actor, and the update that comes right before it.
    actor: &'a Member,
    second: Option<&'a Member>,
    /// Whose write the first of these takes.
    source: Option<usize>,
}

impl Inserter {
    /// The members that come before the actor.
    pub(in super::super) fn before(&self) -> &BitSet {
        &self.before
    }

    /// Looks for a place for the actor, and the update right before it, among the other members: events of a run whose order
    /// is one under SC.
    pub(in super::super) fn find(
        &mut self,
        run: &Run,
        graph: &Graph,
        members: &BitSet,
        (actor, second): (&Member, Option<&Member>),
    ) -> Place {
        let source = second.unwrap_or(actor).source.and_then(|source| source.event());
        let question = Question { run, graph, members, actor, second, source };
        self.before.reset(run.trace.events.len());
        if let Some(gap) = question.gap() {
            members.iter().take_while(|&member| member < gap).for_each(|member| self.before.insert(member));
            return Place::Found;
        }
        self.must = true;
        graph.add_program_past(preds_of(run, graph, actor.who), &mut self.before);
        if let Some(second) = second {
            graph.add_program_past(preds_of(run, graph, second.who), &mut self.before);
        }
        if let Some(source) = source {
            graph.add_past(source, &mut self.before);
        }
        loop {
            let newer = || question.newer_than_source().filter(|&write| self.before.contains(write));
            if self.must && newer().any(|write| source.is_none_or(|source| graph.precedes(source, write))) {
                return if graph.is_sc() { Place::Nowhere } else { Place::Unknown };
            }
            if !self.add_missing(&question) {
                let found = question.newer_than_source().all(|write| !self.before.contains(write));
                return if found { Place::Found } else { Place::Unknown };
            }
        }
    }

    /// Adds what comes before the actor because of what does so already; whether there is something.
    fn add_missing(&mut self, question: &Question<'_>) -> bool {
        let &Question { run, graph, actor, .. } = question;
        let mut added = false;
        for loc in run.trace.locs.ids() {
            let mut older = None;
            for write in graph.writes(loc) {
                if self.before.contains(write) {
                    let is_older = older.is_none_or(|older| graph.precedes(older, write));
                    added |= self.add(question, graph.readers_of(loc, older), |_| is_older);
                    added |= self.add_older(question, loc, write);
                    older = Some(write);
                }
            }
            if question.writes() && loc == actor.op.loc {
                added |= self.add(question, graph.readers_of(loc, question.source), |_| true);
            }
        }
        added
    }

    /// Adds the writes of a location that happened before one which is read after the actor.
    fn add_older(&mut self, question: &Question<'_>, loc: LocId, write: usize) -> bool {
        let &Question { graph, members, .. } = question;
        let is_left = |before: &BitSet, reader: usize| members.contains(reader) && !before.contains(reader);
        let Some(reader) = graph.readers(write).find(|&reader| is_left(&self.before, reader)) else { return false };
        let older = graph.writes(loc).take_while(|&older| older != write);
        self.add(question, older, |older| graph.precedes(older, reader))
    }

    /// Adds those of some events that are members, and all that is causally before them; each of them must come before
    /// the actor or need not.
    fn add(
        &mut self,
        question: &Question<'_>,
        events: impl Iterator<Item = usize>,
        must: impl Fn(usize) -> bool,
    ) -> bool {
        let mut added = false;
        for event in events {
            if question.members.contains(event) && !self.before.contains(event) {
                question.graph.add_past(event, &mut self.before);
                self.must &= must(event);
                added = true;
            }
        }
        added
    }
}

impl<'a> Question<'a> {
    /// Whether something is written to the location of the actor.
    fn writes(&self) -> bool {
        self.actor.writes || self.second.is_some()
    }

    /// The members that write the location of the actor after its source.
    fn newer_than_source(&self) -> impl Iterator<Item = usize> + use<'a> {
        let &Question { members, graph, actor, source, .. } = self;
        graph.writes_after(actor.op.loc, source).filter(|&write| members.contains(write))
    }

    /// The position in the run before which the actor can come while all others stay in their order: where its source is
    /// about to be overwritten, or the end if nothing is read.
    fn gap(&self) -> Option<usize> {
        let &Question { run, graph, actor, second, .. } = self;
        if !second.unwrap_or(actor).op.action.reads() {
            return Some(run.trace.events.len());
        }
        let overwrites = self.newer_than_source().next();
        let is_taken = overwrites.is_some_and(|write| self.writes() && run.trace.events[write].updates());
        let gap = overwrites.unwrap_or(run.trace.events.len());
        let fits = |who: Actor| preds_of(run, graph, who).iter().all(|&pred| (pred as usize) < gap);
        (!is_taken && fits(actor.who) && second.is_none_or(|second| fits(second.who))).then_some(gap)
    }
}
