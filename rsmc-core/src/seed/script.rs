//! The content of a seed: one description, by which it is written and read.
//!
//! Problem. A seed should be short enough to be copied, so it must not repeat what follows from its earlier parts.
//!
//! Method. A script codes an execution step by step: whether the same thread goes on, or which other one; whether the
//! thread performs its operation or a store leaves its buffer; the choices that do not follow from that; and the check
//! byte of the operation. The check bytes show which operations are stores and which write. So a store that leaves a
//! buffer is one of the waiting stores, tried oldest first; and a write that a read takes is one of the earlier writes,
//! tried latest first. The coder codes each answer by its frequency in the same context ([`Coder`]).
//!
//! Cost. O(t) per step, of t threads and stores that wait.
//!
//! Limits. A seed has at most [`LONGEST`] steps.

use rustc_hash::FxHashMap;

use crate::base::{EventId, ThreadId};
use crate::model::MemoryModel;
use crate::seed::coder::Coder;
use crate::seed::{LONGEST, Seed, check};
use crate::step::{Observed, Step};

/// A number of threads that no execution reaches.
const MOST_THREADS: u32 = 1 << 24;

/// The number of stores or writes that are tried one by one; further ones are coded by number.
const ASKED: usize = 16;

/// The context of a coded answer: the question.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    Model,
    Ends,
    Kinds,
    Kind,
    Steps,
    /// Whether the same thread goes on, by whether it did so before.
    Stays(bool),
    Thread,
    /// Whether a store leaves its buffer, by how many may, and by the step before.
    Flushes {
        waiting: usize,
        again: bool,
        stays: bool,
    },
    Which,
    Names,
    IsInitial,
    Writer(Wanted),
    /// Whether it is this operation, by its check byte.
    Is(Wanted, u8),
    /// The number of operations since.
    Back(Wanted),
    /// A bit of a check byte, by those before it.
    Check(u8),
    Newest,
}

/// The reason for which an operation is named.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Wanted {
    /// The store leaves its buffer.
    Store,
    /// A read takes the write.
    Source,
    /// The write is the newest of its location.
    Newest,
}

/// The operations of a thread so far.
#[derive(Default)]
struct Done {
    /// The check bytes of its operations.
    checks: Vec<u8>,
    /// The numbers of its stores that have not left its buffer, the oldest first. Some of these never wait in it.
    waiting: Vec<u32>,
}

struct Script {
    coder: Coder<About>,
    model: MemoryModel,
    /// The threads that have taken steps, the last one first.
    recent: Vec<ThreadId>,
    done: FxHashMap<ThreadId, Done>,
    /// Whether the last step was by the thread of the one before, and whether a store left its buffer in it.
    stayed: bool,
    flushed: bool,
}

/// A seed as bytes.
pub(super) fn write(seed: &Seed) -> Vec<u8> {
    let mut script = Script::new(Coder::writer());
    let told = script.seed(seed);
    debug_assert_eq!(told.as_ref(), Some(seed), "what is written is what a reader would return");
    script.coder.finish()
}

/// The seed of such bytes.
pub(super) fn read(bytes: &[u8]) -> Option<Seed> {
    let nothing = Seed {
        model: MemoryModel::default(),
        observed: Observed::default(),
        steps: Vec::new(),
        checks: Vec::new(),
        newest: None,
    };
    Script::new(Coder::reader(bytes)).seed(&nothing)
}

impl Done {
    fn push(&mut self, check: u8) {
        if check::stores(check) {
            self.waiting.push(self.checks.len() as u32);
        }
        self.checks.push(check);
    }

    /// Its writes, the latest first.
    fn writes(&self) -> impl Iterator<Item = u32> + '_ {
        let writes = |&index: &u32| check::writes(self.checks[index as usize]);
        (0..self.checks.len() as u32).rev().filter(writes)
    }
}

impl Script {
    fn new(coder: Coder<About>) -> Self {
        let (recent, done) = (Vec::new(), FxHashMap::default());
        Self { coder, model: MemoryModel::default(), recent, done, stayed: true, flushed: false }
    }

    /// Writes a seed, or reads one. A reader ignores `told`, here and in all functions below.
    fn seed(&mut self, told: &Seed) -> Option<Seed> {
        let model = self.coder.number(About::Model, told.model.number());
        self.model = MemoryModel::ALL[model.min(MemoryModel::ALL.len() as u64 - 1) as usize];
        let observed = self.observed(&told.observed);
        let length = self.coder.number(About::Steps, told.steps.len() as u64);
        if length > LONGEST as u64 {
            return None;
        }
        let (mut steps, mut checks) = (Vec::new(), Vec::new());
        for at in 0..length as usize {
            let step = self.step(told.steps.get(at).copied().unwrap_or(Step::Run(ThreadId::MAIN)))?;
            steps.push(step);
            if !matches!(step, Step::Flush(_)) {
                let check = self.check(told.checks.get(checks.len()).copied().unwrap_or(0));
                checks.push(check);
                self.done.entry(step.thread()).or_default().push(check);
            }
        }
        let newest = self.newest(told.newest.as_deref())?;
        Some(Seed { model: self.model, observed, steps, checks, newest })
    }

