//! The interface between explorers and executors: an explorer makes a [`Plan`], an executor returns a [`Run`].
//!
//! Both are data. The same plan drives the coroutine runtime, the litmus interpreter and a replay, and none of them
//! knows which explorer made it.

mod expect;
mod knowledge;
mod plan;
mod route;
mod run;
mod steps;

use std::rc::Rc;
use std::sync::atomic::Ordering;

use crate::model::MemoryModel;
use crate::trace::{Site, Weakened};

pub use expect::{Difference, Expect};
pub use knowledge::{Knowledge, Observed, WaitingLoops};
pub use plan::{Forced, Hold, Plan, Purpose, SchedulingPolicy, Tried};
pub use route::Route;
pub use run::{BadMemory, Choice, End, Held, Leak, Leaked, Panicked, Pending, Run, Touch, Wait, Why};
pub use steps::Step;

/// A function that sees a run at every step.
pub type Watcher = Rc<dyn Fn(&Run)>;

/// An algorithm that makes plans.
pub trait Explorer {
    /// Writes the next plan; false if the exploration is complete.
    fn next_plan(&mut self, plan: &mut Plan) -> bool;
    /// Observes the run of its last plan.
    fn observe(&mut self, run: &Run);

    /// Does a part of the analysis that is due before the next plan, for some milliseconds at most; false if there is
    /// more to do. A caller without a time limit need not call it: [`next_plan`](Self::next_plan) does the rest.
    fn analyse(&mut self) -> bool {
        true
    }

    /// The route that its last plan follows, if another process made it.
    fn route(&self) -> Option<&Route> {
        None
    }

    /// The position of an event at which the run differs from what is known of its plan; `None` if it does not.
    fn misplaced(&self, _run: &Run) -> Option<usize> {
        None
    }

    /// Takes back its last plan, which was not run; the explorer may make it again.
    fn retract(&mut self) {}

    /// Whether it starts over, since it learned something from the last run: earlier runs do not count.
    fn starts_over(&mut self) -> bool {
        false
    }
}

/// A runner of plans.
pub trait Executor {
    /// Runs one execution from the start, following the plan, and records it in `run`.
    fn execute(&mut self, plan: &Plan, run: &mut Run);

    /// Whether the last run makes further runs impossible.
    fn is_broken(&self) -> bool {
        false
    }

    /// The knowledge that it keeps from run to run.
    fn knowledge(&self) -> Knowledge {
        Knowledge::default()
    }

    /// Replaces its knowledge.
    fn know(&mut self, _knowledge: &Knowledge) {}

    /// Makes later runs follow another memory model; false if it cannot.
    fn follow(&mut self, _memory: MemoryModel) -> bool {
        false
    }

    /// Makes the operations at these places have at least these orderings in later runs; false if it cannot.
    fn strengthen(&mut self, _changes: &[(Site, Ordering)]) -> bool {
        false
    }

    /// Makes the operations at these places have at most these orderings in later runs; false if it cannot.
    fn weaken(&mut self, _changes: &[Weakened]) -> bool {
        false
    }

    /// Those of [`weaken`](Self::weaken) that no operation had so far.
    fn unused(&self) -> Vec<Weakened> {
        Vec::new()
    }

    /// Makes later runs capture their call paths, or not; false if it cannot.
    fn trace_paths(&mut self, _on: bool) -> bool {
        false
    }

    /// Shows the run so far to `watcher` at every step, before the thread goes on; `None`: to no watcher.
    fn watch(&mut self, _watcher: Option<Watcher>) {}
}
