//! RF-SMC against brute force: the same classes, outcomes, deadlocks and panics on random programs, none twice.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs each mix gets (default 100; CI runs 600, `RSMC_ORACLE_SEED` shifts
//! them).

use std::collections::BTreeMap;

use rsmc_core::base::Digest;
use rsmc_core::explore::{Exhaustive, RfSmc};
use rsmc_core::litmus::{Interpreter, Program, Size, Weights, enumerate, random, shrink};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Executor, Explorer, Plan, Run};
use rsmc_core::trace::{outcome_digest, reads_from_class};

/// What an execution of a class shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    outcome: Digest,
    stuck: bool,
    panics: usize,
}

/// What each class shows, and how often it was run.
type Classes = BTreeMap<Digest, (Shown, u32)>;

/// Brute force gives up on longer programs.
const LONGEST: u64 = 400_000;

fn classes(program: &Program, memory: MemoryModel, explorer: &mut dyn Explorer) -> Option<Classes> {
    let rules = Rules { memory, max_steps: 1_000, spin_bound: 2 };
    let mut executor = Interpreter::new(program, rules).expect("a generated program is well formed");
    let (mut plan, mut run, mut classes) = (Plan::default(), Run::default(), Classes::new());
    let mut runs = 0;
    while explorer.next_plan(&mut plan) {
        executor.execute(&plan, &mut run);
        assert!(run.is_maximal(), "{:?} in\n{program}", run.end);
        let shown =
            Shown { outcome: outcome_digest(&run.trace), stuck: run.end == End::Stuck, panics: run.panics.len() };
        let entry = classes.entry(reads_from_class(&run.trace)).or_insert((shown, 0));
        assert_eq!(entry.0, shown, "two executions of one class differ in\n{program}");
        entry.1 += 1;
        explorer.observe(&run);
        runs += 1;
        if runs > LONGEST {
            return None;
        }
    }
    Some(classes)
}

/// The difference between an explorer and brute force on a program, if there is one. `None` also where brute force
/// takes too long.
fn difference_of(program: &Program, memory: MemoryModel, explorer: &mut dyn Explorer) -> Option<String> {
    let every = classes(program, memory, &mut Exhaustive::new())?;
    let found = classes(program, memory, explorer).expect("fewer classes than interleavings");
    let missed = every.keys().filter(|class| !found.contains_key(class)).count();
    let extra = found.keys().filter(|class| !every.contains_key(class)).count();
    let twice = found.values().filter(|(_, runs)| *runs > 1).count();
    let other = every.iter().any(|(class, (shown, _))| found.get(class).is_some_and(|(found, _)| shown != found));
    (missed + extra + twice > 0 || other)
        .then(|| format!("{missed} missed, {extra} extra, {twice} run twice, of {} classes", every.len()))
}

fn difference(program: &Program, memory: MemoryModel) -> Option<String> {
    difference_of(program, memory, &mut RfSmc::new(memory))
}

/// The smallest program found by removing statements that still shows a difference.
fn shrunk(program: Program, memory: MemoryModel) -> Program {
    let smaller = shrink(&program).find(|smaller| difference(smaller, memory).is_some());
    smaller.map_or(program, |smaller| shrunk(smaller, memory))
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

fn compare(name: &str, memory: MemoryModel, size: Size, weights: &Weights) {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 100), number("RSMC_ORACLE_SEED", 0));
    for seed in first..first + programs {
        let program = random(seed, size, weights);
        if let Some(difference) = difference(&program, memory) {
            let small = shrunk(program, memory);
            let again = self::difference(&small, memory).unwrap_or_default();
            panic!("{name} under {memory}, seed {seed}: {difference}\nshrunk ({again}):\n{small}");
        }
    }
}

macro_rules! mixes {
    ($memory:ident: $($name:ident: $size:expr, $weights:expr;)+) => {
        $(#[test]
        fn $name() {
            compare(stringify!($name), MemoryModel::$memory, $size, &$weights);
        })+
    };
}

