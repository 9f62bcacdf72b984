//! Explorers that only researchers need: the baselines with which the papers compare themselves.
//!
//! They run executions by [`Executor`]s as those of rsmc do, under SC and of programs in which no loop waits. They are
//! here to give the papers' columns of docs/seeds.md, and not to be fast.

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

pub use source_dpor::SourceDpor;

/// An explorer that may find in the middle of a run that it goes where another one went.
pub trait Baseline: Default {
    /// Writes the next plan; false if the exploration is complete.
    fn next_plan(&mut self, plan: &mut Plan) -> bool;
    /// Observes the run of its last plan. False if that one goes where another one went: then it does not count.
    fn observe(&mut self, run: &Run) -> bool;
}

/// Explores a program and shows each run that counts. Returns the number of the others.
///
/// # Panics
///
/// If an execution does not end, or a loop waits.
pub fn explore<B: Baseline>(executor: &mut dyn Executor, mut show: impl FnMut(&Run)) -> u64 {
    let (mut plan, mut run, mut redundant) = (Plan::default(), Run::default(), 0);
    let mut baseline = B::default();
    while baseline.next_plan(&mut plan) {
        executor.execute(&plan, &mut run);
        assert!(run.is_maximal() && run.waits.is_empty(), "no execution to compare: {:?}", run.end);
        if baseline.observe(&run) {
            show(&run);
        } else {
            redundant += 1;
        }
    }
    redundant
}

/// The numbers of executions of real code, and of the runs that do not count, by a baseline.
///
/// # Panics
///
/// As [`explore`], and if an execution fails.
pub fn count<B: Baseline>(body: impl Fn() + Sync) -> (u64, u64) {
    let count = || {
        let config = Config::default();
        let mut runtime = Runtime::new(&body, Rules::new(MemoryModel::Sc, config.max_steps), config.stack_size);
        let mut executions = 0;
        let redundant = explore::<B>(&mut runtime, |run| {
            assert!(run.panics.is_empty(), "an execution fails");
            executions += 1;
        });
        (executions, redundant)
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
