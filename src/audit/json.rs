//! An audit as JSON, for tools; `docs/audit-json.md` describes the form.

use std::sync::atomic::Ordering;

use rsmc_core::report::to_json;
use rsmc_core::session::FailureKind;
use serde::Serialize;

use crate::audit::cost::{Saving, savings};
use crate::audit::merged::Tests;
use crate::audit::text::{replay, together};
use crate::audit::{Audit, AuditedOrdering, Needed, position};

/// The number of the form. It changes if a reader of the old one could misread the new one.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Whole<'a> {
    format: &'static str,
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<Tests>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    is_complete: bool,
    notes: &'a [String],
    checks: u64,
    orderings: Vec<One<'a>>,
    together: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    saved: Vec<Saving<'a>>,
}

#[derive(Serialize)]
struct One<'a> {
    place: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
    operation: &'a str,
    is_failure: bool,
    written: String,
    verdict: &'static str,
    alone: String,
    together: String,
    pairs: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    needed: Option<Failing<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

#[derive(Serialize)]
struct Failing<'a> {
    weakened: Vec<String>,
    kind: FailureKind,
    message: &'a str,
    seed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    scenario: Option<&'a str>,
    command: String,
}

/// The object, in one line. `tests` is there for an audit of several tests.
pub(super) fn json(audit: &Audit, tests: Option<Tests>) -> String {
    let whole = Whole {
        format: "rsmc-audit",
        version: VERSION,
        test: audit.test.as_deref(),
        tests,
        failure: audit.failure.as_deref(),
        is_complete: audit.is_complete,
        notes: &audit.notes,
        checks: audit.checks,
        orderings: audit.orderings.iter().map(one).collect(),
        together: audit.together.iter().map(ToString::to_string).collect(),
        command: together(audit),
        saved: savings(&audit.orderings),
    };
    to_json(&whole) + "\n"
}

fn one(ordering: &AuditedOrdering) -> One<'_> {
    let (file, line, column) = position(&ordering.place);
    let &AuditedOrdering { operation, is_failure, written, alone, together, .. } = ordering;
    let name = |order: Ordering| format!("{order:?}");
    One {
        place: &ordering.place,
        file,
        line,
        column,
        operation,
        is_failure,
        written: name(written),
        verdict: ordering.standing().name(),
        alone: name(alone),
        together: name(together),
        pairs: &ordering.pairs,
        needed: ordering.needed.as_ref().map(failing),
        comment: ordering.comment(),
    }
}

fn failing(needed: &Needed) -> Failing<'_> {
    Failing {
        weakened: needed.weakened.iter().map(ToString::to_string).collect(),
        kind: needed.kind,
        message: &needed.message,
        seed: needed.seed.to_string(),
        scenario: needed.scenario.as_deref(),
        command: replay(needed),
    }
}
