//! The explorers of the lab against brute force: each class of their equivalence once, with its outcomes and deadlocks.

use std::collections::BTreeMap;

use rsmc_core::base::Digest;
use rsmc_core::explore::Exhaustive;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Explorer, Plan, Run};
use rsmc_core::trace::outcome_digest;
use rsmc_testkit::lab::{self, Baseline, OptimalDpor, Ran, SourceDpor, happens_before_class};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, parse};

use crate::oracle::{self, mixes};

/// The outcome of each class, whether it is stuck, and the number of its runs.
type Classes = BTreeMap<Digest, ((Digest, bool), u32)>;

fn add(classes: &mut Classes, run: &Run) {
    let shown = (outcome_digest(&run.trace), run.end == End::Stuck);
    let entry = classes.entry(happens_before_class(&run.trace)).or_insert((shown, 0));
    assert_eq!(entry.0, shown, "two executions of one class differ");
    entry.1 += 1;
}

/// Brute force gives up on longer programs.
const LONGEST: u32 = 400_000;

/// Brute force, and its runs so far.
#[derive(Default)]
struct All(Exhaustive, u32);

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
    lab::explore::<B>(&mut executor, |run| add(&mut classes, run));
    classes
}

/// The difference of an explorer that runs each class of happens-before once.
fn difference<B: Baseline>(program: &Program, number: u64) -> Option<String> {
    let rules = oracle::rules(MemoryModel::Sc);
    let every = classes::<All>(program, rules);
    if every.values().map(|(_, runs)| runs).sum::<u32>() >= LONGEST {
        return None;
    }
    // In every other program any thread goes on where the explorer leaves that open.
    let found = classes::<B>(program, Rules { stirred: (number % 2 == 1).then_some(number), ..rules });
    let missed = every.keys().filter(|class| !found.contains_key(class)).count();
    let extra = found.keys().filter(|class| !every.contains_key(class)).count();
    let twice = found.values().filter(|(_, runs)| *runs > 1).count();
    let other = every.iter().any(|(class, (shown, _))| found.get(class).is_some_and(|(found, _)| shown != found));
    (missed + extra + twice > 0 || other)
        .then(|| format!("{missed} missed, {extra} extra, {twice} run twice, of {} classes", every.len()))
}

/// No run is in vain, where no operation has alternatives.
fn redundant(program: &Program, number: u64) -> Option<String> {
    let rules = Rules { stirred: (number % 2 == 1).then_some(number), ..oracle::rules(MemoryModel::Sc) };
    let mut executor = Interpreter::new(program, rules).expect("a generated program is well formed");
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
