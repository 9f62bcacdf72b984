//! Brute force against an explorer: the same classes, outcomes, deadlocks and panics on random programs, none twice.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs each mix gets (default 12), `RSMC_ORACLE_SEED` shifts them.

use std::collections::BTreeMap;

use rsmc_core::base::Digest;
use rsmc_core::explore::Exhaustive;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Executor, Explorer, Plan, Run};
use rsmc_core::trace::{Trace, outcome_digest};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, random, shrink};

/// An equivalence, and an explorer that runs one execution of each of its classes.
#[derive(Clone, Copy)]
pub struct Oracle {
    /// The class of a maximal execution.
    pub class: fn(&Trace) -> Digest,
    /// A new exploration of a program with this number.
    pub explorer: fn(MemoryModel, u64) -> Box<dyn Explorer>,
}

/// The result of an execution of a class: its outcome, whether it is stuck, and its panics.
type Shown = (Digest, bool, usize);

/// The result of each class, and the number of its runs.
pub type Classes = BTreeMap<Digest, (Shown, u32)>;

/// Brute force gives up on longer programs.
pub const LONGEST: u64 = 400_000;

/// Adds an execution of a program, of this class.
pub fn add(classes: &mut Classes, program: &Program, class: Digest, run: &Run) {
    let shown = (outcome_digest(&run.trace), run.end == End::Stuck, run.panics.len());
    let entry = classes.entry(class).or_insert((shown, 0));
    assert_eq!(entry.0, shown, "two executions of one class differ in\n{program}");
    entry.1 += 1;
}

/// The difference between the classes of brute force and those of an explorer, if there is one.
pub fn difference(every: &Classes, found: &Classes) -> Option<String> {
    let missed = every.keys().filter(|class| !found.contains_key(class)).count();
    let extra = found.keys().filter(|class| !every.contains_key(class)).count();
    let twice = found.values().filter(|(_, runs)| *runs > 1).count();
    let other = every.iter().any(|(class, (shown, _))| found.get(class).is_some_and(|(found, _)| shown != found));
    (missed + extra + twice > 0 || other)
        .then(|| format!("{missed} missed, {extra} extra, {twice} run twice, of {} classes", every.len()))
}

/// The rules for the program with this number. In every other program any thread goes on where the explorer leaves that
/// open.
pub fn stirred(memory: MemoryModel, number: u64) -> Rules {
    Rules { stirred: (number % 2 == 1).then_some(number), ..rules(memory) }
}

impl Oracle {
    fn classes(&self, program: &Program, rules: Rules, explorer: &mut dyn Explorer) -> Option<Classes> {
        let mut executor = Interpreter::new(program, rules).expect("a generated program is well formed");
        let (mut plan, mut run, mut classes) = (Plan::default(), Run::default(), Classes::new());
        let mut runs = 0;
        while explorer.next_plan(&mut plan) {
            executor.execute(&plan, &mut run);
            assert!(run.is_maximal(), "{:?} in\n{program}", run.end);
            add(&mut classes, program, (self.class)(&run.trace), &run);
            explorer.observe(&run);
            if explorer.starts_over() {
                classes.clear();
            }
            runs += 1;
            if runs > LONGEST {
                return None;
            }
        }
        Some(classes)
    }

    /// The difference between an explorer and brute force on a program, if there is one. `None` also where brute
    /// force takes too long.
    pub fn difference_of(&self, program: &Program, rules: Rules, explorer: &mut dyn Explorer) -> Option<String> {
        let every = self.classes(program, Rules { stirred: None, ..rules }, &mut Exhaustive::new())?;
        let found = self.classes(program, rules, explorer).expect("fewer classes than interleavings");
        difference(&every, &found)
    }

    /// The difference of its explorer.
    pub fn difference(&self, program: &Program, memory: MemoryModel, number: u64) -> Option<String> {
        self.difference_of(program, stirred(memory, number), &mut *(self.explorer)(memory, number))
    }

    /// Compares on the random programs of a mix.
    pub fn compare(&self, name: &str, memory: MemoryModel, size: Size, weights: &Weights) {
        let difference = |program: &Program, number| self.difference(program, memory, number);
        compare(&format!("{name} under {memory}"), size, weights, &difference);
    }
}

/// The rules under which programs are compared.
pub fn rules(memory: MemoryModel) -> Rules {
    Rules::new(memory, 1_000)
}

/// What is wrong with an explorer on a program, if anything is, and on the programs left by removing statements from
/// it.
pub type Difference<'a> = &'a dyn Fn(&Program, u64) -> Option<String>;

