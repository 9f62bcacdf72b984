//! The explorers of the lab against brute force: each class of their equivalence once, with its outcomes and deadlocks.

use rsmc_core::explore::Exhaustive;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{Explorer, Plan, Run};
use rsmc_testkit::lab::{self, Baseline, OptimalDpor, Ran, SourceDpor, happens_before_class};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, parse};

use crate::oracle::{self, Classes, LONGEST, add, mixes, stirred};

/// Brute force, and its runs so far.
#[derive(Default)]
struct All(Exhaustive, u64);

impl Baseline for All {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.1 += 1;
        self.1 <= LONGEST && self.0.next_plan(plan)
    }

    fn observe(&mut self, run: &Run) -> Ran {
        self.0.observe(run);
        Ran::Execution
    }
}

fn classes<B: Baseline>(program: &Program, rules: Rules) -> Classes {
    let mut executor = Interpreter::new(program, rules).expect("a generated program is well formed");
    let mut classes = Classes::new();
    lab::explore::<B>(&mut executor, |run| add(&mut classes, program, happens_before_class(&run.trace), run));
    classes
}

/// The difference of an explorer that runs each class of happens-before once.
fn difference<B: Baseline>(program: &Program, number: u64) -> Option<String> {
    let every = classes::<All>(program, oracle::rules(MemoryModel::Sc));
    if every.values().map(|&(_, runs)| u64::from(runs)).sum::<u64>() >= LONGEST {
        return None;
    }
    oracle::difference(&every, &classes::<B>(program, stirred(MemoryModel::Sc, number)))
}

/// No run is in vain, where no operation has alternatives.
fn redundant(program: &Program, number: u64) -> Option<String> {
    let mut executor =
        Interpreter::new(program, stirred(MemoryModel::Sc, number)).expect("a generated program is well formed");
    let mut chooses = false;
    let counts = lab::explore::<OptimalDpor>(&mut executor, |run| {
        chooses |= run.trace.events.iter().any(|event| event.op.action.alternatives() > 1);
    });
    (counts.redundant > 0 && !chooses).then(|| format!("{counts:?}"))
}

/// What `mixes` compares.
#[derive(Clone, Copy)]
struct HappensBefore(fn(&Program, u64) -> Option<String>);

impl HappensBefore {
    fn compare(self, name: &str, _: MemoryModel, size: Size, weights: &Weights) {
        oracle::compare(name, size, weights, &self.0);
    }
}

mod source {
    use super::*;
    const SOURCE: HappensBefore = HappensBefore(difference::<SourceDpor>);
    mixes!(SOURCE, Sc);
}

mod optimal {
    use super::*;
    const OPTIMAL: HappensBefore = HappensBefore(difference::<OptimalDpor>);
    mixes!(OPTIMAL, Sc);
}

mod in_vain {
    use super::*;
    const IN_VAIN: HappensBefore = HappensBefore(redundant);
    mixes!(IN_VAIN, Sc);
}

/// An explorer with a mistake: it does not count its first run, or counts those that do not count.
#[derive(Default)]
struct Mistaken<const FORGETS: bool> {
    right: SourceDpor,
    runs: u32,
}

impl<const FORGETS: bool> Baseline for Mistaken<FORGETS> {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.right.next_plan(plan)
    }

    fn observe(&mut self, run: &Run) -> Ran {
        self.runs += 1;
        let ran = self.right.observe(run);
        match FORGETS {
            true if self.runs == 1 => Ran::Redundant,
            true => ran,
            false => Ran::Execution,
        }
    }
}

/// Agreement that cannot fail proves nothing.
#[test]
fn the_comparison_notices_a_forgotten_and_a_repeated_class() {
    let program = parse("t1: x = 1; a = y\nt2: y = 1; b = x\nt3: x = 2; y = 2\n").unwrap();
    assert_eq!(difference::<SourceDpor>(&program, 0), None);
    let forgotten = difference::<Mistaken<true>>(&program, 0).unwrap();
    assert!(!forgotten.starts_with("0 missed") && forgotten.contains(" 0 run twice"), "{forgotten}");
    let repeated = difference::<Mistaken<false>>(&program, 0).unwrap();
    assert!(repeated.starts_with("0 missed") && !repeated.contains(" 0 run twice"), "{repeated}");
}
