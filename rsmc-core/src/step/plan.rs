//! Plans: a forced beginning and a policy for the rest.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::{EventId, ThreadId, mix};
use crate::step::{Expect, Run};
use crate::trace::{Action, Event, LocInfo, Op, Site};

/// One decision of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// The thread performs the operation it stands before.
    Run(ThreadId),
    /// The thread performs the operation it stands before, which reads, and takes what this write left (`None`: the initial
    /// value). Under C11; otherwise, and where nothing is said, it takes the newest.
    Take(ThreadId, Option<EventId>),
    /// The thread performs another alternative of the operation it stands before ([`crate::trace::Action::alternatives`]);
    /// one that reads takes what `takes` says, as in [`Step::Take`].
    Choose {
        /// The thread.
        thread: ThreadId,
        /// The number of the alternative.
        which: u64,
        /// What it takes, if that is said.
        takes: Option<Option<EventId>>,
    },
    /// This store leaves the buffer of its thread and becomes visible to all.
    Flush(EventId),
}

impl Step {
    /// A thread performs an operation, and takes what newest is or what is said.
    pub fn perform(thread: ThreadId, action: Action, takes: Option<Option<EventId>>) -> Self {
        Self::alternative(thread, action.alternative(), takes)
    }

    /// The same, by the number of the alternative.
    pub fn alternative(thread: ThreadId, which: u64, takes: Option<Option<EventId>>) -> Self {
        match (which, takes) {
            (0, None) => Step::Run(thread),
            (0, Some(write)) => Step::Take(thread, write),
            (which, takes) => Step::Choose { thread, which, takes },
        }
    }

    /// The number of the alternative that a thread performs, and what it takes, if that is said.
    pub fn performed(self) -> (u64, Option<Option<EventId>>) {
        match self {
            Step::Run(_) | Step::Flush(_) => (0, None),
            Step::Take(_, write) => (0, Some(write)),
            Step::Choose { which, takes, .. } => (which, takes),
        }
    }

    /// The thread the step belongs to.
    pub fn thread(self) -> ThreadId {
        match self {
            Step::Run(thread) | Step::Take(thread, _) | Step::Choose { thread, .. } => thread,
            Step::Flush(store) => store.thread,
        }
    }
}

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

/// What the program was seen to do that executors have to know: what it observes is a step where it otherwise is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Whether other threads have ended.
    pub ends: bool,
    /// How many references there are, of `Arc`s of these types; and at which lines loops keep something where it is not seen. By
    /// number.
    pub counts: Vec<u32>,
}

impl Observed {
    /// The number of a type or line, by its name: the same in every process, so that a seed can hold it.
    pub fn number_of(type_name: &str) -> u32 {
        type_name.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte))) as u32
    }

    /// Whether the counts of `Arc`s of this type are observed.
    pub fn has_counts_of(&self, type_name: &str) -> bool {
        !self.counts.is_empty() && self.counts.contains(&Self::number_of(type_name))
    }

    /// Whether loops at this line keep something where it is not seen.
    pub fn hides(&self, site: Site) -> bool {
        !self.counts.is_empty() && self.counts.contains(&Self::number_of(&site.to_string()))
    }

    /// A loop at this line keeps something where it is not seen.
    pub fn note_hiding(&mut self, site: Site) {
        self.note(Self::number_of(&site.to_string()));
    }

    fn note(&mut self, number: u32) {
        if !self.counts.contains(&number) {
            self.counts.push(number);
        }
    }

    /// Adds what `other` says.
    pub fn join(&mut self, other: &Observed) {
        self.ends |= other.ends;
        other.counts.iter().for_each(|&number| self.note(number));
    }
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
