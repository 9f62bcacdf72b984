//! Plans: a forced beginning and a policy for the rest.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::{EventId, ThreadId};
use crate::step::{Expect, Observed, Run, Step};
use crate::trace::{Event, LocInfo, Op};

/// A step that must be taken, and its properties in an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forced {
    /// The step.
    pub step: Step,
    /// The properties that its event must have; a difference is nondeterminism of the program.
    pub expect: Option<Expect>,
}

impl Forced {
    /// Repeats an event of an earlier run, on this location.
    pub fn of(event: &Event, loc: &LocInfo) -> Self {
        let step = Step::perform(event.id.thread, event.op.action, None);
        Self { step, expect: Some(Expect::of(event, loc)) }
    }

    /// Makes a thread perform an operation that it stood before in an earlier run, and read this value, if it reads.
    pub fn operation(thread: ThreadId, op: &Op, loc: &LocInfo, read: Option<u64>) -> Self {
        let step = Step::perform(thread, op.action, None);
        Self { step, expect: Some(Expect { read, ..Expect::of_op(op, loc) }) }
    }

    /// Makes a store leave its buffer.
    pub fn flush(store: EventId) -> Self {
        Self { step: Step::Flush(store), expect: None }
    }
}

/// The way in which a run goes on where nothing is forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SchedulingPolicy {
    /// Stay on a thread while it can run, then take the lowest.
    RunOn,
    /// Choose uniformly among the runnable threads, from this seed.
    Random(u64),
    /// Probabilistic concurrency testing: the runnable thread of highest random priority, lowered at `depth - 1`
    /// random steps out of `length`.
    Pct {
        /// The seed of the priorities and of the change points.
        seed: u64,
        /// The number of ordering constraints that the bug is assumed to need.
        depth: u32,
        /// The expected number of steps.
        length: u32,
    },
}

/// A read that was tried elsewhere with every source that it had when each thread had made so many events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The read.
    pub read: EventId,
    /// By thread: the number of its events then. Their writes were tried, and the initial value.
    pub counts: Arc<[u32]>,
}

impl Tried {
    /// Whether taking this write (`None`: the initial value) was tried.
    pub fn includes(&self, write: Option<EventId>) -> bool {
        write.is_none_or(|write| self.counts.get(write.thread.0 as usize).is_some_and(|&count| write.index < count))
    }
}

/// A thread that waits before an access of a cell until the forced steps were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The thread.
    pub thread: ThreadId,
    /// The number of accesses of cells that it has begun before.
    pub access: u32,
}

/// The purpose of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// An execution of a class of its own.
    #[default]
    Class,
    /// A look for other possible events: some threads are frozen, and the run is no class.
    Discovery,
    /// A class of its own if it ends in a livelock that was not seen before, and nothing otherwise.
    Livelock,
}

/// The plan of a run.
#[derive(Debug)]
pub struct Plan {
    /// The forced beginning.
    pub forced: Vec<Forced>,
    /// Under C11: the writes of the forced steps, those of each location in modification order. Empty if that order is
    /// not known.
    pub modification: Vec<EventId>,
    /// Under C11, where all steps of an execution are forced: the writes that are the newest of their locations at its
    /// end though another happened later. In other locations the newest write is the one that happened last. `None`:
    /// not known.
    pub newest: Option<Vec<EventId>>,
    /// The policy for the rest.
    pub policy: SchedulingPolicy,
    /// Threads that wait in a spin loop and take no step after the forced steps.
    pub frozen: Vec<ThreadId>,
    /// Reads that wait, after the forced steps, until they have a source that was not tried; in order of their events.
    /// If only such reads remain, the run ends as [`crate::step::End::Tried`].
    pub tried: Vec<Tried>,
    /// The purpose of the run.
    pub purpose: Purpose,
    /// Known observations, besides those of the executor.
    pub observed: Observed,
    /// Whether the run records the possible steps at every step.
    pub record_choices: bool,
    /// Whether any execution that fails will do instead.
    pub may_probe: bool,
    /// Whether the explorer has to know of every line before which threads wait in loops, and not only of one.
    pub names_loops: bool,
    /// Whether attempts that came too late are left out ([`crate::machine`], `retries`).
    pub leaves_out_retries: bool,
    /// The thread that is held before an access, if any.
    pub hold: Option<Hold>,
    /// The number of events after which the run ends, if the executor has no lower limit.
    pub most_events: usize,
}

impl Plan {
    /// The plan that runs an execution again: it forces all steps.
    pub fn again(run: &Run) -> Self {
        let expected = run.trace.events.iter().map(|event| Forced::of(event, &run.trace.locs[event.op.loc]));
        let mut expected = expected.map(|forced| forced.expect);
        let forced = run.steps().map(|step| {
            let is_event = !matches!(step, Step::Flush(_));
            Forced { step, expect: if is_event { expected.next().flatten() } else { None } }
        });
        Self {
            forced: forced.collect(),
            newest: run.newest_at_end(),
            observed: run.observed.clone(),
            ..Self::default()
        }
    }
}

impl Clone for Plan {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Keeps the memory.
    fn clone_from(&mut self, other: &Self) {
        let Self {
            forced,
            modification,
            newest,
            policy,
            frozen,
            tried,
            purpose,
            observed,
            record_choices,
            may_probe,
            names_loops,
            leaves_out_retries,
            hold,
            most_events,
        } = other;
        self.forced.clone_from(forced);
        self.modification.clone_from(modification);
        self.newest.clone_from(newest);
        self.policy = *policy;
        self.frozen.clone_from(frozen);
        self.tried.clone_from(tried);
        self.purpose = *purpose;
        self.observed.clone_from(observed);
        self.record_choices = *record_choices;
        self.may_probe = *may_probe;
        self.names_loops = *names_loops;
        self.leaves_out_retries = *leaves_out_retries;
        self.hold = *hold;
        self.most_events = *most_events;
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            forced: Vec::new(),
            modification: Vec::new(),
            newest: None,
            policy: SchedulingPolicy::RunOn,
            frozen: Vec::new(),
            tried: Vec::new(),
            purpose: Purpose::Class,
            observed: Observed::default(),
            record_choices: false,
            may_probe: false,
            names_loops: false,
            leaves_out_retries: false,
            hold: None,
            most_events: usize::MAX,
        }
    }
}
