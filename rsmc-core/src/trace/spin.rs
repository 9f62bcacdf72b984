//! Loops whose state never repeats: when such a loop is taken as one that waits.
//!
//! Problem. A loop that counts is never twice in one state, so that no iteration of it can be left out. If it waits for
//! another thread, and its bound is far away or there is none, it has as many executions as it may have iterations.
//!
//! Method. An iteration ends at a hint (`spin_loop`, `yield_now`); where there is none, it is a period of the thread's
//! history: the same operations at the same places with the same values, and no change of a value by the thread itself.
//! One that ends at a hint does not count if it takes a lock or replaces a value that it read: its thread would wait
//! for itself. When an iteration has repeated as often in a row as the bound says, the thread chooses whether it waits,
//! until a location that the iteration read holds another value, or gives up (the machine's `patience`).

use crate::base::{Digest, EventId, LocId, ThreadId};
use crate::trace::{Action, Event, Known, Op, Site, Source, Trace};

/// The longest iteration without a hint that is recognised, in operations.
const LONGEST: usize = 64;

/// A location that a thread watches in a waiting loop: the thread waits until this changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The location.
    pub loc: LocId,
    /// The value that was read.
    pub value: u64,
    /// The writes of that value that are no change.
    pub writer: Writer,
}

/// The writes of the value of a watched location that are no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// All of them.
    Any,
    /// For a lock, which always holds the same where it is free: the event that released it (`None`: no thread has had
    /// it).
    One(Option<EventId>),
    /// Those from which this thread learns nothing ([`Known::learns`]).
    Known(ThreadId),
}

impl Writer {
    /// Whether a write of the value is no change in an execution.
    pub fn is(self, trace: &Trace, source: Source) -> bool {
        match self {
            Writer::Any => true,
            Writer::One(writer) => match source {
                Source::At(at) => writer == Some(trace.events[at as usize].id),
                Source::Init | Source::None => writer.is_none(),
            },
            Writer::Known(thread) => {
                let own = trace.of_thread(thread);
                // What it has read it knows. That is asked before each step while it waits, and clocks are dear.
                let is_known = own.iter().any(|&at| trace.events[at as usize].source == source);
                is_known || !Known::of(trace).learns(thread, source, own.len() as u32)
            }
        }
    }

    /// The event that released a lock.
    pub fn event(self) -> Option<EventId> {
        if let Writer::One(writer) = self { writer } else { None }
    }
}

impl Watched {
    /// A name for it within one execution.
    pub fn name(&self) -> Digest {
        let number = |id: EventId| (u64::from(id.thread.0) << 32) + u64::from(id.index) + 1;
        let writer = match self.writer {
            Writer::Any => 0,
            Writer::One(writer) => writer.map_or(0, number),
            Writer::Known(thread) => u64::MAX - u64::from(thread.0),
        };
        Digest::of(&[u64::from(self.loc.0), self.value, writer])
    }
}

/// One operation of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The location.
    pub loc: LocId,
    /// The value before the operation.
    pub value: u64,
    /// Its place in the user's source.
    pub site: Site,
    /// Its action.
    action: Action,
    /// Whether it took a lock, or replaced what it read by another value.
    replaces: bool,
}

impl Seen {
    fn of(event: &Event) -> Self {
        let Op { loc, site, action, .. } = event.op;
        Self { loc, value: event.read, site, action, replaces: action.reads() && event.changes() }
    }
}

/// A complete iteration that the thread has just finished.
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    /// The number of times in a row that the iteration has repeated.
    pub repeats: u32,
    /// Whether a hint ended it.
    pub hinted: bool,
    /// The hint, or the first operation.
    pub site: Site,
}

/// The latest operations of a thread.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    current: Vec<Seen>,
    previous: Vec<Seen>,
    hinted_repeats: u32,
    history: Vec<Seen>,
    period: usize,
    matched: usize,
}

impl Recent {
    /// Forgets everything: a new execution starts.
    pub fn clear(&mut self) {
        self.current.clear();
        self.previous.clear();
        self.hinted_repeats = 0;
        self.forget_history();
    }

    fn forget_history(&mut self) {
        self.history.clear();
        self.period = 0;
        self.matched = 0;
    }

    /// Adds an event of the thread. Returns the iteration if the event completes a repeated one without a hint.
    pub fn event(&mut self, event: &Event) -> Option<Iteration> {
        let seen = Seen::of(event);
        self.current.push(seen);
        if event.changes() {
            self.forget_history();
            return None;
        }
        let distance = self.history.iter().rev().take(LONGEST).position(|&old| old == seen).map_or(0, |i| i + 1);
        self.history.push(seen);
        if distance == 0 || distance != self.period {
            (self.period, self.matched) = (distance, usize::from(distance > 0));
        } else {
            self.matched += 1;
        }
        let complete = self.period > 0 && self.matched.is_multiple_of(self.period);
        complete.then(|| Iteration {
            repeats: (self.matched / self.period) as u32,
            hinted: false,
            site: self.last_period()[0].site,
        })
    }

    /// Adds a hint; `None` if nothing was read since the last one.
    pub fn hint(&mut self, site: Site) -> Option<Iteration> {
        self.forget_history();
        if self.current.is_empty() {
            return None;
        }
        if self.current.iter().any(|seen| seen.replaces) {
            self.previous.clear();
            self.current.clear();
            self.hinted_repeats = 0;
            return None;
        }
        if self.current == self.previous {
            self.hinted_repeats += 1;
        } else {
            self.hinted_repeats = 0;
        }
        std::mem::swap(&mut self.current, &mut self.previous);
        self.current.clear();
        Some(Iteration { repeats: self.hinted_repeats, hinted: true, site })
    }

    fn last_period(&self) -> &[Seen] {
        &self.history[self.history.len() - self.period..]
    }

    /// The number of operations of the iteration just finished.
    pub fn length(&self, iteration: &Iteration) -> usize {
        if iteration.hinted { self.previous.len() } else { self.period }
    }

    /// The locations that the iteration just finished read: the thread may go on when one of them holds another value.
    pub fn watched(&self, iteration: &Iteration) -> Vec<Watched> {
        let seen = if iteration.hinted { &self.previous[..] } else { self.last_period() };
        let mut watched: Vec<Watched> = Vec::new();
        for &Seen { loc, value, .. } in seen.iter().filter(|seen| seen.action.reads()) {
            let one = Watched { loc, value, writer: Writer::Any };
            if !watched.contains(&one) {
                watched.push(one);
            }
        }
        watched
    }
}
