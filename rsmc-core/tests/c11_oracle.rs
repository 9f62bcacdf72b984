//! RF-SMC under C11 against the axioms: every reads-from class of a random program once, with its outcome, and nothing
//! that the axioms forbid.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs each mix gets (default 12), `RSMC_ORACLE_SEED` shifts them.

use std::collections::BTreeSet;

use rsmc_core::explore::{Exhaustive, Pct, Random, RfSmc};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel::{self, C11};
use rsmc_core::step::{Executor, Explorer, Plan, Run};
use rsmc_core::trace::reads_from_class;
use rsmc_testkit::litmus::{Interpreter, Outcome, Program, Size, Weights};

use crate::c11_axioms::executions;
use crate::oracle::{self, mixes};

/// The outcomes that an explorer shows, how many classes it runs, and how many runs it takes.
fn explore(program: &Program, explorer: &mut dyn Explorer, most: u64) -> (BTreeSet<Outcome>, u64, u64) {
    let rules = Rules::new(C11, 1_000);
    let mut interpreter = Interpreter::new(program, rules).expect("a generated program is well formed");
    let (mut plan, mut run) = (Plan::default(), Run::default());
    let (mut outcomes, mut classes, mut runs) = (BTreeSet::new(), BTreeSet::new(), 0);
    while runs < most && explorer.next_plan(&mut plan) {
        interpreter.execute(&plan, &mut run);
        assert!(run.is_maximal(), "{:?} in\n{program}", run.end);
        outcomes.insert(interpreter.outcome());
        classes.insert(reads_from_class(&run.trace));
        runs += 1;
        explorer.observe(&run);
    }
    (outcomes, classes.len() as u64, runs)
}

fn difference(program: &Program) -> Option<String> {
    let every = executions(program)?;
    let (outcomes, classes, runs) = explore(program, &mut RfSmc::new(C11), u64::MAX);
    let missed = every.outcomes.difference(&outcomes).count();
    let extra = outcomes.difference(&every.outcomes).count();
    let right = missed + extra == 0 && classes == every.classes && runs == classes;
    (!right).then(|| {
        let (of, expected) = (every.outcomes.len(), every.classes);
        format!("of {of} outcomes {missed} missed, {extra} extra; {classes} of {expected} classes in {runs} runs")
    })
}

struct Axioms;

impl Axioms {
    fn compare(&self, name: &str, _: MemoryModel, size: Size, weights: &Weights) {
        oracle::compare(name, size, weights, &|program, _| difference(program));
    }
}

const AXIOMS: Axioms = Axioms;

mixes!(AXIOMS, C11);

const TINY: Size = Size { threads: 3, locations: 2, locks: 1, operations: 5 };

/// Every interleaving with every source, and samples of them: the first show all that there is, the others nothing
/// else.
#[test]
fn the_other_explorers_follow_the_axioms() {
    oracle::compare("everything", TINY, &Weights::EVERYTHING, &|program, seed| {
        let every = executions(program)?;
        let (outcomes, classes, _) = explore(program, &mut Exhaustive::new(), u64::MAX);
        let samples: [&mut dyn Explorer; 2] = [&mut Random::new(seed), &mut Pct::new(seed)];
        let strange = samples.into_iter().any(|explorer| !explore(program, explorer, 20).0.is_subset(&every.outcomes));
        let right = outcomes == every.outcomes && classes == every.classes && !strange;
        (!right).then(|| format!("{classes} of {} classes; random shows what is impossible: {strange}", every.classes))
    });
}
