//! Messages on stderr of tests that pass. They go to stderr itself and not through `eprintln`, because libtest keeps
//! what tests print until one fails.

use std::io::Write;
use std::panic::Location;
use std::sync::Once;

use rsmc_core::report::{self, visible};
use rsmc_core::session::{Config, Limit, Report, Verdict};

use crate::env::{LOG, REPLAY};
use crate::jobs;

/// The subject of a message: the test, or the place of the check.
pub(crate) fn who(test: Option<&str>, place: &Location<'_>) -> String {
    test.map_or_else(|| format!("the check at {}:{}", place.file(), place.line()), str::to_owned)
}

/// Says, once in a process, that variables are set which a check of `starter` does not look at, so that no user waits
/// for their effect. A worker says nothing: it has the variables of its coordinator.
pub(crate) fn say_in_vain(starter: &str, config: &Config, who: &str) {
    static SAID: Once = Once::new();
    let is_meant = |name: &&str| std::env::var_os(name).is_some() && !(*name == REPLAY && config.replay.is_some());
    let set: Vec<&str> = [REPLAY, LOG].into_iter().filter(is_meant).collect();
    if set.is_empty() || jobs::is_worker() {
        return;
    }
    let (is, set) = (if set.len() == 1 { "is" } else { "are" }, set.join(" and "));
    let what = format!(
        "{set} {is} set, but this check was started by `{starter}`, which does not read the environment; `rsmc::check` does"
    );
    SAID.call_once(|| say(who, &what));
}

/// Says of a check that passes that it has tested nothing: it started no thread, or no two threads share anything in
/// what was run of it.
pub(crate) fn say_if_trivial(who: &str, report: &Report) {
    match report.verdict {
        Verdict::Verified if report.threads <= 1 => say(who, &report::verified(&report.into())),
        Verdict::Incomplete(Limit::Replay) => {}
        Verdict::Incomplete(_) if !report.shares && report.executions > 0 => {
            let what = "no atomic, lock or cell of `rsmc_shim` was used by two threads in what was run, so nothing was \
                        tested; the usual cause is a `use std::sync` that was left";
            say(who, &format!("{what} (`allow_trivial = true` if it is meant)"));
        }
        _ => {}
    }
}

/// Says something in one write, so that the lines of tests that run at once do not mix. If the write fails, the test
/// goes on.
pub(crate) fn say(who: &str, what: &str) {
    drop(std::io::stderr().write_all(visible(&format!("rsmc: {who}: {what}\n")).as_bytes()));
}
