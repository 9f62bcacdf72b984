//! RVF-SMC: at most one leaf per reads-value-from class.
//!
//! Problem. Show every maximal execution of a program under SC up to *reads-value-from equivalence*: two executions are
//! alike if they have the same events, every read returns the same value, and the same reads are ordered by causality.
//!
//! Algorithm. A node of the recursion has decided some reads: each has a set of *good writes*, all of one value. Every
//! thread goes on until it stands before a read that has not been decided. One of these reads is chosen, and each value
//! that the writes of the node offer to it makes a child, if VerifySC finds an execution. Then the next of these reads
//! is chosen, and the *causal map* keeps the first from all it could take before. That is needed only where a write
//! turns up that the first read could not take yet: nodes below send a *backtrack signal* when they have one.
//!
//! Nodes and runs. A node is cut out of a run (`known`): the events that depend on decided reads alone, and the read
//! before which each thread stands. A child in which the chosen read takes what it takes in that run is cut out of the
//! same run. What the run does first is tried first, so a run is followed down to a leaf, and siblings wait for it.
//! Only a child that the run of its parent does not realise needs a new run (`witness`): the witness is forced, and the
//! executor goes on from there. It gets the causal map as well ([`Plan::tried`]): a read in the map waits until it
//! finds something new. Where only such reads could go on the run is cut short, since all that could follow was tried
//! elsewhere.
//!
//! Cost. One VerifySC per value and node, except where a run realises the child; time linear in the run per node.
//! Memory: the path with its runs; what a node has decided shares all but one entry with its parent. Every run that is
//! not cut short is a leaf. No leaf has the class of another, so there are at most as many leaves as reads-value-from
//! and as reads-from classes; a view class can have several.
//!
//! Source. Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman, "Stateless model checking under a reads-value-from
//! equivalence", CAV 2021; Toman, "Improved Verification Techniques for Concurrent Systems" (thesis, ISTA 2021),
//! chapter 4, algorithm 4.2.
//!
//! Deviations. (1) A read that can take nothing at all, such as a held lock or a missing token, is passed over: it
//! neither ends the loop nor enters the causal map. The source lets it do both and misses executions. (2) The source
//! lets a waiting compare-exchange signal others, since it may fail below and then never writes. So may a lock attempt
//! fail, a lock never be taken again and a thread stay parked: every waiting operation that may write signals every
//! read of another thread that writes, too. But fewer writes signal: the proof of lemma 4.1 has an execution in which
//! the write happens *without* the read, so a write that cannot do so in the node signals nothing. It depends on the
//! read in program order, or by a read all of whose good writes do. Nor does an operation signal that the causal map
//! keeps from all that would be there without the read. (3) What counts by its source does so here, too (`by_source`).
//! (4) All writes of a value are good, visible or not: the closure sorts out the others. (5) *Loops that wait.* A value
//! with which a thread would repeat an iteration of such a loop is none that its read can take. Before a read at which
//! a thread may wait for ever, the loop over reads goes on as if the read were blocked; where no other thread can go
//! on, VerifySC is asked whether the watched locations can end with what was seen.
//!
//! Guarantees. Every outcome, deadlock, livelock, panic, view class and race on a tracked cell, for loads, stores,
//! updates, compare-exchanges, fences, locks, try-locks, park, spawn and join; compared with [`super::Exhaustive`].

mod known;
mod node;
mod witness;

use std::cell::LazyCell;
use std::sync::Arc;

use crate::explore::Divisible;
use crate::explore::by_source::BySource;
use crate::explore::looks::Looks;
use crate::explore::rvf_smc::known::Known;
use crate::explore::rvf_smc::node::{Node, Seed, is_below};
use crate::explore::rvf_smc::witness::Asker;
use crate::step::{End, Explorer, Forced, Plan, Purpose, Run, Tried};
use crate::trace::Action;

/// The number of questions after which `analyse` returns, so that its caller decides whether to go on.
const QUESTIONS_AT_ONCE: usize = 100;

/// The parts that can be switched off, to measure what they are worth. No execution is missed without them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether a node stops after a read for which no new source can turn up.
    pub backtrack_signals: bool,
    /// Whether VerifySC starts from the closure.
    pub closure: bool,
    /// Whether VerifySC tries the order of the run at hand first.
    pub guidance: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { backtrack_signals: true, closure: true, guidance: true }
    }
}

/// Counts of what an exploration has looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Nodes of the recursion.
    pub nodes: u64,
    /// Those of them that are maximal executions, each of a reads-value-from class of its own.
    pub leaves: u64,
    /// Questions to VerifySC.
    pub questions: u64,
    /// The questions to which the answer was no.
    pub refused: u64,
}

/// The explorer; see the module.
#[derive(Debug)]
pub struct RvfSmc {
    options: Options,
    /// The nodes from the root to the one that is worked on.
    path: Vec<Node>,
    /// The node of the run that was asked for; `None` for a livelock.
    next: Option<Seed>,
    /// The steps that its plan forces.
    forced: Vec<Forced>,
    /// Executions that end in a livelock, and are still to be run.
    livelocks: Vec<Vec<Forced>>,
    by_source: BySource,
    starts_over: bool,
    asker: Asker,
    effort: Effort,
    looks: Looks,
}

impl Default for RvfSmc {
    fn default() -> Self {
        Self::new()
    }
}

