//! Random programs that drop references and access cells: those of `Arc` show the same values and the same races as
//! references that are counted by hand.
//!
//! In the oracle the count is an atomic of the program, and its operations are what std's `Arc` does: a drop is a
//! `fetch_sub` that releases, and the last one passes a fence that acquires. So it has executions for every order of
//! the drops, and knows nothing of notes, of destructors or of what a program observes. `RSMC_ORACLE_PROGRAMS` says how
//! many programs there are, `RSMC_ORACLE_SEED` shifts them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32 as StdAtomicU32;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use rsmc::cell::UnsafeCell;
use rsmc::sync::Arc;
use rsmc::sync::atomic::{AtomicU32, AtomicUsize, fence};
use rsmc::{Config, Explorer, MemoryModel, Verdict, thread};
use rsmc_core::analysis::race::find_race;
use rsmc_core::session::check_body;
use rsmc_core::step::{End, Run};

use crate::support::dice::Dice;

const ARCS: usize = 2;
const CELLS: usize = 2;
const FLAGS: usize = 2;
const THREADS: usize = 3;
/// An exploration of more executions is given up.
const LONGEST: u64 = 3_000;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Drops the thread's reference, if it still has it.
    Drop(usize),
    Read(usize),
    Write(usize),
    Store {
        flag: usize,
        releases: bool,
    },
    Fence(Ordering),
    /// The next operation is performed only if the flag is set.
    If {
        flag: usize,
        acquires: bool,
    },
}

#[derive(Debug)]
struct Program {
    threads: Vec<Vec<Op>>,
    /// What each destructor does with cells.
    destructors: [Vec<Op>; ARCS],
    /// The value behind the first references has one of the second.
    nested: bool,
}

fn access(dice: &mut Dice) -> Op {
    let cell = dice.below(CELLS);
    if dice.chance(50) { Op::Read(cell) } else { Op::Write(cell) }
}

fn op(dice: &mut Dice) -> Op {
    let flag = dice.below(FLAGS);
    match dice.below(10) {
        0..=2 => Op::Drop(dice.below(ARCS)),
        3..=5 => access(dice),
        6 => Op::Store { flag, releases: dice.chance(50) },
        7 => Op::Fence([Acquire, Release, AcqRel, SeqCst][dice.below(4)]),
        _ => Op::If { flag, acquires: dice.chance(50) },
    }
}

fn program(dice: &mut Dice) -> Program {
    let threads = 2 + dice.below(THREADS - 1);
    let mut ops = |_| (0..2 + dice.below(6 - threads)).map(|_| op(dice)).collect();
    let threads = (0..threads).map(&mut ops).collect();
    let mut destructor = || (0..dice.below(4).saturating_sub(2)).map(|_| access(dice)).collect();
    let destructors = [destructor(), destructor()];
    Program { threads, destructors, nested: dice.below(3) == 0 }
}

/// What the threads share.
#[derive(Default)]
struct Shared {
    cells: [UnsafeCell<u32>; CELLS],
    flags: [AtomicU32; FLAGS],
}

// SAFETY: whether the threads access the cells in order is what is tested, and all of this is on one OS thread.
unsafe impl Sync for Shared {}

impl Shared {
    fn access(&self, op: Op) {
        match op {
            Op::Read(cell) => self.cells[cell].with(|_| ()),
            Op::Write(cell) => self.cells[cell].with_mut(|_| ()),
            _ => unreachable!("a destructor accesses cells only"),
        }
    }
}

/// References to a value with a destructor.
trait Reference<'b>: Sized + Send {
    /// So many references to one value.
    fn several(value: Value<'b, Self>, n: usize) -> Vec<Self>;
}

struct Value<'b, R> {
    shared: &'b Shared,
    destructor: &'b [Op],
    _nested: Option<R>,
}

impl<R> Drop for Value<'_, R> {
    fn drop(&mut self) {
        self.destructor.iter().for_each(|&op| self.shared.access(op));
    }
}

struct OfArc<'b>(#[allow(dead_code, reason = "it is dropped")] Arc<Value<'b, OfArc<'b>>>);

impl<'b> Reference<'b> for OfArc<'b> {
    fn several(value: Value<'b, Self>, n: usize) -> Vec<Self> {
        let first = Arc::new(value);
        let mut all: Vec<_> = (1..n).map(|_| OfArc(Arc::clone(&first))).collect();
        all.push(OfArc(first));
        all
    }
}

struct ByHand<'b>(*const (AtomicUsize, Value<'b, ByHand<'b>>));

// SAFETY: as for `Arc`.
unsafe impl Send for ByHand<'_> {}

impl<'b> Reference<'b> for ByHand<'b> {
    fn several(value: Value<'b, Self>, n: usize) -> Vec<Self> {
        let value = Box::into_raw(Box::new((AtomicUsize::new(n), value)));
        (0..n).map(|_| ByHand(value)).collect()
    }
}

impl Drop for ByHand<'_> {
    fn drop(&mut self) {
        // SAFETY: there is this reference.
        if unsafe { (*self.0).0.fetch_sub(1, Release) } == 1 {
            fence(Acquire);
            // SAFETY: it was a box, and this is the last reference.
            drop(unsafe { Box::from_raw(self.0.cast_mut()) });
        }
    }
}

/// By thread and place: 1 if the flag was not set, 2 if it was.
type Log = [[StdAtomicU32; 8]; THREADS];

