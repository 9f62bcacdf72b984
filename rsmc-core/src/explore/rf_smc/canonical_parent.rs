//! Who proposes a schedule, where there is no set of what was seen.
//!
//! Problem. The set of a decision has a name for every past of every later write: as many as a part of the tree has runs. Say,
//! of a run alone, whether it is the one that proposes a schedule, so that nothing has to be remembered.
//!
//! Method. Let `p` be the events before the decision, `r` the read that stands there, `w` a write that is not in `p`, and `N`
//! its causal past behind `p`: the schedule is `T` = (`p`, `N`, `w`, `r` reads from `w`). Take a witness of `T` that is found
//! from the events of `T` alone, in an order that no run has a say in. Let `w` come right after `r` in it, instead of before:
//! nobody else reads from `w`, and nobody writes its location between the two, so all others of `T` still read what they
//! read; `r` reads from the write before `w`; and if both are updates, `w` now reads from `r`. Then let every thread go on as
//! far as it can, the one with the smallest number first. The class of that execution proposes `T`, and no other does. A run
//! is of that class if what it did is what happens there, which is seen from its events: nothing is run for it.
//!
//! Why `T` is proposed. The class is run, by induction on the size of `N`: in it `r` reads from a write of `p`, for which the
//! decision is asked once, when it is made, or from one of `N`, whose own past is smaller; and `p` and that past are part of
//! it. Why once: the class is run once. So schedules of a decision that have a name, and others that have a canonical parent, do not
//! get in each other's way, if the events of a schedule say which of the two it is. And a set may stop to take names at any
//! time: what had no name by then, though its canonical parent was run, does not exist.
//!
//! Cost. For every decision and every later write of its location a look at the events that are not in `T`, which mostly ends
//! at the first of them that reads something else; then a witness. Memory: none that stays.
//!
//! Source. The idea, that of many executions one is told apart since all that is not in `T` is as it is by default, is that of
//! Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly stateless, optimal dynamic partial order reduction", POPL 2022,
//! for execution graphs with coherence. Here there is no coherence order, so a witness takes its place.
//!
//! Limits. All other schedules have names: those of decisions at operations that wait or have alternatives; those where loops
//! wait; and those with a *non-SC* event, so that they may not be possible under SC: under C11 an
//! access that is not `SeqCst`, under TSO and PSO a store that goes through a buffer. Outside of `T` there may be such events:
//! the execution that proposes it is one under SC, and so one under every model.

use crate::base::{BitSet, Id, LocId, ThreadId};
use crate::consistency::near_sc::{NOBODY, NearSc, Part};
use crate::consistency::{Instance, Move, Shape, Verifier};
use crate::explore::rf_smc::graph::Graph;
use crate::explore::rf_smc::revisit::{OpRef, Question, Revisit};
use crate::step::Run;
use crate::trace::{Action, Effect, Op, Source};

/// What is not known yet; as a writer, somebody of the schedule, or nobody.
const UNKNOWN: u32 = NOBODY - 1;

/// A schedule of a run: its events.
pub(super) struct Proposed<'a> {
    pub(super) run: &'a Run,
    pub(super) graph: &'a Graph,
    /// The events that stay as they are in the run.
    pub(super) unchanged: &'a BitSet,
    /// What stands at the decision's place.
    pub(super) reader: usize,
    /// What it reads from instead.
    pub(super) write: usize,
    /// Whether that reads from it in the run.
    pub(super) is_reversed: bool,
}

/// Tells whether a run is the one that proposes a schedule; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(super) struct CanonicalParent {
    /// The events of the run that are not in the schedule and did not happen yet.
    rest: BitSet,
    /// By location: who wrote what is in memory.
    memory: Vec<u32>,
    /// By thread, as soon as it is needed: the index of its next event.
    next: Vec<u32>,
    /// The events of the schedule, by thread.
    members: Vec<u32>,
    near_sc: NearSc,
    /// By event, and by location: its number in the question.
    numbers: Vec<u32>,
    locs: Vec<u32>,
    instance: Instance,
    verifier: Verifier,
    moves: Vec<Move>,
    witness: Vec<u32>,
}

/// Whether what is done at an event never waits and is done in one way only. What waits for it (a `park`) finds what it
/// waits for behind it, too.
fn is_plain(action: Action) -> bool {
    match action {
        Action::Load | Action::Rmw(_) | Action::AddUnless(_) | Action::Unpark => true,
        Action::Cas { weak, .. } => !weak,
        _ => false,
    }
}

/// Whether schedules of a decision have one canonical parent each, if this event stands there: those without a non-SC event. The
/// events before the decision are ahead, and perhaps that event.
pub(super) fn has_canonical_parents(run: &Run, graph: &Graph, ahead: &BitSet, question: Question, at: usize) -> bool {
    question == Question::Source
        && is_plain(run.trace.events[at].op.action)
        && !run.has_waits
        && graph.is_sc_event(at)
        && graph.are_sc(ahead)
}

/// The write from which the schedule of a revisit reads, if it is not before the decision.
pub(super) fn new_write(ahead: &BitSet, revisit: &Revisit) -> Option<usize> {
    let write = revisit.source.and_then(OpRef::event);
    write.filter(|&write| !ahead.contains(write))
}

impl Proposed<'_> {
    /// Whether it has a canonical parent, at a decision that has some.
    pub(super) fn is_sc_event(&self) -> bool {
        self.graph.are_sc(self.unchanged) && self.graph.is_sc_event(self.write)
    }
}

impl CanonicalParent {
    /// Whether the run proposes this schedule.
    pub(super) fn is_parent_of(&mut self, proposed: &Proposed<'_>) -> bool {
        self.find_rest(proposed);
        self.memory.clear();
        self.memory.resize(proposed.run.trace.locs.len(), UNKNOWN);
        if !self.goes_on(proposed) {
            return false;
        }
        self.list_members(proposed);
        if !self.find_witness(proposed) {
            return false;
        }
        self.find_rest(proposed);
        self.begins(proposed) && self.goes_on(proposed)
    }

