//! Nodes of the recursion: the decided reads, the pending ones, and the values that each of these may read.

use std::sync::Arc;

use rpds::RedBlackTreeMap;

use crate::base::EventId;
use crate::explore::by_source::BySource;
use crate::explore::looks::{Looks, Way, together};
use crate::explore::rvf_smc::known::{Extent, GoodWrites, Known, Next, Writes};
use crate::trace::{Effect, Op};

/// Every read that an ancestor was done with and, by thread, the number of events that it had there: all their writes
/// were tried.
pub(super) type CausalMap = RedBlackTreeMap<EventId, Arc<[u32]>>;

/// A node before it has a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Seed {
    pub(super) good: GoodWrites,
    pub(super) causal: CausalMap,
    /// By thread: the number of events of its parent.
    pub(super) before: Arc<[u32]>,
}

/// A node of the recursion.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) known: Arc<Known>,
    pub(super) extent: Extent,
    pub(super) good: GoodWrites,
    causal: CausalMap,
    /// The reads that are to be decided here; the next one is the last.
    reads: Vec<Next>,
    by_source: BySource,
    current: Option<Current>,
    /// Whether to go on to the next read.
    backtrack: bool,
}

/// The read that a node decides now.
#[derive(Debug)]
struct Current {
    read: Next,
    /// Whether the causal map was defined for it.
    mapped: bool,
    choices: Vec<Choice>,
    /// Whether some choice was possible.
    possible: bool,
    /// With some value its thread waits in a loop.
    waits: bool,
}

/// A value that a read may return, and the writes that leave it.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The operation of the read, or an alternative of it.
    pub(super) op: Op,
    pub(super) value: u64,
    pub(super) good: Vec<Option<EventId>>,
}

impl Node {
    /// A node that a run realises.
    pub(super) fn new(known: Arc<Known>, seed: Seed, by_source: BySource) -> Self {
        let Seed { good, causal, .. } = seed;
        let extent = known.extent(&good);
        let mut reads = known.pending(&extent);
        // Those that the signals can prune come first, and among them what the run does first.
        reads.sort_by_key(|read| causal.contains_key(&read.id));
        reads.reverse();
        Self { known, extent, good, causal, reads, by_source, current: None, backtrack: true }
    }

    /// Whether the run is a maximal execution of the node.
    pub(super) fn is_leaf(&self) -> bool {
        self.known.is_maximal && self.extent.inside.iter().all(|&inside| inside)
    }

    /// The ways in which all threads wait for ever, in loops or otherwise: each lists what the locations must hold in
    /// the end. Empty if some thread goes on whatever they hold.
    pub(super) fn ways_to_wait(&self, looks: &Looks) -> Vec<Way> {
        let (mut all, mut blocked) = (Vec::new(), Vec::new());
        for read in &self.known.pending(&self.extent) {
            let trace = &self.known.trace;
            let inside = trace.events.iter().enumerate().zip(&self.extent.inside).filter(|&(_, &inside)| inside);
            let writes = inside.filter(|((_, event), _)| event.op.loc == read.op.loc);
            let offers = writes.filter_map(|((at, event), _)| Some((event.written?, Some(at))));
            let init = (self.known.loc(&read.op).init, None);
            let mut ways = looks.ways_to_wait(&self.known.standing(read), offers.chain([init]));
            ways.extend(self.known.waits(read).filter_map(|wait| Way::of(wait, trace)));
            match ways.is_empty() {
                false => all.push(ways),
                true if !read.is_blocked => return Vec::new(),
                true => blocked.push(read.op),
            }
        }
        if all.is_empty() { Vec::new() } else { together(&all, &blocked) }
    }

    /// The read that is decided now.
    pub(super) fn deciding(&self) -> Option<Next> {
        self.current.as_ref().map(|current| current.read)
    }

    /// Notes that with the value tried last the thread of the current read waits in a loop.
    pub(super) fn it_waits(&mut self) {
        if let Some(current) = &mut self.current {
            current.waits = true;
        }
    }

    /// Sets the backtrack signal.
    pub(super) fn signal(&mut self) {
        self.backtrack = true;
    }

    /// Whether the backtrack signal is set.
    pub(super) fn is_signalled(&self) -> bool {
        self.backtrack
    }

    /// Whether a read that was not decided can happen without these events: it is not behind one of them, and takes
    /// something else that was not tried elsewhere.
    pub(super) fn may_take(&self, read: &Next, without: &[bool]) -> bool {
        if self.known.is_behind(read, without) {
            return false;
        }
        let Some(tried) = self.causal.get(&read.id) else { return true };
        self.known.trace.events.iter().enumerate().any(|(at, event)| {
            event.op.loc == read.op.loc
                && event.written.is_some()
                && !is_below(event.id, tried)
                && self.extent.inside[at]
                && !without[at]
        })
    }

