//! What RF-SMC answers without the verifier is what the verifier says: on random programs, with locks, choices and
//! loops that wait, under every model. What is possible is also run, and must follow its plan.
//!
//! `RSMC_ORACLE_PROGRAMS` and `RSMC_ORACLE_SEED` choose other and more programs, as in `rf_smc_oracle`.

use std::cell::Cell;
use std::rc::Rc;

use rsmc_core::explore::RfSmc;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Executor, Explorer, Plan, Run};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, random};

use crate::spinning;

/// A program that takes more runs is left.
const MOST_RUNS: u32 = 2_000;

/// The number of answers that were yes, and of those that were no.
#[derive(Clone, Default)]
struct Answers(Rc<[Cell<u64>; 2]>);

impl Answers {
    /// An explorer that compares its answers.
    fn explorer(&self, memory: MemoryModel, program: &Program) -> RfSmc {
        let mut explorer = RfSmc::new(memory);
        let (answers, text) = (Rc::clone(&self.0), program.to_string());
        explorer.on_quick_answer(move |quick, right| {
            assert_eq!(quick, right, "possible? the quick answer, and the verifier's, under {memory} in\n{text}");
            let count = &answers[usize::from(right)];
            count.set(count.get() + 1);
        });
        explorer
    }

    fn compare(&self, memory: MemoryModel, program: &Program) {
        let mut executor = Interpreter::new(program, Rules::new(memory, 1_000)).unwrap();
        let mut explorer = self.explorer(memory, program);
        let (mut plan, mut run) = (Plan::default(), Run::default());
        for _ in 0..MOST_RUNS {
            if !explorer.next_plan(&mut plan) {
                break;
            }
            executor.execute(&plan, &mut run);
            if run.end == End::Learned {
                explorer = self.explorer(memory, program);
                continue;
            }
            let follows = !matches!(run.end, End::Diverged { .. });
            assert!(follows, "a schedule is not possible under {memory}: {:?} in\n{program}", run.end);
            explorer.observe(&run);
        }
    }
}

fn compare(memory: MemoryModel) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS").unwrap_or(300), number("RSMC_ORACLE_SEED").unwrap_or(0));
    let (answers, size) = (Answers::default(), Size { threads: 3, locations: 3, locks: 1, operations: 9 });
    for seed in first..first + programs {
        for weights in [Weights::ATOMICS, Weights::EVERYTHING, Weights::CHOICES] {
            answers.compare(memory, &random(seed, size, &weights));
        }
        answers.compare(memory, &spinning::program(seed, memory));
    }
    let [no, yes] = [&answers.0[0], &answers.0[1]].map(Cell::get);
    // Only under SC does the closure say that something is impossible.
    let refused = no > programs || memory != MemoryModel::Sc;
    assert!(yes > 10 * programs && refused, "{yes} times possible, {no} times not, in {programs} programs");
}

#[test]
fn under_sc() {
    compare(MemoryModel::Sc);
}

#[test]
fn under_tso() {
    compare(MemoryModel::Tso);
}

#[test]
fn under_pso() {
    compare(MemoryModel::Pso);
}

#[test]
fn under_c11() {
    compare(MemoryModel::C11);
}
