//! Shrinking: from a failing schedule to one that is easier to read and fails the same way.
//!
//! Problem. An explorer shows the first failing execution that it meets, in whatever order it ran it. What is the smallest
//! schedule with the same failure ([`FailureSignature`])?
//!
//! What is small. The cost of a schedule is, in this order of weight but for one exchange:
//!
//! 1. *context switches*: operations of another thread than the operation before. All are counted, not only preemptions: a
//!    reader follows each of them to another column, and whether a thread could have gone on is a question of its own
//!    where stores wait. Flushes are no operations, and what is no step (spawns, joins, accesses of cells) is not counted.
//! 2. *weak steps*: stores that something happens before they leave their buffer, and, under C11, reads that take another
//!    write than the last;
//! 3. *alternatives* of operations other than the first: outcomes without cause, and values chosen above 0;
//! 4. *steps*.
//!
//! The exchange: one context switch more is fine where it saves weak steps. Under C11 a lost update needs two switches if
//! one thread reads an old value, and three if it does not: three switches are easier to follow than a read that is
//! late without need. So a schedule never has more than one switch more than the fewest.
//!
//! Method. First the schedule itself is improved ([`merge`]), which is fast and proves nothing. Then all schedules are
//! searched by their cost ([`search`]), which proves that there is none with fewer switches if it comes to an end. A
//! candidate is a beginning that is forced, without what was expected of it; so one that does not fit ends as diverged, and is
//! no nondeterminism. Under C11 forced reads are not checked, so [`merge`] lets them take the last write. Only executions that are maximal, repeat no waiting iteration and are judged as the same failure count.
//!
//! Cost. At most so many runs as the configuration allows, and [`MOST_STEPS`] steps in all; both are the same on every machine.
//! [`LONGEST`] is a safety net for bodies that take long by themselves; if it is used, the report says so.
//!
//! Sources. Musuvathi, Qadeer, "Iterative context bounding for systematic testing of multithreaded programs", PLDI 2007, for
//! searching by the number of switches; they count preemptions. Zeller, Hildebrandt, "Simplifying and isolating
//! failure-inducing input", TSE 2002, for the improvement; here blocks are moved rather than removed, since every thread
//! has to come to its end.

mod cost;
mod merge;
mod search;
mod trial;

pub(super) use cost::Cost;
pub use trial::Fewest;

use std::time::Duration;

use crate::session::Config;
use crate::session::failure_signature::FailureSignature;
use crate::session::judge::{Finding, judge};
use crate::step::{Executor, Plan, Run, Step};
use trial::Trial;

/// How many steps all runs of a search may have together.
const MOST_STEPS: u64 = 4_000_000;

/// Longer schedules are left as they are.
const MOST_STEPS_OF_ONE: usize = 4_000;

/// How long a search may take, whatever it runs.
pub(super) const LONGEST: Duration = Duration::from_secs(10);

/// What became of a schedule.
pub(super) struct Shrunk {
    /// The execution and what is wrong with it, if a smaller one was found.
    pub(super) better: Option<(Run, Finding)>,
    /// How few switches it has.
    pub(super) fewest: Fewest,
    /// Its operations, if it is an execution of SC: each store leaves its buffer at once, and reads take the last write.
    pub(super) strong: Option<Vec<Step>>,
    /// How many runs it took.
    pub(super) runs: u64,
    /// The time was up.
    pub(super) late: bool,
}

/// Looks for the smallest schedule with this failure; `cost` is that of the one there is.
pub(super) fn shrink(
    steps: Vec<Step>,
    cost: Cost,
    same: &FailureSignature,
    config: &Config,
    executor: &mut dyn Executor,
) -> Shrunk {
    let most = u64::from(config.shrink).min(MOST_STEPS / steps.len().max(1) as u64);
    let mut shrunk = Shrunk { better: None, fewest: Fewest::Unsought, strong: None, runs: 0, late: false };
    if cost.is_within(&Cost::default()) {
        return Shrunk { fewest: Fewest::Possible, strong: Some(operations(&steps)), ..shrunk };
    }
    if steps.len() > MOST_STEPS_OF_ONE || most < 2 {
        return shrunk;
    }
    let mut trial = Trial::new(executor, config, same, most);
    // Where it does not fail again, nothing can be said.
    if let Some(first) = trial.first(&steps) {
        if config.shrink_improves {
            merge::merge(&mut trial, steps);
        }
        let complete = search::search(&mut trial);
        let (best, fewest) = trial.best(complete);
        shrunk.fewest = fewest;
        shrunk.strong = (best.cost.weak == 0).then(|| operations(&best.steps));
        if best.cost != first {
            let best = best.steps.clone();
            let mut run = Run::default();
            trial.execute(&best, &mut run);
            // What could not be repeated is not shown.
            match judge(&run, config).filter(|found| FailureSignature::of(&run, found).as_ref() == Some(same)) {
                Some(finding) => shrunk.better = Some((run, finding)),
                None => shrunk.fewest = Fewest::Unsought,
            }
        }
    }
    shrunk.runs = trial.runs();
    shrunk.late = trial.is_late();
    shrunk
}

/// A schedule without its flushes.
fn operations(steps: &[Step]) -> Vec<Step> {
    steps.iter().copied().filter(|step| !matches!(step, Step::Flush(_))).collect()
}

/// A plan that forces these steps and runs on.
pub(super) fn plan(steps: &[Step]) -> Plan {
    let forced = steps.iter().map(|&step| crate::step::Forced { step, expect: None }).collect();
    Plan { forced, ..Plan::default() }
}
