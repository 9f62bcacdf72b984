//! What several tests use.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use rsmc::{Config, Explorer, MemoryModel, Verdict};

/// The report of a check that fails.
pub fn report(check: impl FnOnce()) -> String {
    text(&*catch_unwind(AssertUnwindSafe(check)).expect_err("the check fails"))
}

/// The text of a panic.
pub fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned())).expect("a panic has a text")
}

/// The seed in a report.
pub fn seed(report: &str) -> String {
    let (_, rest) = report.split_once("RSMC_REPLAY=").unwrap_or_else(|| panic!("no seed in {report}"));
    rest.split_whitespace().next().expect("the variable has a value").to_owned()
}

/// Values that executions leave, with the numbers of executions that left them.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub fn note(&self, value: impl std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{value:?}"));
    }

    pub fn values(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().iter().cloned().collect()
    }

    pub fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// The values that the executions of a body leave, under SC by the explorer of `check_dfs`; asserted to be those that
/// all interleavings leave.
pub fn outcomes<T: std::fmt::Debug>(body: impl Fn() -> T + Sync) -> BTreeSet<String> {
    let by = |explorer| {
        let seen = Seen::default();
        let config = Config::default().explorer(explorer).memory(MemoryModel::Sc).allow_trivial(true);
        let report = rsmc::explore(&config.check_leaks(false), || seen.note(body()));
        assert!(matches!(report.verdict, Verdict::Verified), "{report}");
        seen.values()
    };
    let (classes, interleavings) = (by(Explorer::ReadsFrom), by(Explorer::Exhaustive));
    assert_eq!(classes, interleavings);
    classes
}