    /// Finds what is not in the schedule.
    fn find_rest(&mut self, proposed: &Proposed<'_>) {
        self.rest.fill(proposed.run.trace.events.len());
        self.rest.subtract(proposed.unchanged);
        self.rest.remove(proposed.reader);
        self.rest.remove(proposed.write);
        self.next.clear();
        self.next.resize(proposed.run.trace.threads.len(), UNKNOWN);
    }

    /// Plays the schedule with the write behind the reader; whether the reader reads as it does in the run.
    fn begins(&mut self, proposed: &Proposed<'_>) -> bool {
        let &Proposed { run, reader, write, .. } = proposed;
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

    /// Lets all threads go on, the first that can; whether what they do is what they did in the run. Where that is not
    /// known, it may be.
    fn goes_on(&mut self, proposed: &Proposed<'_>) -> bool {
        let (mut rest, mut thread, mut has_waited) = (self.rest.len(), 0, false);
        while rest > 0 && thread < self.next.len() {
            match self.go_on(proposed, ThreadId(thread as u32)) {
                Gone::Elsewhere => return false,
                Gone::Unknown => return true,
                Gone::Over => thread += 1,
                Gone::Waiting => (thread, has_waited) = (thread + 1, true),
                Gone::On => {
                    rest -= 1;
                    // Whoever waited comes first again.
                    thread = if std::mem::take(&mut has_waited) { 0 } else { thread };
                }
            }
        }
        rest == 0
    }

    /// Lets a thread go on by one event, if it can.
    fn go_on(&mut self, proposed: &Proposed<'_>, thread: ThreadId) -> Gone {
        let &Proposed { run, graph, .. } = proposed;
        let Some(at) = self.next_of(run, thread) else { return self.waits_at_end(run, graph, thread) };
        if !self.have_happened(graph.order.preds(at)) {
            return Gone::Waiting;
        }
        let op = &run.trace.events[at].op;
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

    /// The next event of a thread that did not happen yet.
    fn next_of(&mut self, run: &Run, thread: ThreadId) -> Option<usize> {
        let (events, next) = (run.trace.of_thread(thread), &mut self.next[thread.index()]);
        if *next == UNKNOWN {
            let rest = &self.rest;
            *next = events.partition_point(|&at| !rest.contains(at as usize)) as u32;
        }
        events.get(*next as usize).map(|&at| at as usize)
    }

    /// What a thread does now that did nothing more in the run.
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

    /// What an operation would do now, if that is known.
    fn effect(&self, run: &Run, op: &Op) -> Option<Effect> {
        let value = match self.memory[op.loc.index()] {
            UNKNOWN => return None,
            NOBODY => run.trace.locs[op.loc].init,
            write => run.trace.events[write as usize].written.expect("it wrote"),
        };
        Some(op.action.effect(value))
    }

    /// Lists the events of the schedule, thread by thread.
    fn list_members(&mut self, proposed: &Proposed<'_>) {
        let trace = &proposed.run.trace;
        self.members.clear();
        let is_member = |at: &u32| {
            let at = *at as usize;
            proposed.unchanged.contains(at) || at == proposed.reader || at == proposed.write
        };
        for thread in trace.threads.ids() {
            self.members.extend(trace.of_thread(thread).iter().take_while(|at| is_member(at)));
        }
    }

    /// Finds a witness of the schedule, if there is one, that depends on nothing else.
    fn find_witness(&mut self, proposed: &Proposed<'_>) -> bool {
        let &Proposed { run, graph, .. } = proposed;
        let events = &run.trace.events;
        self.near_sc.clear(events.len(), 0, run.trace.locs.len());
        for &at in &self.members {
            let part = Part::of(at as usize, &events[at as usize]);
            self.near_sc.push(part.taking(proposed.source(at), proposed.writes(at)));
        }
        if self.near_sc.follows(|who| graph.order.preds(who as usize)) {
            self.witness.clear();
            self.witness.extend_from_slice(self.near_sc.order());
            return true;
        }
        self.number(proposed);
        self.ask(proposed)
    }

    /// Numbers the events of the schedule, and their locations, in the order of the threads.
    fn number(&mut self, Proposed { run, .. }: &Proposed<'_>) {
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
    fn ask(&mut self, proposed: &Proposed<'_>) -> bool {
        let &Proposed { run, graph, .. } = proposed;
        let number = |at: u32| self.numbers[at as usize] as usize;
        self.instance.clear();
        for &at in &self.members {
            let event = &run.trace.events[at as usize];
            let loc = LocId(self.locs[event.op.loc.index()]);
            let writes = proposed.writes(at);
            self.instance.push(Shape::direct(loc, event.source != Source::None, writes));
        }
        for &at in &self.members {
            graph.order.preds(at as usize).iter().for_each(|&pred| self.instance.edge(number(pred), number(at)));
            if run.trace.events[at as usize].source != Source::None {
                let source = proposed.source(at);
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

impl Proposed<'_> {
    /// Whose write an event of the schedule reads, if it reads.
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

    /// Whether an event of the schedule writes. Nobody of it reads from the reader.
    fn writes(&self, at: u32) -> bool {
        at as usize == self.write || at as usize != self.reader && self.run.trace.events[at as usize].written.is_some()
    }
}

/// How a thread has gone on.
enum Gone {
    /// By an event of the run.
    On,
    /// It cannot now.
    Waiting,
    /// It has nothing more to do.
    Over,
    /// By something that the run does not have.
    Elsewhere,
    Unknown,
}
