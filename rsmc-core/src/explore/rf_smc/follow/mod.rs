//! Following the run: the quick answer to most questions.
//!
//! Problem. Find an execution of a new sequence, or a reason why there is none, or say nothing.
//!
//! Method. Take its events in the order of the run, each as soon as it can happen: what is before it in program order
//! has happened, memory holds what it reads, and nobody still has to read what it overwrites. What cannot is looked at
//! again in the next pass. A mutation changes little, so this mostly gets to the end. Where two updates read from the same
//! write there is no execution under any model. Where it gets stuck, and under SC, what is left may show that there is none
//! (`refute`).
//!
//! Cost. Events times passes; a pass that takes nothing ends it. The verifier of the memory model is asked where nothing is
//! shown.
//!
//! What is found is an execution under SC, which is one under every model: every store leaves its buffer at once, and under
//! C11 the modification order is the order in which writes happen.

mod refute;

use crate::base::LocId;
use crate::explore::rf_smc::follow::refute::{Known, is_refuted};
use crate::explore::rf_smc::mutate::Actor;
use crate::trace::{Event, Source};

/// Who wrote the initial values.
const NOBODY: u32 = u32::MAX;

/// An event of the new sequence. Actors have numbers: the events of the run come first, then who waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    who: u32,
    /// Whose write it reads, if it `reads`.
    source: u32,
    loc: u32,
    reads: bool,
    writes: bool,
}

impl Part {
    /// An event that is as it was in the run.
    pub(super) fn of(at: usize, event: &Event) -> Self {
        let source = if let Source::At(write) = event.source { write } else { NOBODY };
        let (reads, writes) = (event.source != Source::None, event.written.is_some());
        Self { who: at as u32, source, loc: event.op.loc.0, reads, writes }
    }
}

/// What follows from following.
#[derive(Debug)]
pub(super) enum Answer {
    /// [`Follower::order`] is an execution.
    Possible,
    Impossible,
    Unknown,
}

/// Follows runs; keeps its memory from one question to the next.
#[derive(Debug, Default)]
pub(super) struct Follower {
    parts: Vec<Part>,
    /// The parts that did not happen yet.
    left: Vec<u32>,
    /// By actor.
    actors: Vec<State>,
    locs: Vec<Loc>,
    order: Vec<u32>,
    /// By actor, whether it is among those that are left.
    waits: Vec<bool>,
    events: usize,
    contradiction: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    done: bool,
    /// How many still have to read what it writes.
    wanted: u32,
    /// An update reads from it.
    updated: bool,
}

#[derive(Clone, Copy, Debug)]
struct Loc {
    /// Who wrote what memory holds.
    writer: u32,
    /// How many still have to read the initial value.
    wanted: u32,
    /// An update reads the initial value.
    updated: bool,
}

impl Follower {
    /// Begins a question about a run with so many events, waiting threads, and locations.
    pub(super) fn clear(&mut self, events: usize, waiting: usize, locs: usize) {
        self.parts.clear();
        self.actors.clear();
        self.actors.resize(events + waiting, State::default());
        self.locs.clear();
        self.locs.resize(locs, Loc { writer: NOBODY, wanted: 0, updated: false });
        self.events = events;
        self.contradiction = false;
    }

    /// Adds an event; they come in the order of the run, and those that did not happen in it last.
    pub(super) fn push(&mut self, part: Part) {
        if part.reads {
            let (wanted, updated) = match part.source {
                NOBODY => {
                    let state = &mut self.locs[part.loc as usize];
                    (&mut state.wanted, &mut state.updated)
                }
                write => {
                    let state = &mut self.actors[write as usize];
                    (&mut state.wanted, &mut state.updated)
                }
            };
            *wanted += 1;
            self.contradiction |= part.writes && *updated;
            *updated |= part.writes;
        }
        self.parts.push(part);
    }

    /// Adds an event that is not as it was in the run; `source` is whose write it reads, if it reads.
    pub(super) fn push_changed(&mut self, who: Actor, source: Option<Option<Actor>>, loc: LocId, writes: bool) {
        let reads = source.is_some();
        let number = |who: Actor| who.number(self.events) as u32;
        self.push(Part {
            who: number(who),
            source: source.flatten().map_or(NOBODY, number),
            loc: loc.0,
            reads,
            writes,
        });
    }

    /// Whether all that was added can happen; `preds` says what is before an actor in program order.
    pub(super) fn follow<'a>(&mut self, preds: impl Fn(u32) -> &'a [u32]) -> Answer {
        if self.contradiction {
            return Answer::Impossible;
        }
        self.order.clear();
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        left.extend((0..self.parts.len() as u32).filter(|&part| !self.take(part, &preds)));
        let mut before = usize::MAX;
        while !left.is_empty() && left.len() < before {
            before = left.len();
            left.retain(|&part| !self.take(part, &preds));
        }
        let found = left.is_empty();
        self.left = left;
        if found { Answer::Possible } else { Answer::Unknown }
    }

    /// Where following got stuck: whether what is left shows that it cannot happen under SC. `precedes` says whether a write
    /// certainly happens before an actor.
    pub(super) fn is_refuted<'a>(
        &mut self,
        preds: impl Fn(u32) -> &'a [u32],
        precedes: impl Fn(u32, u32) -> bool,
    ) -> bool {
        self.waits.clear();
        self.waits.resize(self.actors.len(), false);
        for &part in &self.left {
            self.waits[self.parts[part as usize].who as usize] = true;
        }
        is_refuted(&self.parts, &mut self.left, &mut self.waits, &Known { preds, precedes })
    }

    /// The actors in an order in which they can happen.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Lets a part happen if it can.
    fn take<'a>(&mut self, part: u32, preds: impl Fn(u32) -> &'a [u32]) -> bool {
        let Part { who, source, loc, reads, writes } = self.parts[part as usize];
        let loc = &mut self.locs[loc as usize];
        if reads && source != loc.writer {
            return false;
        }
        let is_done = |&pred: &u32| self.actors[pred as usize].done;
        if !preds(who).iter().all(is_done) {
            return false;
        }
        let wanted = match loc.writer {
            NOBODY => &mut loc.wanted,
            writer => &mut self.actors[writer as usize].wanted,
        };
        if writes && *wanted != u32::from(reads) {
            return false;
        }
        *wanted -= u32::from(reads);
        if writes {
            loc.writer = who;
        }
        self.actors[who as usize].done = true;
        self.order.push(who);
        true
    }
}
