//! The failing executions of a check, counted by cause.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::explore::rf_smc::MOST_COUNTED;
use crate::seed::Seed;
use crate::session::{FailureKind, MemoryModel};
use crate::step::{Panicked, Run};

/// The most causes that are told apart; messages may differ in every execution.
const MOST: usize = 100;

/// A cause of failures, and the number of executions that fail for it. Panics at one place have one cause, whatever
/// they say; other failures have one cause if their messages are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// The kind of the failures.
    pub kind: FailureKind,
    /// The message of one of them.
    pub message: String,
    /// The number of executions that fail for it.
    pub executions: u64,
    /// The seed of the execution with this message, as `RSMC_REPLAY` takes it.
    pub seed: String,
    key: String,
}

impl Cause {
    /// Whether it is the cause of this failure.
    pub(crate) fn is_of(&self, kind: FailureKind, message: &str, panics: &[Panicked]) -> bool {
        self.kind == kind && self.key == key(kind, message, panics)
    }
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Causes {
    all: Vec<Cause>,
    /// The number of executions that fail for causes that are not told apart.
    others: u64,
}

impl Causes {
    /// The cause of one failing execution.
    pub(super) fn of(run: &Run, kind: FailureKind, message: &str, model: MemoryModel) -> Self {
        let mut causes = Self::default();
        causes.see(run, kind, message, model);
        causes
    }

    /// Adds a failing execution.
    pub(super) fn see(&mut self, run: &Run, kind: FailureKind, message: &str, model: MemoryModel) {
        let key = key(kind, message, &run.panics);
        self.count(kind, &key, 1, || (message.to_owned(), Seed::of_run(run, model).to_string()));
    }

    /// Adds an execution that ended its process.
    pub(super) fn see_crash(&mut self, message: &str, seed: &Seed) {
        self.count(FailureKind::Crash, message, 1, || (message.to_owned(), seed.to_string()));
    }

    /// Adds the executions of others.
    pub(super) fn add(&mut self, others: &Self) {
        for cause in &others.all {
            self.count(cause.kind, &cause.key, cause.executions, || (cause.message.clone(), cause.seed.clone()));
        }
        self.others += others.others;
    }

    /// Adds `executions` to a cause. If it is new, `first` gives its message and its seed.
    fn count(&mut self, kind: FailureKind, key: &str, executions: u64, first: impl FnOnce() -> (String, String)) {
        if let Some(cause) = self.all.iter_mut().find(|cause| cause.kind == kind && cause.key == key) {
            cause.executions += executions;
        } else if self.all.len() < MOST {
            let (message, seed) = first();
            self.all.push(Cause { kind, message, executions, seed, key: key.to_owned() });
        } else {
            self.others += executions;
        }
    }

    /// The number of failing executions.
    pub(super) fn executions(&self) -> u64 {
        self.counts().fold(0, u64::saturating_add)
    }

    /// Whether a check can have counted it.
    pub(super) fn is_sound(&self) -> bool {
        self.counts().all(|count| count < MOST_COUNTED)
    }

    fn counts(&self) -> impl Iterator<Item = u64> {
        self.all.iter().map(|cause| cause.executions).chain([self.others])
    }

    /// The causes, the most frequent first. Those beyond the hundredth are missing.
    pub(super) fn list(mut self) -> Vec<Cause> {
        self.all.sort_by_key(|cause| Reverse(cause.executions));
        self.all
    }
}

/// A text that two failures of a kind share if, and only if, they have one cause.
fn key(kind: FailureKind, message: &str, panics: &[Panicked]) -> String {
    match Panicked::cause(panics).filter(|_| kind == FailureKind::Panic) {
        Some(panic) => panics[panic].site.to_string(),
        None => message.to_owned(),
    }
}
