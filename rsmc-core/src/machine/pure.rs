//! Iterations that change nothing: what a thread does between two visits in one state is left out of the execution.
//!
//! Problem. A loop that waits for another thread has infinitely many executions, all alike.
//!
//! Method. At every operation and hint the executor says in which [`State`] the thread is. If the thread was in that
//! state before, and has changed nothing since that others can see, then what it did in between can be left out: what
//! remains is an execution with the same future, in which reads are missing and so fewer orders are required. The
//! machine removes these events from the trace, and the thread waits until a read among them could return something
//! else.
//!
//! Reads change nothing, nor do updates that leave the value as it was, tokens that are set again, and locks that are
//! taken and given back, unless another thread has seen them held. What a thread changes and takes back is a part of
//! the execution, and [`rounds`](super::rounds) bounds it. Everything else (a store that takes nothing back, a spawn, a
//! join, a cell that is read or written, a reference that is dropped) makes the thread forget the states before it.
//!
//! Spurious outcomes, and alternatives of a choice other than the first, do not last: an iteration that one of them
//! made go on is left out as well, but the thread need not wait, since it may do something else where it is. Where an
//! explorer tries that anyway, the run ends there.
//!
//! Where the plan forced these events, the run is no execution of its own
//! ([`Run::repeated`](crate::step::Run::repeated)). If it forced only the first of them, the thread is held back before
//! the first read that was not forced, and the others go on ([`Run::halfway`](crate::step::Run::halfway)). If it forced
//! all of them, the run ends there, with nothing removed. But if the iteration takes a lock, the others go on, and the
//! thread is held back behind it. In both cases the others do not see what it has begun: an execution in which they do
//! is another one, and has the whole iteration in it. Where it could not go on anyway, since it waits for a lock, the
//! run is an execution like others.
//!
//! Limits. A loop whose state never repeats, as one that counts, is not seen here; [`crate::trace::spin`] bounds it.

use crate::base::{Digest, EventId, LocId, ThreadId};
use crate::machine::ahead::Place;
use crate::machine::glimpse::{Glance, Glimpse};
use crate::machine::rounds::Rounds;
use crate::machine::visits::{State, Visit};
use crate::machine::{HeldBack, Machine, Outcome, SpinWait, Thread};
use crate::step::{SchedulingPolicy, Step, Wait};
use crate::trace::spin::{Watched, Writer};
use crate::trace::{Action, NoteKind, Op, Site, Source};

/// The number of times that threads may wake each other in an execution before each runs alone.
const WAKINGS: usize = 64;

impl Thread {
    /// Forgets its recent events: they do not count.
    pub(super) fn forget_recent(&mut self) {
        self.recent.clear();
        self.unseen = 0;
    }
}

impl Machine {
    /// A running thread comes to an operation or a hint at this place.
    #[inline]
    pub fn glance(&mut self, thread: ThreadId, (place, site): Place, glimpse: impl FnOnce() -> Glimpse) -> Glance {
        if !self.waiting || self.is_silent(thread) {
            return Glance::New;
        }
        if self.has_patience && self.retries.who_is_asked() == Some(thread) {
            return Glance::Ask;
        }
        if self.retries.asks_at(site) || self.places.iter().any(|&(known, _)| known == place) {
            return Glance::Ask;
        }
        let visits = &mut self.threads[thread].visits;
        let Glimpse { calls, registers } = glimpse();
        let glimpse = Glimpse { calls: calls ^ visits.changed.number, registers };
        if visits.glance(glimpse) { Glance::Closer } else { Glance::New }
    }

    /// Looks closer at a running thread that comes to a place where it was before. `needed` has a bit for each of its
    /// registers that is needed: the others may differ.
    ///
    /// If these are the same, it may be in the same state, for which the machine did not ask the first time. So the
    /// execution ends and is to be run again: see [`Machine::is_to_run_again`].
    pub fn glance_closer(&mut self, thread: ThreadId, place: Place, glimpse: Glimpse, needed: u32) {
        if self.learns_of_retry(thread, place.1) {
            return;
        }
        let visits = &mut self.threads[thread].visits;
        let glimpse = Glimpse { calls: glimpse.calls ^ visits.changed.number, ..glimpse };
        if visits.glance_closer(glimpse, needed) && !self.hides(place) && !self.over {
            self.places.push(place);
            self.give_up_to_run_again();
        }
    }

    /// Whether the last execution is no result: it was not known yet where states are to be asked for.
    pub fn is_to_run_again(&mut self) -> bool {
        std::mem::take(&mut self.again)
    }

