//! C11: the writes that an operation may take, and whether the order of memory stays a witness if it does.
//!
//! Problem. At random, every second read asks for an old value. If the axioms judge each of them for the whole
//! execution, its cost grows with the square of its length, and with the cube where accesses are `SeqCst`.
//!
//! Method. *Candidates*: the last access of each thread that happens before the operation hides what is before the
//! write that it took or made: what happens before that write or before the access, and what is before it in a chain of
//! updates. So of each thread's writes it hides a beginning.
//!
//! *Witness*: memory holds the last writes of some modification order of the execution so far. A read that is not
//! `SeqCst` leaves it a modification order if it takes a write that is not before what accesses in its past have taken
//! or made. `psc` stays without a cycle, too, if no `SeqCst` fence happens before the read, since new edges
//! begin at such fences only. Where there is one, the order of execution stays an order of the `SeqCst` nodes if all
//! writes behind the source have happened behind the fence: then so did every fence that an edge can lead to.
//!
//! Cost. For an operation O(threads · log(accesses)), and its candidates.

use std::sync::atomic::Ordering;

use crate::base::{IdVec, LocId, ThreadId};
use crate::model::c11::{Graph, Past};
use crate::trace::{Event, Source};

/// The modification order whose last writes memory holds.
#[derive(Clone, Debug, Default)]
pub(super) enum Order {
    /// The order of execution, which is an order of the `SeqCst` nodes as well.
    #[default]
    Executed,
    /// By event: its place among the writes. Later events have come behind these.
    Ranked(Vec<u32>),
    /// It is not known but for its last writes.
    Unknown,
}

/// A read of an old value.
#[derive(Clone, Copy)]
pub(super) struct OldRead {
    pub(super) thread: ThreadId,
    pub(super) loc: LocId,
    pub(super) order: Ordering,
    pub(super) source: Source,
}

impl Order {
    /// Whether it stays a witness if this read happens next. `fences` are the nodes of `SeqCst` fences.
    pub(super) fn stays(&self, accesses: &Accesses, prefix: Prefix<'_>, read: OldRead, fences: &[u32]) -> bool {
        let OldRead { thread, loc, order, source } = read;
        let Some(rank) = self.rank(source).filter(|_| order != Ordering::SeqCst) else { return false };
        let past = prefix.graph.known_next(thread);
        if accesses.seen(loc, prefix, past).any(|at| self.rank(prefix.value(at)) > Some(rank)) {
            return false;
        }
        // The edges of fences that it only acquires are there already: they happen before the source.
        match fences.iter().rev().find(|&&fence| past.includes(prefix.graph.place(fence as usize))) {
            Some(&fence) => matches!(self, Self::Executed) && accesses.are_behind(loc, prefix, source, fence),
            None => true,
        }
    }

    /// The place of a source, with the initial value in front; `None` if the order is not known.
    fn rank(&self, source: Source) -> Option<u32> {
        match (self, source) {
            (Self::Unknown, _) => None,
            (_, Source::Init | Source::None) => Some(0),
            (Self::Executed, Source::At(at)) => Some(at + 1),
            (Self::Ranked(ranks), Source::At(at)) => Some(ranks.get(at as usize).copied().unwrap_or(at) + 1),
        }
    }
}

/// The accesses of an execution, as positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    by_loc: IdVec<LocId, OfLoc>,
    /// By event: its place among updates that read from one another.
    chains: Vec<Chain>,
    /// Empty, with the memory of those of earlier executions.
    unused: Vec<OfThread>,
    /// Of the operation that looks for sources: the last access of each thread that happens before it.
    seen: Vec<u32>,
}

/// The place of a write in a chain: a write that is no update, or one of the initial value, and the updates that
/// follow.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    /// The first event of the chain.
    first: u32,
    /// The number of writes of the chain before this one.
    place: u32,
    /// Whether an update has read from it.
    is_updated: bool,
}

/// The accesses of a location.
#[derive(Clone, Debug, Default)]
struct OfLoc {
    threads: Vec<OfThread>,
    /// Whether an update has read the initial value.
    init_is_updated: bool,
}

/// The accesses of a location by one thread, in its order.
#[derive(Clone, Debug, Default)]
struct OfThread {
    thread: ThreadId,
    all: Vec<u32>,
    writes: Vec<u32>,
}

impl OfThread {
    fn cleared(mut self) -> Self {
        self.all.clear();
        self.writes.clear();
        self
    }
}

/// The execution so far.
#[derive(Clone, Copy)]
pub(super) struct Prefix<'a> {
    pub(super) events: &'a [Event],
    pub(super) graph: &'a Graph,
    /// By event: its node.
    pub(super) numbers: &'a [u32],
}