/// Looks for a difference on the random programs of a mix.
pub fn compare(name: &str, size: Size, weights: &Weights, difference: Difference) {
    compare_some(12, name, size, weights, difference);
}

/// Looks for a difference on so many random programs of a mix, unless the environment has another number.
pub fn compare_some(programs: u64, name: &str, size: Size, weights: &Weights, difference: Difference) {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", programs), number("RSMC_ORACLE_SEED", 0));
    for seed in first..first + programs {
        let program = random(seed, size, weights);
        if let Some(found) = difference(&program, seed) {
            let small = shrunk(program, seed, difference);
            let again = difference(&small, seed).unwrap_or_default();
            panic!("{name}, seed {seed}: {found}\nshrunk ({again}):\n{small}");
        }
    }
}

/// A number from the environment.
pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// The smallest program found by removing statements that still shows a difference.
fn shrunk(program: Program, seed: u64, difference: Difference) -> Program {
    let smaller = shrink(&program).find(|smaller| difference(smaller, seed).is_some());
    smaller.map_or(program, |smaller| shrunk(smaller, seed, difference))
}

/// One test for each mix of random programs under each model.
macro_rules! mixes {
    ($oracle:ident, $memory:ident: $($name:ident: $size:ident, $weights:ident;)+) => {
        $(#[test]
        fn $name() {
            use rsmc_testkit::litmus::Weights;
            use rsmc_core::model::MemoryModel;
            $oracle.compare(stringify!($name), MemoryModel::$memory, oracle::$size, &Weights::$weights);
        })+
    };
    ($oracle:ident, Sc) => {
        mixes! { $oracle, Sc:
            atomics: SMALL, ATOMICS;
            atomics_of_two_threads: TWO_THREADS, ATOMICS;
            updates: SMALL, UPDATES;
            updates_of_three_threads: THREE_THREADS, UPDATES;
            locks: SMALL, LOCKS;
            locks_of_two_threads: TWO_THREADS, LOCKS;
            everything: SMALL, EVERYTHING;
            everything_of_three_threads: THREE_THREADS, EVERYTHING;
            choices: SMALL, CHOICES;
        }
    };
    ($oracle:ident, C11) => {
        mixes! { $oracle, C11:
            c11_atomics: BUFFERED, ATOMICS;
            c11_atomics_of_two_threads: BUFFERED_OF_TWO, ATOMICS;
            c11_updates: BUFFERED, UPDATES;
            c11_updates_of_three_threads: BUFFERED_OF_THREE, UPDATES;
            c11_locks: BUFFERED, LOCKS;
            c11_everything: BUFFERED, EVERYTHING;
            c11_everything_of_three_threads: BUFFERED_OF_THREE, EVERYTHING;
        }
    };
    ($oracle:ident) => {
        mixes! { $oracle, Sc }
        mixes! { $oracle, Tso:
            tso_atomics: BUFFERED, ATOMICS;
            tso_atomics_of_two_threads: BUFFERED_OF_TWO, ATOMICS;
            tso_updates: BUFFERED, UPDATES;
            tso_updates_of_three_threads: BUFFERED_OF_THREE, UPDATES;
            tso_locks: BUFFERED, LOCKS;
            tso_everything: BUFFERED, EVERYTHING;
            tso_everything_of_three_threads: BUFFERED_OF_THREE, EVERYTHING;
        }
        mixes! { $oracle, Pso:
            pso_atomics: BUFFERED, ATOMICS;
            pso_atomics_of_two_threads: BUFFERED_OF_TWO, ATOMICS;
            pso_updates: BUFFERED, UPDATES;
            pso_updates_of_three_threads: BUFFERED_OF_THREE, UPDATES;
            pso_locks: BUFFERED, LOCKS;
            pso_everything: BUFFERED, EVERYTHING;
            pso_everything_of_three_threads: BUFFERED_OF_THREE, EVERYTHING;
            pso_choices: BUFFERED, CHOICES;
        }
    };
}
pub(crate) use mixes;

pub const SMALL: Size = Size { threads: 4, locations: 2, locks: 2, operations: 9 };
pub const TWO_THREADS: Size = Size { threads: 2, locations: 2, locks: 2, operations: 14 };
pub const THREE_THREADS: Size = Size { threads: 3, locations: 3, locks: 2, operations: 11 };
// With buffers there is more to interleave: a flush per store.
pub const BUFFERED: Size = Size { threads: 4, locations: 2, locks: 2, operations: 7 };
pub const BUFFERED_OF_TWO: Size = Size { threads: 2, locations: 3, locks: 2, operations: 9 };
pub const BUFFERED_OF_THREE: Size = Size { threads: 3, locations: 3, locks: 2, operations: 8 };