    /// Whether states were asked for.
    pub fn compares_states(&self) -> bool {
        !self.places.is_empty() || self.retries.are_some()
    }

    /// Whether an earlier state of a thread matters.
    #[inline]
    pub fn remembers(&self, thread: ThreadId) -> bool {
        !self.threads[thread].visits.list.is_empty()
    }

    /// Notes that a thread changed something that the machine does not see.
    #[inline]
    pub fn disturb(&mut self, thread: ThreadId) {
        self.threads[thread].visits.clear();
    }

    /// Notes that a thread got a value that no other is like: no iteration of a loop equals one before.
    pub fn draws(&mut self, thread: ThreadId) {
        self.disturb(thread);
        self.threads[thread].recent.clear();
    }

    /// Notes that a running thread comes to an operation or a hint in this state. Returns whether what it did since it
    /// was in this state before is left out. If states may lack something, `place` says where this is.
    pub fn visit(&mut self, thread: ThreadId, state: State, site: Site, place: Option<u64>) -> bool {
        if self.over || !self.waiting || self.is_silent(thread) || self.is_to_stop(thread) {
            return false;
        }
        let events = self.run.trace.count(thread);
        let notes = self.run.trace.notes.len() as u32;
        let visits = &mut self.threads[thread].visits;
        let state = state ^ State::from(visits.held ^ visits.changed.number) << 32;
        if let Some(asked) = self.retries.who_is_asked() {
            if asked == thread {
                self.is_asked_in(state);
            }
            return false;
        }
        if place.is_some_and(|place| self.hides((place, site))) {
            return false;
        }
        let visits = &mut self.threads[thread].visits;
        let visit = Visit { state, events, notes, rounds: Rounds::default() };
        let Some(before) = visits.find(state) else {
            visits.push(visit);
            return place.is_some_and(|place| self.leave_out_retry(thread, state, (place, site)));
        };
        let first = visits.list[before];
        if self.begins_with_a_release(thread, first.events) {
            return false; // The states between which the lock is taken and given back will return, too.
        }
        let visits = &mut self.threads[thread].visits;
        visits.truncate(before + 1);
        if first.events == events {
            return false;
        }
        if self.has_taken_back(thread, first.events) || self.accessed_cells(thread, first.notes) {
            let iteration = self.run.trace.of_thread(thread)[first.events as usize..].to_vec();
            let rounds = self.goes_round(thread, &iteration, first.rounds, (site, place));
            self.threads[thread].visits.list[before] = Visit { rounds, ..visit };
            return false;
        }
        let is_left_out = self.leave_out(thread, first, site, place);
        if let Some(place) = place.filter(|_| is_left_out) {
            self.trust.waits_at(thread, (place, site));
        }
        if !is_left_out {
            self.threads[thread].visits.restart(visit);
        }
        is_left_out
    }

    /// Leaves out what a thread did since a visit from which it could have come at once to this state.
    fn leave_out_retry(&mut self, thread: ThreadId, state: State, place: Place) -> bool {
        if self.learns_of_retry(thread, place.1) {
            return false;
        }
        let visits = std::mem::take(&mut self.threads[thread].visits.list);
        let overtaken = self.overtaken(thread, state, &visits);
        self.threads[thread].visits.list = visits;
        let is_left_out = overtaken.is_some_and(|since| self.leave_out(thread, since, place.1, None));
        if is_left_out {
            let events = self.run.trace.count(thread);
            self.threads[thread].visits.forget_since(events + 1);
        }
        is_left_out
    }

    /// Whether a thread has given back a lock that it had taken before these of its events.
    fn begins_with_a_release(&self, thread: ThreadId, since: u32) -> bool {
        let own = &self.run.trace.of_thread(thread)[since as usize..];
        let event = |at: u32| &self.run.trace.events[at as usize];
        own.iter().enumerate().any(|(number, &at)| {
            matches!(event(at).op.action, Action::Release { .. })
                && own[..number].iter().all(|&other| event(other).op.loc != event(at).op.loc)
        })
    }

