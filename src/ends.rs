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

/// The values that a variable of a replay has, by the test that runs now.
pub(crate) struct Now(Mutex<BTreeMap<String, String>>);

/// The scenarios of specifications.
pub(crate) static SCENARIOS: Now = Now(Mutex::new(BTreeMap::new()));
/// The orderings that an audit takes for weaker than written.
pub(crate) static WEAKENED: Now = Now(Mutex::new(BTreeMap::new()));

impl Now {
    /// Sets the value for a test, or that there is none.
    pub(crate) fn set(&self, test: Option<&str>, what: Option<String>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let test = test.unwrap_or_default().to_owned();
        match what {
            Some(what) => drop(all.insert(test, what)),
            None => drop(all.remove(&test)),
        }
    }

    /// The value for a test. Whoever dies may hold the lock.
    fn of(&self, test: &str) -> Option<String> {
        match self.0.try_lock() {
            Ok(all) => all.get(test).cloned(),
            Err(TryLockError::Poisoned(all)) => all.into_inner().get(test).cloned(),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

fn tell(words: &LastWords<'_>) {
    let seed = last_seed(words);
    if jobs::is_worker() {
        let scenario = SCENARIOS.of(words.check);
        return jobs::say_last_words(stuck(words), seed.map(|seed| seed.to_string()), scenario);
    }
    // The one who dies may hold the lock of stderr, or of memory that is put in order at the end: this is said first.
    let file = seed.as_ref().filter(|_| !words.check.is_empty()).and_then(|seed| {
        let name = files::name_of(Some(&format!("{}::{}", files::program(), words.check)));
        files::keep(seed, None, &name)
    });
    let seed = seed.map(|seed| file.unwrap_or_else(|| seed.to_string()));
    let scenario = SCENARIOS.of(words.check);
    let weakened = WEAKENED.of(words.check).or_else(|| std::env::var(WEAKEN).ok());
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