impl Prefix<'_> {
    fn node(self, at: u32) -> usize {
        self.numbers[at as usize] as usize
    }

    /// The number of nodes of its thread before an event.
    fn index(self, at: u32) -> u32 {
        self.graph.place(self.node(at)).index
    }

    /// The write that an access has made, or has taken.
    fn value(self, at: u32) -> Source {
        let event = &self.events[at as usize];
        if event.written.is_some() { Source::At(at) } else { event.source }
    }

    /// The number of nodes of a thread with which an access hides the writes among them, but for the one that it has
    /// taken if it only reads.
    fn hides(self, at: u32, thread: ThreadId) -> u32 {
        let event = &self.events[at as usize];
        let before = self.graph.happened_before(self.node(at)).count(thread);
        let Source::At(source) = event.source else { return before };
        let is_replaced = event.written.is_some() && self.events[source as usize].id.thread == thread;
        let up_to = self.graph.happened_before(self.node(source)).count(thread) + u32::from(is_replaced);
        before.max(up_to)
    }
}

impl Accesses {
    /// Forgets all and keeps the memory.
    pub(super) fn clear(&mut self) {
        for of_loc in self.by_loc.values_mut() {
            self.unused.extend(of_loc.threads.drain(..).map(OfThread::cleared));
            of_loc.init_is_updated = false;
        }
        self.chains.clear();
    }

    /// Adds an event.
    pub(super) fn add(&mut self, at: u32, event: &Event) {
        self.chains.resize(at as usize + 1, Chain { first: at, ..Chain::default() });
        self.by_loc.grow_to(event.op.loc, OfLoc::default);
        let OfLoc { threads, init_is_updated } = &mut self.by_loc[event.op.loc];
        let thread = event.id.thread;
        let number = threads.iter().position(|own| own.thread == thread).unwrap_or(threads.len());
        if number == threads.len() {
            threads.push(OfThread { thread, ..self.unused.pop().unwrap_or_default() });
        }
        threads[number].all.push(at);
        if event.written.is_some() {
            threads[number].writes.push(at);
            match event.source {
                Source::At(source) => {
                    let before = &mut self.chains[source as usize];
                    before.is_updated = true;
                    let (first, place) = (before.first, before.place + 1);
                    self.chains[at as usize] = Chain { first, place, is_updated: false };
                }
                Source::Init => *init_is_updated = true,
                Source::None => {}
            }
        }
    }

    /// Whether an update has read from a write, or the initial value. A second one cannot.
    pub(super) fn is_updated(&self, loc: LocId, source: Source) -> bool {
        match source {
            Source::At(at) => self.chains[at as usize].is_updated,
            Source::Init | Source::None => self.by_loc.get(loc).is_some_and(|of_loc| of_loc.init_is_updated),
        }
    }

    /// Whether one write is before what an access has made or taken, in a chain of updates.
    fn is_in_chain_before(&self, write: u32, value: Source) -> bool {
        let Source::At(value) = value else { return false };
        let (write, value) = (self.chains[write as usize], self.chains[value as usize]);
        write.first == value.first && write.place < value.place
    }

    fn of(&self, loc: LocId) -> &[OfThread] {
        self.by_loc.get(loc).map_or(&[], |of_loc| &of_loc.threads)
    }

    /// The last access of each thread in a past.
    fn seen<'a>(&'a self, loc: LocId, prefix: Prefix<'a>, past: Past<'a>) -> impl Iterator<Item = u32> + 'a {
        self.of(loc).iter().filter_map(move |own| {
            let count = past.count(own.thread);
            let before = own.all.partition_point(|&at| prefix.index(at) < count);
            own.all[..before].last().copied()
        })
    }

    /// Finds the writes that an operation with this past may take, the last one first, as far as coherence tells.
    pub(super) fn find_sources(&mut self, loc: LocId, prefix: Prefix<'_>, past: Past<'_>, sources: &mut Vec<Source>) {
        sources.clear();
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        seen.extend(self.seen(loc, prefix, past));
        let takes = |by: u32, write: u32| prefix.value(by) == Source::At(write) && by != write;
        for own in self.of(loc) {
            let hidden = seen.iter().map(|&by| prefix.hides(by, own.thread)).max().unwrap_or(0);
            let first = own.writes.partition_point(|&at| prefix.index(at) < hidden);
            let last_before = own.writes[..first].last().copied().filter(|&write| {
                let is_visible = |by: u32| takes(by, write) || prefix.hides(by, own.thread) <= prefix.index(write);
                seen.iter().all(|&by| is_visible(by))
            });
            // What is before a hidden write of the thread is hidden as well.
            let is_hidden = |&write: &u32| seen.iter().any(|&by| self.is_in_chain_before(write, prefix.value(by)));
            let later = own.writes[first..].iter().rev().copied();
            sources.extend(later.chain(last_before).take_while(|write| !is_hidden(write)).map(Source::At));
        }
        let position = |source: &Source| if let Source::At(at) = source { *at } else { 0 };
        sources.sort_unstable_by_key(|source| std::cmp::Reverse(position(source)));
        if seen.iter().all(|&by| prefix.value(by) == Source::Init) {
            sources.push(Source::Init);
        }
        self.seen = seen;
    }

    /// Whether all writes of a location that have happened behind a source are behind a node, too.
    fn are_behind(&self, loc: LocId, prefix: Prefix<'_>, source: Source, node: u32) -> bool {
        self.of(loc).iter().all(|own| {
            let first = match source {
                Source::At(at) => own.writes.partition_point(|&write| write <= at),
                Source::Init | Source::None => 0,
            };
            own.writes.get(first).is_none_or(|&write| prefix.numbers[write as usize] > node)
        })
    }
}
