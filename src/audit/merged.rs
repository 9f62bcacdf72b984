//! The audits of all tests of a process as one: an ordering is as strong as the test needs that needs it most.
//!
//! Each test verifies with its own combination of weaker orderings, so it verifies with one that is at least as strong
//! at every place: the strongest of all tests, place by place.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use rsmc_core::report::Sources;
use rsmc_core::trace::strongest;
use serde::Serialize;

use crate::audit::{Audit, AuditedOrdering, Forms, position, sort};

/// The tests of which an audit has those of all together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Tests {
    audited: u32,
    /// Those whose checks do not verify.
    not_audited: u32,
}

impl fmt::Display for Tests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { audited, not_audited } = self;
        write!(f, "{audited} {}", if *audited == 1 { "test" } else { "tests together" })?;
        match not_audited {
            0 => Ok(()),
            others => write!(f, "; {others} more were not audited, since their checks do not verify"),
        }
    }
}

/// The audits so far.
static MERGED: Mutex<(Option<Audit>, Tests)> = Mutex::new((None, Tests { audited: 0, not_audited: 0 }));

/// Adds the audit of a test, or that it has none, and has all of them together written, if there is one.
pub(crate) fn add(audit: Option<&Audit>, sources: Sources<'_>, write: impl FnOnce(&Forms)) {
    let mut merged = MERGED.lock().unwrap_or_else(PoisonError::into_inner);
    let (all, tests) = &mut *merged;
    match audit.filter(|audit| audit.failure.is_none()) {
        Some(audit) => {
            tests.audited += 1;
            let audit = without_test(audit);
            *all = Some(match all.take() {
                None => audit,
                Some(all) => merge(all, &audit),
            });
        }
        None => tests.not_audited += 1,
    }
    // Under the lock, so that no older audit is written behind a newer one.
    if let Some(all) = all {
        write(&Forms::new(&with_note(all, *tests), Some(*tests), sources));
    }
}

/// An audit that says, if it matters, that no run has asked about all tests together.
fn with_note(all: &Audit, tests: Tests) -> Audit {
    let mut all = all.clone();
    if tests.audited > 1 && all.orderings.iter().any(|one| one.together != one.alone) {
        all.notes.push(
            "\"beside the weaker orderings\" says what some test keeps in its own combination; weaker ones may do for all \
             tests together, which no run has tried"
                .to_owned(),
        );
    }
    all
}

/// An audit whose notes name the test.
fn without_test(audit: &Audit) -> Audit {
    let test = audit.test.as_deref().map_or_else(String::new, |test| format!("{test}: "));
    let notes = audit.notes.iter().map(|note| format!("{test}{note}")).collect();
    Audit { test: None, notes, ..audit.clone() }
}

fn merge(mut all: Audit, other: &Audit) -> Audit {
    all.notes.extend_from_slice(&other.notes);
    for ordering in &other.orderings {
        let key = |one: &AuditedOrdering| (one.place.clone(), one.is_failure);
        match all.orderings.iter_mut().find(|one| key(one) == key(ordering)) {
            Some(one) => add_to(one, ordering),
            None => all.orderings.push(ordering.clone()),
        }
    }
    let key = |one: &AuditedOrdering| {
        let (file, line, column) = position(&one.place);
        (file.to_owned(), line, column, one.is_failure)
    };
    all.orderings.sort_by_cached_key(key);
    let weaker = all.orderings.iter().filter(|one| one.together != one.written);
    all.together = weaker.filter_map(|one| format!("{}={:?}", name(one), one.together).parse().ok()).collect();
    Audit { checks: all.checks + other.checks, is_complete: all.is_complete && other.is_complete, ..all }
}

fn add_to(one: &mut AuditedOrdering, other: &AuditedOrdering) {
    let written = strongest(one.written, other.written);
    let mut pairs = [&one.pairs[..], &other.pairs].concat();
    sort(&mut pairs);
    match (one.is_exercised, other.is_exercised) {
        (false, true) => *one = other.clone(),
        (true, true) => {
            let alone = strongest(one.alone, other.alone);
            if alone != one.alone || one.needed.is_none() {
                one.needed = other.needed.clone().or_else(|| one.needed.take());
            }
            (one.alone, one.together) = (alone, strongest(one.together, other.together));
        }
        (_, false) => {}
    }
    one.written = written;
    one.pairs = pairs;
    if !one.is_exercised {
        (one.alone, one.together) = (written, written);
    }
}

/// The place as a variable names it.
fn name(one: &AuditedOrdering) -> String {
    format!("{}{}", one.place, if one.is_failure { "/failure" } else { "" })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

    use rsmc_core::trace::Weakened;

    use super::*;

    fn place_of(place: &str) -> String {
        format!("src/a.rs:{place}")
    }

    fn one(place: &str, is_exercised: bool, alone: Ordering, together: Ordering) -> AuditedOrdering {
        let place = place_of(place);
        let pairs = vec![place_of("9:1"), place.replace("a.rs", "b.rs")];
        let operation = "update";
        AuditedOrdering {
            place,
            operation,
            is_failure: false,
            written: SeqCst,
            is_exercised,
            alone,
            together,
            pairs,
            needed: None,
        }
    }

    fn audit(orderings: Vec<AuditedOrdering>) -> Audit {
        let (together, checks, is_complete) = (Vec::new(), 1, true);
        Audit { orderings, together, checks, is_complete, failure: None, notes: Vec::new(), test: None }
    }

    #[test]
    fn an_ordering_is_as_strong_as_any_test_needs() {
        let first = audit(vec![
            one("10:1", true, Acquire, Acquire),
            one("2:1", true, Relaxed, Release),
            one("3:1", false, SeqCst, SeqCst),
            one("4:1", true, Relaxed, Relaxed),
        ]);
        let second = audit(vec![
            one("10:1", true, Release, SeqCst),
            one("2:1", false, SeqCst, SeqCst),
            one("3:1", true, AcqRel, AcqRel),
            one("1:7", false, SeqCst, SeqCst),
        ]);
        let all = merge(first, &second);
        let found: Vec<_> = all.orderings.iter().map(|one| (&one.place[9..], one.alone, one.together)).collect();
        let expected = [
            ("1:7", SeqCst, SeqCst),
            ("2:1", Relaxed, Release),
            ("3:1", AcqRel, AcqRel),
            ("4:1", Relaxed, Relaxed),
            ("10:1", AcqRel, SeqCst),
        ];
        assert_eq!(found, expected);
        assert_eq!(Weakened::list(&all.together), "src/a.rs:2:1=Release,src/a.rs:3:1=AcqRel,src/a.rs:4:1=Relaxed");
        assert_eq!(all.checks, 2);
        let pairs: Vec<&[String]> = all.orderings.iter().map(|one| &one.pairs[..]).collect();
        assert_eq!(pairs[1], ["src/a.rs:9:1", "src/b.rs:2:1"]);
        let notes = |audited| with_note(&all, Tests { audited, not_audited: 0 }).notes.len();
        assert_eq!((notes(1), notes(2)), (0, 1));
    }
}