    /// Goes on to the next read; false if the node is done.
    pub(super) fn next_read(&mut self, signals: bool, looks: &Looks) -> bool {
        let Some(read) = self.reads.pop().filter(|_| self.backtrack) else { return false };
        let mapped = self.causal.contains_key(&read.id);
        if !mapped && signals {
            self.backtrack = false;
        }
        let mut current = Current { read, mapped, choices: Vec::new(), possible: false, waits: false };
        self.add_all_choices(&mut current, looks);
        // What the run does is tried first: it needs no run.
        current.choices.sort_by_key(|choice| self.realises(&read, choice));
        self.current = Some(current);
        true
    }

    /// The next value of the current read, if there is one.
    pub(super) fn next_choice(&mut self) -> Option<(Next, Choice)> {
        let current = self.current.as_mut()?;
        Some((current.read, current.choices.pop()?))
    }

    /// The node of a choice that turned out to be possible.
    pub(super) fn child(&mut self, read: &Next, choice: Choice) -> Seed {
        if let Some(current) = &mut self.current {
            current.possible = true;
        }
        let good: Writes = choice.good.into();
        Seed { good: self.good.insert(read.id, good), causal: self.causal.clone(), before: self.extent.counts.clone() }
    }

    /// Ends the current read: all of its values were tried.
    pub(super) fn end_read(&mut self) {
        let Some(current) = self.current.take() else { return };
        let is_done = current.possible || current.mapped;
        if is_done {
            self.causal.insert_mut(current.read.id, self.extent.counts.clone());
        }
        // Where it is blocked, or its thread may wait for ever instead, that says nothing about the other reads.
        self.backtrack |= !is_done || current.waits || self.known.waits(&current.read).next().is_some();
    }

    /// Whether the run of the node is one of the child as well.
    pub(super) fn realises(&self, read: &Next, choice: &Choice) -> bool {
        let alike = |at: usize| self.known.trace.events[at].op.action == choice.op.action;
        read.at.is_some_and(alike) && choice.good.iter().any(|&write| self.takes(read, write))
    }

    /// Whether a read takes this write in the run of the node.
    fn takes(&self, read: &Next, write: Option<EventId>) -> bool {
        let trace = &self.known.trace;
        read.at.is_some_and(|at| trace.source_id(&trace.events[at]) == write)
    }

    /// Adds the values that the writes of the node offer to a read, without what was tried elsewhere.
    fn add_all_choices(&self, current: &mut Current, looks: &Looks) {
        let read = current.read;
        for which in 0..read.op.action.alternatives() {
            let op = Op { action: read.op.action.with_alternative(which), ..read.op };
            if !op.action.is_spurious() || self.may_be_spurious() {
                self.add_choices(&Next { op, ..read }, looks, current);
            }
        }
    }

    /// Whether there are fewer spurious outcomes than there may be.
    fn may_be_spurious(&self) -> bool {
        let events = self.known.trace.events.iter().zip(&self.extent.inside);
        let spent = events.filter(|&(event, &inside)| inside && event.op.action.is_spurious()).count();
        spent < self.known.spurious as usize
    }

    /// Adds the choices of one alternative.
    fn add_choices(&self, read: &Next, looks: &Looks, current: &mut Current) {
        let (op, loc) = (read.op, self.known.loc(&read.op));
        let tried = self.causal.get(&read.id);
        let Current { choices, waits, .. } = current;
        let first = choices.len();
        let mut add = |value: u64, write: Option<EventId>| {
            let repeats = self.known.repeats(looks, read, value, write);
            *waits |= repeats;
            if op.action.effect(value) == Effect::Blocked || repeats {
                return;
            }
            let value = op.action.returns(value);
            let group = choices[first..].iter_mut().find(|choice| choice.value == value);
            match group.filter(|_| !self.by_source.counts(&op, loc, value)) {
                Some(choice) => choice.good.push(write),
                None => choices.push(Choice { op, value, good: vec![write] }),
            }
        };
        if tried.is_none() {
            add(loc.init, None);
        }
        for (at, event) in self.known.trace.events.iter().enumerate() {
            let id = event.id;
            let was_tried = tried.is_some_and(|done| is_below(id, done));
            if let Some(value) = event.written
                && event.op.loc == read.op.loc
                && self.extent.inside[at]
                && !was_tried
            {
                add(value, Some(id));
            }
        }
    }
}

/// Whether an event is one of the first `counts` events of the threads.
pub(super) fn is_below(id: EventId, counts: &[u32]) -> bool {
    counts.get(id.thread.0 as usize).is_some_and(|&count| id.index < count)
}
