//! Random bodies: threads in loops of a drawn shape, and threads that write.

use std::fmt;
use std::sync::{Mutex as StdMutex, MutexGuard, PoisonError};

use rsmc::sync::Mutex;
use rsmc::sync::atomic::{AtomicU32, Ordering};
use rsmc::{hint, thread};
use rsmc_core::base::mix;
use rsmc_core::runtime::hook;

/// The last value that is stored where a loop waits.
pub const END: u32 = 6;

/// So many tries are never used up.
pub const MANY: u32 = u32::MAX;

/// The state that the threads of a body share.
#[derive(Default)]
pub struct Shared {
    pub x: [AtomicU32; 3],
    pub m: Mutex<u32>,
}

impl Shared {
    /// The atomics in the order that a loop has them.
    pub fn chosen(&self, how: How) -> [&AtomicU32; 3] {
        [&self.x[how.a], &self.x[how.b], &self.x[3 - how.a - how.b]]
    }
}

/// The action of a loop where it repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Nothing,
    Spin,
    Yield,
}

/// The parameters of a shape.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// The atomic that it waits for, and the other one that it looks at.
    pub a: usize,
    pub b: usize,
    /// The number of tries that it makes, or of values that it remembers.
    pub n: u32,
    pub order: Ordering,
    pub order_rmw: Ordering,
    pub pause: Pause,
}

impl How {
    #[inline(always)]
    #[track_caller]
    pub fn pause(&self) {
        match self.pause {
            Pause::Nothing => {}
            Pause::Spin => hint::spin_loop(),
            Pause::Yield => thread::yield_now(),
        }
    }
}

/// A loop: it returns what it has seen.
pub type Shape = fn(&Shared, How) -> u32;

/// Functions with their names.
macro_rules! shapes {
    ($($name:ident),+ $(,)?) => {
        &[$((stringify!($name), $name)),+]
    };
}
pub(crate) use shapes;

#[derive(Clone, Copy)]
pub struct Loop {
    pub name: &'static str,
    shape: Shape,
    pub how: How,
}

/// An operation of a writer.
#[derive(Clone, Copy, Debug)]
pub enum Write {
    Store(usize, u32, Ordering),
    Swap(usize, u32, Ordering),
    Add(usize, u32, Ordering),
    Cas(usize, u32, u32, Ordering),
    Locked(u32),
}

#[derive(Clone)]
pub struct Body {
    pub loops: Vec<Loop>,
    writers: Vec<Vec<Write>>,
    /// The last writer does this at its end.
    end: Vec<Write>,
}

/// Numbers drawn from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = mix(self.0, 0x9e37);
        (self.0 >> 20) as usize % bound
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

impl Loop {
    fn random(draw: &mut Draw, (name, shape): (&'static str, Shape)) -> Self {
        let a = draw.below(3);
        let how = How {
            a,
            b: (a + 1 + draw.below(2)) % 3,
            n: draw.of(&[1, 2, 3, 3, 5]),
            order: draw.of(&[Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst]),
            order_rmw: draw.of(&[Ordering::Relaxed, Ordering::SeqCst]),
            pause: draw.of(&[Pause::Nothing, Pause::Spin, Pause::Spin, Pause::Yield]),
        };
        Self { name, shape, how }
    }

    fn uses_lock(&self) -> bool {
        self.name.contains("lock")
    }
}

impl Write {
    fn random(draw: &mut Draw, locks: bool) -> Self {
        let (loc, value) = (draw.below(3), draw.of(&[0, 1, 1, 2, 3]));
        let order = draw.of(&[Ordering::Relaxed, Ordering::SeqCst]);
        match draw.below(9) {
            0 => Self::Swap(loc, value, order),
            1 => Self::Add(loc, value, order),
            2 => Self::Cas(loc, draw.below(2) as u32, value, order),
            3 | 4 if locks => Self::Locked(value),
            _ => Self::Store(loc, value, order),
        }
    }

