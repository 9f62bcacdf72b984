//! The names of source files that are not known when rsmc is compiled.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Keeps the name of a source file for ever; there are few.
pub(super) fn keep(file: &str) -> &'static str {
    static FILES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = files.get(file) {
        return known;
    }
    let kept: &'static str = Box::leak(file.to_owned().into_boxed_str());
    files.insert(kept);
    kept
}
