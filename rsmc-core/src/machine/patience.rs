//! Loops that count: such a loop waits, or gives up.
//!
//! Problem. A loop whose state never repeats may be one that waits for ever, or one that looks a thousand times and
//! then does something else. To run every number of looks is hopeless, and to run none of the larger ones hides what
//! the thread does when it gives up.
//!
//! Method. When [`crate::trace::spin`] or [`counted`](super::counted) finds that an iteration has repeated as often as
//! the bound says, and the thread comes to its first operation again, the thread makes a choice, which is an event like
//! that of [`Action::Choose`]:
//! - 0, it waits until something that it looked at has changed;
//! - 1, it gives up: it goes on in silence. Its operations return what they returned in the last iteration, and are no
//!   events, until it does something else.
//!
//! If nothing else happens within `max_steps` operations, the loop never gives up.
//!
//! Every silence stands for events of an execution. If an iteration reads once, any number of iterations fits behind
//! the last one. They fit between the last two if these read from the same writes, and at the end if memory holds the
//! same values. Otherwise the thread cannot give up here.
//!
//! Where nothing can run any more, a thread that chose to wait is tested in the same way: if it does something else,
//! waiting for ever is none of its executions ([`Run::halfway`](crate::step::Run::halfway)), and the other choice shows
//! the executions that it has.
//!
//! Loss. The number of looks of such a loop beyond the bound is lost: if the loop sees a change, it sees it in the next
//! look after the bound. If it gives up, all its looks since the bound were alike: a change that comes in the middle of
//! its last iteration is not seen.

use std::sync::atomic::Ordering;

use crate::base::{EventId, LocId, ThreadId};
use crate::machine::Outcome;
use crate::machine::ahead::{NAP, Place};
use crate::machine::{Machine, SpinWait, Status, Thread};
use crate::step::End;
use crate::trace::spin::Iteration;
use crate::trace::{Action, Event, LocInfo, NoteKind, Op, PATIENCE, Site};

/// The choice that a thread in such a loop is about to make, or has made.
#[derive(Clone, Debug, Default)]
pub(super) struct Patience {
    /// The location of its choices.
    loc: Option<LocId>,
    /// The loop about which it chooses next, if it begins another iteration.
    asks: Option<Loop>,
    /// The operation that it stands before once it has chosen.
    then: Option<Op>,
    /// The loop about which it has chosen.
    chosen: Option<Loop>,
    /// Whether it goes one more round before it waits.
    owes: bool,
    /// The indices of the choices among the events of the thread.
    choices: Vec<u32>,
}

impl Patience {
    /// Forgets everything: a new execution starts.
    #[inline]
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The number of choices among the first `count` events of the thread.
    fn choices_among(&self, count: u32) -> usize {
        self.choices.partition_point(|&index| index < count)
    }

    /// The operations of the thread, which has these events.
    pub(super) fn operations<'m>(&'m self, events: &'m [u32]) -> Operations<'m> {
        Operations { events, choices: &self.choices }
    }

    /// Only the first `count` events of the thread stay.
    pub(super) fn keep(&mut self, count: u32) {
        self.choices.truncate(self.choices_among(count));
    }

    /// Whether the thread has ever had such a choice.
    pub(super) fn has_asked(&self) -> bool {
        self.loc.is_some()
    }

    /// Whether the thread has chosen about rounds, and has done nothing else since: of its operations so many are the
    /// last ones that equal those a round before.
    pub(super) fn has_chosen(&self, operations: usize, equal: usize) -> bool {
        let since = self.chosen.as_ref().and_then(|chosen| chosen.since);
        since.is_some_and(|since| equal >= operations.saturating_sub(since))
    }

    /// Notes that the thread did something else than before, in an iteration that changes nothing.
    fn forget_choice(&mut self) {
        self.chosen.take_if(|chosen| chosen.since.is_none());
    }

    /// The operation before which the thread stands, where it makes a choice first; it makes none any more.
    pub(super) fn stands_before(&mut self) -> Option<Op> {
        let then = self.then.take();
        self.clear();
        then
    }

