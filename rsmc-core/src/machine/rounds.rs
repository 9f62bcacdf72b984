//! Loops that change nothing that lasts: such a loop is bounded.
//!
//! Problem. A thread that tries for a lock may add itself to a counter and subtract itself again, or set a flag for the
//! time in which it looks. An iteration of such a loop is a part of the execution, since others can see it. But memory
//! and the thread are as they were behind it, so that there is an execution for every number of iterations.
//!
//! Method. [`Visits`](crate::machine::pure) keep the locations that a thread has changed and not changed back. A thread
//! that is where it was, and holds no change, has gone a *round*; also if it only accessed cells meanwhile. When it has
//! gone [`rules::rounds`] of them with the same values in a row, it waits. Its state is the same, so it does nothing
//! else until something is different, and needs no choice (`machine::patience`).
//!
//! What may be different is a value that it read, or memory that no location stands for, as the data behind a lock of
//! the user's. For that the thread has to read from a write of a thread that knows of something which it does not know,
//! be the value the same ([`Known`]). A round adds nothing to what its thread knows but what it has read meanwhile, so
//! two threads that go rounds do not wake each other for ever. A round in which the thread learns something may be one
//! more than it may go.
//!
//! What a thread begins behind its rounds may be an iteration that is left out, as a failed attempt at the lock while
//! another thread has it. Then it stands behind its rounds as before, and goes on only if what it waits for there has
//! changed as well. Otherwise the lock, which is free again, would let it go one round more.
//!
//! An update is taken back by the thread's own updates of that location, each of which reads what the one before has
//! written, or by a store of the first value behind one of them.
//!
//! Loss. More rounds in a row: an execution in which others see the location change and change back more often while
//! the thread reads the same. Not bounded are rounds of more than 32 places, and those with an alternative.

use crate::base::{Digest, EventId, LocId, ThreadId, mix};
use crate::machine::{Machine, SpinWait, rules};
use crate::trace::spin::{Watched, Writer};
use crate::trace::{Action, Event, Known, Site, Source};

/// The largest number of locations that a thread may have changed.
const MOST: usize = 8;

/// The number of first events of a thread that are taken for ordinary code: most threads have no others, and to watch
/// them has a price.
const FIRST: u32 = 2;

/// The locations that a thread has changed, and not changed back. They stay where visits are forgotten: two visits are
/// alike if they hold the same changes, whenever these came.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    list: Vec<Change>,
    /// A number for these locations and what they hold.
    pub(super) number: u64,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    loc: LocId,
    first: u64,
    now: u64,
}

/// The rounds that a thread has gone from one of its visits, with the same values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    count: u32,
    values: Digest,
}

/// The round that a thread begins if it goes on after it has gone as many as it may.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    thread: ThreadId,
    /// The number of the thread's events before it, and that of a round.
    start: u32,
    length: usize,
    site: Site,
    /// The thread has begun something else.
    is_left: bool,
}

impl Change {
    fn number(&self) -> u64 {
        mix(mix(11, self.loc.0.into()), self.now)
    }
}

impl Changed {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.number = 0;
    }

    /// The number of these locations.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the thread has changed this location.
    #[inline]
    pub(super) fn has(&self, loc: LocId) -> bool {
        !self.list.is_empty() && self.list.iter().any(|change| change.loc == loc)
    }

    /// Adds an event that changes an atomic. False if it is not known what the location held when the first of these
    /// changes came.
    pub(super) fn add(&mut self, event: &Event) -> bool {
        let (loc, Some(now)) = (event.op.loc, event.written) else { return false };
        let reads = event.source != Source::None;
        let known = self.list.iter().position(|change| change.loc == loc).map(|number| self.list.swap_remove(number));
        self.number ^= known.map_or(0, |change| change.number());
        let first = match known {
            Some(change) if !reads || event.read == change.now => change.first,
            None if reads && self.list.len() < MOST => event.read,
            None if reads => {
                self.clear();
                return false;
            }
            _ => return false,
        };
        if now != first {
            let change = Change { loc, first, now };
            self.number ^= change.number();
            self.list.push(change);
        }
        true
    }
}

