//! Verdicts and failures, as values.

use std::time::Duration;

use crate::analysis::race::Race;
use crate::seed::Seed;
use crate::session::{
    Cause, Estimate, ExplorerKind, FailureKind, Fewest, MemoryModel, Needs, PreemptionBound, Remedy, Spot,
};
use crate::step::{BadMemory, Panicked, Pending};
use crate::trace::Trace;

/// A failing execution.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// A description in one line.
    pub message: String,
    /// The seed that replays the execution. For [`FailureKind::StaleSeed`] the seed that does not fit; for
    /// [`FailureKind::NothingShared`] one without steps.
    pub seed: Seed,
    /// The execution. Empty for [`FailureKind::Crash`], where it was lost with its process, for
    /// [`FailureKind::StaleSeed`], where another execution ran, and for [`FailureKind::NothingShared`], which has no
    /// failing execution.
    pub trace: Trace,
    /// The threads that wait at its end, and what each waits for.
    pub waiting: Vec<Pending>,
    /// The position of the event from which threads repeat the same operations, for a [`FailureKind::Livelock`] without
    /// a spinning thread.
    pub repeats: Option<u32>,
    /// The panics.
    pub panics: Vec<Panicked>,
    /// The race, for [`FailureKind::DataRace`].
    pub race: Option<Race>,
    /// The bad use of memory, for [`FailureKind::UseAfterFree`] and [`FailureKind::DoubleFree`].
    pub bad_memory: Option<BadMemory>,
    /// The places that only the message names: where leaked objects were created, where a thread that is left was
    /// started, where a lock was taken that the wrong thread gave back.
    pub spots: Vec<Spot>,
    /// The number of context switches of the execution: operations of another thread than the operation before.
    pub switches: u32,
    /// Whether an execution with this failure has fewer.
    pub fewest: Fewest,
    /// The memory models that allow the failure. `None` under SC, for replays, and for failures that do not depend on
    /// order.
    pub needs: Option<Needs>,
    /// The stronger orderings that mend the failure, if some were found.
    pub remedy: Option<Remedy>,
    /// The scenario of a specification whose execution it is, as `RSMC_SCENARIO` takes it. `None` for other checks.
    pub scenario: Option<String>,
}

/// A limit that ended a check before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// `max_executions`.
    Executions(u64),
    /// `max_duration`.
    Duration(Duration),
    /// `max_memory`, in bytes.
    Memory(u64),
    /// `max_steps`, in a run of the exploration that no fair scheduler takes: it held a thread back, and another one
    /// went round a loop that waits for it. All else was explored. An execution that is too long by itself fails.
    Steps(u32),
    /// The user interrupted it, with Ctrl-C for instance.
    Interrupted,
    /// Worker processes ended again and again; the notes of the report say how.
    Workers,
    /// Only the execution of a seed was run, as asked, and it did not fail.
    Replay,
}

impl Limit {
    /// Whether a check that stops here keeps what is left in a checkpoint.
    pub(super) fn leaves_the_rest(self) -> bool {
        matches!(self, Self::Duration(_) | Self::Memory(_) | Self::Interrupted)
    }
}

/// The verdict of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// Every execution was covered, and none failed.
    Verified,
    /// An execution fails.
    Failed(Box<Failure>),
    /// A limit was reached first; no execution that was run failed.
    Incomplete(Limit),
}

/// The result of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// The number of maximal executions explored.
    pub executions: u64,
    /// The number of times the body was started; at least `executions`.
    pub runs: u64,
    /// The number of further starts after a failure: to shrink it, to find the memory models that allow it and the
    /// orderings that mend it, and for its call paths.
    pub extra_runs: u64,
    /// The estimated number of runs of the whole check, if a limit ended it and decisions are known.
    pub estimate: Option<Estimate>,
    /// The number of runs that were given up as redundant. 0 for `reads-from` unless a program spins.
    pub blocked: u64,
    /// The number of explored executions that fail. At most 1 unless `keep_going`.
    pub failures: u64,
    /// Their causes, the most frequent first; at most a hundred.
    pub causes: Vec<Cause>,
    /// The largest number of threads in one execution, the body included.
    pub threads: usize,
    /// The largest number of visible operations in one execution.
    pub events: usize,
    /// Whether some atomic, lock or cell was used by two threads in an execution.
    pub shares: bool,
    /// Whether something of the shim was used that the check does not model: a channel that was created outside, or a
    /// static that ordinary code used meanwhile, as far as that was noticed.
    pub unmodelled: bool,
    /// The time that the check took.
    pub elapsed: Duration,
    /// The memory model.
    pub memory: MemoryModel,
    /// The explorer.
    pub explorer: ExplorerKind,
    /// The bound of preemptions, if there is one: a verdict is about the executions within it.
    pub preemption_bound: Option<PreemptionBound>,
    /// The bound of delays, if there is one: a verdict is about the executions within it.
    pub delay_bound: Option<u32>,
    /// The bound that was reached when a limit ended a check with a rising bound. Executions within smaller bounds were
    /// covered.
    pub level: Option<u32>,
    /// Further remarks, for instance why no worker process started.
    pub notes: Vec<String>,
    /// The orderings that the check took for weaker than written, as `RSMC_WEAKEN` takes them.
    pub weakened: Option<String>,
    /// The notes about pinned seeds that no longer fit the code: their executions were not run.
    pub stale_pins: Vec<String>,
}
