//! Seeds: one execution as a short text that replays it.
//!
//! A seed holds the memory model, the sequence of steps, and a byte per operation with its kind. It holds no lines and
//! no values, so it survives edits that move code. If an operation changed, the replay names it and its former kind
//! (`check`).
//!
//! Text form: `rsmc3-` and the base64 (URL alphabet, no padding) of the bytes that `script` writes and four bytes of
//! their hash. Threads are numbered in the order in which they are spawned.
//!
//! Under C11 the steps give the write that every read takes, but not which write is the newest of its location. In a
//! stuck execution the newest writes decide which threads wait, so its seed names the newest writes that did not happen
//! last. A replay does not check that they can be newest.

mod check;
mod coder;
mod script;

use std::fmt;
use std::str::FromStr;

use base64ct::{Base64UrlUnpadded, Encoding};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use crate::base::{EventId, ThreadId};
use crate::model::MemoryModel;
use crate::step::{Forced, Observed, Plan, Run, Step};

const PREFIX: &str = "rsmc3-";

/// The beginning of all seeds, of this version or another.
const NAME: &str = "rsmc";

/// The largest number of steps in a seed. A longer execution keeps its first steps only; the rest of its replay runs
/// without a choice. A step costs a letter or less.
const LONGEST: usize = 8_000;

/// An execution that can be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    model: MemoryModel,
    observed: Observed,
    /// Threads are numbered by the order of spawning, also in the names of stores.
    steps: Vec<Step>,
    checks: Vec<u8>,
    /// As [`Plan::newest`].
    newest: Option<Vec<EventId>>,
}

/// A text that is no seed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeedError {
    /// The text does not start like a seed.
    #[error("a seed starts with `{PREFIX}`, as printed in the report; this is `{0}`")]
    NotASeed(String),
    /// A version with another format made the seed.
    #[error("the seed was made by another version of rsmc: seeds of this one start with `{PREFIX}`; search again")]
    OtherVersion,
    /// The seed is damaged.
    #[error("the seed is damaged (a letter is missing or changed): copy it again from the report")]
    Damaged,
}

/// The operation at which a seed stops to fit a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The position of the event.
    pub at: usize,
    /// The kind of operation when the seed was made: "a load".
    pub was: &'static str,
    /// The kind of operation now, unless the execution ends before it.
    pub is: Option<&'static str>,
}

impl Seed {
    /// The seed of an execution under a memory model.
    pub fn of_run(run: &Run, model: MemoryModel) -> Self {
        Self::of_prefix(run, model, &run.observed)
    }

    /// The seed of an execution that has not ended, with the observations `observed`.
    pub fn of_prefix(run: &Run, model: MemoryModel, observed: &Observed) -> Self {
        let numbers: Vec<ThreadId> = std::iter::once(ThreadId::MAIN).chain(run.trace.spawned()).collect();
        let number = |thread: ThreadId| {
            let number = numbers.iter().position(|&t| t == thread).expect("it was spawned");
            ThreadId(number as u32)
        };
        let event = |id: EventId| EventId { thread: number(id.thread), ..id };
        let renamed = |step: Step| match step {
            Step::Run(thread) => Step::Run(number(thread)),
            Step::Take(thread, write) => Step::Take(number(thread), write.map(event)),
            Step::Choose { thread, which, takes } => {
                Step::Choose { thread: number(thread), which, takes: takes.map(|write| write.map(event)) }
            }
            Step::Flush(store) => Step::Flush(event(store)),
        };
        let steps: Vec<Step> = run.steps().take(LONGEST).map(renamed).collect();
        let operations = steps.iter().filter(|step| !matches!(step, Step::Flush(_))).count();
        let checks = run.trace.events[..operations].iter().map(|event| check::of(event, &run.trace)).collect();
        let is_whole = run.steps().nth(LONGEST).is_none();
        let newest = run.newest_at_end().filter(|_| is_whole);
        let newest = newest.map(|writes| writes.into_iter().map(event).collect());
        Self { model, observed: observed.clone(), steps, checks, newest }
    }

    /// The memory model under which it was made.
    pub fn model(&self) -> MemoryModel {
        self.model
    }

    /// The plan that replays it in a new executor.
    pub fn plan(&self) -> Plan {
        let forced = |&step: &Step| Forced { step, expect: None };
        let (forced, observed) = (self.steps.iter().map(forced).collect(), self.observed.clone());
        Plan { forced, newest: self.newest.clone(), observed, ..Plan::default() }
    }