    fn observed(&mut self, told: &Observed) -> Observed {
        let ends = self.coder.bit(About::Ends, told.ends);
        let mut counts = Vec::new();
        while self.coder.bit(About::Kinds, counts.len() < told.counts.len()) && counts.len() < LONGEST {
            let kind = told.counts.get(counts.len()).copied().unwrap_or(0);
            let bit = |at: u32| self.coder.bit(About::Kind, kind >> at & 1 > 0);
            counts.push((0..32).rev().map(bit).fold(0, |kind, bit| kind << 1 | u32::from(bit)));
        }
        Observed { ends, counts }
    }

    fn step(&mut self, told: Step) -> Option<Step> {
        let thread = self.thread(told.thread())?;
        let again = std::mem::take(&mut self.flushed);
        if self.model.has_buffers() {
            let waiting = self.done.get(&thread).map_or(0, |done| done.waiting.len().min(2));
            let about = About::Flushes { waiting, again, stays: self.stayed };
            self.flushed = self.coder.bit(about, matches!(told, Step::Flush(_)));
            if self.flushed {
                let told = if let Step::Flush(store) = told { store.index } else { 0 };
                return Some(Step::Flush(self.flush(thread, told)?));
            }
        }
        let (which, takes) = told.performed();
        let which = self.coder.number(About::Which, which);
        let names = self.model.is_graph() && self.coder.bit(About::Names, takes.is_some());
        let takes = if names { Some(self.source(takes.flatten())?) } else { None };
        Some(Step::alternative(thread, which, takes))
    }

    /// The thread that takes the next step.
    fn thread(&mut self, told: ThreadId) -> Option<ThreadId> {
        let last = self.recent.first().copied();
        self.stayed = last.is_some() && self.coder.bit(About::Stays(self.stayed), last == Some(told));
        if self.stayed {
            return last;
        }
        let others = self.recent.get(1..).unwrap_or_default();
        let mut known = self.recent.clone();
        known.sort_unstable();
        let number = others.iter().position(|&other| other == told).unwrap_or_else(|| {
            let below = known.iter().filter(|&&other| other < told).count();
            (others.len() + told.0 as usize).saturating_sub(below)
        });
        let number = usize::try_from(self.coder.number(About::Thread, number as u64)).ok()?;
        let thread = match others.get(number) {
            Some(&thread) => thread,
            None => {
                let new = u32::try_from(number - others.len()).ok().filter(|&new| new < MOST_THREADS)?;
                ThreadId(known.iter().fold(new, |new, known| new + u32::from(known.0 <= new)))
            }
        };
        self.recent.retain(|&other| other != thread);
        self.recent.insert(0, thread);
        Some(thread)
    }

    fn flush(&mut self, thread: ThreadId, told: u32) -> Option<EventId> {
        let waiting = self.done.get(&thread)?.waiting.iter().copied().take(ASKED).collect();
        let index = self.one_of(Wanted::Store, waiting, thread, told)?;
        self.done.get_mut(&thread)?.waiting.retain(|&other| other != index);
        Some(EventId { thread, index })
    }

    /// The write that a read takes; `Some(None)`: the initial value.
    fn source(&mut self, told: Option<EventId>) -> Option<Option<EventId>> {
        if self.coder.bit(About::IsInitial, told.is_none()) {
            return Some(None);
        }
        self.write(Wanted::Source, told).map(Some)
    }

    /// A write that happened.
    fn write(&mut self, wanted: Wanted, told: Option<EventId>) -> Option<EventId> {
        let number = self.recent.iter().position(|&thread| told.is_some_and(|told| told.thread == thread));
        let number = self.coder.number(About::Writer(wanted), number.unwrap_or(0) as u64);
        let thread = *self.recent.get(usize::try_from(number).ok()?)?;
        let writes = self.done.get(&thread)?.writes().take(ASKED).collect();
        let index = self.one_of(wanted, writes, thread, told.map_or(0, |told| told.index))?;
        Some(EventId { thread, index })
    }

    /// One of these operations of a thread, or another one.
    fn one_of(&mut self, wanted: Wanted, likely: Vec<u32>, thread: ThreadId, told: u32) -> Option<u32> {
        for index in likely {
            let check = self.done[&thread].checks[index as usize];
            if self.coder.bit(About::Is(wanted, check), index == told) {
                return Some(index);
            }
        }
        let done = self.done[&thread].checks.len() as u32;
        let back = self.coder.number(About::Back(wanted), u64::from(done.saturating_sub(told)));
        done.checked_sub(u32::try_from(back).ok()?).filter(|&index| index < done)
    }

    fn check(&mut self, told: u8) -> u8 {
        // The bits so far, behind a one; the last bit pushes that out.
        (0..8).rev().fold(1, |before: u8, at| {
            let bit = self.coder.bit(About::Check(before), told >> at & 1 > 0);
            before << 1 | u8::from(bit)
        })
    }

    fn newest(&mut self, told: Option<&[EventId]>) -> Option<Option<Vec<EventId>>> {
        if !self.model.is_graph() {
            return Some(None);
        }
        let number = told.map_or(0, |told| 1 + told.len() as u64);
        let Some(length) = self.coder.number(About::Newest, number).checked_sub(1) else { return Some(None) };
        if length > LONGEST as u64 {
            return None;
        }
        let write = |at: usize| told.and_then(|told| told.get(at)).copied();
        (0..length as usize).map(|at| self.write(Wanted::Newest, write(at))).collect::<Option<Vec<_>>>().map(Some)
    }
}
