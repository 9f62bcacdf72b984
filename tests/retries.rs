//! Random programs with loops that try again with what a failed compare-exchange returned: `reads-from`, which leaves
//! attempts out that came too late, shows the same values and the same races as brute force, which has all of them.
//!
//! Some of the loops are not what they look like: they count, they treat a value that they load otherwise than one that
//! an attempt returns, they remember, or they write memory in between. `RSMC_ORACLE_PROGRAMS` says how many programs
//! there are, `RSMC_ORACLE_SEED` shifts them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32 as StdAtomicU32;

use rsmc::cell::UnsafeCell;
use rsmc::hint::spin_loop;
use rsmc::sync::Arc;
use rsmc::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use rsmc::sync::atomic::{AtomicU32, fence};
use rsmc::{Config, Explorer, MemoryModel, Verdict, thread};
use rsmc_core::analysis::race::find_race;
use rsmc_core::session::check_body;
use rsmc_core::step::{End, Run};
use rsmc_core::trace::Source;

use crate::support::dice::Dice;

const THREADS: usize = 3;
const OPS: usize = 4;
/// An exploration of more executions is given up.
const LONGEST: u64 = 10_000;

/// What the threads share.
#[derive(Default)]
struct Shared {
    atomics: [AtomicU32; 2],
    cell: UnsafeCell<u32>,
}

// SAFETY: whether the threads access the cell in order is what is compared, and all of this is on one OS thread.
unsafe impl Sync for Shared {}

/// The orderings of a load, and of a compare-exchange.
#[derive(Clone, Copy, Debug)]
struct Orders {
    load: Ordering,
    success: Ordering,
    failure: Ordering,
}

/// What a thread does with an atomic; `other` is the other one. Returns what it has learned.
type Act = fn(x: &AtomicU32, other: &AtomicU32, cell: &UnsafeCell<u32>, orders: Orders) -> u32;

/// A value that comes back after four steps.
fn next(value: u32) -> u32 {
    (value + 1) % 4
}

/// The loops, by name.
const LOOPS: [(&str, Act); 15] = [
    ("plain", |x, _, _, o| {
        let mut now = x.load(o.load);
        loop {
            match x.compare_exchange(now, next(now), o.success, o.failure) {
                Ok(old) => return old,
                Err(other) => now = other,
            }
        }
    }),
    ("weak", |x, _, _, o| {
        let mut now = x.load(o.load);
        while let Err(other) = x.compare_exchange_weak(now, next(now), o.success, o.failure) {
            now = other;
        }
        now
    }),
    ("begins without a load", |x, _, _, o| {
        let mut now = 0;
        while let Err(other) = x.compare_exchange(now, next(now), o.success, o.failure) {
            now = other;
        }
        now
    }),
    ("gives up at 2", |x, _, _, o| {
        let mut now = x.load(o.load);
        while now != 2 {
            match x.compare_exchange(now, next(now), o.success, o.failure) {
                Ok(old) => return old,
                Err(other) => now = other,
            }
        }
        10
    }),
    ("gives up if it loads 1", |x, _, _, o| {
        let mut now = x.load(o.load);
        if now == 1 {
            return 10;
        }
        while let Err(other) = x.compare_exchange(now, next(now), o.success, o.failure) {
            now = other;
        }
        now
    }),
    ("takes a 1 that an attempt returns for 3", |x, _, _, o| {
        let mut now = x.load(o.load);
        while let Err(other) = x.compare_exchange(now, next(now), o.success, o.failure) {
            now = if other == 1 { 3 } else { other };
            if now == 3 && x.load(Relaxed) != 3 {
                return 10;
            }
        }
        now
    }),
    ("counts", |x, _, _, o| {
        let (mut now, mut attempts) = (x.load(o.load), 0);
        while let Err(other) = x.compare_exchange(now, next(now), o.success, o.failure) {
            (now, attempts) = (other, attempts + 1);
            if attempts == 2 {
                return 10;
            }
        }
        now + 20 * attempts
    }),
    ("remembers", |x, _, _, o| {
        let mut now = x.load(o.load);
        let first = now;
        while let Err(other) = x.compare_exchange(now, next(now), o.success, o.failure) {
            now = other;
        }
        10 * first + now
    }),
    ("remembers the largest", |x, _, _, o| {
        let mut now = x.load(o.load);
        let mut largest = now;
        while let Err(other) = x.compare_exchange(now, next(now), o.success, o.failure) {
            (now, largest) = (other, largest.max(other));
        }
        10 * largest + now
    }),
    ("adds the other", |x, y, _, o| {
        let mut now = x.load(o.load);
        loop {
            let add = y.load(Relaxed);
            match x.compare_exchange(now, (now + add + 1) % 4, o.success, o.failure) {
                Ok(old) => return old + 10 * add,
                Err(other) => now = other,
            }
        }
    }),
    ("loads again", |x, _, _, o| {
        loop {
            let now = x.load(o.load);
            if x.compare_exchange(now, next(now), o.success, o.failure).is_ok() {
                return now;
            }
        }
    }),
    ("with hints", |x, _, _, o| {
        let mut now = x.load(o.load);
        while let Err(other) = x.compare_exchange(now, next(now), o.success, o.failure) {
            now = other;
            spin_loop();
        }
        now
    }),
    ("with fences", |x, _, _, o| {
        let mut now = x.load(o.load);
        while let Err(other) = x.compare_exchange(now, next(now), o.success, o.failure) {
            fence(Acquire);
            now = other;
        }
        now
    }),
    ("at two places", |x, _, _, o| {
        let mut now = x.load(o.load);
        loop {
            let done = if now % 2 == 0 {
                x.compare_exchange(now, next(now), o.success, o.failure)
            } else {
                x.compare_exchange_weak(now, (now + 2) % 4, success_beside(o.failure), o.failure)
            };
            match done {
                Ok(old) => return old,
                Err(other) => now = other,
            }
        }
    }),
    ("by memory", |x, _, _, o| {
        let mut node = Box::new(x.load(o.load));
        while let Err(other) = x.compare_exchange(*node, next(*node), o.success, o.failure) {
            *node = other;
        }
        *node
    }),
];

