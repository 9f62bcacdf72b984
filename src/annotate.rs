//! `RSMC_ANNOTATE`: the problems of a check that fails as lines that a pipeline shows beside the source.
//!
//! They go to stdout itself and not through `println`, because libtest keeps what tests print. A pipeline reads only
//! lines that begin with the command.

use std::io::Write;
use std::panic::Location;

use rsmc_core::report::{self, DOC_TEST};
use rsmc_core::session::{Config, Report, Verdict};

use crate::files::SOURCES;

/// The reason why a check fails without a failing execution, in a word or two.
pub(crate) fn kind(report: &Report) -> &'static str {
    if matches!(report.verdict, Verdict::Incomplete(_)) { "incomplete" } else { "no summary" }
}

/// The lines of a check that fails; `kind` and `text` say why if there is no failing execution, `test` is the path of
/// the test as `cargo test` takes it, and `place` that of the check.
fn lines(
    report: &Report,
    config: &Config,
    (kind, text): (&str, &str),
    test: Option<&str>,
    place: &Location<'_>,
) -> Vec<String> {
    let name = test.filter(|&name| name != DOC_TEST);
    match report::diagram(report, config, test, SOURCES) {
        Some(diagram) => diagram.problems.iter().map(|problem| report::github(problem, name, place)).collect(),
        None => vec![report::github_check(kind, text, name, place)],
    }
}

/// Prints these lines, in one write. An end of line comes first: with one test at a time libtest has begun a line. If
/// the write fails, the check fails anyway.
pub(crate) fn print(report: &Report, config: &Config, why: (&str, &str), test: Option<&str>, place: &Location<'_>) {
    let text = format!("\n{}\n", lines(report, config, why, test, place).join("\n"));
    let mut stdout = std::io::stdout().lock();
    drop(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}
