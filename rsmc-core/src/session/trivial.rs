//! Checks that no order of operations could make fail: their threads share nothing.
//!
//! This applies to checks of real code, not to litmus programs, which tests draw at random.

use crate::seed::Seed;
use crate::session::judge::unseen;
use crate::session::{Config, FailureKind, Report, Verdict};
use crate::step::Run;

/// Turns the verdict *verified* into a failure if no two threads have used one object.
pub(super) fn fail_if_trivial(config: &Config, report: &mut Report) {
    let is_verified = matches!(report.verdict, Verdict::Verified);
    if is_verified && report.threads > 1 && !report.shares && !config.allow_trivial {
        let what = format!("nothing shared by {} threads", report.threads);
        let message = format!("{what}: no atomic, lock or cell of `rsmc_shim` is used by two of them");
        let seed = Seed::of_run(&Run::default(), report.memory);
        report.verdict = Verdict::Failed(Box::new(unseen(FailureKind::NothingShared, message, seed)));
    }
}