    fn perform(self, shared: &Shared) {
        match self {
            Self::Store(loc, value, order) => shared.x[loc].store(value, order),
            Self::Swap(loc, value, order) => _ = shared.x[loc].swap(value, order),
            Self::Add(loc, value, order) => _ = shared.x[loc].fetch_add(value, order),
            Self::Cas(loc, old, new, order) => {
                _ = shared.x[loc].compare_exchange(old, new, order, Ordering::Relaxed);
            }
            Self::Locked(value) => *shared.m.lock().unwrap() = value,
        }
    }
}

impl Body {
    /// The body with this number. Its first loop has each of the shapes in turn.
    pub fn random(seed: u64, shapes: &[(&'static str, Shape)]) -> Self {
        let mut draw = Draw(mix(seed, 77));
        let mut loops = vec![Loop::random(&mut draw, shapes[seed as usize % shapes.len()])];
        if draw.below(3) == 0 {
            let shape = draw.of(shapes);
            loops.push(Loop::random(&mut draw, shape));
        }
        let locks = loops.iter().any(Loop::uses_lock);
        let writers: &[usize] = match (loops.len(), draw.below(2)) {
            (1, 0) => &[4],
            (1, _) => &[2, 1],
            _ => &[2],
        };
        let writers =
            writers.iter().map(|&most| (0..=draw.below(most)).map(|_| Write::random(&mut draw, locks)).collect());
        let writers = writers.collect();
        let mut body = Self { loops, writers, end: Vec::new() };
        if draw.below(8) > 0 {
            body.end_well(&mut draw, locks);
        }
        body
    }

    /// Lets most loops end.
    fn end_well(&mut self, draw: &mut Draw, locks: bool) {
        let order = draw.of(&[Ordering::Relaxed, Ordering::SeqCst]);
        let mut ends = [false; 3];
        for one in &self.loops {
            let others =
                ["ticket", "alternates", "helper_twice", "scan_all"].iter().any(|name| one.name.contains(name));
            if others || draw.below(3) == 0 {
                ends[one.how.b] = true;
            }
        }
        for one in &self.loops {
            ends[one.how.a] = false;
        }
        let mut end: Vec<Write> = (0..3).filter(|&loc| ends[loc]).map(|loc| Write::Store(loc, END, order)).collect();
        if locks {
            end.push(Write::Locked(END));
        }
        let mut last: Vec<usize> = self.loops.iter().map(|one| one.how.a).collect();
        last.dedup();
        end.extend(last.into_iter().map(|loc| Write::Store(loc, END, order)));
        self.end = end;
    }

    /// Runs it, as the body of a check.
    pub fn run(&self, log: &Log) {
        log.begin(self.loops.len());
        let shared = Shared::default();
        thread::scope(|scope| {
            for (number, one) in self.loops.iter().enumerate() {
                let shared = &shared;
                scope.spawn(move || log.run(number, || (one.shape)(shared, one.how)));
            }
            for (number, writes) in self.writers.iter().enumerate() {
                let shared = &shared;
                let end: &[Write] = if number + 1 == self.writers.len() { &self.end } else { &[] };
                scope.spawn(move || writes.iter().chain(end).for_each(|write| write.perform(shared)));
            }
        });
    }

    /// This body with something left out.
    pub fn smaller(&self) -> impl Iterator<Item = Self> {
        let without = |change: &dyn Fn(&mut Self)| {
            let mut body = self.clone();
            change(&mut body);
            body
        };
        let mut all = Vec::new();
        if self.loops.len() > 1 {
            all.extend((0..self.loops.len()).map(|at| without(&|body| _ = body.loops.remove(at))));
        }
        for (number, writes) in self.writers.iter().enumerate() {
            all.extend((0..writes.len()).map(|at| without(&|body| _ = body.writers[number].remove(at))));
            if writes.is_empty() && number + 1 < self.writers.len() {
                all.push(without(&|body| _ = body.writers.remove(number)));
            }
        }
        all.extend((0..self.end.len()).map(|at| without(&|body| _ = body.end.remove(at))));
        for (number, one) in self.loops.iter().enumerate() {
            if one.how.n > 1 {
                all.push(without(&|body| body.loops[number].how.n -= 1));
            }
        }
        all.into_iter()
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Loop { name, how, .. }) in self.loops.iter().enumerate() {
            writeln!(f, "  loop {number}: {name} {how:?}")?;
        }
        for (number, writes) in self.writers.iter().enumerate() {
            let end: &[Write] = if number + 1 == self.writers.len() { &self.end } else { &[] };
            writeln!(f, "  writer {number}: {writes:?}, then {end:?}")?;
        }
        Ok(())
    }
}

/// The result of each loop that returned.
#[derive(Default)]
pub struct Log(StdMutex<Logged>);

/// The log of an execution.
#[derive(Default)]
struct Logged {
    results: Vec<Option<u32>>,
    /// The number of loops that have begun and not ended.
    inside: u32,
    /// The number of executions that began while one before had left loops.
    left: u32,
}

impl Log {
    fn logged(&self) -> MutexGuard<'_, Logged> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, loops: usize) {
        let logged = &mut *self.logged();
        logged.results = vec![None; loops];
        logged.left += u32::from(std::mem::take(&mut logged.inside) > 0);
    }

    /// Runs a loop.
    fn run(&self, number: usize, run: impl FnOnce() -> u32) {
        self.logged().inside += 1;
        let _inside = Inside(self);
        self.add(number, run());
    }

    fn add(&self, number: usize, result: u32) {
        if !hook::executions::is_unwinding() {
            self.logged().results[number] = Some(result);
        }
    }

    pub fn results(&self) -> Vec<Option<u32>> {
        self.logged().results.clone()
    }

    /// The number of executions that were followed by another although a loop of theirs had not ended.
    pub fn left(&self) -> u32 {
        self.logged().left
    }
}

/// A loop that runs; it outlives no execution, unless that one leaves it.
struct Inside<'l>(&'l Log);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.logged().inside -= 1;
    }
}
