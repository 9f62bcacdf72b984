//! Litmus programs on rsmc: its interpreter, one execution for each reads-from class.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Check, Config, PreemptionBound};
use rsmc_core::step::{Executor, Plan, Run};
use rsmc_testkit::litmus::{Interpreter, Outcome, Program};

/// The memory models; each allows what those before it allow.
pub const MODELS: [MemoryModel; 4] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11];

/// What rsmc shows of a program.
#[derive(Default)]
pub struct Shown {
    /// The outcomes of all executions.
    pub outcomes: BTreeSet<Outcome>,
    /// How many there were.
    pub executions: u64,
}

/// An interpreter that keeps the outcome of its last execution where others see it.
struct Watched(Interpreter, Rc<RefCell<Outcome>>);

impl Executor for Watched {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        self.0.execute(plan, run);
        *self.1.borrow_mut() = self.0.outcome();
    }
}

/// Runs every class of a program, or those with at most so many preemptions.
///
/// # Panics
/// If the program is not well formed.
pub fn explore(program: &Program, memory: MemoryModel, preemptions: Option<usize>) -> Shown {
    let mut config = Config::default().memory(memory).keep_going(true).shrink(0);
    config.preemption_bound = preemptions.map(|most| PreemptionBound::AtMost(most as u32));
    let interpreter = Interpreter::new(program, Rules::new(memory, 1_000)).expect("it is well formed");
    let last = Rc::new(RefCell::new(Outcome::default()));
    let mut executor = Watched(interpreter, Rc::clone(&last));
    let mut shown = Shown::default();
    Check::new(&config, &mut executor)
        .observe(|_, counted| {
            if counted {
                shown.outcomes.insert(last.borrow().clone());
                shown.executions += 1;
            }
        })
        .run();
    shown
}
