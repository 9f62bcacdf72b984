//! The section of a report that groups failing executions by their cause.

use std::fmt::Write;

use crate::report::text::{count, visible_in_line, width, wrap};
use crate::report::{Failures, Finding};

/// The most causes that a text or a page shows; the JSON form has all.
pub(super) const MOST: usize = 8;

/// The most lines of a message.
const MOST_LINES: usize = 3;

/// The most columns of a seed that is shown.
const LONGEST_SEED: usize = 80;

/// A row for each cause, with the number of its executions; empty unless there are several. The causes that are not
/// that of the report have the seed of an execution below them.
pub(super) fn section(finding: &Finding<'_>, failures: &Failures<'_>) -> String {
    let causes = failures.causes;
    if causes.len() < 2 {
        return String::new();
    }
    let digits = width(&causes[0].executions.to_string());
    let indent = " ".repeat(digits + 5);
    let mut text = "failures by cause (✗: the one above):".to_owned();
    for cause in causes.iter().take(MOST) {
        let is_shown = cause.is_of(finding.kind, finding.message, finding.panics);
        let (mark, first) = (if is_shown { '✗' } else { ' ' }, cause.message.lines().next().unwrap_or_default());
        let row = format!("  {:>digits$} {mark} {}", cause.executions, visible_in_line(first));
        let row = wrap(&row, &indent);
        let lines: Vec<&str> = row.lines().take(MOST_LINES).collect();
        let rest = if row.lines().count() > MOST_LINES { " …" } else { "" };
        let _ = write!(text, "\n{}{rest}", lines.join("\n"));
        if !is_shown && cause.kind.is_replayed() && width(&cause.seed) <= LONGEST_SEED {
            let _ = write!(text, "\n{indent}RSMC_REPLAY={}", cause.seed);
        }
    }
    if causes.len() > MOST {
        let _ = write!(text, "\n  and {}; the JSON form has all", count((causes.len() - MOST) as u64, "other cause"));
    }
    text
}
