//! A run as it is kept: its events, what each thread observed, and the observations that must be made before each
//! event.

use crate::base::{EventId, IdVec, LocId, ThreadId};
use crate::explore::by_source::BySource;
use crate::explore::looks::{Looks, Standing};
use crate::step::{Run, Step, Wait};
use crate::trace::{Event, Histories, LocInfo, Op, ProgramOrder, Source, Trace};

/// The observation of a read: deviation (1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// This value.
    Value(u64),
    /// This source (`None`: the initial value).
    Write(Option<EventId>),
}

impl Seen {
    /// Whether this is the observation of a read that takes a value from a write (`None`: the initial value).
    pub(super) fn is_of(self, value: u64, write: Option<EventId>) -> bool {
        match self {
            Seen::Value(other) => other == value,
            Seen::Write(other) => other == write,
        }
    }
}

/// An event or an operation that a thread waits to perform.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) id: EventId,
    pub(super) op: Op,
}

/// A run as it is kept.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) trace: Trace,
    pub(super) order: ProgramOrder,
    by_source: BySource,
    /// Where threads began to wait in a loop.
    pub(super) waits: Vec<Wait>,
    /// The histories of the threads.
    histories: Histories,
    /// The locks at which threads look without waiting for them.
    tried: Vec<LocId>,
    /// The number of spurious outcomes that an execution may have.
    spurious: u32,
    /// The steps of the run.
    pub(super) steps: Vec<Step>,
    /// The threads that observe something or wait to, in order of their ids: the others do not count in cuts.
    pub(super) threads: Vec<ThreadId>,
    /// The positions of the events that observe, thread by thread, and where those of each thread end.
    observing: Vec<u32>,
    observing_ends: Vec<usize>,
    /// By thread: the operation that it waits to perform, if it observes.
    pub(super) waiting: Vec<Option<Next>>,
    /// By event, then by thread: the number of observations before it, itself not counted. Then these numbers for what
    /// each of the threads waits to perform.
    needs: Vec<u32>,
    /// By id of a thread: its number among `threads`, if it has one.
    numbers: IdVec<ThreadId, Option<usize>>,
}

impl Snapshot {
    /// Becomes the snapshot of a run; keeps the memory of another.
    pub(super) fn take(&mut self, run: &Run, by_source: BySource) {
        self.trace.clone_from(&run.trace);
        self.order.compute(&self.trace);
        self.by_source = by_source;
        self.waits.clone_from(&run.waits);
        if run.has_waits() {
            self.histories.compute(&run.trace);
        }
        self.tried = run.tried();
        self.spurious = run.spurious;
        self.steps.clear();
        self.steps.extend(run.steps());
        self.find_observations(run);
        self.find_needs();
    }

    fn find_observations(&mut self, run: &Run) {
        self.threads.clear();
        self.observing.clear();
        self.observing_ends.clear();
        self.waiting.clear();
        self.numbers.clear();
        for thread in self.trace.threads.ids() {
            let events = &self.trace.events;
            let before = self.observing.len();
            let own = self.trace.of_thread(thread).iter().copied();
            self.observing.extend(own.filter(|&at| observes(&events[at as usize])));
            let pending = run.waiting.iter().find(|pending| pending.id.thread == thread);
            let waits = pending.and_then(|pending| Some(Next { id: pending.id, op: pending.op? }));
            let waits = waits.filter(|next| next.op.action.reads());
            let counts = waits.is_some() || self.observing.len() > before;
            self.numbers.push(counts.then_some(self.threads.len()));
            if counts {
                self.threads.push(thread);
                self.observing_ends.push(self.observing.len());
                self.waiting.push(waits);
            }
        }
    }