    /// The number of steps of the seed, if the execution has more.
    pub fn cut_after(&self, run: &Run) -> Option<usize> {
        (run.steps().nth(self.steps.len()).is_some()).then_some(self.steps.len())
    }

    /// The first operation in which a replay differs from the seed, if any.
    pub fn mismatch(&self, run: &Run) -> Option<Mismatch> {
        let found = run.trace.events.iter().map(|event| check::of(event, &run.trace));
        let found = found.map(Some).chain(std::iter::repeat(None));
        let (at, (&was, is)) = self.checks.iter().zip(found).enumerate().find(|&(_, (&was, is))| is != Some(was))?;
        Some(Mismatch { at, was: check::name(was), is: is.map(check::name) })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = script::write(self);
        bytes.extend_from_slice(&hash(&bytes));
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (content, sum) = bytes.split_last_chunk()?;
        if hash(content) != *sum { None } else { script::read(content) }
    }
}

fn hash(bytes: &[u8]) -> [u8; 4] {
    (xxh3_64(bytes) as u32).to_le_bytes()
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", Base64UrlUnpadded::encode_string(&self.bytes()))
    }
}

impl FromStr for Seed {
    type Err = SeedError;
    fn from_str(text: &str) -> Result<Self, SeedError> {
        let text = text.trim();
        let Some(code) = text.strip_prefix(PREFIX) else {
            let is_version = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('-');
            if text.strip_prefix(NAME).is_some_and(is_version) {
                return Err(SeedError::OtherVersion);
            }
            let start: String = text.chars().take(40).collect();
            return Err(SeedError::NotASeed(start));
        };
        let bytes = Base64UrlUnpadded::decode_vec(code).map_err(|_| SeedError::Damaged)?;
        Seed::from_bytes(&bytes).ok_or(SeedError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed() -> Seed {
        let run = |thread| Step::Run(ThreadId(thread));
        let flush = |thread, index| Step::Flush(EventId { thread: ThreadId(thread), index });
        let choose = |which, takes| Step::Choose { thread: ThreadId(2), which, takes };
        let steps = vec![
            run(0),
            run(1),
            run(1),
            run(1),
            flush(1, 2),
            flush(1, 0),
            choose(1, None),
            run(300),
            choose(200, None),
        ];
        let observed = Observed { ends: true, counts: vec![7, 1 << 20] };
        Seed { model: MemoryModel::Pso, observed, steps, checks: vec![0x21, 0x22, 3, 0x24, 5, 6, 7], newest: None }
    }

    #[test]
    fn text_reads_back() {
        let text = seed().to_string();
        assert_eq!(text.parse(), Ok(seed()));
        assert_eq!(format!("  {text}\n").parse(), Ok(seed()));
        let write = EventId { thread: ThreadId(1), index: 0 };
        let choose = |takes| Step::Choose { thread: ThreadId(1), which: 1, takes };
        let steps = vec![choose(Some(None)), choose(Some(Some(write))), choose(None), Step::Take(ThreadId(0), None)];
        for newest in [None, Some(Vec::new()), Some(vec![write])] {
            let (model, observed, steps) = (MemoryModel::C11, Observed::default(), steps.clone());
            let of_c11 = Seed { model, observed, steps, checks: vec![0, 0x10, 0x20, 0xff], newest };
            assert_eq!(of_c11.to_string().parse(), Ok(of_c11));
        }
    }

    #[test]
    fn damage_is_noticed_wherever_it_is() {
        let text = seed().to_string();
        for at in PREFIX.len()..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
            let damaged = String::from_utf8(damaged).unwrap();
            assert_eq!(damaged.parse::<Seed>(), Err(SeedError::Damaged), "{damaged}");
            assert_eq!(text[..at].parse::<Seed>(), Err(SeedError::Damaged));
        }
        assert_eq!("hello".parse::<Seed>(), Err(SeedError::NotASeed("hello".into())));
        for other in ["rsmc1-AwkAAQI", "rsmc2-AwIDAQYBUVHMOjRk"] {
            assert_eq!(other.parse::<Seed>(), Err(SeedError::OtherVersion));
        }
        assert_eq!("rsmc".parse::<Seed>(), Err(SeedError::NotASeed("rsmc".into())));
    }
}
