//! The canonical parent of a schedule: the one run that adds it, where no set remembers what was seen.
//!
//! Problem. The set of a decision has a name for every past of every later write: as many as a part of the tree has
//! runs. Tell from a run alone whether it is the one that adds a schedule, so that nothing has to be remembered.
//!
//! Method. This is reverse search: the tree is defined by a function from each child to its parent, and a run explores
//! a child if and only if the function leads from the child to the run. Let `p` be the events before the decision, `r`
//! the read that stands there, `w` a write that is not in `p`, and `N` its causal past behind `p`. The child is the
//! schedule `T` = (`p`, `N`, `w`, `r` reads from `w`). Take a witness of `T` that is computed from the events of `T`
//! alone. Put `w` right after `r` instead of before: no other event reads from `w`, and no event writes its location
//! between the two, so all others of `T` still read what they read; `r` reads from the write before `w`; and if both
//! are updates, `w` now reads from `r`. Then let every thread go on as far as it can, the one with the smallest number
//! first. The class of that execution is the parent of `T`. A run belongs to that class if its events are those of the
//! execution, which is compared event by event: nothing is executed for it.
//!
//! Why each `T` has a parent that is run. By induction on the size of `N`: in the parent `r` reads from a write of `p`,
//! for which the decision is asked once, when it is made, or from one of `N`, whose own past is smaller; and `p` and
//! that past are part of it. Why it is added once: the class is run once. Schedules of one decision that have a name,
//! and others that have a canonical parent, do not meet, since the events of a schedule say which of the two it has.
//! And a set may stop to take names at any time: a schedule without a name by then, whose canonical parent was run,
//! does not exist.
//!
//! Cost. For every decision and every later write of its location a look at the events that are not in `T`, which
//! mostly ends at the first of them that reads something else; then a witness. Memory: none that stays.
//!
//! Source. Avis, Fukuda, "Reverse search for enumeration", Discrete Applied Mathematics 65, 1996. That the parent
//! completes a sequence by default is the idea of Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly stateless,
//! optimal dynamic partial order reduction", POPL 2022, for execution graphs with coherence. Here there is no coherence
//! order, so a witness takes its place.
//!
//! Limits. All other schedules have names: those of decisions at operations that wait or have alternatives; those where
//! loops wait; and those with a *non-SC* event, so that they may not be possible under SC: under C11 an access that is
//! not `SeqCst`, under TSO and PSO a store that goes through a buffer. Outside of `T` there may be such events: the
//! parent is an execution under SC, and so one under every model.

use crate::base::{BitSet, Id, LocId, ThreadId};
use crate::consistency::near_sc::{NOBODY, NearSc, Part};
use crate::consistency::{Instance, Move, Shape, Verifier};
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, Question, Revisit};
use crate::step::Run;
use crate::trace::{Action, Effect, Op, Source};

/// Not known yet. As the write in memory: one of the schedule, or the initial value.
const UNKNOWN: u32 = NOBODY - 1;

/// A schedule that a run could add: its events.
pub(super) struct Child<'a> {
    pub(super) run: &'a Run,
    pub(super) graph: &'a Graph,
    /// The events that stay as they are in the run.
    pub(super) unchanged: &'a BitSet,
    /// The event at the decision's place.
    pub(super) reader: usize,
    /// The write that it reads from in the schedule.
    pub(super) write: usize,
    /// Whether that write reads from the reader in the run.
    pub(super) is_reversed: bool,
}

/// Decides whether a run is the canonical parent of a schedule; keeps its memory from one question to the next.
#[derive(Debug, Default)]
pub(super) struct CanonicalParent {
    /// The events of the run that are not in the schedule and have not happened yet.
    rest: BitSet,
    /// By location: the write that is in memory.
    memory: Vec<u32>,
    /// By thread, as soon as it is needed: the index of its next event.
    next: Vec<u32>,
    /// The events of the schedule, by thread, and where those of each thread end.
    members: Vec<u32>,
    ends: Vec<u32>,
    reason: Reason,
    near_sc: NearSc,
    /// By event, and by location: its number in the question.
    numbers: Vec<u32>,
    locs: Vec<u32>,
    instance: Instance,
    verifier: Verifier,
    moves: Vec<Move>,
    witness: Vec<u32>,
}

