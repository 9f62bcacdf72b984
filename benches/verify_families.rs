//! Families of instances that make the verifiers of store buffers work, and the algorithms to compare.
//!
//! An instance is a *body*, which grows and which nothing can go wrong in, and an *ending* of a few events, which
//! decides. Without closure a search sees what the ending says only after it has been through the body.
//!
//! [`Body::Chain`] with [`Ending::Seen`] and a witness needs `k >= 3`, and with [`Ending::Blind`] `k >= 5`: what the
//! last thread reads is stored by thread 0 behind its store of the ending, so a last thread with a part in the ending
//! would order the two parts.

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::consistency::{Instance, Shape, Verifier};
use rsmc_core::model::MemoryModel;
use rsmc_testkit::naive;

/// The growing part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Every thread stores to `m` locations of its own; the next thread reads them after the ending. Under TSO the
    /// threads can be anywhere in their stores, and in flushing them.
    Distinct,
    /// Every thread makes `m` reads, each of the next store to a location of its own, and after each it stores to
    /// `unread` shared locations that nobody reads. All that is read was stored before, by the last thread and (for the
    /// last one) the first. The threads can be anywhere in their reads, and under PSO in flushing the unread stores.
    Chain {
        /// The number of locations that are stored to and not read.
        unread: usize,
    },
}

/// The part that decides.
///
/// In both endings, of two stores to one location the first thread's, at its very beginning, is tried first, and it
/// is the wrong one: it then waits for a read at the end, which waits for the other store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// None: the first try succeeds.
    Easy,
    /// The threads 0 and 1 store to `x`, and both read their own store after the other's; closure sees the cycle.
    /// A possible instance leaves out that thread 1 waits for thread 0.
    Seen,
    /// The threads 0 and 1 store to `x`, 2 and 3 to `y`. Each store is read after both stores to the *other*
    /// location. In either order of the stores to `x` the second one is too late for both orders of those to `y`;
    /// closure, which never tries an order, sees nothing. A possible instance leaves out that thread 1 waits for
    /// thread 0, and thread 2 for thread 3.
    Blind,
}

/// Instances that differ in their length only.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The memory model.
    pub model: MemoryModel,
    /// The growing part.
    pub body: Body,
    /// The part that decides.
    pub ending: Ending,
    /// Whether there is a witness.
    pub possible: bool,
    /// The number of threads.
    pub k: usize,
}

impl Family {
    /// Says which one it is.
    pub fn name(&self) -> String {
        let body = match self.body {
            Body::Distinct => "distinct",
            Body::Chain { unread: 1 } => "chain",
            Body::Chain { .. } => "chain+",
        };
        let ending = match self.ending {
            Ending::Easy => "easy",
            Ending::Seen => "seen",
            Ending::Blind => "blind",
        };
        let possible = if self.possible { "possible" } else { "impossible" };
        format!("{} {body} {ending} {possible} k={}", self.model, self.k)
    }

    /// The number of events of the body for each `m`.
    pub fn step(&self) -> usize {
        match self.body {
            Body::Distinct => 2 * self.k,
            Body::Chain { unread } => (2 + unread) * self.k,
        }
    }

    /// The number of locations, if it does not depend on `m`.
    pub fn locations(&self) -> Option<usize> {
        let ending = match self.ending {
            Ending::Easy => 0,
            Ending::Seen => 3,
            Ending::Blind => 6,
        };
        match self.body {
            Body::Distinct => None,
            Body::Chain { unread } => Some(self.k + unread + ending),
        }
    }

    /// The instance with a body of length `m`.
    pub fn instance(&self, m: usize) -> Instance {
        let mut draft = Draft { threads: vec![Thread::default(); self.k], ..Draft::default() };
        if self.ending == Ending::Easy {
            let late = draft.body(self.body, m);
            draft.read_all(late);
            return draft.instance;
        }
        let x = draft.location();
        let x0 = draft.store(0, x);
        draft.fence(0);
        let late = draft.body(self.body, m);
        // Every store of the ending is in memory before its thread says so.
        let said0 = draft.store_new(0);
        let x1 = draft.store(1, x);
        draft.fence(1);
        let said1 = draft.store_new(1);
        draft.read(0, said1);
        if !self.possible {
            draft.read(1, said0);
        }
        if self.ending == Ending::Seen {
            draft.read(0, x0);
            draft.read(1, x1);
        } else {
            let y = draft.location();
            let (y2, y3) = (draft.store(2, y), draft.store(3, y));
            draft.fence(2);
            draft.fence(3);
            let (said2, said3) = (draft.store_new(2), draft.store_new(3));
            draft.read(3, said2);
            if !self.possible {
                draft.read(2, said3);
            }
            for (thread, write) in [(0, y3), (1, y2), (2, x1), (3, x0)] {
                draft.read(thread, write);
            }
        }
        draft.read_all(late);
        draft.instance
    }
}