/// Everything else.
const OTHERS: [(&str, Act); 6] = [
    ("load", |x, _, _, o| x.load(o.load)),
    ("store", |x, _, _, o| {
        x.store(2, if o.success == Relaxed { Relaxed } else { Release });
        0
    }),
    ("add", |x, _, _, o| x.fetch_add(1, o.success)),
    ("load of the other", |_, y, _, o| y.load(o.load)),
    ("write the cell", |_, _, cell, _| cell.with_mut(|_| 0)),
    ("read the cell if it is 1", |x, _, cell, o| {
        let now = x.load(o.load);
        if now == 1 {
            cell.with(|_| ());
        }
        now
    }),
];

/// An ordering of a success that may stand beside this one of a failure.
fn success_beside(failure: Ordering) -> Ordering {
    match failure {
        Relaxed => Release,
        Acquire => AcqRel,
        _ => SeqCst,
    }
}

#[derive(Clone, Copy)]
struct Op {
    name: &'static str,
    act: Act,
    atomic: usize,
    orders: Orders,
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, {:?})", self.name, self.atomic, self.orders)
    }
}

fn op(dice: &mut Dice, is_loop: bool) -> Op {
    let (name, act) = if is_loop { LOOPS[dice.below(LOOPS.len())] } else { OTHERS[dice.below(OTHERS.len())] };
    let load = [Relaxed, Relaxed, Acquire, SeqCst][dice.below(4)];
    let success = [Relaxed, AcqRel, AcqRel, SeqCst][dice.below(4)];
    let failure = [Relaxed, Relaxed, Acquire, SeqCst][dice.below(4)];
    Op { name, act, atomic: dice.below(5) / 4, orders: Orders { load, success, failure } }
}

/// A program: two threads with up to four operations, or three with two.
fn program(dice: &mut Dice) -> Vec<Vec<Op>> {
    let threads = 2 + dice.below(THREADS - 1);
    let most = if threads == 2 { OPS } else { 2 };
    let mut thread = |number: usize| {
        let length = 1 + dice.below(most);
        (0..length).map(|place| op(dice, (number + place).is_multiple_of(2))).collect()
    };
    (0..threads).map(&mut thread).collect()
}

/// By thread and operation: what it has learned, more by one.
type Log = [[StdAtomicU32; OPS]; THREADS];

fn body(program: &[Vec<Op>], log: &Log) {
    log.iter().flatten().for_each(|seen| seen.store(0, SeqCst));
    let shared = Arc::new(Shared::default());
    thread::scope(|scope| {
        for (ops, log) in program.iter().zip(log) {
            let shared = Arc::clone(&shared);
            scope.spawn(move || {
                for (op, seen) in ops.iter().zip(log) {
                    let (x, other) = (&shared.atomics[op.atomic], &shared.atomics[1 - op.atomic]);
                    seen.store(1 + (op.act)(x, other, &shared.cell, op.orders), SeqCst);
                }
            });
        }
    });
}

/// The values that the threads learn in executions, and whether accesses of the cell race in one of them.
type Shown = BTreeMap<Vec<u32>, bool>;

/// Runs all executions and shows each with what its threads learn. Returns their number; `None` if there are too many.
fn explore(program: &[Vec<Op>], config: Config, mut show: impl FnMut(Option<(&Run, Vec<u32>)>) + Send) -> Option<u64> {
    let config = config.keep_going(true).allow_trivial(true).shrink(0).check_leaks(false).max_executions(LONGEST);
    let log = Log::default();
    let mut observe = |run: &Run, counted: bool| match run.end {
        End::Learned => show(None),
        _ if counted => show(Some((run, log.iter().flatten().map(|seen| seen.load(SeqCst)).collect()))),
        _ => {}
    };
    let report = check_body(&config, &|| body(program, &log), |body| body.check().observe(&mut observe).run()).unwrap();
    let is_whole = !matches!(report.verdict, Verdict::Incomplete { .. }) && report.executions < LONGEST;
    is_whole.then_some(report.executions)
}

