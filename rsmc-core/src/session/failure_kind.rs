//! The kinds of failures.

use serde::{Deserialize, Serialize};

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FailureKind {
    /// A thread panicked (a failed assertion, usually), and no thread received the panic through `join`.
    Panic,
    /// Some threads wait for each other for ever.
    Deadlock,
    /// Two accesses of a tracked cell, one of them a write, are not ordered by happens-before.
    DataRace,
    /// Some threads spin for ever, waiting for a value that no thread will write; or they repeat the same operations
    /// for ever, though each thread that can run gets its turn.
    Livelock,
    /// An execution took more steps than `max_steps`.
    StepLimit,
    /// The program did something else when the same schedule was run again.
    Nondeterminism,
    /// A thread uses an atomic, a lock or a cell whose memory was freed, or may be freed before it does; or a tracked
    /// value that was dropped, or may be.
    UseAfterFree,
    /// A thread frees memory that was freed before.
    DoubleFree,
    /// The value behind an `Arc`, or a tracked value, was not dropped when all threads had ended; or memory to which an
    /// atomic or a cell has pointed was not freed, and is no longer reachable.
    Leak,
    /// A thread that was started was never joined, where [`super::Config::check_joins`] asks for that.
    ThreadLeft,
    /// A thread gave back a lock that another one had taken.
    WrongThread,
    /// An operation that a check cannot follow: a real thread used an object of the body.
    Misuse,
    /// A thread needs a larger stack.
    StackOverflow,
    /// An execution ended its process. Only seen with [`super::Config::jobs`].
    Crash,
    /// A seed that does not fit the program.
    StaleSeed,
    /// Threads were started, and no two of them used one object of the shim in any execution: no order of their
    /// operations could make a difference. Usually the code still has a `use std::sync` instead of one of the shim.
    /// [`super::Config::allow_trivial`] lets such a check pass.
    NothingShared,
}

impl FailureKind {
    /// Every kind of this version.
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

    /// Whether a failure of this kind has a seed that runs its execution again. A stale seed runs another execution,
    /// and a check whose threads share nothing has no failing execution.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A new kind does not compile without a place here; the assertion then finds it missing from the list.
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
