//! The number of runs that an exploration will have in all.
//!
//! Problem. Say, while RF-SMC explores, how many runs are still to come. The tree of decisions is not known: the other
//! answers of a decision show only while the first ones are explored.
//!
//! Method. The weighted backtrack estimator. A walk from the root that chooses uniformly among the answers that are
//! known at each decision ends in an explored run with a probability, *the part that is explored*; it is a sum over the
//! decisions on the path. The runs so far divided by it are the estimate.
//!
//! Cost. One pass over the decisions on the path, when it is asked for.
//!
//! Source. Kilby, Slaney, Thiébaux, Walsh, "Estimating search tree size", AAAI 2006, after Knuth, "Estimating the
//! efficiency of backtrack programs", Mathematics of Computation 29, 1975.
//!
//! How good it is. Knuth's probes are drawn at random, so their mean has no bias, and their spread says how far it may
//! be off. Runs in depth-first order are no such sample: the answers that were explored first have larger parts below
//! them than the pending ones, and some of these are not known yet. The first makes the estimate too large, by many
//! orders of magnitude while little is explored; the second too small. A variance of batches of runs sees neither. So
//! the range comes from measurements: on the programs of `tests/programs/bodies.rs` and some random ones, the logarithm
//! of the error grew with that of the part that is explored, and the range is what held in nine of ten cases or more.
//! `tests/estimate.rs` in this crate compares it with random programs that were not used for that. Where less than 1/8
//! is explored, only the lower bound is useful: runs done plus schedules pending.

use crate::explore::rf_smc::RfSmc;
use crate::explore::rf_smc::decision::Decision;

/// The explored part below which no range is given.
const LEAST_EXPLORED: f64 = 1.0 / 8.0;

/// The powers of two by which the estimate may be too large: a constant, and a number for each halving of the explored
/// part.
const TOO_LARGE: (f64, f64) = (0.5, 0.8);

/// The powers of two by which it may be too small.
const TOO_SMALL: (f64, f64) = (0.5, 0.6);

/// The powers of two by which it may be too small where a decision takes no more names: canonical children are not
/// known before their parents are run.
const TOO_SMALL_IF_FULL: (f64, f64) = (1.5, 0.6);

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
    /// An estimate from the runs done, the schedules pending, the part that is explored, and the powers of two by which
    /// it may be too small.
    fn new(runs: u64, pending: u64, explored: f64, too_small: (f64, f64)) -> Self {
        let at_least = runs + pending;
        let middle = runs as f64 / explored;
        let halvings = -explored.log2();
        let factor = |(always, each): (f64, f64)| (always + each * halvings).exp2();
        let low = ((middle / factor(TOO_LARGE)) as u64).max(at_least);
        let high = ((middle * factor(too_small)) as u64).max(low);
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
        let is_full = self.decisions.iter().any(|decision| decision.full);
        let too_small = if is_full { TOO_SMALL_IF_FULL } else { TOO_SMALL };
        Estimate::new(self.runs, pending as u64 + 1, self.explored(), too_small)
    }

    /// The number of runs that it has observed, livelocks apart.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The part of the tree that is explored.
    fn explored(&self) -> f64 {
        let (mut weight, mut explored) = (1.0, 0.0);
        for (number, decision) in self.decisions.iter().enumerate() {
            weight /= 1.0 + f64::from(decision.explored) + decision.pending() as f64;
            explored += weight * (f64::from(decision.explored) - self.suspended.waiting_at(number) as f64);
        }
        explored
    }
}
