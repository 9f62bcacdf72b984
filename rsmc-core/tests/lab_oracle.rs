//! The explorers of the lab against brute force: each class of their equivalence once, with its outcomes and deadlocks.

use std::collections::BTreeMap;

use rsmc_core::base::Digest;
use rsmc_core::explore::Exhaustive;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Explorer, Plan, Run};
use rsmc_core::trace::outcome_digest;
use rsmc_testkit::lab::{self, Baseline, SourceDpor, happens_before_class};
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

/// Brute force, unless it takes too long.
#[derive(Default)]
struct All(Exhaustive, u32);

impl Baseline for All {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.1 += 1;
        self.1 < 400_000 && self.0.next_plan(plan)
    }

    fn observe(&mut self, run: &Run) -> bool {
        self.0.observe(run);
        true
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
    if every.values().map(|(_, runs)| runs).sum::<u32>() >= 399_999 {
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

/// What `mixes` compares.
struct HappensBefore;

impl HappensBefore {
    fn compare(&self, name: &str, _: MemoryModel, size: Size, weights: &Weights) {
        oracle::compare(name, size, weights, &difference::<SourceDpor>);
    }
}

const HAPPENS_BEFORE: HappensBefore = HappensBefore;

mixes!(HAPPENS_BEFORE, Sc);

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

    fn observe(&mut self, run: &Run) -> bool {
        self.runs += 1;
        let counts = self.right.observe(run);
        if FORGETS { counts && self.runs > 1 } else { true }
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