    /// Finds the number of observations of each thread before each event, and before what each thread waits to perform.
    fn find_needs(&mut self) {
        let Self { trace, order, threads, needs, numbers, .. } = self;
        let width = threads.len();
        needs.clear();
        let waiting = threads.iter().map(|&thread| order.next_preds(thread));
        for preds in (0..trace.events.len()).map(|at| order.preds(at)).chain(waiting) {
            let from = needs.len();
            needs.resize(from + width, 0);
            let (before, own) = needs.split_at_mut(from);
            for &pred in preds {
                let event = &trace.events[pred as usize];
                let theirs = &before[pred as usize * width..(pred as usize + 1) * width];
                own.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = (*theirs).max(*mine));
                if let Some(thread) = numbers[event.id.thread].filter(|_| observes(event)) {
                    own[thread] = own[thread].max(theirs[thread] + 1);
                }
            }
        }
    }

    /// The positions of the events by which a thread observes.
    pub(super) fn observing(&self, thread: usize) -> &[u32] {
        &self.observing[self.first_of(thread)..self.observing_ends[thread]]
    }

    /// The place in [`Self::all_observing`] at which the observations of a thread begin.
    pub(super) fn first_of(&self, thread: usize) -> usize {
        if thread == 0 { 0 } else { self.observing_ends[thread - 1] }
    }

    /// The positions of all events that observe, thread by thread.
    pub(super) fn all_observing(&self) -> &[u32] {
        &self.observing
    }

    /// By thread: the number of observations that must be made before an event.
    pub(super) fn needs(&self, at: usize) -> &[u32] {
        &self.needs[at * self.threads.len()..(at + 1) * self.threads.len()]
    }

    /// The last observation of each thread without which an event is not in a cut, as numbers in
    /// [`Self::all_observing`].
    pub(super) fn needed(&self, at: usize) -> impl Iterator<Item = usize> {
        let event = &self.trace.events[at];
        let own = self.numbers[event.id.thread].filter(|_| observes(event));
        let needs = self.needs(at).iter().enumerate();
        let needs = needs.map(move |(thread, &need)| (thread, need as usize + usize::from(own == Some(thread))));
        needs.filter(|&(_, need)| need > 0).map(|(thread, need)| self.first_of(thread) + need - 1)
    }

    /// By thread: the number of observations that must be made before what a thread does after `made` observations, an
    /// event or what it waits to perform.
    pub(super) fn next_needs(&self, thread: usize, made: u32) -> &[u32] {
        match self.observing(thread).get(made as usize) {
            Some(&at) => self.needs(at as usize),
            None => self.needs(self.trace.events.len() + thread),
        }
    }

    /// The operation by which a thread observes next after `made` observations.
    pub(super) fn next(&self, thread: usize, made: u32) -> Option<Next> {
        match self.observing(thread).get(made as usize) {
            Some(&at) => {
                let event = &self.trace.events[at as usize];
                Some(Next { id: event.id, op: event.op })
            }
            None => self.waiting[thread],
        }
    }

    /// The alternatives of what a thread does next, after these events; spurious outcomes are among them if there may
    /// be one more.
    pub(super) fn alternatives(&self, next: Next, inside: &[usize]) -> impl Iterator<Item = Next> {
        let action = next.op.action;
        let may_be_spurious = action.alternatives() > 1 && {
            let spent = inside.iter().filter(|&&at| self.trace.events[at].op.action.is_spurious()).count();
            spent < self.spurious as usize
        };
        let actions = (0..action.alternatives()).map(move |which| action.with_alternative(which));
        let possible = actions.filter(move |action| may_be_spurious || !action.is_spurious());
        possible.map(move |action| Next { op: Op { action, ..next.op }, ..next })
    }

    /// The observation of an event.
    pub(super) fn seen(&self, event: &Event) -> Seen {
        self.would_see(&event.op, event.read, self.trace.source_id(event))
    }

    /// The observation of an operation that takes a value from a write (`None`: the initial value).
    pub(super) fn would_see(&self, op: &Op, value: u64, write: Option<EventId>) -> Seen {
        if self.by_source.counts(op, self.loc(op.loc), value) { Seen::Write(write) } else { Seen::Value(value) }
    }

    /// Whether a thread that next takes `value` from this write would complete an iteration that changes nothing.
    pub(super) fn repeats(&self, looks: &Looks, next: &Next, value: u64, write: Option<EventId>) -> bool {
        let write = || write.and_then(|write| self.trace.position(write));
        !looks.is_empty() && looks.completes(&self.standing(next), value, write(), &self.tried).is_some()
    }

    /// A thread before what it observes next, with what it knows there.
    pub(super) fn standing(&self, next: &Next) -> Standing<'_> {
        Standing { trace: &self.trace, histories: &self.histories, id: next.id, op: next.op }
    }

    pub(super) fn loc(&self, loc: LocId) -> &LocInfo {
        &self.trace.locs[loc]
    }

    /// Whether an event belongs to a cut: the cut has all observations that must be made before it, and the event's
    /// own.
    pub(super) fn is_in(&self, at: usize, made: &[u32]) -> bool {
        let event = &self.trace.events[at];
        let needs = self.needs(at);
        let own = self.numbers[event.id.thread].filter(|_| observes(event));
        own.is_none_or(|own| needs[own] < made[own]) && needs.iter().zip(made).all(|(need, made)| need <= made)
    }
}

fn observes(event: &Event) -> bool {
    event.source != Source::None
}
