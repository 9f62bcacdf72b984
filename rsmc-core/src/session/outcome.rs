//! Verdicts and failures, as values.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::analysis::race::Race;
use crate::seed::Seed;
use crate::session::{Estimate, ExplorerKind, Fewest, MemoryModel, Needs, Remedy};
use crate::step::{BadMemory, Panicked, Pending};
use crate::trace::Trace;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FailureKind {
    /// A thread panicked (a failed assertion, usually), and nobody received it through `join`.
    Panic,
    /// Some threads wait for each other for ever.
    Deadlock,
    /// Two accesses of a tracked cell, one of them a write, are not ordered by happens-before.
    DataRace,
    /// Some threads spin for ever, waiting for a value that nobody will write; or they do the same again and again, though
    /// each that can run gets its turn.
    Livelock,
    /// An execution took more steps than `max_steps`.
    StepLimit,
    /// The program did something else when the same schedule was run again.
    Nondeterminism,
    /// A thread uses an atomic, a lock or a cell whose memory was freed, or may be freed before it does.
    UseAfterFree,
    /// A thread frees memory that was freed before.
    DoubleFree,
    /// The value behind an `Arc`, or a tracked one, was still there when all threads had ended; or memory to which an atomic has
    /// pointed, and to which nothing leads any more.
    Leak,
    /// A thread that was started was never joined, where [`super::Config::check_joins`] asks for that.
    ThreadLeft,
    /// A thread gave back a lock that another one had taken.
    WrongThread,
    /// A check cannot follow what was done: a real thread used an object of the body.
    Misuse,
    /// A thread needs a larger stack.
    StackOverflow,
    /// The process was ended by what an execution did. Only seen with [`super::Config::jobs`].
    Crash,
    /// A seed that does not fit the program.
    StaleSeed,
    /// Threads were started, and no two of them used one object of the shim in any execution: no order of their operations
    /// could make a difference. Usually the code still has a `use std::sync` where one of the shim was meant.
    /// [`super::Config::allow_trivial`] lets such a check pass.
    NothingShared,
}

impl FailureKind {
    /// Every kind that there is now.
    pub const ALL: &[FailureKind] = &[
        FailureKind::Panic,
        FailureKind::Deadlock,
        FailureKind::DataRace,
        FailureKind::Livelock,
        FailureKind::StepLimit,
        FailureKind::Nondeterminism,
        FailureKind::UseAfterFree,
        FailureKind::DoubleFree,
        FailureKind::Leak,
        FailureKind::ThreadLeft,
        FailureKind::WrongThread,
        FailureKind::Misuse,
        FailureKind::StackOverflow,
        FailureKind::Crash,
        FailureKind::StaleSeed,
        FailureKind::NothingShared,
    ];

    /// Whether a failure of this kind has a seed that runs its execution again. A seed that is stale runs another one, and where
    /// nothing is shared it is not one execution that fails.
    ///
    /// ```
    /// use rsmc_core::session::FailureKind;
    ///
    /// assert!(FailureKind::Deadlock.is_replayed());
    /// assert!(!FailureKind::NothingShared.is_replayed());
    /// ```
    pub fn is_replayed(self) -> bool {
        !matches!(self, FailureKind::StaleSeed | FailureKind::NothingShared)
    }
}

/// A failing execution.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What went wrong, in one line.
    pub message: String,
    /// Replays the execution. For [`FailureKind::StaleSeed`] the seed that does not fit; for [`FailureKind::NothingShared`] one
    /// of no steps.
    pub seed: Seed,
    /// The execution. Empty for [`FailureKind::Crash`], where it went with its process, and for
    /// [`FailureKind::StaleSeed`], where it is not the one that is meant; also for [`FailureKind::NothingShared`], where it is
    /// not one execution that fails.
    pub trace: Trace,
    /// The threads that wait at its end, and for what.
    pub waiting: Vec<Pending>,
    /// From the event at this position on, threads do the same again and again, for [`FailureKind::Livelock`] without a
    /// thread that only looks.
    pub repeats: Option<u32>,
    /// The panics.
    pub panics: Vec<Panicked>,
    /// The race, for [`FailureKind::DataRace`].
    pub race: Option<Race>,
    /// What is done with memory, for [`FailureKind::UseAfterFree`] and [`FailureKind::DoubleFree`].
    pub bad_memory: Option<BadMemory>,
    /// How many context switches the execution has: operations of another thread than the operation before.
    pub switches: u32,
    /// Whether there is an execution with this failure that has fewer.
    pub fewest: Fewest,
    /// Which memory models allow the failure. `None` under SC, for replays, and for failures that are no matter of order.
    pub needs: Option<Needs>,
    /// Which stronger orderings would mend it, if a matter of these and found.
    pub remedy: Option<Remedy>,
}

/// A limit that ended a check before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// `max_executions`.
    Executions(u64),
    /// `max_duration`.
    Duration(Duration),
    /// The user interrupted it, with Ctrl-C for instance.
    Interrupted,
    /// Worker processes ended again and again; the notes of the report say how.
    Workers,
    /// Only the execution of a seed was run, as asked, and it did not fail.
    Replay,
}

/// What a check found out.
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
    /// What was found out.
    pub verdict: Verdict,
    /// Maximal executions explored.
    pub executions: u64,
    /// How often the body was started; at least `executions`.
    pub runs: u64,
    /// How often it was started besides, after a failure: to shrink it, and to see which memory models allow it.
    pub extra_runs: u64,
    /// How many runs there would have been in all, if a limit came first and decisions are known.
    pub estimate: Option<Estimate>,
    /// Runs that were given up as redundant. 0 for `reads-from` unless a program spins.
    pub blocked: u64,
    /// How many explored executions fail. At most 1 unless `keep_going`.
    pub failures: u64,
    /// The largest number of threads in one execution, the body included.
    pub threads: usize,
    /// The largest number of visible operations in one execution.
    pub events: usize,
    /// Whether some atomic, lock or cell was used by two threads in an execution.
    pub shares: bool,
    /// Whether something of the shim was used that the check does not model: a channel that was created outside, or a
    /// static that ordinary code used meanwhile, as far as that was noticed.
    pub unmodelled: bool,
    /// How long the check took.
    pub elapsed: Duration,
    /// The memory model.
    pub memory: MemoryModel,
    /// The explorer.
    pub explorer: ExplorerKind,
    /// What is to be said besides, for instance why there was no worker process.
    pub notes: Vec<String>,
    /// Those of the notes that name a pinned seed which does not fit the code any more: its execution was not run.
    pub stale_pins: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new kind does not compile here without a place, and has none in the list then.
    #[test]
    fn all_kinds_are_listed() {
        let place = |kind: &FailureKind| match kind {
            FailureKind::Panic => 0,
            FailureKind::Deadlock => 1,
            FailureKind::DataRace => 2,
            FailureKind::Livelock => 3,
            FailureKind::StepLimit => 4,
            FailureKind::Nondeterminism => 5,
            FailureKind::UseAfterFree => 6,
            FailureKind::DoubleFree => 7,
            FailureKind::Leak => 8,
            FailureKind::ThreadLeft => 9,
            FailureKind::WrongThread => 10,
            FailureKind::Misuse => 11,
            FailureKind::StackOverflow => 12,
            FailureKind::Crash => 13,
            FailureKind::StaleSeed => 14,
            FailureKind::NothingShared => 15,
        };
        assert!(FailureKind::ALL.iter().map(place).eq(0..16));
    }
}