    /// Notes whether the thread goes one more round before it waits. Returns whether it was to.
    pub(super) fn owes_round(&mut self, owes: bool) -> bool {
        std::mem::replace(&mut self.owes, owes)
    }
}

/// A loop that counts.
#[derive(Clone, Debug)]
struct Loop {
    iteration: Vec<(Op, Outcome)>,
    /// Whether more iterations fit where the last ones are.
    fits: bool,
    wait: SpinWait,
    /// Whether the thread has chosen to wait, and waits again if it begins another iteration.
    waits_again: bool,
    /// Whether it goes one more round, if it chooses to wait.
    goes_on: bool,
    /// The number of its operations before it chooses, if the loop goes rounds.
    since: Option<usize>,
}

/// The terms on which a thread begins another iteration of a loop that counts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Terms {
    /// It chooses; an iteration changes nothing.
    Chooses,
    /// It chooses, after so many operations; an iteration is a round. If it chooses to wait and `goes_on`, it goes one
    /// more round first.
    Rounds { operations: usize, goes_on: bool },
    /// It has chosen to wait, and waits again.
    WaitsAgain,
}

/// The events of a thread but for its choices, by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operations<'m> {
    /// The positions of all its events.
    events: &'m [u32],
    /// The indices of its choices.
    choices: &'m [u32],
}

impl Operations<'_> {
    pub(super) fn len(&self) -> usize {
        self.events.len() - self.choices.len()
    }

    /// The position of the operation of a number.
    pub(super) fn at(&self, number: usize) -> u32 {
        // Choices are few, and mostly the numbers of the last operations are asked for.
        let before = (0..=self.choices.len()).rev().find(|&before| match before {
            0 => true,
            _ => (self.choices[before - 1] as usize) < number + before,
        });
        self.events[number + before.unwrap_or_default()]
    }

    /// The number of the operation with this index among the events.
    fn number(&self, index: u32) -> usize {
        index as usize - self.choices.partition_point(|&choice| choice < index)
    }
}

/// A thread that goes on in silence.
#[derive(Clone, Debug)]
pub(super) struct Silence {
    thread: ThreadId,
    iteration: Vec<(Op, Outcome)>,
    /// The operation of the iteration that comes next.
    next: usize,
    /// The number of operations that may still happen.
    left: u32,
    /// The number of iterations before which time is to pass.
    naps: usize,
    why: Why,
}

/// The reason why a thread goes on in silence.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// It gives up.
    GivesUp,
    /// It chose to wait, and this is a test of whether it gives up. If so, its first operation is this.
    IsTested(Op),
    /// Iterations are to be left out at this place, and this is a test of whether it does something else at last.
    RunsAhead(Place),
}

impl Machine {
    /// Notes that a thread says that it is about to repeat a loop. False if the execution is over.
    pub fn hint(&mut self, thread: ThreadId, site: Site) -> bool {
        self.count_hint(thread, site);
        // An execution that has ended may be without its last events.
        if !self.over && !self.is_silent(thread) {
            self.note_hint(thread, site);
        }
        !self.over
    }

    fn note_hint(&mut self, thread: ThreadId, site: Site) {
        self.note(thread, NoteKind::Hint, site);
        if self.threads[thread].spin.is_some() || !self.waiting {
            return;
        }
        self.recall(thread, self.run.trace.count(thread));
        if let Some(iteration) = self.threads[thread].recent.hint(site) {
            self.iterated(thread, &iteration);
        }
    }

    /// Looks for a loop in what a thread has just done.
    #[inline(never)]
    pub(super) fn look(&mut self, thread: ThreadId, at: usize) {
        let event = self.run.trace.events[at];
        self.begins_a_round(&event);
        self.recall(thread, event.id.index);
        if let Some(iteration) = self.threads[thread].recent.event(&event) {
            self.iterated(thread, &iteration);
        }
        self.counts_rounds(&event);
    }

