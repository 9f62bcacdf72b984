//! What explorers and executors say to each other: a [`Plan`] goes one way, a [`Run`] comes back.
//!
//! Both are data. The same plan drives the coroutine runtime, the litmus interpreter and a replay, and none of
//! them knows which explorer wrote it.

mod expect;
mod knowledge;
mod plan;
mod route;
mod run;
mod steps;

use std::rc::Rc;
use std::sync::atomic::Ordering;

use crate::model::MemoryModel;
use crate::trace::Site;

pub use expect::{Difference, Expect};
pub use knowledge::{Knowledge, Observed};
pub use plan::{Forced, Hold, Plan, Purpose, SchedulingPolicy, Tried};
pub use route::Route;
pub use run::{BadMemory, Choice, End, Leak, Leaked, Panicked, Pending, Run, Touch, Wait, Why};
pub use steps::Step;

/// Sees a run at every step.
pub type Watcher = Rc<dyn Fn(&Run)>;

/// Chooses what to run next.
pub trait Explorer {
    /// Writes the next plan; false if there is nothing left to explore.
    fn next_plan(&mut self, plan: &mut Plan) -> bool;
    /// Takes in the run of the plan it gave last.
    fn observe(&mut self, run: &Run);

    /// Does a part of the analysis that is due before the next plan, for some milliseconds at most; false if there is more to do.
    /// Who has no limit of time need not ask: [`next_plan`](Self::next_plan) does all that is left.
    fn analyse(&mut self) -> bool {
        true
    }

    /// What the plan that it gave last follows, if another process made that.
    fn route(&self) -> Option<&Route> {
        None
    }

    /// The position of an event of the run that is not what the process which made the plan has said. `None` if all is so, or
    /// the plan was made here.
    fn misplaced(&self, _run: &Run) -> Option<usize> {
        None
    }

    /// The plan that it gave last was not run: if it is asked to, it gives it again.
    fn retract(&mut self) {}

    /// Whether it learned something from the last run for which it starts again: earlier runs do not count.
    fn starts_over(&mut self) -> bool {
        false
    }
}

/// Runs plans.
pub trait Executor {
    /// Runs one execution from the start, following the plan, and records it in `run`.
    fn execute(&mut self, plan: &Plan, run: &mut Run);

    /// Whether something happened in the last run after which no other can be executed.
    fn is_broken(&self) -> bool {
        false
    }

    /// What it keeps from run to run.
    fn knowledge(&self) -> Knowledge {
        Knowledge::default()
    }

    /// Makes it know this, and nothing else.
    fn know(&mut self, _knowledge: &Knowledge) {}

    /// Makes later runs follow another memory model; false if it cannot.
    fn follow(&mut self, _memory: MemoryModel) -> bool {
        false
    }

    /// Makes the operations at these places have at least these orderings in later runs; false if it cannot.
    fn strengthen(&mut self, _changes: &[(Site, Ordering)]) -> bool {
        false
    }

    /// Shows the run so far to `watcher` whenever something happens, before the thread goes on; or to nobody.
    fn watch(&mut self, _watcher: Option<Watcher>) {}
}
