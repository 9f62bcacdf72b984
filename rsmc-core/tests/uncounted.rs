//! Checks whose runs all count for nothing, as a mistake of ours could make them: none of them is verified.

use rsmc_core::base::ThreadId;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Check, Config, FailureKind, Verdict};
use rsmc_core::step::{End, Executor, Plan, Run};
use rsmc_testkit::litmus::{Interpreter, parse};

/// An interpreter whose runs are changed when they are over.
struct Changed {
    interpreter: Interpreter,
    change: fn(&mut Run),
    is_broken: bool,
}

impl Changed {
    fn new(change: fn(&mut Run), is_broken: bool) -> Self {
        Self { interpreter: interpreter("t1: x = 1\n t2: a = x"), change, is_broken }
    }
}

impl Executor for Changed {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        self.interpreter.execute(plan, run);
        (self.change)(run);
    }

    fn is_broken(&self) -> bool {
        self.is_broken
    }
}

fn interpreter(program: &str) -> Interpreter {
    Interpreter::new(&parse(program).expect("a program"), Rules::new(MemoryModel::Sc, 100)).expect("it is well formed")
}

fn config() -> Config {
    Config::default().memory(MemoryModel::Sc)
}

#[test]
#[should_panic(expected = "this is a bug in rsmc: a check is complete after 2 runs, and none counts; the first: rsmc")]
fn a_check_without_an_execution_is_not_verified() {
    let mut executor = Changed::new(|run| run.halfway = true, false);
    Check::new(&config(), &mut executor).run();
}

#[test]
fn a_pinned_seed_that_is_stale_and_ends_the_check_is_judged() {
    let mut other = interpreter("t1: y = 1\n t2: a = y; assert a == 0");
    let Verdict::Failed(failure) = Check::new(&config(), &mut other).run().verdict else { panic!("it fails") };
    let mut executor = Changed::new(|run| run.end = End::StackOverflow { thread: ThreadId::MAIN }, true);
    let report = Check::new(&config().pin(failure.seed), &mut executor).run();
    let Verdict::Failed(failure) = report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(failure.kind, FailureKind::StackOverflow);
}