const SMALL: Size = Size { threads: 4, locations: 2, locks: 2, operations: 9 };
const TWO_THREADS: Size = Size { threads: 2, locations: 2, locks: 2, operations: 14 };
const THREE_THREADS: Size = Size { threads: 3, locations: 3, locks: 2, operations: 11 };

mixes! { Sc:
    atomics: SMALL, Weights::ATOMICS;
    atomics_of_two_threads: TWO_THREADS, Weights::ATOMICS;
    updates: SMALL, Weights::UPDATES;
    updates_of_three_threads: THREE_THREADS, Weights::UPDATES;
    locks: SMALL, Weights::LOCKS;
    locks_of_two_threads: TWO_THREADS, Weights::LOCKS;
    everything: SMALL, Weights::EVERYTHING;
    everything_of_three_threads: THREE_THREADS, Weights::EVERYTHING;
}

/// With buffers there is more to interleave: a flush per store.
const BUFFERED: Size = Size { threads: 4, locations: 2, locks: 2, operations: 7 };
const BUFFERED_OF_TWO: Size = Size { threads: 2, locations: 3, locks: 2, operations: 9 };
const BUFFERED_OF_THREE: Size = Size { threads: 3, locations: 3, locks: 2, operations: 8 };

mixes! { Tso:
    tso_atomics: BUFFERED, Weights::ATOMICS;
    tso_atomics_of_two_threads: BUFFERED_OF_TWO, Weights::ATOMICS;
    tso_updates: BUFFERED, Weights::UPDATES;
    tso_updates_of_three_threads: BUFFERED_OF_THREE, Weights::UPDATES;
    tso_locks: BUFFERED, Weights::LOCKS;
    tso_everything: BUFFERED, Weights::EVERYTHING;
    tso_everything_of_three_threads: BUFFERED_OF_THREE, Weights::EVERYTHING;
}

mixes! { Pso:
    pso_atomics: BUFFERED, Weights::ATOMICS;
    pso_atomics_of_two_threads: BUFFERED_OF_TWO, Weights::ATOMICS;
    pso_updates: BUFFERED, Weights::UPDATES;
    pso_updates_of_three_threads: BUFFERED_OF_THREE, Weights::UPDATES;
    pso_locks: BUFFERED, Weights::LOCKS;
    pso_everything: BUFFERED, Weights::EVERYTHING;
    pso_everything_of_three_threads: BUFFERED_OF_THREE, Weights::EVERYTHING;
}

/// First all small programs, then random larger ones: two threads with up to two operations each.
#[test]
fn every_small_program() {
    let mut programs = 0;
    for program in enumerate(2) {
        assert_eq!(difference(&program, MemoryModel::Sc), None, "{program}");
        programs += 1;
    }
    assert_eq!(programs, 24_336);
}

/// An explorer with a mistake: it forgets one plan, or gives one twice.
struct Mistaken {
    right: RfSmc,
    plans: u32,
    forgets: bool,
}

impl Explorer for Mistaken {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.plans += 1;
        match (self.plans, self.forgets) {
            (2, true) => self.right.next_plan(plan) && self.right.next_plan(plan),
            (2, false) => true,
            _ => self.right.next_plan(plan),
        }
    }

    fn observe(&mut self, run: &Run) {
        if self.forgets || self.plans != 2 {
            self.right.observe(run);
        }
    }
}

/// Agreement that cannot fail proves nothing.
#[test]
fn the_comparison_notices_a_forgotten_and_a_repeated_class() {
    let program = rsmc_core::litmus::parse("t1: x = 1; a = y\nt2: y = 1; b = x\n").unwrap();
    let memory = MemoryModel::Sc;
    let found =
        |forgets| difference_of(&program, memory, &mut Mistaken { right: RfSmc::new(memory), plans: 0, forgets });
    assert_eq!(found(true).as_deref(), Some("2 missed, 0 extra, 0 run twice, of 3 classes"));
    assert_eq!(found(false).as_deref(), Some("0 missed, 0 extra, 1 run twice, of 3 classes"));
    assert_eq!(difference(&program, memory), None);
}
