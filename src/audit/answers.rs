//! Questions of an audit, and their answers: as they are found, as workers send them, and as a checkpoint has them.

use std::collections::HashMap;

use rsmc_core::session::{FailureKind, Report, Verdict};
use rsmc_core::trace::Weakened;
use serde::{Deserialize, Serialize};

/// Whether the check verifies with orderings that are weaker than written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Question {
    /// The orderings, as `RSMC_WEAKEN` takes them: the key of the answer.
    pub(super) weakened: String,
    pub(super) part: Part,
    /// The time that the answer may take, in milliseconds.
    pub(super) millis: u64,
}

impl PartialEq for Question {
    /// A question is the same whenever it is asked.
    fn eq(&self, other: &Self) -> bool {
        (&self.weakened, self.part) == (&other.weakened, other.part)
    }
}

/// The part of a check that an audit repeats for each question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// Of a specification, the scenarios of up to so many calls.
    Calls(usize),
}

/// The answer of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    Holds,
    Fails(Failing),
    /// The time is over, or the check ended at another limit.
    Open,
}

/// A failing execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failing {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    pub(super) seed: String,
    /// Its scenario, if the check is of a specification.
    pub(super) scenario: Option<String>,
}

impl Answer {
    /// The answer that a report is.
    pub(super) fn of(report: Report) -> Self {
        match report.verdict {
            Verdict::Verified => Self::Holds,
            Verdict::Failed(failure) => Self::Fails(Failing {
                kind: failure.kind,
                message: failure.message,
                seed: failure.seed.to_string(),
                scenario: failure.scenario,
            }),
            _ => Self::Open,
        }
    }
}

/// The answers so far.
#[derive(Debug, Default)]
pub(super) struct Answers(HashMap<String, Answer>);

impl Answers {
    pub(super) fn get(&self, weakened: &[Weakened]) -> Option<&Answer> {
        self.0.get(&Weakened::list(weakened))
    }

    pub(super) fn insert(&mut self, weakened: String, answer: Answer) {
        self.0.insert(weakened, answer);
    }

    /// Those that need not be asked for again, in an order of their own.
    pub(super) fn closed(&self) -> Vec<(String, Answer)> {
        let mut closed: Vec<_> =
            self.0.iter().filter(|(_, answer)| **answer != Answer::Open).map(|(q, a)| (q.clone(), a.clone())).collect();
        closed.sort_by(|one, other| one.0.cmp(&other.0));
        closed
    }

    pub(super) fn is_complete(&self) -> bool {
        self.0.values().all(|answer| *answer != Answer::Open)
    }
}

impl FromIterator<(String, Answer)> for Answers {
    fn from_iter<I: IntoIterator<Item = (String, Answer)>>(answers: I) -> Self {
        Self(answers.into_iter().collect())
    }
}