    /// Leaves out what a thread did since a visit. False if another thread has seen it.
    fn leave_out(&mut self, thread: ThreadId, since: Visit, site: Site, place: Option<u64>) -> bool {
        let gone = self.run.trace.of_thread(thread)[since.events as usize..].to_vec();
        let forced = self.forced_of(thread, since.events, &gone);
        let Some(sources) = self.sources_of_others(&gone, forced, place) else { return false };
        if place.is_some_and(|place| self.runs_ahead(thread, (place, site), &gone)) {
            return false;
        }
        self.note_look(&gone);
        let chose = gone.iter().any(|&at| self.run.trace.events[at as usize].op.action.alternative() > 0);
        let behind = self.waits_behind(thread, since.events);
        let wait = SpinWait { behind, ..SpinWait::new(self.watched(&gone, &sources), true, site) };
        if let Some(place) = place {
            self.trust.leaves_out(place, &wait);
        }
        if wait.watched.iter().any(|watched| matches!(watched.writer, Writer::One(_))) {
            self.endless.turns_locks();
        }
        let sites = if chose || tried_again(&wait.watched) { Vec::new() } else { self.sites_of_waiting(&gone, forced) };
        // An explorer that chooses at random looks elsewhere at last; one that tries all choices does not.
        let chooses = self.reads_are_choices() && self.plan.record_choices;
        let is_stale = chooses && !chose && self.threads[thread].spun_at == Some(self.changes);
        let is_tried = chose && self.plan.record_choices && self.plan.policy == SchedulingPolicy::RunOn;
        if is_stale || is_tried || (forced > 0 && forced == gone.len()) {
            self.run.repeated.get_or_insert(self.steps as u32);
            if forced > 0 && gone.iter().any(|&at| self.run.trace.events[at as usize].changes()) {
                self.hold_back(thread, since.events, &[]);
                let (events, notes) = (self.run.trace.count(thread), self.run.trace.notes.len() as u32);
                self.threads[thread].visits.restart(Visit { events, notes, ..since });
            }
            if !chose {
                let next = EventId { thread, index: self.run.trace.count(thread) };
                self.begin_to_wait(next, gone.len() as u32, wait);
            }
            self.note_loop(&sites);
            return true;
        }
        if forced > 0 {
            self.hold_back(thread, since.events, &gone[forced..]);
        }
        // What the thread noted before the first event that goes is behind forced ones.
        let first = gone[forced];
        let notes = match forced {
            0 => since.notes as usize,
            _ => self.run.trace.notes.partition_point(|note| note.at <= first),
        };
        self.take_back(thread, notes, &gone[forced..], &sources[forced..]);
        if !chose || forced > 0 {
            self.threads[thread].spun_at = Some(self.changes);
            self.begin_to_wait(EventId { thread, index: since.events + forced as u32 }, forced as u32, wait);
            self.note_loop(&sites);
            self.note_left_out();
        }
        true
    }

    /// The sources of an iteration and of events that read from it, if only what the plan forced of it stays. `None` if
    /// that is not possible: other threads have seen a change.
    fn sources_of_others(&mut self, gone: &[u32], forced: usize, place: Option<u64>) -> Option<Vec<Source>> {
        let sources = self.sources_without(gone, 0)?;
        if !self.is_unseen(gone, 0, &sources) {
            if place.is_none_or(|place| self.trust.is_proven(place)) {
                // Where others do not see it, it changes nothing. Explorers need to know that before they keep a run.
                self.note_look(gone);
                self.note_loop(&[]);
            }
            return None;
        }
        let sources = self.sources_without(gone, forced).filter(|sources| self.is_unseen(gone, forced, sources));
        if sources.is_none() {
            // Other threads saw that it was taken back, so they saw nothing of it, but they need the forced events.
            self.needs_begun |= forced > 0;
            self.run.halfway |= forced > 0;
        }
        sources
    }

    /// The number of first events of an iteration that the plan forced, with the locks that are given back right after
    /// them: there is nothing to decide about these.
    pub(super) fn forced_of(&self, thread: ThreadId, since: u32, gone: &[u32]) -> usize {
        let forced = (self.threads[thread].forced.saturating_sub(since) as usize).min(gone.len());
        if forced == 0 || self.plan.record_choices {
            return 0;
        }
        forced + gone[forced..].iter().take_while(|&&at| !self.reads(at)).count()
    }

    /// Holds a thread back for the rest of the execution in an iteration that it began with its event `since`, before
    /// these events of it.
    fn hold_back(&mut self, thread: ThreadId, since: u32, gone: &[u32]) {
        self.run.halfway = true;
        self.plan.frozen.push(thread);
        let rest: Vec<(Op, Outcome)> = gone.iter().map(|&at| self.step_of(at)).collect();
        let op = rest.first().map(|&(op, _)| op);
        let until = self.run.trace.count(thread);
        self.threads[thread].held_back.push(HeldBack { op, since, until, rest, comes_to: None });
    }

