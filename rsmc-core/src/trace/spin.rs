//! Spin loops: which loops only wait, and when such a loop may go on.
//!
//! Problem. A loop that waits for another thread has infinitely many executions, all alike. Nothing is lost if an
//! iteration in which every read returns what it returned in the iteration before is not explored.
//!
//! Method. An iteration ends at a hint (`spin_loop`, `yield_now`); where there is none, it is a period of the
//! thread's history: the same operations at the same places with the same values, and no change of a value by the
//! thread itself. An iteration that repeats [`PATIENCE`] times in a row *only waits*; the machine remembers it by its
//! source lines and the values that it read, and the exploration starts again with that knowledge. (By its lines
//! alone, a loop that is left and entered again would seem to wait, with the value that let it go.) From then on the
//! thread is not scheduled after a hint (or after `spin_bound` repeats without a hint) until a location that the
//! iteration read holds another value.
//!
//! Limits. An iteration that takes a lock is never one of a waiting loop: a lock is free whenever it is taken, so its
//! value says nothing about what it guards. Polling under a lock therefore ends at the limit of steps. Code that
//! waits at one line for different values of one location may be taken as waiting where the value is the one that it
//! waits for now, if it found that value there twice in a row. A loop is not taken as waiting before it has repeated
//! itself `PATIENCE` times, so that a bounded retry loop of up to that many iterations is ordinary code and its
//! giving up is explored. Where nothing else can run, a waiting thread is let go again (the machine's `settle`), so
//! that a longer bounded loop still leaves.

use crate::base::{EventId, LocId, mix};
use crate::trace::{Event, NoteKind, Op, Row, Site, Source, Trace};

/// How often in a row an iteration must repeat before its loop counts as one that only waits.
pub const PATIENCE: u32 = 32;

/// The longest iteration without a hint that is recognised, in operations.
const LONGEST: usize = 64;

/// One operation of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The location.
    pub loc: LocId,
    /// The value before the operation.
    pub value: u64,
    /// Where it stands.
    pub site: Site,
    /// Whether it reads; only what is read can be waited for.
    reads: bool,
    /// Whether it took a lock.
    locks: bool,
}

impl Seen {
    fn of(event: &Event) -> Self {
        let reads = event.op.action.reads();
        Self { loc: event.op.loc, value: event.read, site: event.op.site, reads, locks: event.locked() }
    }

    /// A name that is the same in every run. Addresses differ from run to run, so all are alike.
    fn key(&self) -> u64 {
        let value = if (1 << 32..1 << 48).contains(&self.value) { 1 << 32 } else { self.value };
        mix(site_key(self.site), value)
    }
}

/// A complete iteration that the thread has just finished.
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    /// Name of the loop.
    pub key: u64,
    /// How often in a row the iteration has repeated.
    pub repeats: u32,
    /// Whether a hint ended it.
    pub hinted: bool,
    /// The hint, or the first operation.
    pub site: Site,
}

/// What a thread has done lately.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    current: Vec<Seen>,
    previous: Vec<Seen>,
    hinted_repeats: u32,
    last_hint: Option<u64>,
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
        self.last_hint = None;
        self.forget_history();
    }

    fn forget_history(&mut self) {
        self.history.clear();
        self.period = 0;
        self.matched = 0;
    }

    /// Takes in an event of the thread; says so if it completes a repeated iteration without a hint.
    pub fn event(&mut self, event: &Event) -> Option<Iteration> {
        let seen = Seen::of(event);
        self.current.push(seen);
        let changes = event.written.is_some_and(|written| !event.op.action.reads() || written != event.read);
        if changes {
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
        complete.then(|| {
            let iteration = self.last_period();
            Iteration {
                key: iteration.iter().fold(0, |sum: u64, seen| sum.wrapping_add(seen.key())),
                repeats: (self.matched / self.period) as u32,
                hinted: false,
                site: iteration[0].site,
            }
        })
    }

    /// Takes in a hint; `None` if nothing was read since the last one.
    pub fn hint(&mut self, site: Site) -> Option<Iteration> {
        self.forget_history();
        if self.current.is_empty() {
            return None;
        }
        if self.current.iter().any(|seen| seen.locks) {
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
        let read = self.previous.iter().fold(0, |sum: u64, seen| sum.wrapping_add(seen.key()));
        let key = mix(mix(1, site_key(site)), read);
        self.last_hint = Some(key);
        Some(Iteration { key, repeats: self.hinted_repeats, hinted: true, site })
    }

    /// The loop of which everything since the last hint repeats a whole iteration, if it does.
    pub fn repeated_since_hint(&self) -> Option<u64> {
        let repeated = !self.current.is_empty() && self.current == self.previous;
        self.last_hint.filter(|_| repeated)
    }

    fn last_period(&self) -> &[Seen] {
        &self.history[self.history.len() - self.period..]
    }

    /// What the iteration just finished read: the thread may go on when one of these locations holds another value.
    pub fn watched(&self, iteration: &Iteration) -> Vec<(LocId, u64)> {
        let seen = if iteration.hinted { &self.previous[..] } else { self.last_period() };
        let mut watched: Vec<(LocId, u64)> = Vec::new();
        for seen in seen.iter().filter(|seen| seen.reads) {
            if !watched.contains(&(seen.loc, seen.value)) {
                watched.push((seen.loc, seen.value));
            }
        }
        watched
    }
}

/// Whether an operation that a thread comes to, or came to, in an execution would complete a repeated iteration if it
/// read `value`: one of the loops that are `known` to wait, without a hint for more than `bound` times.
pub fn repeats_iteration(trace: &Trace, id: EventId, op: &Op, value: u64, known: &[u64], bound: u32) -> bool {
    let written = op.action.effect(value).written();
    let event = Event { id, op: *op, source: Source::Init, read: value, written, buffered: false };
    let mut recent = Recent::default();
    for row in trace.rows() {
        match row {
            Row::Event(_, other) if other.id == id => break,
            Row::Event(_, other) if other.id.thread == id.thread => drop(recent.event(other)),
            Row::Note(note) if note.thread == id.thread && note.kind == NoteKind::Hint => drop(recent.hint(note.site)),
            Row::Event(..) | Row::Note(_) => {}
        }
    }
    let is_known = |key| known.contains(&key);
    let unhinted = recent.event(&event);
    let too_often = unhinted.is_some_and(|iteration| is_known(iteration.key) && iteration.repeats > bound);
    too_often || recent.repeated_since_hint().is_some_and(is_known)
}

/// A place in the executable.
static ANCHOR: u8 = 0;

fn site_key(site: Site) -> u64 {
    match site {
        Site::Unknown | Site::Place { .. } => 0,
        // The name of a file is the same text wherever it is used; reading it would be slow. It is as far from the anchor
        // in every process of one executable, wherever that is loaded.
        Site::Code(place) => {
            let file = place.file().as_ptr().addr().wrapping_sub((&raw const ANCHOR).addr());
            mix(mix(file as u64, u64::from(place.line())), u64::from(place.column()))
        }
        Site::Line(line) => mix(3, u64::from(line)),
    }
}
