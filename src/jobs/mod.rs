//! Worker processes: the same executable, run again for one check (`Config::jobs`).
//!
//! The process that runs the test coordinates; `rsmc_core::session::jobs` says how. [`VARIABLE`] makes a process a
//! worker, and names the check. A worker's arguments ask for the test in question only; it comes to the check once
//! more, and never leaves it.
//!
//! - `crew`: starting, hearing and ending workers.
//! - `death`: the end of a process, in words.
//! - `link`: the work of a worker instead of the check.
//! - `questions`: workers each of which answers whole questions about a check.
//! - `wire`: the messages; `docs/protocol.md` describes them.

mod crew;
mod death;
mod link;
mod questions;
pub(crate) mod wire;

use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use rsmc_core::base::Spill;
use rsmc_core::report::DOC_TEST;
use rsmc_core::session::jobs::Crew;
use rsmc_core::session::{Body, Config, ConfigError, check_body};

use crate::ends;
use crate::files;
use crate::jobs::crew::Processes;
use crate::jobs::link::Purpose;
pub(crate) use crate::jobs::questions::{Pool, answer_if_asked};

/// The variable that makes a process a worker: address, token, version of the protocol, purpose
/// and check, with `/` between.
pub(crate) const VARIABLE: &str = "RSMC_WORKER";

/// A check of this executable: the same name in every process of it.
#[derive(Clone, Debug)]
pub(crate) struct Which {
    /// The test, or the thread, the place of the call, and how many of these were started before.
    name: String,
    /// The name of the test, if it is one of libtest's.
    test: Option<String>,
    /// Whether the check is all that this test does.
    is_whole: bool,
}

impl Which {
    /// The check that is about to start. Each call counts a check, so there must be one call for each.
    pub(crate) fn next(test: Option<&str>, place: &Location<'_>) -> Self {
        static STARTED: Mutex<Option<HashMap<String, u32>>> = Mutex::new(None);
        let (thread, is_whole) = (std::thread::current(), test.is_some());
        let test = test.map(str::to_owned).or_else(only_test).or_else(|| {
            // libtest names its threads after its tests.
            thread.name().filter(|&name| name != "main").map(str::to_owned)
        });
        let name = format!("{}@{place}", test.as_deref().unwrap_or_default());
        let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        let number = started.get_or_insert_default().entry(name.clone()).or_default();
        *number += 1;
        Self { name: format!("{name}#{number}"), test, is_whole }
    }

    /// The name of the check.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A short name that no other check of the executable has.
    pub(crate) fn short_name(&self) -> &str {
        self.test.as_deref().filter(|_| self.is_whole).unwrap_or(&self.name)
    }

    /// The name of the test, if it is one of libtest's.
    pub(crate) fn test(&self) -> Option<&str> {
        self.test.as_deref()
    }

    /// The name by which cargo runs the test, if there is one.
    pub(crate) fn for_cargo(&self) -> Option<&str> {
        for_cargo(self.test())
    }

    /// The arguments with which the executable comes to this check.
    fn arguments(&self) -> Vec<OsString> {
        match &self.test {
            None => std::env::args_os().skip(1).collect(),
            Some(test) => {
                [test, "--exact", "--include-ignored", "--test-threads=1", "--nocapture"].map(OsString::from).into()
            }
        }
    }

    /// A number that differs where a worker would not do the same check.
    fn fingerprint(&self, config: &Config) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.name, format!("{config:?}")).hash(&mut hasher);
        let file = std::env::current_exe().and_then(std::fs::metadata).ok();
        file.map(|file| (file.len(), file.modified().ok())).hash(&mut hasher);
        hasher.finish()
    }
}

/// The one test that the arguments of this process ask for: `--exact` and a name. Workers are started so, and
/// cargo-nextest starts each test so.
fn only_test() -> Option<String> {
    named_exactly(std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()))
}

/// Options of libtest whose value is an argument of its own.
const WITH_VALUE: [&str; 7] = ["--test-threads", "--skip", "--format", "--color", "--logfile", "--shuffle-seed", "-Z"];

fn named_exactly(arguments: impl Iterator<Item = String>) -> Option<String> {
    let (mut names, mut is_exact, mut is_value) = (Vec::new(), false, false);
    for argument in arguments {
        match argument {
            _ if is_value => is_value = false,
            option if option.starts_with('-') => {
                is_exact |= option == "--exact";
                is_value = WITH_VALUE.contains(&option.as_str());
            }
            name => names.push(name),
        }
    }
    if is_exact && names.len() == 1 { names.pop() } else { None }
}

/// The name by which cargo runs a test, if there is one: a doc test is a process of its own and does not know its name.
pub(crate) fn for_cargo(test: Option<&str>) -> Option<&str> {
    test.or_else(|| (files::program() == "rust_out").then_some(DOC_TEST))
}

/// Tells the coordinator of this worker that its process ends: that it is stuck, if it is, the seed of where it was,
/// and the scenario, if it has one.
pub(crate) fn say_last_words(stuck: Option<String>, seed: Option<String>, scenario: Option<String>) {
    link::say_last_words(stuck, seed, scenario);
}

/// Whether this process is a worker.
pub(crate) fn is_worker() -> bool {
    link::Assignment::read().is_some()
}

/// Whether this process is a worker for another check, so that this one has passed.
pub(crate) fn is_passed(which: &Which) -> bool {
    link::Assignment::read().is_some_and(|assignment| !assignment.is_for(&which.name))
}

/// The most bytes that the files of an explorer's map may have.
const MOST_ON_DISK: u64 = 8 << 30;

/// Runs a check by `run`, with the workers that the check asks for. In a worker that is for this check it does not
/// return.
#[track_caller]
pub(crate) fn check<T: Send>(
    which: &Which,
    config: &Config,
    body: &(dyn Fn() + Sync),
    run: impl FnOnce(&mut Body<'_>, Option<&mut dyn Crew>) -> T + Send,
) -> Result<T, ConfigError> {
    ends::prepare();
    let mut named = config.clone().test(which.test());
    named.spill.get_or_insert_with(|| Spill::to(&files::folder(), MOST_ON_DISK));
    let assignment = link::Assignment::read();
    if let Some(assignment) = assignment.as_ref().filter(|it| it.is_to(Purpose::Explore, &which.name)) {
        assignment.explore(which.fingerprint(config), &named, body);
    }
    if assignment.is_some() || config.jobs <= 1 || config.replay.is_some() {
        return check_body(&named, body, |body| run(body, None));
    }
    let mut crew = Processes::new(which, Purpose::Explore, config);
    check_body(&named, body, |body| run(body, Some(&mut crew)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_for_one_test_is_known() {
        let of = |arguments: &str| named_exactly(arguments.split_whitespace().map(str::to_owned));
        assert_eq!(of("--exact a::b --nocapture").as_deref(), Some("a::b"));
        assert_eq!(of("a::b --exact --test-threads=1 --color never").as_deref(), Some("a::b"));
        assert_eq!(of("--test-threads 1 a::b --exact").as_deref(), Some("a::b"));
        for not_one in ["a::b", "", "--exact", "--exact a b", "--skip --exact a", "--exact --skip a"] {
            assert_eq!(of(not_one), None, "{not_one}");
        }
    }
}
