//! Running a body once, or a few times, in the model.

use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::runtime::Runtime;
use rsmc_core::step::{End, Executor, Plan, Run, SchedulingPolicy};

pub const STACK: usize = 256 * 1024;

pub fn rules() -> Rules {
    Rules::new(MemoryModel::Sc, 100_000)
}

/// Runs `body` until it ends otherwise than by learning something.
pub fn execute(runtime: &mut Runtime<'_>, plan: &Plan, run: &mut Run) {
    runtime.execute(plan, run);
    while run.end == End::Learned {
        runtime.execute(plan, run);
    }
}

/// Runs `body` once.
pub fn run(body: &dyn Fn()) -> Run {
    let mut run = Run::default();
    execute(&mut Runtime::new(body, rules(), STACK), &Plan::default(), &mut run);
    run
}

/// Runs `body` once, which must end well.
#[track_caller]
pub fn passes(name: &str, body: &dyn Fn()) -> Run {
    let run = run(body);
    assert_passed(&run, name);
    run
}

/// Runs `body` under many random schedules, all of which must end well.
pub fn passes_always(name: &str, body: &dyn Fn(), schedules: u64) {
    let (mut runtime, mut run) = (Runtime::new(body, rules(), STACK), Run::default());
    for seed in 0..schedules {
        let plan = Plan { policy: SchedulingPolicy::Random(seed), ..Plan::default() };
        execute(&mut runtime, &plan, &mut run);
        assert_passed(&run, &format!("{name}, seed {seed}"));
    }
}

#[track_caller]
fn assert_passed(run: &Run, name: &str) {
    let panics: Vec<_> = run.panics.iter().filter(|panic| !panic.received).collect();
    assert!(panics.is_empty(), "{name}: {panics:?}");
    assert_eq!(run.end, End::Complete, "{name}: waiting {:?}", run.waiting);
}