    /// Adds the events of a thread to its recent ones, up to the `count`-th, which were not added while that did not
    /// matter.
    fn recall(&mut self, thread: ThreadId, count: u32) {
        let Thread { recent, unseen, .. } = &mut self.threads[thread];
        let since = count - std::mem::take(unseen);
        for &at in &self.run.trace.of_thread(thread)[since as usize..count as usize] {
            recent.event(&self.run.trace.events[at as usize]);
        }
    }

    /// Notes that a thread has finished an iteration that may be one of a spin loop.
    fn iterated(&mut self, thread: ThreadId, iteration: &Iteration) {
        if iteration.repeats < self.rules.spin_bound {
            return self.threads[thread].patience.forget_choice();
        }
        let recent = &self.threads[thread].recent;
        let (watched, length) = (recent.watched(iteration), recent.length(iteration));
        let wait = SpinWait { exact: false, ..SpinWait::new(watched, iteration.hinted, iteration.site) };
        self.has_repeated(thread, length, wait);
    }

    /// Notes that a thread has repeated an iteration of so many operations as often as the bound says, or more often.
    fn has_repeated(&mut self, thread: ThreadId, length: usize, wait: SpinWait) {
        if self.threads[thread].patience.chosen.as_ref().is_some_and(|chosen| chosen.since.is_none()) {
            self.repeats_itself(thread, wait);
        } else {
            self.asks(thread, length, wait, Terms::Chooses);
        }
    }

    /// Notes that a thread that has chosen to wait did the same again.
    pub(super) fn repeats_itself(&mut self, thread: ThreadId, wait: SpinWait) {
        self.run.repeated.get_or_insert(self.steps as u32);
        self.waits_for_change(thread, wait);
    }

    /// Notes on which terms a thread may begin an iteration like its last one.
    pub(super) fn asks(&mut self, thread: ThreadId, length: usize, wait: SpinWait, terms: Terms) {
        let (iteration, fits) = self.last_iteration(thread, length);
        let (waits_again, goes_on, since) = match terms {
            Terms::Chooses => (false, false, None),
            Terms::Rounds { operations, goes_on } => (false, goes_on, Some(operations)),
            Terms::WaitsAgain => (true, false, None),
        };
        self.threads[thread].patience.asks = Some(Loop { iteration, fits, wait, waits_again, goes_on, since });
        self.has_patience = true;
    }

    fn waits_for_change(&mut self, thread: ThreadId, wait: SpinWait) {
        let next = EventId { thread, index: self.run.trace.count(thread) };
        let site = wait.site;
        self.begin_to_wait(next, 0, wait);
        self.note_loop(&[site]);
    }

    /// The operations of a thread's last iteration with their outcomes, and whether more iterations fit where the
    /// thread is.
    fn last_iteration(&self, thread: ThreadId, length: usize) -> (Vec<(Op, Outcome)>, bool) {
        let trace = &self.run.trace;
        let own = self.operations_of(thread);
        let event = |number: usize| &trace.events[own.at(number) as usize];
        let follows = |old: EventId, new: EventId| {
            old.thread == thread && new.thread == thread && own.number(new.index) == own.number(old.index) + length
        };
        let is_alike = |(old, new): (&Event, &Event)| {
            let sources = trace.source_id(old).zip(trace.source_id(new));
            old.source == new.source || sources.is_some_and(|(old, new)| follows(old, new))
        };
        let last = own.len() - length..own.len();
        let fits = length == 1 || last.clone().map(|number| (event(number - length), event(number))).all(is_alike);
        let step = |event: &Event| (event.op, Outcome { read: event.read, written: event.written });
        (last.map(event).map(step).collect(), fits)
    }

