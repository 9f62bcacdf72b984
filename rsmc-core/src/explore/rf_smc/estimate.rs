//! The number of runs that an exploration will have in all.
//!
//! Problem. Say, while RF-SMC explores, how many runs are still to come. The tree of decisions is not known: the other
//! answers of a decision show only while the first ones are explored.
//!
//! Method. The weighted backtrack estimator. A walk from the root that chooses uniformly among what is known at each
//! place ends in an explored run with a probability, *the part that is explored*. The runs so far divided by it are the
//! estimate. At a decision the walk goes down the tree of its answers ([`super::lineage`]), and from an answer to the
//! decisions that its run found. An answer with a suspended path is explored as far as that path is.
//!
//! Cost. One pass over the decisions on the path and on suspended paths, when it is asked for.
//!
//! Source. Kilby, Slaney, Thiébaux, Walsh, "Estimating search tree size", AAAI 2006, after Knuth, "Estimating the
//! efficiency of backtrack programs", Mathematics of Computation 29, 1975. The tree of answers is our own.
//!
//! How good it is. Knuth's probes are drawn at random, so their mean has no bias, and their spread says how far it may
//! be off. Runs in depth-first order are no such sample: the answers that were explored first have larger parts below
//! them than the pending ones, and some of these are not known yet. The first makes the estimate too large, by many
//! orders of magnitude while little is explored; the second too small. A variance of batches of runs sees neither. So
//! the range comes from measurements: the logarithm of the error grew with that of the part that is explored, and the
//! range is what was seen in nine of ten moments on the fitting set. Decision 025 has the numbers, and says what that
//! set is. `tests/estimate.rs` of the root package measures three families of checks that are not in it. Where less
//! than a fifth is explored the range would be wider than a factor of 26, and only the lower bound is useful: runs done
//! plus schedules pending.

use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::decision::Decision;
use crate::explore::rf_smc::suspended::SuspendedPath;

/// The explored part below which no range is given.
const LEAST_EXPLORED: f64 = 1.0 / 5.0;

/// The powers of two by which the estimate may be too large: a constant, and a number for each halving of the explored
/// part.
const TOO_LARGE: (f64, f64) = (0.5, 0.8);

/// The powers of two by which it may be too small.
const TOO_SMALL: (f64, f64) = (0.5, 0.8);

/// The number of runs in all, if none ends the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// A lower bound: runs done plus runs planned.
    pub at_least: u64,
    /// The number lies between the first and the second in nine of ten cases; `None` where the range would say nothing.
    pub range: Option<(u64, u64)>,
}

impl Estimate {
    /// An estimate from the runs done, the schedules pending, and the part that is explored.
    fn new(runs: u64, pending: u64, explored: f64) -> Self {
        let at_least = runs + pending;
        let middle = runs as f64 / explored;
        let halvings = -explored.log2();
        let factor = |(always, each): (f64, f64)| (always + each * halvings).exp2();
        let low = ((middle / factor(TOO_LARGE)) as u64).max(at_least);
        let high = ((middle * factor(TOO_SMALL)) as u64).max(low);
        Self { at_least, range: (explored >= LEAST_EXPLORED).then_some((low, high)) }
    }

    /// An estimate of which only the lower bound is known.
    pub(crate) fn of_least(at_least: u64) -> Self {
        Self { at_least, range: None }
    }

    /// This estimate with this many more runs, which were done before.
    pub fn after(self, runs: u64) -> Self {
        let range = self.range.map(|(low, high)| (low + runs, high + runs));
        Self { at_least: self.at_least + runs, range }
    }
}

impl RfSmc {
    /// The number of runs in all, livelocks apart. Valid while a plan is given and not run.
    pub fn estimate(&self) -> Estimate {
        let pending = self.decisions.iter().map(Decision::pending).sum::<usize>() + self.suspended.pending();
        let paths: Vec<&SuspendedPath> = self.suspended.paths().collect();
        Estimate::new(self.runs, pending as u64 + 1, explored(&self.decisions, 0, &paths))
    }

    /// The number of runs that it has observed, livelocks apart.
    pub fn runs(&self) -> u64 {
        self.runs
    }
}

/// The part that is explored of what is below these decisions, the first of which has this number on the path. `paths`
/// are those that were suspended before this one was, the newest last.
fn explored(decisions: &[Decision], first: usize, paths: &[&SuspendedPath]) -> f64 {
    let mut part = 0.0;
    let mut paths = paths;
    for (number, decision) in decisions.iter().enumerate().rev() {
        let above = first + number + 1;
        // Paths that were suspended below decisions further down belong to one that was suspended later.
        let mut suspended = || {
            while let Some((path, before)) = paths.split_last().filter(|(path, _)| path.above >= above) {
                paths = before;
                if path.above == above {
                    return explored(&path.decisions, above, paths);
                }
            }
            1.0
        };
        part = decision.lineage.explored(decision.pending(), part, &mut suspended);
    }
    part
}