/// An instance in the making. Events are numbered as they come, and tried in that order.
#[derive(Default)]
struct Draft {
    instance: Instance,
    threads: Vec<Thread>,
    /// By event: its location.
    locs: Vec<LocId>,
    locations: u32,
}

#[derive(Clone, Default)]
struct Thread {
    last: Option<usize>,
    /// The stores since the last fence.
    open: Vec<usize>,
    /// The stores that are flushed before the next event.
    fenced: Vec<usize>,
}

impl Draft {
    fn location(&mut self) -> LocId {
        self.locations += 1;
        LocId(self.locations - 1)
    }

    fn event(&mut self, thread: usize, loc: LocId, reads: bool) -> usize {
        let shape = Shape { thread: ThreadId(thread as u32), loc, reads, writes: !reads, buffered: !reads, epoch: 0 };
        let event = self.instance.push(shape);
        self.locs.push(loc);
        let thread = &mut self.threads[thread];
        if let Some(last) = thread.last.replace(event) {
            self.instance.edge(last, event);
        }
        thread.fenced.drain(..).for_each(|store| self.instance.fence(store, event));
        thread.open.extend((!reads).then_some(event));
        event
    }

    fn store(&mut self, thread: usize, loc: LocId) -> usize {
        self.event(thread, loc, false)
    }

    /// A store to a location of its own.
    fn store_new(&mut self, thread: usize) -> usize {
        let loc = self.location();
        self.store(thread, loc)
    }

    fn read(&mut self, thread: usize, write: usize) {
        let read = self.event(thread, self.locs[write], true);
        self.instance.good(read, Some(write));
    }

    fn read_all(&mut self, reads: Vec<(usize, usize)>) {
        reads.into_iter().for_each(|(thread, write)| self.read(thread, write));
    }

    /// A full fence.
    fn fence(&mut self, thread: usize) {
        let Thread { open, fenced, .. } = &mut self.threads[thread];
        fenced.append(open);
    }

    /// The body; returns the reads that come after the ending, each with its thread and its write.
    fn body(&mut self, body: Body, m: usize) -> Vec<(usize, usize)> {
        let k = self.threads.len();
        match body {
            Body::Distinct => (0..k * m).map(|i| ((i + 1) % k, self.store_new(i % k))).collect(),
            Body::Chain { unread } => {
                let chains: Vec<LocId> = (0..k).map(|_| self.location()).collect();
                let shared: Vec<LocId> = (0..unread).map(|_| self.location()).collect();
                let writer = |reader| if reader == k - 1 { 0 } else { k - 1 };
                let stores: Vec<usize> = (0..k * m).map(|i| self.store(writer(i % k), chains[i % k])).collect();
                for (i, store) in stores.into_iter().enumerate() {
                    self.read(i % k, store);
                    for &loc in &shared {
                        self.store(i % k, loc);
                    }
                }
                Vec::new()
            }
        }
    }
}

/// The measured algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// VerifyTSO or VerifyPSO after closure.
    WithClosure,
    /// VerifyTSO or VerifyPSO alone.
    WithoutClosure,
    /// The lower sets of all events and flushes, without closure.
    Naive,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 3] = [Algorithm::WithClosure, Algorithm::WithoutClosure, Algorithm::Naive];

    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::WithClosure => "Verify with closure",
            Algorithm::WithoutClosure => "Verify without closure",
            Algorithm::Naive => "naive, no closure",
        }
    }

    /// Whether the instance has a witness. Each run has a verifier of its own, as the naive ones have.
    pub fn run(self, model: MemoryModel, instance: &Instance) -> bool {
        let mut verifier = match self {
            Algorithm::WithClosure => Verifier::new(model),
            Algorithm::WithoutClosure => Verifier::new(model).without_closure(),
            Algorithm::Naive => return naive(instance, model, &[]).is_some(),
        };
        verifier.verify(instance, |event| event as u32, &mut Vec::new())
    }
}