fn perform<R>(ops: &[Op], mut references: [Option<R>; ARCS], shared: &Shared, log: &[StdAtomicU32; 8]) {
    let mut ops = ops.iter().zip(log);
    while let Some((&op, seen)) = ops.next() {
        match op {
            Op::Drop(arc) => drop(references[arc].take()),
            Op::Read(_) | Op::Write(_) => shared.access(op),
            Op::Fence(order) => fence(order),
            Op::Store { flag, releases } => shared.flags[flag].store(1, if releases { Release } else { Relaxed }),
            Op::If { flag, acquires } => {
                let is_set = shared.flags[flag].load(if acquires { Acquire } else { Relaxed }) == 1;
                seen.store(1 + u32::from(is_set), SeqCst);
                if !is_set {
                    ops.next();
                }
            }
        }
    }
}

fn body<R>(program: &Program, log: &Log)
where
    R: for<'b> Family<'b>,
{
    log.iter().flatten().for_each(|seen| seen.store(0, SeqCst));
    let (shared, threads) = (Shared::default(), program.threads.len());
    let value = |arc: usize, nested| Value { shared: &shared, destructor: &program.destructors[arc], _nested: nested };
    let mut second = R::Of::several(value(1, None), threads + usize::from(program.nested));
    let nested = program.nested.then(|| second.pop().unwrap());
    let mut first = R::Of::several(value(0, nested), threads);
    thread::scope(|scope| {
        for (ops, log) in program.threads.iter().zip(log) {
            let (references, shared) = ([first.pop(), second.pop()], &shared);
            scope.spawn(move || perform(ops, references, shared, log));
        }
    });
}

/// A kind of references.
trait Family<'b> {
    type Of: Reference<'b>;
}

struct Arcs;

impl<'b> Family<'b> for Arcs {
    type Of = OfArc<'b>;
}

struct Counted;

impl<'b> Family<'b> for Counted {
    type Of = ByHand<'b>;
}

/// The values that the threads see in executions, and whether accesses of a cell race in one of those where they do.
type Shown = BTreeMap<Vec<u32>, bool>;

/// The results of all executions, and their number; `None` if there are too many.
fn shown<R: for<'b> Family<'b>>(program: &Program, explorer: Explorer, memory: MemoryModel) -> Option<(Shown, u64)> {
    let config = Config::default().explorer(explorer).memory(memory).keep_going(true).allow_trivial(true);
    let config = config.shrink(0).check_leaks(false).max_executions(LONGEST);
    let (log, mut shown) = (Log::default(), Shown::new());
    let mut observe = |run: &Run, counted: bool| match run.end {
        End::Learned => shown.clear(),
        _ if counted => {
            let seen = log.iter().flatten().map(|seen| seen.load(SeqCst)).collect();
            *shown.entry(seen).or_default() |= find_race(&run.trace).is_some();
        }
        _ => {}
    };
    let report =
        check_body(&config, &|| body::<R>(program, &log), |body| body.check().observe(&mut observe).run()).unwrap();
    let is_whole = !matches!(report.verdict, Verdict::Incomplete { .. }) && report.executions < LONGEST;
    is_whole.then_some((shown, report.executions))
}

/// Whether each explorer shows of a program of `Arc`s what the explorer shows of the one that counts by hand.
fn compare(number: u64, program: &Program, counts: &mut Counts) {
    for memory in [MemoryModel::Sc, MemoryModel::C11] {
        let Some((every, by_hand)) = shown::<Counted>(program, Explorer::ReadsFrom, memory) else { continue };
        for explorer in [Explorer::ReadsFrom, Explorer::Exhaustive] {
            let Some((found, executions)) = shown::<Arcs>(program, explorer, memory) else { continue };
            assert_eq!(found, every, "{explorer} under {memory}: {number} {program:?}");
            if explorer == Explorer::ReadsFrom {
                counts.compared += 1;
                counts.racing += u64::from(found.values().any(|&races| races));
                counts.by_hand += by_hand;
                counts.executions += executions;
            }
        }
    }
}

#[derive(Default)]
struct Counts {
    compared: u64,
    racing: u64,
    executions: u64,
    by_hand: u64,
}

#[test]
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
fn the_order_of_drops_hides_no_race_and_no_value() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |n| n.parse().expect("a number"));
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 300), number("RSMC_ORACLE_SEED", 0));
    let mut counts = Counts::default();
    for number in first..first + programs {
        compare(number, &program(&mut Dice::new(number)), &mut counts);
    }
    let Counts { compared, racing, executions, by_hand } = counts;
    println!("{compared} comparisons, {racing} with races; {executions} executions, {by_hand} where counts are steps");
    assert!(compared > programs && racing > compared / 5 && racing < compared * 4 / 5 && executions < by_hand);
}

#[test]
fn programs_that_differed_once() {
    let load = |flag, acquires| Op::If { flag, acquires };
    let store = |flag, releases| Op::Store { flag, releases };
    let (drop, read, write) = (Op::Drop, Op::Read, Op::Write);
    let programs = [
        // Only the fence in the last drop orders the accesses of a cell.
        Program {
            threads: vec![
                vec![read(1), load(0, false), drop(0), drop(0), load(1, false)],
                vec![drop(1), read(0), store(0, true), load(1, true)],
            ],
            destructors: [vec![], vec![write(0)]],
            nested: false,
        },
        // That fence, and the drops of another `Arc`.
        Program {
            threads: vec![vec![drop(0), read(0), drop(0), drop(1), load(0, false)], vec![store(0, false), drop(1)]],
            destructors: [vec![write(0)], vec![]],
            nested: true,
        },
        // A failing execution was run again for its report, and the exploration went on with what that run had learned.
        Program {
            threads: vec![
                vec![load(0, true), load(1, false), read(0), read(1)],
                vec![store(0, false), drop(1), load(0, false), load(1, false)],
                vec![load(0, false), load(1, false), write(0)],
            ],
            destructors: [vec![read(1)], vec![]],
            nested: false,
        },
    ];
    for (number, program) in programs.iter().enumerate() {
        compare(number as u64, program, &mut Counts::default());
    }
}
