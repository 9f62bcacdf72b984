//! Seeds: one execution as a short text that replays it.
//!
//! A seed holds the memory model, the sequence of steps and a byte per operation that tells of what kind it is. Lines
//! and values are not part of it, so it survives edits that move code; where an operation changed, the replay says
//! which, and what it was (`check`).
//!
//! Text form: `rsmc2-` and base64 (URL alphabet, no padding) of: model and what is observed, number of steps, runs of equal steps, for
//! what each step needs besides, check bytes, checksum. A step is three times the number of its thread, plus 1 for a flush
//! (needs: how many operations ago its thread stored that), or under C11 for a read that names its source (needs: 0 for
//! the initial value, else the index of the write plus 1, and its thread), plus 2 for another alternative of an operation
//! (needs: its number, and 0, or 1 and then what it takes). Threads are numbered in the order in which they are spawned.

mod check;

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use crate::base::{EventId, IdVec, ThreadId};
use crate::model::MemoryModel;
use crate::step::{Forced, Observed, Plan, Run, Step};

const PREFIX: &str = "rsmc2-";

/// How all seeds start, of this version or another.
const NAME: &str = "rsmc";

/// Longer executions keep their first steps only; the rest of a replay runs without a choice. A step more costs a
/// letter or two.
const LONGEST: usize = 8_000;

/// An execution that can be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    model: MemoryModel,
    observed: Observed,
    /// Threads are numbered by the order of spawning, also in the names of stores.
    steps: Vec<Step>,
    checks: Vec<u8>,
}

/// A text that is no seed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeedError {
    /// It does not start like one.
    #[error("a seed starts with `{PREFIX}`, as printed in the report; this is `{0}`")]
    NotASeed(String),
    /// It was made by a version whose seeds are written otherwise.
    #[error("the seed was made by another version of rsmc: seeds of this one start with `{PREFIX}`; search again")]
    OtherVersion,
    /// It is damaged.
    #[error("the seed is damaged (a letter is missing or changed): copy it again from the report")]
    Damaged,
}

/// The operation at which a seed stops to fit a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The position of the event.
    pub at: usize,
    /// What it did when the seed was made: "a load".
    pub was: &'static str,
    /// What it does now, unless the execution ends before it.
    pub is: Option<&'static str>,
}

impl Seed {
    /// The seed of an execution under a memory model.
    pub fn of_run(run: &Run, model: MemoryModel) -> Self {
        Self::of_prefix(run, model, &run.observed)
    }

    /// The seed of an execution that has not ended, in which this is observed.
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
        Self { model, observed: observed.clone(), steps, checks }
    }

    /// The memory model under which it was made.
    pub fn model(&self) -> MemoryModel {
        self.model
    }

    /// The plan that replays it in a new executor.
    pub fn plan(&self) -> Plan {
        let forced = |&step: &Step| Forced { step, expect: None };
        let observed = self.observed.clone();
        Plan { forced: self.steps.iter().map(forced).collect(), observed, ..Plan::default() }
    }

    /// How many steps it has, if the execution has more.
    pub fn cut_after(&self, run: &Run) -> Option<usize> {
        (run.steps().nth(self.steps.len()).is_some()).then_some(self.steps.len())
    }

    /// Where a replay did something else than the seed says, if it did.
    pub fn mismatch(&self, run: &Run) -> Option<Mismatch> {
        let found = run.trace.events.iter().map(|event| check::of(event, &run.trace));
        let found = found.map(Some).chain(std::iter::repeat(None));
        let (at, (&was, is)) = self.checks.iter().zip(found).enumerate().find(|&(_, (&was, is))| is != Some(was))?;
        Some(Mismatch { at, was: check::name(was), is: is.map(check::name) })
    }

    fn bytes(&self) -> Vec<u8> {
        let Observed { ends, counts } = &self.observed;
        let flags = if *ends { ENDS } else { 0 } | if counts.is_empty() { 0 } else { COUNTS };
        let mut bytes = vec![self.model as u8 | flags];
        if !counts.is_empty() {
            put(&mut bytes, counts.len());
            counts.iter().for_each(|kind| bytes.extend_from_slice(&kind.to_le_bytes()));
        }
        put(&mut bytes, self.steps.len());
        let codes: Vec<usize> = self.steps.iter().map(|&step| code(step)).collect();
        for same in codes.chunk_by(|a, b| a == b) {
            put(&mut bytes, same[0]);
            put(&mut bytes, same.len());
        }
        let mut performed = Performed::default();
        for &step in &self.steps {
            match step {
                Step::Run(thread) => *performed.of(thread) += 1,
                Step::Take(thread, write) => {
                    put_write(&mut bytes, write);
                    *performed.of(thread) += 1;
                }
                Step::Choose { thread, which, takes } => {
                    put(&mut bytes, which as usize);
                    put(&mut bytes, usize::from(takes.is_some()));
                    takes.iter().for_each(|&write| put_write(&mut bytes, write));
                    *performed.of(thread) += 1;
                }
                Step::Flush(store) => put(&mut bytes, (*performed.of(store.thread) - store.index) as usize),
            }
        }
        bytes.extend_from_slice(&self.checks);
        let sum = xxh3_64(&bytes).to_le_bytes();
        bytes.extend_from_slice(&sum[..4]);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (content, sum) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
        if xxh3_64(content).to_le_bytes()[..4] != *sum {
            return None;
        }
        let (&first, mut rest) = content.split_first()?;
        let model = MODELS.into_iter().find(|&known| known as u8 == first & !(ENDS | COUNTS))?;
        let mut observed = Observed { ends: first & ENDS != 0, counts: Vec::new() };
        for _ in 0..if first & COUNTS != 0 { take(&mut rest)? } else { 0 } {
            let (kind, after) = rest.split_first_chunk()?;
            observed.counts.push(u32::from_le_bytes(*kind));
            rest = after;
        }
        let steps = take(&mut rest)?;
        let mut codes = Vec::new();
        while codes.len() < steps {
            let code = take(&mut rest)?;
            let length = take(&mut rest)?;
            if length == 0 || length > steps - codes.len() {
                return None;
            }
            codes.resize(codes.len() + length, code);
        }
        let mut performed = Performed::default();
        let mut read = |code: usize| {
            let thread = thread_of(code / 3)?;
            let done = performed.of(thread);
            if code % 3 == 1 && model != MemoryModel::C11 {
                let index = done.checked_sub(u32::try_from(take(&mut rest)?).ok()?)?;
                return Some(Step::Flush(EventId { thread, index }));
            }
            *done += 1;
            match code % 3 {
                0 => Some(Step::Run(thread)),
                1 => Some(Step::Take(thread, take_write(&mut rest)?)),
                _ => {
                    let which = take(&mut rest)? as u64;
                    let takes = if take(&mut rest)? > 0 { Some(take_write(&mut rest)?) } else { None };
                    Some(Step::Choose { thread, which, takes })
                }
            }
        };
        let steps = codes.into_iter().map(&mut read).collect::<Option<Vec<Step>>>()?;
        let operations = steps.iter().filter(|step| !matches!(step, Step::Flush(_))).count();
        (rest.len() == operations).then(|| Self { model, observed, steps, checks: rest.to_vec() })
    }
}

