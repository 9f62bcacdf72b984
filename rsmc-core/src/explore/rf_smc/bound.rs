//! The bounds of preemptions and delays.
//!
//! Problem. Run every class that has an execution with at most `k` preemptions and at most `d` delays (reads of old
//! values) once, and as few others as possible. A schedule leads to runs that have its events, and also to what these
//! runs discover at the decisions above, in classes that need not have its events.
//!
//! Method. Of a schedule's events the fewest preemptions of an order are computed
//! ([`Preemptions`](crate::consistency::Preemptions)). The revisited event counts if it is a load; the one that is
//! reversed with it does not. If the number is greater than `k` by more than the *slack*, the schedule is left out. Its
//! name stays in the set of its decision. The slack is the number of threads with events, less two. A spurious outcome
//! counts like a preemption. Orders with more than `d` delays and the slack do not count.
//!
//! Why there is slack. Take a class and its execution with the fewest preemptions. RF-SMC reaches it by a revisit of a
//! read `r` that takes a write `w`, which it discovers in a run in which `r` reads something else. There is such a
//! run that follows the same execution, but stops the thread of `w` before `w`, and lets `r` and what follows it take
//! what is there. A sequence on the way to this run may have `w` nevertheless, behind `r`, so the thread of `w` is
//! interrupted once more. The same holds for the runs that lead to this run, each with another `w`. But one thread has
//! `r`, and one is last; so at most the number of threads less two are interrupted in this way. It is an argument, no
//! proof: `tests/bound_oracle.rs` compares the classes with brute force. With less slack it finds classes that are
//! missed. Delays have the same slack, since a sequence on the way may have more of them for the same reason; of 150
//! programs of each mix none needed it.
//!
//! Sets of names are not bounded while preemptions are: the run that is the canonical parent of a schedule may be left
//! out.
//!
//! Waiting loops. A switch is free where the thread may wait in a loop: before an operation behind a hint, and before
//! each operation at a line where a thread was seen to wait ([`Run::loops`]). If a run shows another such line, the
//! exploration starts over ([`Plan::names_loops`](crate::step::Plan::names_loops)).
//!
//! Source. Coons, Musuvathi, McKinley, "Bounded partial-order reduction", OOPSLA 2013; Marmanis, Kokologiannakis,
//! Vafeiadis, "Reconciling preemption bounding with DPOR", TACAS 2023: explorations of graphs need such a slack.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{EventId, ThreadId};
use crate::consistency::{Member, Preemptions, Takes};
use crate::explore::rf_smc::aside::Aside;
use crate::explore::rf_smc::entry::RevisedEntry;
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, preds_of};
use crate::explore::rf_smc::sequence::NewSequence;
use crate::step::{Observed, Run};
use crate::trace::{Action, NoteKind, Site, Trace};

/// The number of bounds above the current one that are told apart before they are reached.
const LOOK_AHEAD: u32 = 3;

/// The bound of preemptions where only delays are bounded.
pub(super) const NONE: u32 = NEVER - 1;

/// The level of a sequence that is within no bound of preemptions.
pub(super) const NEVER: u32 = u32::MAX;

/// The bound; keeps its memory from one schedule to the next.
#[derive(Debug, Default)]
pub(super) struct Bound {
    /// The largest number of preemptions; `None`: no bound.
    pub(super) most: Option<u32>,
    /// The largest number of delays; `None`: no bound.
    pub(super) delays: Option<u32>,
    /// It rises when all schedules within it have been explored.
    pub(super) rises: bool,
    /// The number of preemptions that a schedule may have beyond the bound.
    slack: u32,
    /// The schedules that are beyond it, if it rises.
    pub(super) aside: Aside,
    search: Preemptions,
    /// By event of the run: its number in the search.
    numbers: Vec<u32>,
    /// The events behind a hint, those that threads wait to perform included.
    hinted: FxHashSet<EventId>,
    /// The places of operations, with their numbers in [`Run::loops`].
    lines: FxHashMap<Site, u32>,
}

impl Bound {
    /// Turns to a run.
    pub(super) fn begin(&mut self, run: &Run) {
        self.hinted.clear();
        if self.most.is_some() {
            let present = run.trace.present().filter(|(thread, _)| run.trace.count(*thread) > 0);
            self.slack = present.count().saturating_sub(2) as u32;
            let hints = run.trace.notes.iter().filter(|note| note.kind == NoteKind::Hint);
            self.hinted.extend(hints.map(|note| next_event(&run.trace, note.thread, note.at)));
        }
    }

    /// The lowest bound within which a new sequence may be, if that is not the current one; [`NEVER`] if it has too
    /// many delays.
    pub(super) fn beyond(&mut self, run: &Run, graph: &Graph, sequence: &NewSequence) -> Option<u32> {
        let most = self.most?;
        let delays = self.delays.map(|most| most.saturating_add(self.slack));
        self.search.clear(if graph.model().is_sequential() { Some(0) } else { delays });
        self.numbers.resize(run.trace.events.len(), 0);
        let mut spurious = 0;
        for at in sequence.unchanged().iter() {
            let entry = RevisedEntry::of(run, OpRef::Event(at));
            self.numbers[at] = self.push(run, graph, &entry);
            spurious += u32::from(entry.op.action.is_spurious());
        }
        if let Some(first) = sequence.first {
            spurious += u32::from(first.op.action.is_spurious());
            if first.op.action == Action::Load {
                self.push(run, graph, &first);
            }
        }
        let slack = self.slack;
        let ahead = if self.rises { LOOK_AHEAD } else { 0 };
        let enough = most.saturating_add(slack + ahead).saturating_sub(spurious);
        let fewest = self.search.fewest(enough);
        let level = fewest.map_or(NEVER, |fewest| (fewest + spurious).saturating_sub(slack));
        (level > most).then_some(level)
    }

    /// Adds an event to the search. Returns its number there.
    fn push(&mut self, run: &Run, graph: &Graph, entry: &RevisedEntry) -> u32 {
        let reads = entry.op.action.reads();
        let takes = match entry.source.and_then(OpRef::event) {
            Some(write) => Takes::From(self.numbers[write]),
            None if reads => Takes::Initial,
            None => Takes::Nothing,
        };
        let waits = self.hinted.contains(&entry.id) || self.is_in_loop(run, entry.op.site);
        let member = Member { thread: entry.id.thread, op: entry.op, takes, writes: entry.writes, waits };
        let numbers = &self.numbers;
        let preds = preds_of(run, graph, entry.who).iter().map(|&pred| numbers[pred as usize]);
        self.search.push(&member, preds)
    }

    /// Whether threads wait in a loop before the operation at this place.
    fn is_in_loop(&mut self, run: &Run, site: Site) -> bool {
        if !run.has_waits() {
            return false;
        }
        let line = *self.lines.entry(site).or_insert_with(|| Observed::number_of(&site.to_string()));
        run.loops.contains(&line)
    }
}

/// The first event of a thread at this position or behind it, which it may not have performed.
fn next_event(trace: &Trace, thread: ThreadId, from: u32) -> EventId {
    EventId { thread, index: trace.of_thread(thread).partition_point(|&at| at < from) as u32 }
}