/// The results of all executions, and their number; `None` if there are too many.
fn shown(program: &[Vec<Op>], explorer: Explorer, memory: MemoryModel) -> Option<(Shown, u64)> {
    let mut shown = Shown::new();
    let executions = explore(program, Config::default().explorer(explorer).memory(memory), |execution| {
        let Some((run, seen)) = execution else { return shown.clear() };
        *shown.entry(seen).or_default() |= find_race(&run.trace).is_some();
    })?;
    Some((shown, executions))
}

/// The number of times that an execution takes the processor from a thread which has more to do, or has a `SeqCst` read
/// take what was there before the last `SeqCst` write.
fn preemptions(run: &Run) -> u32 {
    let events = &run.trace.events;
    let takes = |at: usize| {
        let thread = events[at].id.thread;
        events[at + 1].id.thread != thread && events[at + 1..].iter().any(|event| event.id.thread == thread)
    };
    let is_out_of_order = |at: usize| {
        let event = &events[at];
        let since = match event.source {
            Source::At(write) if events[write as usize].order() == SeqCst => write as usize + 1,
            Source::Init => 0,
            _ => return false,
        };
        let mut later = events[since..at].iter().filter(|other| other.op.loc == event.op.loc);
        event.order() == SeqCst && later.any(|other| other.written.is_some() && other.order() == SeqCst)
    };
    (0..events.len().saturating_sub(1)).filter(|&at| takes(at) || is_out_of_order(at + 1)).count() as u32
}

#[test]
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
fn what_is_left_out_of_retries_hides_no_race_and_no_value() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |n| n.parse().expect("a number"));
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 150), number("RSMC_ORACLE_SEED", 0));
    let (mut compared, mut racing, mut executions, mut all) = (0, 0, 0, 0);
    for number in first..first + programs {
        let program = program(&mut Dice::new(number));
        let other = if number.is_multiple_of(2) { MemoryModel::Tso } else { MemoryModel::Pso };
        for memory in [MemoryModel::Sc, MemoryModel::C11, other] {
            let Some((every, brute)) = shown(&program, Explorer::Exhaustive, memory) else { continue };
            let Some((found, few)) = shown(&program, Explorer::ReadsFrom, memory) else {
                panic!("more classes than interleavings under {memory}: {number} {program:#?}")
            };
            assert_eq!(found, every, "under {memory}: {number} {program:#?}");
            (compared, racing) = (compared + 1, racing + u64::from(found.values().any(|&races| races)));
            (executions, all) = (executions + few, all + brute);
        }
    }
    println!("{compared} comparisons, {racing} with races; {executions} executions, {all} by brute force");
    assert!(compared > programs && racing > compared / 20 && executions < all);
}

/// Loops with hints and weak attempts are no part of it: what a hint offers, and what fails without cause, counts in
/// other ways.
#[test]
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
fn what_few_preemptions_show_is_shown_within_the_bound() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |n| n.parse().expect("a number"));
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 100), number("RSMC_ORACLE_SEED", 0));
    let (mut compared, mut beyond) = (0, 0);
    for number in first..first + programs {
        let program = program(&mut Dice::new(number));
        if program.iter().flatten().any(|op| ["weak", "with hints", "at two places"].contains(&op.name)) {
            continue;
        }
        for memory in [MemoryModel::Sc, MemoryModel::C11] {
            let config = Config::default().memory(memory);
            let mut fewest = BTreeMap::new();
            let every = explore(&program, config.clone().explorer(Explorer::Exhaustive), |execution| {
                let Some((run, seen)) = execution else { return fewest.clear() };
                let own = preemptions(run);
                fewest.entry(seen).and_modify(|fewest: &mut u32| *fewest = own.min(*fewest)).or_insert(own);
            });
            if every.is_none() {
                continue;
            }
            for bound in 0..3 {
                let mut found = BTreeSet::new();
                let within = explore(&program, config.clone().preemption_bound(bound), |execution| {
                    let Some((_, seen)) = execution else { return found.clear() };
                    found.insert(seen);
                });
                assert!(within.is_some(), "more classes than interleavings under {memory}: {number} {program:#?}");
                let missed: Vec<_> =
                    fewest.iter().filter(|&(seen, own)| *own <= bound && !found.contains(seen)).collect();
                assert!(missed.is_empty(), "{bound} under {memory}: {missed:?} of {number} {program:#?}");
                compared += 1;
                beyond += u64::from(found.len() < fewest.len());
            }
        }
    }
    println!("{compared} comparisons, in {beyond} of them with less than all");
    assert!(compared > programs && beyond > compared / 20);
}