    /// Lets a thread go on that is held back behind a whole iteration, if this write is a change in it: another thread
    /// takes it now, so the iteration is a part of the execution. Only where threads may read old values.
    #[cold]
    pub(super) fn shows(&mut self, write: EventId) {
        let EventId { thread, index } = write;
        let is_in = |held: &HeldBack| held.op.is_none() && (held.since..held.until).contains(&index);
        let Some(number) = self.threads[thread].held_back.iter().position(is_in) else { return };
        if !self.run.trace.position(write).is_some_and(|at| self.run.trace.events[at].changes()) {
            return;
        }
        let held = self.threads[thread].held_back.remove(number);
        self.stop_spinning(thread);
        self.run.waits.retain(|wait| wait.next != EventId { thread, index: held.until });
        if let Some(frozen) = self.plan.frozen.iter().rposition(|&frozen| frozen == thread) {
            self.plan.frozen.remove(frozen);
        }
        self.run.halfway = self.needs_begun || self.threads.values().any(|thread| !thread.held_back.is_empty());
        if !self.run.halfway {
            self.run.repeated = None;
        }
    }

    /// Takes back the last events of a thread, those since a visit that the plan did not force, and what the thread
    /// noted after the first `notes` notes. Events that read from them read from `sources`.
    fn take_back(&mut self, thread: ThreadId, notes: usize, gone: &[u32], sources: &[Source]) {
        self.drop_choices(thread, gone.len());
        self.histories.keep(gone[0] as usize, notes);
        let notes = self.run.trace.notes_of_iteration(thread, notes);
        let places = self.run.trace.remove_last_of(thread, gone, &notes, sources);
        if !notes.is_empty() {
            self.threads.values_mut().for_each(|thread| thread.visits.forget_notes(&notes));
        }
        let trace = &self.run.trace;
        self.memory.renumber(&places, |loc, source| match source {
            Source::At(at) => trace.events[at as usize].written.expect("a writer writes"),
            _ => trace.locs[loc].init,
        });
        self.rebuild_graph();
        let count = self.run.trace.count(thread);
        self.threads[thread].patience.keep(count);
        self.threads[thread].forget_recent();
    }

    /// Notes a digest of the execution where an iteration has just been left out. If it was noted before, or so many
    /// were noted that threads seem to wake each other for ever, each thread runs alone from now on. But an explorer
    /// that tries all choices has nothing new to try where the execution is as it was.
    fn note_left_out(&mut self) {
        if self.runs_alone {
            return;
        }
        let mut digest = Digest::EMPTY;
        for (at, event) in self.run.trace.events.iter().enumerate() {
            let source = match event.source {
                Source::None => 0,
                Source::Init => 1,
                Source::At(from) => 2 + u64::from(from),
            };
            let thread = u64::from(event.id.thread.0);
            digest.add(&[
                0,
                at as u64,
                thread,
                event.read,
                event.written.map_or(0, |value| value.wrapping_add(1)),
                source,
            ]);
        }
        for thread in self.threads.ids() {
            let waits = u64::from(self.threads[thread].spin.is_some()) + u64::from(self.waits_in_loop(thread));
            digest.add(&[1, u64::from(thread.0), waits, self.memory.waiting_of(thread).len() as u64]);
        }
        let is_known = !self.left_out.insert(digest);
        if is_known && self.plan.record_choices && self.plan.policy == SchedulingPolicy::RunOn {
            self.run.repeated.get_or_insert(self.steps as u32);
        } else {
            self.runs_alone = is_known || self.left_out.len() > WAKINGS;
        }
    }

    /// Whether an event takes a value.
    fn reads(&self, at: u32) -> bool {
        self.run.trace.events[at as usize].source != Source::None
    }

    /// The sources of these events of a thread, and of events that read from them, if only the first `stay` of them
    /// stay. `None` if they give back a lock that they have not taken.
    fn sources_without(&self, gone: &[u32], stay: usize) -> Option<Vec<Source>> {
        let events = &self.run.trace.events;
        let mut sources: Vec<Source> = Vec::with_capacity(gone.len());
        for (number, &at) in gone.iter().enumerate() {
            let event = &events[at as usize];
            let source = match event.source {
                // A lock is given back: as it was before it was taken.
                Source::None => {
                    let taken = (0..number).rev().find(|&other| events[gone[other] as usize].op.loc == event.op.loc)?;
                    if taken < stay { Source::At(gone[taken]) } else { sources[taken] }
                }
                Source::At(other) => match gone.binary_search(&other) {
                    Ok(other) if other >= stay => sources[other],
                    _ => event.source,
                },
                Source::Init => Source::Init,
            };
            sources.push(source);
        }
        Some(sources)
    }