const MODELS: [MemoryModel; 4] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11];

/// In the first byte, beside the model: what is observed.
const ENDS: u8 = 16;
const COUNTS: u8 = 32;

/// No execution has more threads.
const MOST_THREADS: u32 = 1 << 24;

fn code(step: Step) -> usize {
    let kind = match step {
        Step::Run(_) => 0,
        Step::Take(..) | Step::Flush(_) => 1,
        Step::Choose { .. } => 2,
    };
    3 * step.thread().0 as usize + kind
}

fn thread_of(number: usize) -> Option<ThreadId> {
    u32::try_from(number).ok().filter(|&number| number < MOST_THREADS).map(ThreadId)
}

/// What a read takes.
fn put_write(bytes: &mut Vec<u8>, write: Option<EventId>) {
    put(bytes, write.map_or(0, |write| 1 + write.index as usize));
    write.iter().for_each(|write| put(bytes, write.thread.0 as usize));
}

fn take_write(rest: &mut &[u8]) -> Option<Option<EventId>> {
    let Some(index) = take(rest)?.checked_sub(1) else { return Some(None) };
    let thread = thread_of(take(rest)?)?;
    Some(Some(EventId { thread, index: u32::try_from(index).ok()? }))
}

/// How many operations each thread has performed.
#[derive(Default)]
struct Performed(IdVec<ThreadId, u32>);

impl Performed {
    fn of(&mut self, thread: ThreadId) -> &mut u32 {
        self.0.grow_to(thread, || 0);
        &mut self.0[thread]
    }
}

/// Appends a number, seven bits a byte, lowest first.
fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", BASE64URL_NOPAD.encode(&self.bytes()))
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
        let bytes = BASE64URL_NOPAD.decode(code.as_bytes()).map_err(|_| SeedError::Damaged)?;
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
        Seed { model: MemoryModel::Pso, observed, steps, checks: vec![1, 2, 3, 4, 5, 6, 7] }
    }

    #[test]
    fn text_reads_back() {
        let text = seed().to_string();
        assert_eq!(text.parse(), Ok(seed()));
        assert_eq!(format!("  {text}\n").parse(), Ok(seed()));
        let write = EventId { thread: ThreadId(1), index: 0 };
        let choose = |takes| Step::Choose { thread: ThreadId(1), which: 1, takes };
        let steps = vec![choose(Some(None)), choose(Some(Some(write))), choose(None), Step::Take(ThreadId(0), None)];
        let of_c11 = Seed { model: MemoryModel::C11, observed: Observed::default(), steps, checks: vec![0; 4] };
        assert_eq!(of_c11.to_string().parse(), Ok(of_c11));
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
        assert_eq!("rsmc1-AwkAAQI".parse::<Seed>(), Err(SeedError::OtherVersion));
        assert_eq!("rsmc".parse::<Seed>(), Err(SeedError::NotASeed("rsmc".into())));
    }
}