    /// The events of a thread but for those choices.
    pub(super) fn operations_of(&self, thread: ThreadId) -> Operations<'_> {
        self.threads[thread].patience.operations(self.run.trace.of_thread(thread))
    }

    /// The operation before which a thread stands that comes to this one: its choice, if it has one to make. `None` if
    /// it stands before its loop, and the execution is over.
    pub(super) fn with_patience(&mut self, thread: ThreadId, op: Op) -> Option<Op> {
        if let Some(silence) = self.silence_of(thread) {
            if silence.iteration[silence.next].0 == op {
                return Some(op);
            }
            return if self.breaks_silence(thread) && !self.may_go_on() { None } else { Some(op) };
        }
        let patience = &mut self.threads[thread].patience;
        let Some(asks) = &patience.asks else { return Some(op) };
        if asks.iteration[0].0 != op {
            patience.asks = None; // It has left its loop.
            return Some(op);
        }
        if asks.waits_again {
            let wait = asks.wait.clone();
            patience.asks = None;
            self.waits_for_change(thread, wait);
            return Some(op);
        }
        let site = asks.wait.site;
        patience.then = Some(op);
        let loc = match patience.loc {
            Some(loc) => loc,
            None => self.add_location(LocInfo { kind: PATIENCE, created: site, init: 0, address: 0 }),
        };
        self.threads[thread].patience.loc = Some(loc);
        let (order, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        Some(Op { action: Action::Choose { of: 2, value: 0, spurious: false }, loc, order, failure, site })
    }

    /// Makes the choice of a thread whose turn it is, if it stands before one: then it stands before its operation.
    pub(super) fn makes_choice(&mut self, thread: ThreadId) -> bool {
        let Some(op) = self.threads[thread].patience.then.take() else { return false };
        let index = self.run.trace.count(thread);
        let Outcome { read, .. } = self.perform(thread);
        let state = &mut self.threads[thread];
        state.patience.choices.push(index);
        state.visits.chooses(index);
        state.status = Status::Standing(op);
        let about = state.patience.asks.take().expect("it asks");
        self.run.bounded.push(about.wait.site);
        state.patience.chosen = Some(about.clone());
        state.patience.owes = about.goes_on;
        if read == 0 && about.goes_on {
            // It waits behind the next round.
        } else if read == 0 {
            self.waits_for_change(thread, about.wait);
        } else if about.fits || self.would_read_the_same(thread, &about.iteration) {
            self.be_silent(thread, about.iteration, self.rules.max_steps, Why::GivesUp);
        } else {
            self.cannot_give_up();
        }
        true
    }

    fn would_read_the_same(&self, thread: ThreadId, iteration: &[(Op, Outcome)]) -> bool {
        iteration.iter().all(|(op, outcome)| self.memory.view(thread, op.loc).value == outcome.read)
    }

    /// The execution ends, since a thread that is to give up does not.
    fn cannot_give_up(&mut self) {
        self.run.repeated.get_or_insert(self.steps as u32);
        self.finish(End::Tried);
    }

    /// Whether an event is such a choice.
    pub(super) fn is_of_patience(&self, event: &Event) -> bool {
        self.has_patience && self.threads[event.id.thread].patience.loc == Some(event.op.loc)
    }

    fn be_silent(&mut self, thread: ThreadId, iteration: Vec<(Op, Outcome)>, left: u32, why: Why) {
        let naps = self.trust.naps(if let Why::RunsAhead(place) = why { Some(place) } else { None });
        self.silence = Some(Silence { thread, iteration, next: 0, left, naps, why });
    }

    /// Tests whether a thread gives up that chose to wait, and stands before its loop.
    pub(super) fn test_patience(&mut self, thread: ThreadId) {
        self.tried.push(thread);
        let Status::Standing(op) = self.threads[thread].status else { return };
        let chosen = self.threads[thread].patience.chosen.as_ref();
        if let Some(iteration) = chosen.map(|chosen| chosen.iteration.clone()).filter(|first| first[0].0 == op) {
            self.be_silent(thread, iteration, self.rules.max_steps, Why::IsTested(op));
        }
    }

    fn silence_of(&self, thread: ThreadId) -> Option<&Silence> {
        self.silence.as_ref().filter(|silence| silence.thread == thread)
    }

    /// Whether a thread goes on in silence.
    #[inline]
    pub(super) fn is_silent(&self, thread: ThreadId) -> bool {
        self.has_patience && self.silence_of(thread).is_some()
    }

    /// Whether what a thread does is a test, and no part of the execution.
    #[inline]
    pub(super) fn is_tested(&self, thread: ThreadId) -> bool {
        self.is_silent(thread) && self.silence.as_ref().is_some_and(|silence| !matches!(silence.why, Why::GivesUp))
    }

    /// The number of operations that a thread may still perform in silence.
    pub(super) fn left_in_silence(&self) -> u32 {
        self.silence.as_ref().map_or(0, |silence| silence.left)
    }

    /// The thread that goes on in silence, if it stands before an operation.
    pub(super) fn next_in_silence(&mut self) -> Option<ThreadId> {
        let thread = self.silence.as_ref()?.thread;
        if matches!(self.threads[thread].status, Status::Standing(_)) {
            return Some(thread);
        }
        self.breaks_silence(thread);
        None
    }

    /// Performs the next operation of a thread that goes on in silence, and returns its outcome.
    pub(super) fn performs_in_silence(&mut self, thread: ThreadId) -> Option<Outcome> {
        let silence = self.silence.as_mut().filter(|silence| silence.thread == thread)?;
        if silence.next == 0 && silence.naps > 0 {
            silence.naps -= 1;
            std::thread::sleep(NAP);
        }
        let outcome = silence.iteration[silence.next].1;
        silence.next = (silence.next + 1) % silence.iteration.len();
        silence.left = silence.left.saturating_sub(1);
        self.threads[thread].status = Status::Running;
        Some(outcome)
    }

    /// Whether a thread has gone on in silence for so long that it never gives up.
    pub(super) fn never_gives_up(&mut self) -> bool {
        let Some(silence) = self.silence.take_if(|silence| silence.left == 0 && silence.next == 0) else {
            return false;
        };
        match silence.why {
            Why::GivesUp => self.cannot_give_up(),
            Why::IsTested(_) => {}
            Why::RunsAhead(place) => self.ran_ahead(place, true),
        }
        true
    }

    /// Ends the silence of a thread that does something else, or ends: it gives up. True if it was a test: what the
    /// thread does is no part of the execution, which is over.
    #[inline]
    pub(super) fn breaks_silence(&mut self, thread: ThreadId) -> bool {
        self.is_silent(thread) && self.gives_up(thread)
    }

    #[cold]
    #[inline(never)]
    fn gives_up(&mut self, thread: ThreadId) -> bool {
        let Some(silence) = self.silence.take_if(|silence| silence.thread == thread) else { return false };
        let state = &mut self.threads[thread];
        state.forget_recent();
        (state.patience.chosen, state.patience.owes) = (None, false);
        match silence.why {
            Why::GivesUp => return false,
            Why::IsTested(op) => {
                let status = std::mem::replace(&mut state.status, Status::Standing(op));
                self.run.halfway = true;
                self.ends_stuck();
                self.threads[thread].status = status;
            }
            Why::RunsAhead(place) => self.ran_ahead(place, false),
        }
        if self.may_go_on() {
            self.do_what_was_silent(&silence);
        }
        true
    }

    /// Does what a thread has done in silence of an iteration that it has not finished: a lock that it has taken there
    /// is held.
    fn do_what_was_silent(&mut self, silence: &Silence) {
        for (op, _) in &silence.iteration[..silence.next] {
            self.happen(silence.thread, op);
        }
    }

    /// Makes a thread do its last iteration so often again, in silence, at a place at which iterations are to be left
    /// out.
    pub(super) fn go_ahead(&mut self, thread: ThreadId, last: Vec<(Op, Outcome)>, often: usize, place: Place) {
        let left = (often * last.len()) as u32;
        self.be_silent(thread, last, left, Why::RunsAhead(place));
    }

    /// The operation and the outcome of an event, as its thread would perform it again.
    pub(super) fn step_of(&self, at: u32) -> (Op, Outcome) {
        let Event { op, read, written, .. } = self.run.trace.events[at as usize];
        (Op { action: op.action.with_alternative(0), ..op }, Outcome { read, written })
    }
}