    /// Whether no other thread has seen one of these events, of which the first so many stay, or would have seen the
    /// same without it.
    fn is_unseen(&self, gone: &[u32], stay: usize, sources: &[Source]) -> bool {
        let events = &self.run.trace.events;
        let first = gone[0] as usize;
        let thread = events[first].id.thread;
        events[first..].iter().all(|event| match event.source {
            Source::At(at) if event.id.thread != thread => gone.binary_search(&at).map_or(true, |number| {
                number < stay || self.value_of(sources[number], event.op.loc) == events[at as usize].written
            }),
            _ => true,
        })
    }

    /// The locations and values on which a thread waits that would perform these events again.
    fn watched(&self, gone: &[u32], sources: &[Source]) -> Vec<Watched> {
        let events = &self.run.trace.events;
        let mut watched: Vec<Watched> = Vec::new();
        for (&at, source) in gone.iter().zip(sources).filter(|&(&at, _)| self.reads(at)) {
            let event = &events[at as usize];
            let writer = match *source {
                Source::At(at) => Some(events[at as usize].id),
                _ => None,
            };
            let writer = if event.op.action.locks() { Writer::One(writer) } else { Writer::Any };
            let one = Watched { loc: event.op.loc, value: event.read, writer };
            if !watched.contains(&one) {
                watched.push(one);
            }
        }
        watched
    }

    /// The value that an event reads from this source.
    fn value_of(&self, source: Source, loc: LocId) -> Option<u64> {
        match source {
            Source::At(at) => self.run.trace.events[at as usize].written,
            _ => Some(self.run.trace.locs[loc].init),
        }
    }

    /// Notes the read that completed an iteration that changes nothing, with what its thread knew.
    fn note_look(&mut self, gone: &[u32]) {
        if let Some(before) = gone.iter().rposition(|&at| self.reads(at)) {
            let event = &self.run.trace.events[gone[before] as usize];
            let looks = self.histories.looks_now(&self.run.trace, event, gone[0] as usize);
            self.run.looks.extend(looks.map(|look| (look, before as u32)));
        }
    }

    /// Marks the last `count` steps of a thread as left out of the execution.
    fn drop_choices(&mut self, thread: ThreadId, mut count: usize) {
        for choice in self.run.choices.iter_mut().rev() {
            if count == 0 {
                break;
            }
            let is_event = !matches!(choice.taken, Step::Flush(_));
            if is_event && choice.taken.thread() == thread && !choice.left_out {
                choice.left_out = true;
                count -= 1;
            }
        }
    }

    /// Makes a thread wait until one of the watched locations is different.
    pub(super) fn begin_to_wait(&mut self, next: EventId, begun: u32, wait: SpinWait) {
        let way = Wait { next, watched: wait.watched.clone(), begun };
        self.run.waits.retain(|other| *other != way);
        self.run.waits.push(way);
        let own = &mut self.threads[next.thread].spin;
        self.spinning += u32::from(own.is_none());
        *own = Some(wait);
    }

    /// The places before which a thread waits that does this iteration again and again: those of its first operation,
    /// of the first that the plan does not force, and of those behind hints.
    pub(super) fn sites_of_waiting(&self, iteration: &[u32], forced: usize) -> Vec<Site> {
        let thread = self.run.trace.events[iteration[0] as usize].id.thread;
        let site = |&at: &u32| self.run.trace.events[at as usize].op.site;
        let mut sites: Vec<Site> = [0, forced].iter().filter_map(|&at| iteration.get(at)).map(site).collect();
        let notes = self.run.trace.notes.iter().rev().take_while(|note| note.at > iteration[0]);
        for hint in notes.filter(|note| note.thread == thread && note.kind == NoteKind::Hint) {
            sites.extend(iteration.iter().find(|&&at| at >= hint.at).map(site));
        }
        sites
    }

    /// Notes that a loop waits, before operations at these places: none where it only failed without cause, since its
    /// thread waits for nobody. If that was not known and matters, the run ends, to be started again.
    pub(super) fn note_loop(&mut self, sites: &[Site]) {
        let is_first = self.loops.note();
        let known = self.loops.known.lines.len();
        sites.iter().for_each(|&site| self.loops.note_line(site));
        if is_first || (self.loops.known.lines.len() > known && self.plan.names_loops) {
            self.give_up();
        }
    }
}

/// Whether an iteration that read this only failed because a location changed meanwhile, as a compare-exchange does
/// that comes too late: where nothing changes it does not happen again, so its thread waits for nobody.
fn tried_again(watched: &[Watched]) -> bool {
    let differs = |one: &Watched, other: &Watched| one.loc == other.loc && one.value != other.value;
    watched.iter().enumerate().any(|(number, one)| watched[..number].iter().any(|other| differs(one, other)))
}