/// The reason why a run is not the canonical parent of a schedule: all runs that have it are not.
#[derive(Debug, Default)]
struct Reason {
    /// Events that are as they are in the run.
    events: Vec<u32>,
    /// Whether there is more to it.
    is_open: bool,
}

impl Reason {
    fn clear(&mut self) {
        self.events.clear();
        self.is_open = false;
    }
}

/// Whether an operation never waits and has no alternatives. An operation that waits for it (a `park`) finds what it
/// waits for behind it, too.
fn is_plain(action: Action) -> bool {
    match action {
        Action::Load | Action::Rmw(_) | Action::AddUnless(_) | Action::Unpark => true,
        Action::Cas { weak, .. } => !weak,
        _ => false,
    }
}

/// Whether the schedules without a non-SC event have a canonical parent, at a decision at which this event stands.
/// `ahead` has the events before the decision, and perhaps that event.
pub(super) fn has_canonical_parents(run: &Run, graph: &Graph, ahead: &BitSet, question: Question, at: usize) -> bool {
    question == Question::Source
        && is_plain(run.trace.events[at].op.action)
        && !run.has_waits()
        && graph.is_sc_event(at)
        && graph.are_sc(ahead)
}

/// The write from which the schedule of a revisit reads, if it is not before the decision.
pub(super) fn new_write(ahead: &BitSet, revisit: &Revisit) -> Option<usize> {
    let write = revisit.source.and_then(OpRef::event);
    write.filter(|&write| !ahead.contains(write))
}

impl Child<'_> {
    /// Whether it has a canonical parent, at a decision some of whose schedules have one.
    pub(super) fn is_sc(&self) -> bool {
        self.graph.are_sc(self.unchanged) && self.graph.is_sc_event(self.write)
    }
}

impl CanonicalParent {
    /// Whether the run is the canonical parent of this schedule.
    pub(super) fn is_parent_of(&mut self, child: &Child<'_>) -> bool {
        self.find_rest(child);
        self.memory.clear();
        self.memory.resize(child.run.trace.locs.len(), UNKNOWN);
        if !self.goes_on(child) {
            return false;
        }
        self.reason.clear();
        self.list_members(child);
        if !self.find_witness(child) {
            return false;
        }
        self.find_rest(child);
        self.begins(child) && self.goes_on(child)
    }

    /// The events of the run that were the reason of the last answer, if it was no: every run in which they, and the
    /// schedule, are as they are in this one is not the canonical parent either. `None` if there is more to it.
    pub(super) fn reason(&self) -> Option<&[u32]> {
        (!self.reason.is_open).then_some(&self.reason.events)
    }

    /// Finds the events of the run that are not in the schedule.
    fn find_rest(&mut self, child: &Child<'_>) {
        self.rest.fill(child.run.trace.events.len());
        self.rest.subtract(child.unchanged);
        self.rest.remove(child.reader);
        self.rest.remove(child.write);
        self.next.clear();
        self.next.resize(child.run.trace.threads.len(), UNKNOWN);
    }

    /// Plays the schedule with the write behind the reader. Returns whether the reader reads as it does in the run.
    fn begins(&mut self, child: &Child<'_>) -> bool {
        let &Child { run, reader, write, .. } = child;
        self.memory.clear();
        self.memory.resize(run.trace.locs.len(), NOBODY);
        for place in 0..self.witness.len() {
            let at = self.witness[place] as usize;
            if at == reader {
                if !(self.happens(run, reader) && self.happens(run, write)) {
                    return false;
                }
            } else if at != write {
                let fits = self.happens(run, at);
                debug_assert!(fits, "all others read what they read");
            }
        }
        true
    }

