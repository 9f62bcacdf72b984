//! Shrinking: from a failing schedule to one that is easier to read and fails the same way.
//!
//! Problem. An explorer shows the first failing execution that it meets, in the order in which it ran. What is the
//! smallest schedule with the same failure ([`FailureSignature`])?
//!
//! Cost of a schedule. It has four parts, in this order of weight but for one exchange:
//!
//! 1. *context switches*: operations of another thread than the operation before. All are counted, not only
//!    preemptions: a reader follows each of them to another column, and with waiting stores it is a question of its own
//!    whether a thread could have gone on. Flushes are no operations. Spawns, joins and accesses of cells are no steps,
//!    and not counted.
//! 2. *weak steps*: stores that do not leave their buffer at once, and, under C11, reads that take another write than
//!    the last;
//! 3. *alternatives* of operations other than the first: spurious outcomes, and values chosen above 0;
//! 4. *steps*.
//!
//! The exchange: a schedule may have one context switch more if that saves weak steps. Under C11 a lost update needs
//! two switches if one thread reads an old value, and three if it does not: three switches are easier to follow than an
//! unneeded read of an old value. So a schedule never has more than one switch more than the fewest.
//!
//! Method. First the schedule itself is improved ([`merge`]), which is fast and proves nothing. Then all schedules are
//! searched by their cost ([`search`]), which proves, if it comes to an end, that no schedule has fewer switches. A
//! candidate is a forced beginning, without expectations about its operations; so one that does not fit ends as
//! diverged, and is no nondeterminism. Under C11 forced reads are not checked, so [`merge`] lets them take the last
//! write. Only executions that are maximal, repeat no waiting iteration and are judged as the same failure count.
//!
//! Cost. At most as many runs as the configuration allows, and [`MOST_STEPS`] steps in all; both are the same on every
//! machine. [`LONGEST`] is a safety net for bodies that take long by themselves; if it is used, the report says so.
//!
//! Sources. Musuvathi, Qadeer, "Iterative context bounding for systematic testing of multithreaded programs", PLDI
//! 2007, for searching by the number of switches; they count preemptions. Zeller, Hildebrandt, "Simplifying and
//! isolating failure-inducing input", TSE 2002, for the improvement; here blocks are moved rather than removed, since
//! every thread has to come to its end.

mod cost;
mod merge;
mod search;
mod trial;

pub(super) use cost::Cost;

use std::time::Duration;

use crate::session::failure_signature::FailureSignature;
use crate::session::judge::{Finding, judge};
use crate::session::{Config, Fewest};
use crate::step::{Executor, Plan, Run, Step};
use trial::Trial;

/// The number of steps that all runs of a search may have together.
const MOST_STEPS: u64 = 4_000_000;

/// The length above which a schedule is not shrunk.
const MOST_STEPS_OF_ONE: usize = 4_000;

/// The time that a search may take.
pub(super) const LONGEST: Duration = Duration::from_secs(10);

/// The result of shrinking a schedule.
pub(super) struct Shrunk {
    /// The smaller execution and its failure, if one was found.
    pub(super) better: Option<(Run, Finding)>,
    /// The comparison of its number of switches with the fewest possible.
    pub(super) fewest: Fewest,
    /// Its operations, if it is an execution of SC: each store leaves its buffer at once, and reads take the last
    /// write.
    pub(super) strong: Option<Vec<Step>>,
    /// The number of runs that shrinking took.
    pub(super) runs: u64,
    /// True if the time was up.
    pub(super) late: bool,
}

/// Looks for the smallest schedule with this failure; `cost` is that of the schedule `steps`.
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
    // If the schedule does not fail again, it cannot be shrunk.
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
            // A schedule that does not fail again is not shown.
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