impl RvfSmc {
    /// An exploration that has not started.
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// An exploration that has not started, with some of its parts switched off.
    #[doc(hidden)]
    pub fn with_options(options: Options) -> Self {
        Self {
            options,
            path: Vec::new(),
            next: Some(Seed::default()),
            forced: Vec::new(),
            livelocks: Vec::new(),
            by_source: BySource::default(),
            starts_over: false,
            asker: Asker::new(options),
            effort: Effort::default(),
            looks: Looks::default(),
        }
    }

    /// The counts so far.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Whether it is known what comes next: a run, livelocks, or the end.
    fn is_found(&self) -> bool {
        self.next.is_some() || !self.livelocks.is_empty() || self.path.is_empty()
    }

    /// Goes on through the recursion, to the next node that no run at hand realises: by one choice, or one read.
    fn look(&mut self) {
        let Some(node) = self.path.last_mut() else { return };
        let Some((read, choice)) = node.next_choice() else {
            node.end_read();
            if !node.next_read(self.options.backtrack_signals, &self.looks) {
                self.look_for_livelocks();
                self.path.pop();
            }
            return;
        };
        if node.realises(&read, &choice) {
            let known = node.known.clone();
            let seed = node.child(&read, choice);
            self.enter(known, seed);
            return;
        }
        self.effort.questions += 1;
        if self.asker.ask(node, &read, &choice, &mut self.forced) {
            self.next = Some(node.child(&read, choice));
        } else {
            self.effort.refused += 1;
        }
    }

    fn enter(&mut self, known: Arc<Known>, seed: Seed) {
        let before = seed.before.clone();
        let node = Node::new(known, seed, self.by_source);
        self.signal(&node, &before);
        self.effort.nodes += 1;
        self.effort.leaves += u64::from(node.is_leaf());
        self.path.push(node);
    }

    /// Asks whether all threads of the last node can wait for ever, and if so plans that livelock. All values were
    /// tried there, so it is known which of them make threads wait.
    fn look_for_livelocks(&mut self) {
        let Some(node) = self.path.last() else { return };
        if node.is_leaf() {
            return;
        }
        let ways = node.ways_to_wait(&self.looks).into_iter();
        for way in ways.filter(|way| !way.is_seen(&node.known.trace, |at| node.extent.inside[at])) {
            let mut livelock = Vec::new();
            if self.asker.ask_whether_it_ends(node, &way, &mut livelock) {
                self.livelocks.push(livelock);
            }
        }
    }

    /// Signals the ancestors of a node whose current reads might take something that the node has and its parent had
    /// not. What cannot happen without such a read is nothing that it might take.
    fn signal(&mut self, node: &Node, before: &[u32]) {
        let (known, extent) = (&node.known, &node.extent);
        let trace = &known.trace;
        let inside = trace.events.iter().enumerate().filter(|&(at, _)| extent.inside[at]);
        let new = inside.filter(|(_, event)| event.written.is_some() && !is_below(event.id, before));
        let written: Vec<_> = new.map(|(at, event)| (event.op.loc, event.id.thread, at)).collect();
        let pending = known.pending(extent);
        let competing: Vec<_> = pending.iter().filter(|next| next.op.action != Action::Load).collect();
        for ancestor in self.path.iter_mut().filter(|ancestor| !ancestor.is_signalled()) {
            let read = ancestor.deciding().expect("ancestors have children by a read");
            let at = trace.position(read.id).expect("a node has the reads of its ancestors");
            // The location by the numbers of this run.
            let read = &trace.events[at];
            let conflicts = |loc, thread| loc == read.op.loc && thread != read.id.thread;
            let depends = LazyCell::new(|| known.depending_on(at, extent, &node.good));
            let takes_written =
                || written.iter().any(|&(loc, thread, write)| conflicts(loc, thread) && !depends[write]);
            let competes =
                || competing.iter().any(|next| conflicts(next.op.loc, next.id.thread) && node.may_take(next, &depends));
            if takes_written() || (read.written.is_some() && competes()) {
                ancestor.signal();
            }
        }
    }
}

impl Explorer for RvfSmc {
    fn analyse(&mut self) -> bool {
        for _ in 0..QUESTIONS_AT_ONCE {
            if self.is_found() {
                return true;
            }
            self.look();
        }
        self.is_found()
    }

    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        while !self.analyse() {}
        plan.forced.clear();
        plan.frozen.clear();
        plan.tried.clear();
        plan.purpose = Purpose::Class;
        plan.forced.append(&mut self.forced);
        if self.next.is_none()
            && let Some(livelock) = self.livelocks.pop()
        {
            plan.forced.extend_from_slice(&livelock);
            plan.purpose = Purpose::Livelock;
            return true;
        }
        let tried = self.next.iter().flat_map(|seed| &seed.causal);
        plan.tried.extend(tried.map(|(&read, done)| Tried { read, counts: Arc::clone(done) }));
        self.next.is_some()
    }

    fn observe(&mut self, run: &Run) {
        self.looks.learn(run);
        let seed = self.next.take();
        if run.repeated.is_some() {
            if let Some(node) = self.path.last_mut() {
                node.it_waits();
            }
            if !run.halfway {
                return;
            }
        }
        let Some(seed) = seed.filter(|_| run.is_maximal() || run.end == End::Tried) else { return };
        let by_source = BySource::of(run);
        if by_source > self.by_source {
            let (effort, looks) = (self.effort, std::mem::take(&mut self.looks));
            *self = Self { by_source, starts_over: true, effort, looks, ..Self::with_options(self.options) };
            return;
        }
        self.enter(Arc::new(Known::of(run)), seed);
    }

    fn starts_over(&mut self) -> bool {
        std::mem::take(&mut self.starts_over)
    }
}

impl Divisible for RvfSmc {}