impl Machine {
    /// Notes whether an event that has just happened changes what other threads can see.
    #[inline]
    pub(super) fn note_effect(&mut self, event: &Event) {
        let Some(written) = event.written else { return };
        self.changes += u32::from(event.changes());
        let visits = &mut self.threads[event.id.thread].visits;
        match event.op.action {
            Action::Acquire | Action::TryAcquire | Action::Release { poisoned: false } => visits.turn(event.op.loc),
            Action::Rmw(_) | Action::Cas { .. } | Action::Unpark
                if written == event.read && !visits.changed.has(event.op.loc) => {}
            Action::Rmw(_) | Action::Cas { .. } | Action::Store(_) if event.id.index >= FIRST => {
                self.may_take_back = true;
                if visits.are_many() || !visits.changed.add(event) {
                    visits.clear();
                }
            }
            _ => visits.clear(),
        }
    }

    /// Whether a thread has changed an atomic since this event, or altered an object, and taken it back.
    pub(super) fn has_taken_back(&self, thread: ThreadId, since: u32) -> bool {
        if self.threads[thread].altered.is_since(since) {
            return true;
        }
        let own = &self.run.trace.of_thread(thread)[since as usize..];
        let mut events = own.iter().map(|&at| &self.run.trace.events[at as usize]);
        events.any(|event| {
            event.changes() && matches!(event.op.action, Action::Rmw(_) | Action::Cas { .. } | Action::Store(_))
        })
    }

    /// Notes that a thread accesses a cell: what it changes there is a part of its state, and the access stays in the
    /// execution.
    #[inline]
    pub(super) fn note_access(&mut self, thread: ThreadId) {
        let is_early = self.run.trace.count(thread) < FIRST;
        let visits = &mut self.threads[thread].visits;
        if is_early || visits.are_many() {
            visits.clear();
        }
    }

    /// Whether a thread has accessed a cell since there were so many notes.
    pub(super) fn accessed_cells(&self, thread: ThreadId, since: u32) -> bool {
        let notes = &self.run.trace.notes[since as usize..];
        notes.iter().any(|note| note.thread == thread && note.kind.is_of_cell())
    }

    /// Notes that a thread is where it was before these events, and has taken back what it changed. Returns its rounds.
    pub(super) fn goes_round(
        &mut self,
        thread: ThreadId,
        iteration: &[u32],
        before: Rounds,
        (site, place): (Site, Option<u64>),
    ) -> Rounds {
        let count = self.run.trace.count(thread);
        if self.may_take_back {
            self.threads[thread].repeats.begin_behind(count as usize);
        }
        let since = count - iteration.len() as u32;
        let (trace, known) = (&self.run.trace, Known::of(&self.run.trace));
        let learns = iteration.iter().any(|&at| known.learns(thread, trace.events[at as usize].source, since));
        let (first, last) = (EventId { thread, index: since }, EventId { thread, index: count - 1 });
        self.run.trace.rounds.add(first, last);
        let mut values = Digest::EMPTY;
        for event in iteration.iter().map(|&at| &self.run.trace.events[at as usize]) {
            if event.op.action.alternative() > 0 {
                return Rounds::default(); // It need not choose that again.
            }
            let written = event.written.map_or(0, |written| written.wrapping_add(1));
            values.add(&[u64::from(event.op.loc.0), event.read, written]);
        }
        let most = rules::rounds(self.rules.spin_bound);
        let count = 1 + if before.values == values { before.count } else { 0 };
        let rounds = Rounds { count: if learns { count.min(most) } else { count }, values };
        if rounds.count > most {
            self.run.repeated.get_or_insert(self.steps as u32);
        }
        if rounds.count >= most && self.threads[thread].spin.is_none() {
            self.waits_behind_rounds(thread, iteration, (site, place));
        }
        rounds
    }

