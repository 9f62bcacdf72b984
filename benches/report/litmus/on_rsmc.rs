//! Litmus programs on rsmc: its interpreter, one execution for each reads-from class.

use std::collections::BTreeSet;

use rsmc_core::explore::RfSmc;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{Executor, Explorer, Plan, Run};
use rsmc_testkit::litmus::{Interpreter, Outcome, Program};

/// The models of the page; each allows what those before it allow.
pub const MODELS: [MemoryModel; 4] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11];

/// What rsmc shows of a program.
pub struct Shown {
    /// The outcomes of all executions.
    pub outcomes: BTreeSet<Outcome>,
    /// How many there were.
    pub executions: u64,
}

/// Runs a program, which has no loops that wait, until every class is seen.
pub fn explore(program: &Program, memory: MemoryModel) -> Shown {
    let rules = Rules::new(memory, 1_000);
    let mut interpreter = Interpreter::new(program, rules).expect("the programs of the corpus can be run");
    let (mut explorer, mut plan, mut run) = (RfSmc::new(memory), Plan::default(), Run::default());
    let mut shown = Shown { outcomes: BTreeSet::new(), executions: 0 };
    while explorer.next_plan(&mut plan) {
        interpreter.execute(&plan, &mut run);
        shown.outcomes.insert(interpreter.outcome());
        shown.executions += 1;
        explorer.observe(&run);
    }
    shown
}