    /// Lets an event happen, if it reads what is in memory.
    fn happens(&mut self, run: &Run, at: usize) -> bool {
        let event = &run.trace.events[at];
        let memory = &mut self.memory[event.op.loc.index()];
        let fits = match event.source {
            Source::None => true,
            Source::Init => *memory == NOBODY || *memory == UNKNOWN,
            Source::At(write) => *memory == write || *memory == UNKNOWN && !self.rest.contains(write as usize),
        };
        if fits && event.written.is_some() {
            *memory = at as u32;
        }
        fits
    }

    /// Lets the first thread that can go on do so, again and again. Returns whether the threads do what they did in the
    /// run; true where that is not known.
    fn goes_on(&mut self, child: &Child<'_>) -> bool {
        let (mut rest, mut thread, mut has_waited) = (self.rest.len(), 0, false);
        self.reason.clear();
        while rest > 0 && thread < self.next.len() {
            match self.go_on(child, ThreadId(thread as u32)) {
                Gone::Elsewhere => return false,
                Gone::Unknown => return true,
                Gone::Over => thread += 1,
                Gone::Waiting => (thread, has_waited) = (thread + 1, true),
                Gone::On => {
                    rest -= 1;
                    // The threads that waited come first again.
                    thread = if std::mem::take(&mut has_waited) { 0 } else { thread };
                }
            }
        }
        self.reason.is_open = true;
        rest == 0
    }

    /// Lets a thread go on by one event, if it can.
    fn go_on(&mut self, child: &Child<'_>, thread: ThreadId) -> Gone {
        let &Child { run, graph, .. } = child;
        let Some(at) = self.next_of(run, thread) else { return self.waits_at_end(run, graph, thread) };
        if !self.have_happened(graph.order.preds(at)) {
            return Gone::Waiting;
        }
        let op = &run.trace.events[at].op;
        self.reason.events.push(at as u32);
        if op.action.alternative() != 0 {
            return Gone::Elsewhere;
        }
        let waits = matches!(op.action, Action::Acquire | Action::Park);
        let effect = if waits { self.effect(run, op) } else { Some(Effect::Read) };
        match effect {
            None => Gone::Unknown,
            Some(Effect::Blocked) => Gone::Waiting,
            Some(_) if self.happens(run, at) => {
                self.rest.remove(at);
                self.next[thread.index()] += 1;
                Gone::On
            }
            Some(_) => Gone::Elsewhere,
        }
    }

    /// The next event of a thread that has not happened yet.
    fn next_of(&mut self, run: &Run, thread: ThreadId) -> Option<usize> {
        let (events, next) = (run.trace.of_thread(thread), &mut self.next[thread.index()]);
        if *next == UNKNOWN {
            let rest = &self.rest;
            *next = events.partition_point(|&at| !rest.contains(at as usize)) as u32;
        }
        events.get(*next as usize).map(|&at| at as usize)
    }

    /// The outcome for a thread that did nothing more in the run.
    fn waits_at_end(&self, run: &Run, graph: &Graph, thread: ThreadId) -> Gone {
        let pending = run.waiting.iter().find(|pending| pending.id.thread == thread);
        match pending.and_then(|pending| pending.op) {
            None => Gone::Over,
            Some(_) if !self.have_happened(graph.next_preds(thread)) => Gone::Waiting,
            Some(op) => match self.effect(run, &op) {
                None => Gone::Unknown,
                Some(Effect::Blocked) => Gone::Waiting,
                Some(_) => Gone::Elsewhere,
            },
        }
    }

    fn have_happened(&self, events: &[u32]) -> bool {
        events.iter().all(|&at| !self.rest.contains(at as usize))
    }

    /// The effect that an operation would have now, if that is known.
    fn effect(&self, run: &Run, op: &Op) -> Option<Effect> {
        let value = match self.memory[op.loc.index()] {
            UNKNOWN => return None,
            NOBODY => run.trace.locs[op.loc].init,
            write => run.trace.events[write as usize].written.expect("it wrote"),
        };
        Some(op.action.effect(value))
    }

