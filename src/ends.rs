//! The last words about checks whose process ends: on stderr, or in a worker to its coordinator.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError, TryLockError};

use rsmc_core::report::{Replay, last_seed, last_words, stuck};
use rsmc_core::runtime::{LastWords, tell_by};

use crate::env::WEAKEN;
use crate::files;
use crate::jobs;

/// From now on a process that ends within a check says its last words.
pub(crate) fn prepare() {
    tell_by(tell);
}

/// The scenarios of specifications that run now, by test.
static SCENARIOS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// From now on a test runs this scenario, or none.
pub(crate) fn scenario(test: Option<&str>, scenario: Option<String>) {
    let mut scenarios = SCENARIOS.lock().unwrap_or_else(PoisonError::into_inner);
    let test = test.unwrap_or_default().to_owned();
    match scenario {
        Some(scenario) => drop(scenarios.insert(test, scenario)),
        None => drop(scenarios.remove(&test)),
    }
}

/// The scenario that a test runs. Whoever dies may hold the lock.
fn scenario_of(test: &str) -> Option<String> {
    match SCENARIOS.try_lock() {
        Ok(scenarios) => scenarios.get(test).cloned(),
        Err(TryLockError::Poisoned(scenarios)) => scenarios.into_inner().get(test).cloned(),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn tell(words: &LastWords<'_>) {
    let seed = last_seed(words);
    if jobs::is_worker() {
        return jobs::say_last_words(stuck(words), seed.map(|seed| seed.to_string()));
    }
    // The one who dies may hold the lock of stderr, or of memory that is put in order at the end: this is said first.
    let file = seed.as_ref().filter(|_| !words.check.is_empty()).and_then(|seed| {
        let name = files::name_of(Some(&format!("{}::{}", files::program(), words.check)));
        files::keep(seed, None, &name)
    });
    let seed = seed.map(|seed| file.unwrap_or_else(|| seed.to_string()));
    let scenario = scenario_of(words.check);
    let weakened = std::env::var(WEAKEN).ok();
    let (scenario, weakened) = (scenario.as_deref(), weakened.as_deref());
    let again = seed.as_deref().map(|seed| Replay { seed, scenario, weakened });
    let text = last_words(words, again, jobs::for_cargo(Some(words.check).filter(|name| !name.is_empty())));
    if let Ok(mut stderr) = stderr() {
        drop(stderr.write_all(text.as_bytes()));
    }
}

/// Standard error, without the lock that other threads may hold, and not what libtest captures.
#[cfg(unix)]
fn stderr() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
fn stderr() -> io::Result<io::Stderr> {
    Ok(io::stderr())
}