    /// Makes a thread wait that has gone as many rounds as it may, if it does the same again and again.
    fn waits_behind_rounds(&mut self, thread: ThreadId, iteration: &[u32], (site, place): (Site, Option<u64>)) {
        if let Some(place) = place {
            if self.runs_ahead(thread, (place, site), iteration) {
                return;
            }
            self.trust.waits_at(thread, (place, site));
        }
        let start = self.run.trace.count(thread);
        let watched = self.read_of_others(iteration, 0);
        let wait = SpinWait::new(watched, true, site);
        let sites = self.sites_of_waiting(iteration, 0);
        self.run.rounds.push(site);
        self.begin_to_wait(EventId { thread, index: start }, 0, wait);
        self.note_loop(&sites);
        self.begun.retain(|round| round.thread != thread);
        self.looks_from = 0;
        self.begun.push(Round { thread, start, length: iteration.len(), site, is_left: false });
    }

    /// The locations for which a thread waits that is back where it had so many events, if it waits behind its rounds
    /// there. What it has begun is left out of the execution, so it stands behind its rounds as before.
    pub(super) fn waits_behind(&mut self, thread: ThreadId, events: u32) -> Vec<Watched> {
        let is_it = |round: &&mut Round| round.thread == thread && round.start == events;
        let Some(round) = self.begun.iter_mut().find(is_it) else { return Vec::new() };
        round.is_left = false;
        let last = events as usize - round.length..events as usize;
        self.read_of_others(&self.run.trace.of_thread(thread)[last], 0)
    }

    /// The locations that these events of one thread read from others, but for the first `done` of them, with what they
    /// held.
    fn read_of_others(&self, iteration: &[u32], done: usize) -> Vec<Watched> {
        let (mut watched, events) = (Vec::new(), &self.run.trace.events);
        for event in iteration[done..].iter().map(|&at| &events[at as usize]) {
            let is_in = matches!(event.source, Source::At(at) if iteration[done..].contains(&at));
            let one = Watched { loc: event.op.loc, value: event.read, writer: Writer::Known(event.id.thread) };
            if event.source != Source::None && !is_in && !watched.contains(&one) {
                watched.push(one);
            }
        }
        watched
    }

    /// Notes what a thread does that has gone as many rounds as it may. If it begins another one, since the plan says
    /// so or something changed, it waits before each operation until what it would still read has changed.
    #[cold]
    pub(super) fn begins_a_round(&mut self, event: &Event) {
        let thread = event.id.thread;
        let is_begun = |round: &Round| round.thread == thread && !round.is_left;
        let Some(number) = self.begun.iter().position(is_begun) else { return };
        let Round { start, length, site, .. } = self.begun[number];
        let own = self.run.trace.of_thread(thread);
        let done = (event.id.index + 1 - start) as usize;
        let before = &self.run.trace.events[own[event.id.index as usize - length] as usize];
        let is_like = |other: &Event| (other.op, other.read, other.written) == (event.op, event.read, event.written);
        if done >= length || !is_like(before) || Known::of(&self.run.trace).learns(thread, event.source, event.id.index)
        {
            self.begun[number].is_left = true;
            return;
        }
        let last = own[start as usize - length..start as usize].to_vec();
        let watched = self.read_of_others(&last, done);
        let wait = SpinWait::new(watched, true, site);
        if !wait.watched.is_empty() {
            let all = SpinWait { watched: self.read_of_others(&last, 0), ..wait.clone() };
            self.begin_to_wait(EventId { thread, index: event.id.index + 1 }, done as u32, all);
            self.threads[thread].spin = Some(wait);
        }
    }

    /// Whether a thread waits within a round that it has begun.
    pub(super) fn waits_within_a_round(&self) -> bool {
        let is_within = |round: &&Round| self.run.trace.count(round.thread) > round.start;
        self.begun.iter().filter(is_within).any(|round| self.waits_in_loop(round.thread))
    }
}