    /// Lists the events of the schedule, thread by thread.
    fn list_members(&mut self, child: &Child<'_>) {
        let trace = &child.run.trace;
        self.members.clear();
        self.ends.clear();
        let is_member = |at: &u32| {
            let at = *at as usize;
            child.unchanged.contains(at) || at == child.reader || at == child.write
        };
        for thread in trace.threads.ids() {
            self.members.extend(trace.of_thread(thread).iter().take_while(|at| is_member(at)));
            self.ends.push(self.members.len() as u32);
        }
    }

    /// Finds a witness of the schedule, if there is one, that depends on the schedule alone.
    fn find_witness(&mut self, child: &Child<'_>) -> bool {
        let &Child { run, graph, .. } = child;
        let events = &run.trace.events;
        self.near_sc.clear(events.len(), 0, run.trace.locs.len());
        for &at in &self.members {
            let part = Part::of(at as usize, &events[at as usize]);
            self.near_sc.push(part.taking(child.source(at), child.writes(at)));
        }
        if self.near_sc.follows_in_turn(&self.ends, |who| graph.order.preds(who as usize)) {
            self.witness.clear();
            self.witness.extend_from_slice(self.near_sc.order());
            return true;
        }
        self.number(child);
        self.ask(child)
    }

    /// Numbers the events of the schedule, and their locations, in the order of the threads.
    fn number(&mut self, Child { run, .. }: &Child<'_>) {
        self.numbers.clear();
        self.numbers.resize(run.trace.events.len(), NOBODY);
        self.locs.clear();
        self.locs.resize(run.trace.locs.len(), NOBODY);
        let mut locs = 0;
        for (number, &at) in self.members.iter().enumerate() {
            self.numbers[at as usize] = number as u32;
            let loc = &mut self.locs[run.trace.events[at as usize].op.loc.index()];
            if *loc == NOBODY {
                *loc = locs;
                locs += 1;
            }
        }
    }

    /// Asks the verifier for a witness.
    fn ask(&mut self, child: &Child<'_>) -> bool {
        let &Child { run, graph, .. } = child;
        let number = |at: u32| self.numbers[at as usize] as usize;
        self.instance.clear();
        for &at in &self.members {
            let event = &run.trace.events[at as usize];
            let loc = LocId(self.locs[event.op.loc.index()]);
            let writes = child.writes(at);
            self.instance.push(Shape::direct(loc, event.source != Source::None, writes));
        }
        for &at in &self.members {
            graph.order.preds(at as usize).iter().for_each(|&pred| self.instance.edge(number(pred), number(at)));
            if run.trace.events[at as usize].source != Source::None {
                let source = child.source(at);
                self.instance.good(number(at), (source != NOBODY).then(|| number(source)));
            }
        }
        self.moves.clear();
        let possible = self.verifier.verify(&self.instance, |event| event as u32, &mut self.moves);
        self.witness.clear();
        self.witness.extend(self.moves.iter().map(|step| match *step {
            Move::Perform(number) => self.members[number],
            Move::Flush(_) => unreachable!("no store waits under SC"),
        }));
        possible
    }
}

impl Child<'_> {
    /// The write that an event of the schedule reads from, if it reads.
    fn source(&self, at: u32) -> u32 {
        let at = at as usize;
        if at == self.reader {
            return self.write as u32;
        }
        let reversed = self.is_reversed && at == self.write;
        match self.run.trace.events[if reversed { self.reader } else { at }].source {
            Source::At(write) => write,
            Source::Init | Source::None => NOBODY,
        }
    }

    /// Whether an event of the schedule writes. No event of the schedule reads from the reader.
    fn writes(&self, at: u32) -> bool {
        at as usize == self.write || at as usize != self.reader && self.run.trace.events[at as usize].written.is_some()
    }
}

/// The outcome of letting a thread go on.
enum Gone {
    /// It did an event of the run.
    On,
    /// It cannot go on now.
    Waiting,
    /// It has nothing more to do.
    Over,
    /// It does something that the run does not have.
    Elsewhere,
    Unknown,
}
