//! The problems of every kind: their JSON, and the lines for GitHub, in `problems/<kind>.txt`; and the examples in
//! `docs/report-json.md` of what they become elsewhere.

use std::fs;
use std::panic::Location;
use std::path::Path;

use rsmc::{FailureKind, MemoryModel};
use rsmc_core::report;
use serde_json::{Value, json};

use super::pictures::{check_golden, schema_file, under};
use crate::support::schema;

/// A problem as a result of SARIF 2.1.0.
fn sarif(problem: &Value) -> Value {
    let location = |of: &Value| {
        let mut region = json!({ "startLine": of["line"] });
        if let Some(column) = of.get("column") {
            region["startColumn"] = column.clone();
        }
        json!({ "physicalLocation": { "artifactLocation": { "uri": of["file"] }, "region": region } })
    };
    let related = |of: &Value| {
        let mut location = location(of);
        location["message"] = json!({ "text": of["message"] });
        location
    };
    let places = problem.get("file").map(|_| location(problem));
    json!({
        "ruleId": problem["kind"],
        "level": problem["level"],
        "message": { "text": problem["message"] },
        "locations": places.into_iter().collect::<Vec<_>>(),
        "relatedLocations": problem["related"].as_array().unwrap().iter().map(related).collect::<Vec<_>>(),
    })
}

/// The problems of a failure, each with its line for GitHub. A problem without a place is at the check.
fn text(kind: FailureKind) -> String {
    let (config, report) = under(kind, MemoryModel::Sc);
    let diagram = report::diagram(&report, &config, Some("tests::example"), report::Sources::NONE).unwrap();
    let json: Value = serde_json::from_str(&report::json(&diagram)).unwrap();
    let check = Location::caller();
    let line = |(problem, json): (&report::Problem, &Value)| {
        let line = report::github(problem, diagram.test.as_deref(), check);
        let line = line.replace(&format!("line={},col={}", check.line(), check.column()), "line=<check>");
        format!("{}\n{line}\n", serde_json::to_string_pretty(json).unwrap())
    };
    diagram.problems.iter().zip(json["problems"].as_array().unwrap()).map(line).collect()
}

#[test]
fn every_kind_has_a_problem() {
    for &kind in FailureKind::ALL.iter().filter(|kind| **kind != FailureKind::Crash) {
        let text = text(kind);
        check_golden("problems", &format!("{kind:?}"), &text);
        for line in text.lines().filter(|line| line.starts_with(':')) {
            assert!(line.starts_with("::error file=tests/kinds"), "{kind:?}: {line}");
        }
    }
}

#[test]
fn each_leaked_object_is_a_problem() {
    let body = || {
        std::mem::forget(rsmc::sync::Arc::new(1));
        std::mem::forget(rsmc::sync::Arc::new(2));
    };
    let config = rsmc::Config::default();
    let json = rsmc::json(&rsmc::explore(&config, body), &config, None).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let lines: Vec<_> = json["problems"].as_array().unwrap().iter().map(|problem| problem["line"].clone()).collect();
    let [Value::Number(first), Value::Number(second)] = &lines[..] else { panic!("{json}") };
    assert_eq!(first.as_u64().unwrap() + 1, second.as_u64().unwrap());
}

/// The insides of the fenced blocks below a heading, in this language.
fn blocks(page: &str, heading: &str, language: &str) -> Vec<String> {
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).expect("the page has the section");
    let section = section.split("\n## ").next().unwrap();
    let fence = format!("```{language}\n");
    let after_fence = section.split(&fence).skip(1);
    after_fence.map(|after| after.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_page_has_what_a_problem_becomes_elsewhere() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report-json.md")).unwrap();
    let [problem, result] = &blocks(&page, "A problem", "json")[..] else { panic!("two blocks are there") };
    let problem: Value = serde_json::from_str(problem).unwrap();
    let schema = schema_file();
    let mut of_problem = schema["$defs"]["problem"].clone();
    of_problem["$defs"] = schema["$defs"].clone();
    assert_eq!(schema::errors(&of_problem, &problem), Vec::<String>::new());
    assert_eq!(serde_json::from_str::<Value>(result).unwrap(), sarif(&problem));
    // The line for GitHub is that of `rsmc-core/src/report/annotation.rs`, which has the same problem.
    assert_eq!(blocks(&page, "A problem", "text").len(), 1);
}
