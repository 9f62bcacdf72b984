//! Random programs over the primitives of the shim, and how one is run.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rsmc::sync::atomic::AtomicU32;
use rsmc::sync::atomic::Ordering::*;
use rsmc::thread::{self, Thread};
use rsmc_core::runtime::hook;

use crate::support::dice::Dice;

/// Primitives that a program uses, and what its threads may do with them.
pub trait Mix: Sized + 'static {
    /// The objects that all threads use.
    type Objects: Sync;
    /// The values that one thread gets.
    type Given: Send;
    /// The values that a thread has besides, guards for instance.
    type Held<'a>: Default;
    /// The largest number of operations of a program.
    const LENGTH: usize;
    /// In how many ways the objects can be made.
    const VARIANTS: usize = 1;
    /// True if what happens after a race depends on more than the class: of a program with a race no more is compared
    /// than that it has one.
    const RACES_CHANGE_EVENTS: bool = false;

    fn objects(variant: usize) -> Self::Objects;

    /// The values that a thread gets, of so many threads. The first thread, which starts the others, asks last.
    fn given(objects: &Self::Objects, thread: usize, threads: usize) -> Self::Given;

    fn operations(thread: usize) -> &'static [Operation<Self>];
}

/// The brackets around what [`Unordered`] and [`Differs`] hold.
pub const UNORDERED: [char; 2] = ['⟨', '⟩'];
pub const STD: [char; 2] = ['⟪', '⟫'];

/// What a thread reads from a cell. In an execution with a race it depends on more than the class, and is left out.
pub struct Unordered<T>(pub T);

impl<T: fmt::Debug> fmt::Debug for Unordered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}{}", UNORDERED[0], self.0, UNORDERED[1])
    }
}

/// What an atomic of std shows where it differs from the one that is compared with it. Elsewhere than under SC it may.
pub struct Differs<'a>(pub &'a str);

impl fmt::Display for Differs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}std: {}{}", STD[0], self.0, STD[1])
    }
}

/// A text without what is in these brackets.
pub fn without(text: &str, [open, close]: [char; 2]) -> String {
    let mut parts = text.split(open);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once(close).map_or("", |(_, rest)| rest))
}

/// An operation, as text and as code. The code returns what the thread learns by it.
pub type Operation<M> = (&'static str, fn(&mut Me<'_, M>) -> String);

/// A list of operations, each an expression of what the thread has.
macro_rules! operations {
    (|$me:ident| $($code:expr;)+) => {
        const {
            &[$((stringify!($code), |$me| {
                let _ = &$me;
                format!("{:?}", $code)
            })),+]
        }
    };
}
pub(crate) use operations;

/// A thread of a program.
pub struct Me<'a, M: Mix> {
    pub held: M::Held<'a>,
    pub given: M::Given,
    pub all: &'a M::Objects,
    pub x: &'a AtomicU32,
    pub y: &'a AtomicU32,
    /// The first thread, and those that were started before this one.
    pub others: &'a [Thread],
    is_finished: &'a dyn Fn() -> bool,
}

impl<M: Mix> Me<'_, M> {
    /// For the first thread: whether the second one has ended.
    pub fn is_second_finished(&self) -> bool {
        (self.is_finished)()
    }
}

/// The operations that every mix has now and then.
fn atomics<M: Mix>() -> &'static [Operation<M>] {
    operations! { |me|
        me.x.store(1, Relaxed);
        me.y.store(1, Release);
        me.x.load(Relaxed);
        me.y.load(Acquire);
        me.x.fetch_add(2, AcqRel);
        me.y.load(SeqCst);
    }
}

pub struct Program<M: Mix> {
    variant: usize,
    /// The largest number of spurious outcomes of an execution.
    pub spurious: u32,
    threads: Vec<Vec<Operation<M>>>,
}

impl<M: Mix> Program<M> {
    pub fn random(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let number = if M::LENGTH > 2 && dice.chance(20) { 3 } else { 2 };
        let length = number + dice.below(M::LENGTH.min(3 * number) - number + 1);
        let mut threads = vec![vec![]; number];
        for at in 0..length {
            let mut thread = if at < number { at } else { dice.below(number) };
            while threads[thread].len() == 3 {
                thread = (thread + 1) % number;
            }
            let operations = if dice.chance(15) { atomics() } else { M::operations(thread) };
            threads[thread].push(operations[dice.below(operations.len())]);
        }
        Self { variant: dice.below(M::VARIANTS), spurious: dice.below(2) as u32, threads }
    }

    /// The programs with one operation less.
    pub fn smaller(&self) -> impl Iterator<Item = Self> {
        let all =
            self.threads.iter().enumerate().flat_map(|(thread, list)| (0..list.len()).map(move |at| (thread, at)));
        all.map(|(thread, at)| {
            let mut threads = self.threads.clone();
            threads[thread].remove(at);
            Self { threads, ..*self }
        })
    }

    /// The body of a check: the first thread starts the others, does its own part, and waits for them.
    pub fn run(&self, log: &Log) {
        let number = self.threads.len();
        log.begin(number);
        let (objects, x, y) = (M::objects(self.variant), AtomicU32::new(0), AtomicU32::new(0));
        let (all, x, y) = (&objects, &x, &y);
        thread::scope(|scope| {
            let (mut known, mut handles) = (vec![thread::current()], vec![]);
            for thread in 1..number {
                let (given, others) = (M::given(all, thread, number), known.clone());
                let start = move || {
                    let is_finished = &|| unreachable!("only the first thread asks");
                    let me = Me { held: M::Held::default(), given, all, x, y, others: &others, is_finished };
                    self.perform(thread, me, log);
                };
                handles.push(scope.spawn(start));
                known.extend(handles.last().map(|handle| handle.thread().clone()));
            }
            let (given, is_finished) = (M::given(all, 0, number), &|| handles[0].is_finished());
            let me = Me { held: M::Held::default(), given, all, x, y, others: &known[1..], is_finished };
            self.perform(0, me, log);
            for handle in handles {
                let _ = handle.join();
            }
        });
    }

    fn perform(&self, thread: usize, mut me: Me<'_, M>, log: &Log) {
        for (_, operation) in &self.threads[thread] {
            let learned = operation(&mut me);
            log.add(thread, learned);
        }
    }
}

impl<M: Mix> fmt::Display for Program<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "variant {}, spurious {}", self.variant, self.spurious)?;
        for (thread, operations) in self.threads.iter().enumerate() {
            writeln!(f, "t{thread}:")?;
            for (text, _) in operations {
                writeln!(f, "    {}", text.split_whitespace().collect::<Vec<_>>().join(" "))?;
            }
        }
        Ok(())
    }
}

/// The values that the threads of the running execution have learned so far.
#[derive(Default)]
pub struct Log(Mutex<Vec<String>>);

impl Log {
    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, threads: usize) {
        *self.lines() = (0..threads).map(|thread| format!("t{thread}:")).collect();
    }

    /// A thread goes on although the execution is over, if it has caught what unwinds it.
    fn add(&self, thread: usize, learned: String) {
        if !hook::executions::is_unwinding() {
            self.lines()[thread] += &format!(" {learned}");
        }
    }

    pub fn text(&self) -> String {
        self.lines().join(", ")
    }
}
