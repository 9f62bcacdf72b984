//! ViewXplore against brute force: every view class once, with its outcomes, deadlocks and panics.
//!
//! `RSMC_ORACLE_PROGRAMS` and `RSMC_ORACLE_SEED` choose other and more programs, as in `rf_smc_oracle`.

#[path = "litmus_brute.rs"]
#[allow(dead_code, reason = "each test uses a part of it")]
mod brute;

use std::collections::BTreeMap;

use brute::view_class;
use rsmc_core::base::Digest;
use rsmc_core::explore::view_xplore::Traversal;
use rsmc_core::explore::{Exhaustive, ViewXplore};
use rsmc_core::litmus::{Interpreter, Program, Size, Weights, random, shrink};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Executor, Explorer, Plan, Run};
use rsmc_core::trace::outcome_digest;

/// What an execution of a class shows: its outcome, whether it is stuck, and its panics.
type Shown = (Digest, bool, usize);

/// Brute force gives up on longer programs.
const LONGEST: u64 = 400_000;

/// What each class shows, and how often it was run.
fn classes(
    program: &Program,
    memory: MemoryModel,
    explorer: &mut dyn Explorer,
) -> Option<BTreeMap<Digest, (Shown, u32)>> {
    let rules = Rules { memory, max_steps: 1_000, spin_bound: 2 };
    let mut executor = Interpreter::new(program, rules).expect("a generated program is well formed");
    let (mut plan, mut run, mut classes) = (Plan::default(), Run::default(), BTreeMap::new());
    let mut runs = 0;
    while explorer.next_plan(&mut plan) {
        executor.execute(&plan, &mut run);
        assert!(run.is_maximal(), "{:?} in\n{program}", run.end);
        let shown = (outcome_digest(&run.trace), run.end == End::Stuck, run.panics.len());
        let entry = classes.entry(view_class(&run.trace)).or_insert((shown, 0));
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

/// The difference to brute force, if there is one; `None` also where brute force takes too long.
fn difference(program: &Program, memory: MemoryModel, traversal: Traversal) -> Option<String> {
    let every = classes(program, memory, &mut Exhaustive::new())?;
    let found = classes(program, memory, &mut ViewXplore::new(memory, traversal)).expect("fewer classes than runs");
    let missed = every.keys().filter(|class| !found.contains_key(class)).count();
    let extra = found.keys().filter(|class| !every.contains_key(class)).count();
    let twice = found.values().filter(|(_, runs)| *runs > 1).count();
    let other = every.iter().any(|(class, (shown, _))| found.get(class).is_some_and(|(found, _)| shown != found));
    (missed + extra + twice > 0 || other)
        .then(|| format!("{missed} missed, {extra} extra, {twice} run twice, of {} classes", every.len()))
}

fn shrunk(program: Program, memory: MemoryModel, traversal: Traversal) -> Program {
    let smaller = shrink(&program).find(|smaller| difference(smaller, memory, traversal).is_some());
    smaller.map_or(program, |smaller| shrunk(smaller, memory, traversal))
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

fn compare(name: &str, memory: MemoryModel, size: Size, weights: &Weights) {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 100), number("RSMC_ORACLE_SEED", 0));
    for seed in first..first + programs {
        let traversal = if seed.is_multiple_of(2) { Traversal::DepthFirst } else { Traversal::BreadthFirst };
        let program = random(seed, size, weights);
        if let Some(difference) = difference(&program, memory, traversal) {
            let small = shrunk(program, memory, traversal);
            let again = self::difference(&small, memory, traversal).unwrap_or_default();
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
const TWO_THREADS: Size = Size { threads: 2, locations: 2, locks: 2, operations: 13 };
const THREE_THREADS: Size = Size { threads: 3, locations: 3, locks: 2, operations: 10 };

mixes! { Sc:
    atomics: SMALL, Weights::ATOMICS;
    atomics_of_two_threads: TWO_THREADS, Weights::ATOMICS;
    updates: SMALL, Weights::UPDATES;
    updates_of_three_threads: THREE_THREADS, Weights::UPDATES;
    locks: SMALL, Weights::LOCKS;
    everything: SMALL, Weights::EVERYTHING;
    everything_of_three_threads: THREE_THREADS, Weights::EVERYTHING;
}

const BUFFERED: Size = Size { threads: 4, locations: 2, locks: 2, operations: 7 };
const BUFFERED_OF_TWO: Size = Size { threads: 2, locations: 3, locks: 2, operations: 9 };
const BUFFERED_OF_THREE: Size = Size { threads: 3, locations: 3, locks: 2, operations: 8 };

mixes! { Tso:
    tso_atomics: BUFFERED, Weights::ATOMICS;
    tso_atomics_of_two_threads: BUFFERED_OF_TWO, Weights::ATOMICS;
    tso_updates: BUFFERED, Weights::UPDATES;
    tso_everything: BUFFERED, Weights::EVERYTHING;
    tso_everything_of_three_threads: BUFFERED_OF_THREE, Weights::EVERYTHING;
}

mixes! { Pso:
    pso_atomics: BUFFERED, Weights::ATOMICS;
    pso_atomics_of_two_threads: BUFFERED_OF_TWO, Weights::ATOMICS;
    pso_updates: BUFFERED, Weights::UPDATES;
    pso_everything: BUFFERED, Weights::EVERYTHING;
    pso_everything_of_three_threads: BUFFERED_OF_THREE, Weights::EVERYTHING;
}
