//! Plans: a forced beginning and a policy for the rest.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::{EventId, ThreadId};
use crate::step::{Expect, Observed, Run, Step};
use crate::trace::{Event, LocInfo, Op};

/// A step that must be taken, and what is known of it from an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forced {
    /// The step.
    pub step: Step,
    /// What it must turn out to be; anything else is nondeterminism of the program.
    pub expect: Option<Expect>,
}

impl Forced {
    /// An event of an earlier run, on this location, happens again.
    pub fn of(event: &Event, loc: &LocInfo) -> Self {
        let step = Step::perform(event.id.thread, event.op.action, None);
        Self { step, expect: Some(Expect::of(event, loc)) }
    }

    /// A thread performs an operation that stood before it in an earlier run, and reads this value, if it reads.
    pub fn operation(thread: ThreadId, op: &Op, loc: &LocInfo, read: Option<u64>) -> Self {
        let step = Step::perform(thread, op.action, None);
        Self { step, expect: Some(Expect { read, ..Expect::of_op(op, loc) }) }
    }

    /// A store leaves its buffer.
    pub fn flush(store: EventId) -> Self {
        Self { step: Step::Flush(store), expect: None }
    }
}

/// How to go on where nothing is forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SchedulingPolicy {
    /// Stay on a thread while it can run, then take the lowest.
    RunOn,
    /// Choose uniformly among the runnable threads, from this seed.
    Random(u64),
    /// Probabilistic concurrency testing: the runnable thread of highest random priority, lowered at `depth - 1`
    /// random steps out of `length`.
    Pct {
        /// Seed of the priorities and of the change points.
        seed: u64,
        /// Number of ordering constraints the bug is assumed to need.
        depth: u32,
        /// Expected number of steps.
        length: u32,
    },
}

/// A read that was tried elsewhere with all that it could take when each thread had made so many events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The read.
    pub read: EventId,
    /// By thread: how many of its events there were. Their writes were tried, and the initial value.
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
    /// How many accesses of cells it has begun before.
    pub access: u32,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// An execution of a class of its own.
    #[default]
    Class,
    /// Finding out what else could happen: some threads are frozen, and the run is no class.
    Discovery,
    /// A class of its own if it ends in a livelock that was not seen before, and nothing otherwise.
    Livelock,
}

/// What to run.
#[derive(Debug)]
pub struct Plan {
    /// The forced beginning.
    pub forced: Vec<Forced>,
    /// Under C11: the writes of the forced steps, those of each location in modification order. Empty if it is not known.
    pub modification: Vec<EventId>,
    /// Under C11, where all steps of an execution are forced: the writes that are the newest of their locations at its
    /// end though another happened later. In other locations it is the one that happened last. `None`: it is not
    /// known.
    pub newest: Option<Vec<EventId>>,
    /// The policy for the rest.
    pub policy: SchedulingPolicy,
    /// Threads that wait in a spin loop and do nothing after the forced steps, whatever changes.
    pub frozen: Vec<ThreadId>,
    /// Reads that wait, after the forced steps, until they can take what was not tried; in order of their events.
    /// Where only such reads are left, the run ends as [`crate::step::End::Tried`].
    pub tried: Vec<Tried>,
    /// What the run is for.
    pub purpose: Purpose,
    /// What is known to be observed, besides what the executor has seen.
    pub observed: Observed,
    /// Whether the run records what could have run at every step.
    pub record_choices: bool,
    /// Whether any execution that fails will do instead.
    pub may_probe: bool,
    /// Who is held, if somebody is.
    pub hold: Option<Hold>,
}

impl Plan {
    /// Runs an execution again, of which it forces all steps.
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
            hold,
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
        self.hold = *hold;
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
            hold: None,
        }
    }
}
