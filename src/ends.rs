//! The last words about checks whose process ends: on stderr, or in a worker to its coordinator.

use std::fs::File;
use std::io::{self, Write};

use rsmc_core::report::{last_seed, last_words, stuck};
use rsmc_core::runtime::{LastWords, tell_by};

use crate::files;
use crate::jobs;

/// From now on a process that ends within a check says its last words.
pub(crate) fn prepare() {
    tell_by(tell);
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
    let text = last_words(words, seed.as_deref(), jobs::for_cargo(Some(words.check).filter(|name| !name.is_empty())));
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
