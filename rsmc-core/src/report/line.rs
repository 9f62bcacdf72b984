//! A check in one line of JSON, for tools that count many checks.

use serde::Serialize;

use crate::report::json::to_json;
use crate::session::{FailureKind, Limit, Report, Verdict};

/// The check that a line describes.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The crate, or the name of the program.
    pub package: &'a str,
    /// The path of the test as `cargo test` takes it, if it is one of libtest's.
    pub test: Option<&'a str>,
    /// The place where the check is called.
    pub place: &'a str,
    /// Whether the check passes.
    pub passed: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(rename = "crate")]
    package: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a str>,
    place: &'a str,
    verdict: &'static str,
    passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<FailureKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'static str>,
    executions: u64,
    runs: u64,
    threads: usize,
    model: String,
    explorer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    preemption_bound: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_bound: Option<u32>,
    seconds: f64,
}

/// The line, with its end.
///
/// ```
/// use rsmc_core::report::{About, line};
/// use rsmc_core::session::{Config, check_body};
///
/// let report = check_body(&Config::default(), &|| {}, |body| body.check().run()).unwrap();
/// let about = About { package: "queue", test: Some("tests::push"), place: "src/lib.rs:12", passed: true };
/// let begins = r#"{"crate":"queue","test":"tests::push","place":"src/lib.rs:12","verdict":"verified","#;
/// assert!(line(&report, &about).starts_with(begins));
/// ```
pub fn line(report: &Report, about: &About<'_>) -> String {
    let &About { package, test, place, passed } = about;
    let (verdict, kind, limit) = match &report.verdict {
        Verdict::Verified => ("verified", None, None),
        Verdict::Failed(failure) => ("failed", Some(failure.kind), None),
        Verdict::Incomplete(limit) => ("incomplete", None, Some(name(*limit))),
    };
    let line = Line {
        package,
        test,
        place,
        verdict,
        passed,
        kind,
        limit,
        executions: report.executions,
        runs: report.runs,
        threads: report.threads,
        model: report.memory.to_string(),
        explorer: report.explorer.to_string(),
        preemption_bound: report.preemption_bound.map(|bound| bound.to_string()),
        delay_bound: report.delay_bound,
        seconds: (report.elapsed.as_secs_f64() * 1e6).round() / 1e6,
    };
    to_json(&line) + "\n"
}

/// The name of a limit: that of its setting, if it is one.
fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::Executions(_) => "max_executions",
        Limit::Duration(_) => "max_duration",
        Limit::Memory(_) => "max_memory",
        Limit::Steps(_) => "max_steps",
        Limit::Interrupted => "interrupt",
        Limit::Workers => "workers",
        Limit::Replay => "replay",
    }
}
