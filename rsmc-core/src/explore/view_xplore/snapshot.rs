//! What is kept of a run: its events, what each thread observed, and what must have happened before what.

use crate::base::{EventId, IdVec, LocId, ThreadId};
use crate::explore::by_source::BySource;
use crate::step::{Run, Step, Wait};
use crate::trace::{Event, LocInfo, Op, ProgramOrder, Source, Trace, repeats_iteration};

/// What a read shows: deviation (1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// This value.
    Value(u64),
    /// What this write left (`None`: the initial value).
    Write(Option<EventId>),
}

impl Seen {
    /// Whether a read shows this if it takes a value from a write (`None`: the initial value).
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
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) trace: Trace,
    pub(super) order: ProgramOrder,
    by_source: BySource,
    /// Where threads began to wait in a loop.
    pub(super) waits: Vec<Wait>,
    /// The loops that are known to wait, and how often one without a hint may repeat an iteration.
    waiting_loops: Vec<u64>,
    spin_bound: u32,
    /// How many outcomes without cause an execution may have.
    spurious: u32,
    /// The steps of the run.
    pub(super) steps: Vec<Step>,
    /// The threads that observe something or wait to, in order of their ids: the others do not count in cuts.
    pub(super) threads: Vec<ThreadId>,
    /// By thread: the positions of its events that observe.
    pub(super) observing: Vec<Vec<u32>>,
    /// By thread: the operation that it waits to perform, if it observes.
    pub(super) waiting: Vec<Option<Next>>,
    /// By event, then by thread: how many observations are before it, itself not counted. Then the same for what each
    /// of the threads waits to perform.
    needs: Vec<u32>,
}

impl Snapshot {
    pub(super) fn of(run: &Run, by_source: BySource) -> Self {
        let trace = run.trace.clone();
        let mut order = ProgramOrder::default();
        order.compute(&trace);
        let waiting_of = |thread: ThreadId| {
            let pending = run.waiting.iter().find(|pending| pending.id.thread == thread)?;
            pending.op.filter(|op| op.action.reads()).map(|op| Next { id: pending.id, op })
        };
        let observing_of = |thread: ThreadId| -> Vec<u32> {
            trace.of_thread(thread).iter().copied().filter(|&at| observes(&trace.events[at as usize])).collect()
        };
        let (mut threads, mut observing, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for thread in trace.threads.ids() {
            let (observes, waits) = (observing_of(thread), waiting_of(thread));
            if waits.is_some() || !observes.is_empty() {
                threads.push(thread);
                observing.push(observes);
                waiting.push(waits);
            }
        }
        let steps = run.steps().collect();
        let needs = needs(&trace, &order, &threads);
        let (waits, waiting_loops) = (run.waits.clone(), run.waiting_loops.clone());
        let (spin_bound, spurious) = (run.spin_bound, run.spurious);
        Self {
            trace,
            order,
            by_source,
            waits,
            waiting_loops,
            spin_bound,
            spurious,
            steps,
            threads,
            observing,
            waiting,
            needs,
        }
    }

    /// By thread, how many observations must be made before an event.
    pub(super) fn needs(&self, at: usize) -> &[u32] {
        &self.needs[at * self.threads.len()..(at + 1) * self.threads.len()]
    }

    /// The same for what a thread does after `made` observations: an event or what it waits to perform.
    pub(super) fn next_needs(&self, thread: usize, made: u32) -> &[u32] {
        match self.observing[thread].get(made as usize) {
            Some(&at) => self.needs(at as usize),
            None => self.needs(self.trace.events.len() + thread),
        }
    }

    /// What a thread observes next after `made` observations.
    pub(super) fn next(&self, thread: usize, made: u32) -> Option<Next> {
        match self.observing[thread].get(made as usize) {
            Some(&at) => {
                let event = &self.trace.events[at as usize];
                Some(Next { id: event.id, op: event.op })
            }
            None => self.waiting[thread],
        }
    }

    /// What a thread may do next instead of that, after these events: its alternatives, without outcomes for which there
    /// is no cause if there were as many as there may be.
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

    /// What an event shows.
    pub(super) fn seen(&self, event: &Event) -> Seen {
        self.would_see(&event.op, event.read, self.trace.source_id(event))
    }

    /// What an operation shows that takes a value from a write (`None`: the initial value).
    pub(super) fn would_see(&self, op: &Op, value: u64, write: Option<EventId>) -> Seen {
        if self.by_source.counts(op, self.loc(op.loc), value) { Seen::Write(write) } else { Seen::Value(value) }
    }

    /// Whether a thread that read `value` next would repeat an iteration of a loop that waits.
    pub(super) fn repeats(&self, next: &Next, value: u64) -> bool {
        let (known, bound) = (&self.waiting_loops, self.spin_bound);
        !known.is_empty() && repeats_iteration(&self.trace, next.id, &next.op, value, known, bound)
    }

    pub(super) fn loc(&self, loc: LocId) -> &LocInfo {
        &self.trace.locs[loc]
    }

    /// Whether an event belongs to a cut: all that is observed before it is observed in the cut, and so is what it
    /// observes itself.
    pub(super) fn is_in(&self, at: usize, made: &[u32]) -> bool {
        let event = &self.trace.events[at];
        let own = |thread: usize| u32::from(observes(event) && self.threads[thread] == event.id.thread);
        self.needs(at).iter().zip(made).enumerate().all(|(thread, (need, made))| need + own(thread) <= *made)
    }
}

fn observes(event: &Event) -> bool {
    event.source != Source::None
}

/// How many observations of each thread are before each event, and before what each thread waits to perform.
fn needs(trace: &Trace, order: &ProgramOrder, threads: &[ThreadId]) -> Vec<u32> {
    let width = threads.len();
    let mut number: IdVec<ThreadId, Option<usize>> = IdVec::new();
    if let Some(&last) = threads.last() {
        number.grow_to(last, || None);
    }
    threads.iter().enumerate().for_each(|(i, &thread)| number[thread] = Some(i));
    let mut needs = Vec::with_capacity((trace.events.len() + width) * width);
    let waiting = threads.iter().map(|&thread| order.next_preds(thread));
    for preds in (0..trace.events.len()).map(|at| order.preds(at)).chain(waiting) {
        let from = needs.len();
        needs.resize(from + width, 0);
        let (before, own) = needs.split_at_mut(from);
        for &pred in preds {
            let event = &trace.events[pred as usize];
            let theirs = &before[pred as usize * width..(pred as usize + 1) * width];
            own.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = (*theirs).max(*mine));
            if let Some(&Some(thread)) = number.get(event.id.thread).filter(|_| observes(event)) {
                own[thread] = own[thread].max(theirs[thread] + 1);
            }
        }
    }
    needs
}
