//! Following the run: the quick answer to most questions.
//!
//! Problem. Find an execution of a new sequence, or say nothing.
//!
//! Method. Take its events in the order of the run, each as soon as it can happen: what is before it in program order
//! has happened, memory holds what it reads, and nobody still has to read what it overwrites. What cannot is looked at
//! again in the next pass. A mutation changes little, so this mostly gets to the end.
//!
//! Cost. Events times passes; a pass that takes nothing ends it. The verifier of the memory model is asked then.
//!
//! An answer is an execution under SC, which is one under every model: every store leaves its buffer at once, and under
//! C11 the modification order is the order in which writes happen.

use crate::explore::rf_smc::mutate::Actor;

/// Who reads nothing, or what the initial value is written by.
const NOBODY: u32 = u32::MAX;

/// An event of the new sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) who: Actor,
    /// Whose write it reads, if it reads; `Some(None)` is the initial value.
    pub(super) source: Option<Option<Actor>>,
    pub(super) loc: u32,
    pub(super) writes: bool,
}

/// Follows runs; keeps its memory from one question to the next.
#[derive(Debug, Default)]
pub(super) struct Follower {
    items: Vec<Item>,
    /// The items that did not happen yet.
    left: Vec<u32>,
    /// By actor: whether it happened, and how many still have to read what it writes.
    actors: Vec<State>,
    /// By location: who wrote what memory holds, and how many still have to read the initial value.
    locs: Vec<(u32, u32)>,
    /// The numbers of the items, in the order in which they happen.
    order: Vec<u32>,
    events: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    done: bool,
    wanted: u32,
}

impl Follower {
    /// Begins a question about a run with so many events, waiting threads, and locations.
    pub(super) fn clear(&mut self, events: usize, waiting: usize, locs: usize) {
        self.items.clear();
        self.actors.clear();
        self.actors.resize(events + waiting, State::default());
        self.locs.clear();
        self.locs.resize(locs, (NOBODY, 0));
        self.events = events;
    }

    /// Adds an event; they come in the order of the run, and those that did not happen in it last.
    pub(super) fn push(&mut self, item: Item) {
        match item.source {
            Some(Some(write)) => {
                let write = self.number(write);
                self.actors[write].wanted += 1;
            }
            Some(None) => self.locs[item.loc as usize].1 += 1,
            None => {}
        }
        self.items.push(item);
    }

    fn number(&self, who: Actor) -> usize {
        match who {
            Actor::Event(at) => at,
            Actor::Waiting(i) => self.events + i,
        }
    }

    /// An execution of all items, if it is found; `preds` says what is before one in program order.
    pub(super) fn follow<'a>(&mut self, preds: impl Fn(Actor) -> &'a [u32]) -> Option<impl Iterator<Item = &Item>> {
        self.order.clear();
        self.left.clear();
        self.left.extend(0..self.items.len() as u32);
        let mut left = std::mem::take(&mut self.left);
        let mut before = usize::MAX;
        while !left.is_empty() && left.len() < before {
            before = left.len();
            left.retain(|&number| !self.take(number, &preds));
        }
        let found = left.is_empty();
        self.left = left;
        found.then(|| self.order.iter().map(|&number| &self.items[number as usize]))
    }

    /// Lets an item happen if it can.
    fn take<'a>(&mut self, number: u32, preds: impl Fn(Actor) -> &'a [u32]) -> bool {
        let item = self.items[number as usize];
        let loc = item.loc as usize;
        let (writer, wanted_init) = self.locs[loc];
        let wanted = if writer == NOBODY { wanted_init } else { self.actors[writer as usize].wanted };
        if let Some(source) = item.source
            && source.map_or(NOBODY, |source| self.number(source) as u32) != writer
        {
            return false;
        }
        let own = u32::from(item.source.is_some());
        if (item.writes && wanted != own) || preds(item.who).iter().any(|&pred| !self.actors[pred as usize].done) {
            return false;
        }
        match writer {
            NOBODY => self.locs[loc].1 -= own,
            writer => self.actors[writer as usize].wanted -= own,
        }
        let who = self.number(item.who);
        self.actors[who].done = true;
        if item.writes {
            self.locs[loc].0 = who as u32;
        }
        self.order.push(number);
        true
    }
}
