//! Explorers that only researchers need: the baselines with which the papers compare themselves.
//!
//! They run executions by [`Executor`]s as those of rsmc do, under SC and of programs in which no loop waits. They are
//! here to give the papers' columns of docs/seeds.md, and not to be fast.

mod access;
mod optimal_dpor;
mod races;
mod source_dpor;

use rsmc_core::base::{Digest, LocId};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::runtime::Runtime;
use rsmc_core::session::Config;
use rsmc_core::step::{Executor, Plan, Run};
use rsmc_core::trace::Trace;
use rustc_hash::FxHashMap;

pub use optimal_dpor::OptimalDpor;
pub use source_dpor::SourceDpor;

/// The kinds of runs of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// An execution of a class of its own.
    Execution,
    /// Only steps were left that were explored.
    Redundant,
    /// The executor took a step that was explored, and there was another one, which comes next.
    Detour,
}

/// The numbers of runs of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those of executions.
    pub executions: u64,
    /// Those that the algorithm could not avoid.
    pub redundant: u64,
    /// Those that it makes since executors do not know which steps were explored.
    pub detours: u64,
}

/// An explorer that may find in the middle of a run that it goes where another one went.
pub trait Baseline: Default {
    /// Writes the next plan; false if the exploration is complete.
    fn next_plan(&mut self, plan: &mut Plan) -> bool;
    /// Observes the run of its last plan.
    fn observe(&mut self, run: &Run) -> Ran;
}

/// Explores a program and shows each execution.
///
/// # Panics
///
/// If an execution does not end, or a loop waits.
pub fn explore<B: Baseline>(executor: &mut dyn Executor, mut show: impl FnMut(&Run)) -> Counts {
    let (mut plan, mut run, mut counts) = (Plan::default(), Run::default(), Counts::default());
    let mut baseline = B::default();
    while baseline.next_plan(&mut plan) {
        executor.execute(&plan, &mut run);
        assert!(run.is_maximal() && run.waits.is_empty(), "no execution to compare: {:?}", run.end);
        match baseline.observe(&run) {
            Ran::Execution => {
                show(&run);
                counts.executions += 1;
            }
            Ran::Redundant => counts.redundant += 1,
            Ran::Detour => counts.detours += 1,
        }
    }
    counts
}

/// Explores real code.
///
/// # Panics
///
/// As [`explore`], and if an execution fails.
pub fn count<B: Baseline>(body: impl Fn() + Sync) -> Counts {
    let count = || {
        let config = Config::default();
        let mut runtime = Runtime::new(&body, Rules::new(MemoryModel::Sc, config.max_steps), config.stack_size);
        explore::<B>(&mut runtime, |run| assert!(run.panics.is_empty(), "an execution fails"))
    };
    // As every check, it has a thread of its own.
    let counted = std::thread::scope(|scope| scope.spawn(count).join());
    counted.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

/// The class of a maximal execution under happens-before (Mazurkiewicz' trace): the same events per thread, and each
/// two conflicting ones in the same order. Under SC only.
pub fn happens_before_class(trace: &Trace) -> Digest {
    let mut digest = Digest::EMPTY;
    let mut last: FxHashMap<LocId, (u64, u64)> = FxHashMap::default();
    for event in &trace.events {
        let id = (u64::from(event.id.thread.0) + 1, u64::from(event.id.index));
        // Reads between two writes see the first of them, and the second sees it, too.
        let (thread, index) = last.get(&event.op.loc).copied().unwrap_or_default();
        digest.add(&[id.0, id.1, thread, index, event.op.action.alternative()]);
        if event.written.is_some() {
            last.insert(event.op.loc, id);
        }
    }
    digest
}
