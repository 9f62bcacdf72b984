//! The other forms of the reports of every kind, under every memory model: JSON against its schema, the graph, and
//! what is in the page, with a golden of its structure in `pages/<kind>.txt`.

use std::fs;
use std::path::Path;

use rsmc::{FailureKind, MemoryModel, Report, Verdict};
use serde_json::Value;

use super::{Example, example, update, without_time};
use crate::support::{schema, structure};

const MODELS: [MemoryModel; 4] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11];

pub(super) fn under(kind: FailureKind, memory: MemoryModel) -> (rsmc::Config, Report) {
    let Example { mut config, fails, .. } = example(kind);
    config = config.memory(memory);
    if kind == FailureKind::StaleSeed {
        // A seed knows its model.
        let verdict = rsmc::explore(&rsmc::Config::default().memory(memory), || update(false)).verdict;
        let Verdict::Failed(failure) = verdict else { panic!("{verdict:?}") };
        config = config.replay(failure.seed);
    }
    let report = rsmc::explore(&config, fails);
    assert!(matches!(&report.verdict, Verdict::Failed(failure) if failure.kind == kind), "{kind:?}: {report:?}");
    (config, report)
}

pub(super) fn schema_file() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.schema.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What is in the page, without what changes from run to run: seeds and times.
fn structure_of(page: &str, json: &Value) -> String {
    let mut text = structure::of(page);
    let seeds = json["settings"].as_array().unwrap().iter().filter(|setting| setting["name"] == "replay");
    for seed in seeds.map(|setting| &setting["value"]).chain([&json["seed"]]).filter_map(Value::as_str) {
        if seed != "none" {
            text = text.replace(seed, "<seed>");
        }
    }
    let time = format!("“{:.2} s”", json["check"]["milliseconds"].as_f64().unwrap() / 1000.0);
    text.replace(&time, "“<time>”")
}

#[track_caller]
pub(super) fn check_golden(folder: &str, name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kinds/{folder}/{name}.txt"));
    if std::env::var_os("RSMC_BLESS").is_some() {
        fs::write(&path, text).expect("the file can be written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(golden == text, "{folder}/{name}.txt differs (RSMC_BLESS=1 rewrites it); now it has\n\n{text}");
}

/// What is in the page; the other forms are checked.
fn forms(kind: FailureKind, memory: MemoryModel) -> String {
    let (config, report) = under(kind, memory);
    forms_of(kind, &config, &report)
}

fn forms_of(kind: FailureKind, config: &rsmc::Config, report: &Report) -> String {
    let memory = report.memory;
    let json = rsmc::json(report, config, Some("example")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(schema::errors(&schema_file(), &json), Vec::<String>::new(), "{kind:?}, {memory}");
    assert_eq!(json["kind"], format!("{kind:?}"));
    let dot = rsmc::dot(report, config, Some("example")).unwrap();
    assert_eq!(dot.matches("subgraph").count(), json["threads"].as_array().unwrap().len());
    structure_of(&rsmc::html(report, config, Some("example")).unwrap(), &json)
}

#[test]
fn every_kind_has_all_forms_under_every_model() {
    for &kind in FailureKind::ALL.iter().filter(|kind| **kind != FailureKind::Crash) {
        let mut golden = String::new();
        let mut before: Option<(String, MemoryModel)> = None;
        for memory in MODELS {
            let structure = forms(kind, memory);
            let plain =
                structure.replace(&format!("“{memory}”"), "“<model>”").replace(&format!("memory = {memory}"), "");
            match &before {
                Some((text, model)) if *text == plain => golden += &format!("==== {memory}: as {model}\n"),
                _ => {
                    golden += &format!("==== {memory}\n{structure}");
                    before = Some((plain, memory));
                }
            }
        }
        check_golden("pages", &format!("{kind:?}"), &golden);
    }
}

/// The text of a report without its seed, at 80 and at 140 columns; once if they are the same.
fn texts(report: Report) -> String {
    let report = without_time(report);
    let Verdict::Failed(failure) = &report.verdict else { panic!("{report:?}") };
    let text = |columns| {
        let text = rsmc::render_in(&report, &rsmc::RenderOptions::of_test(Some("example")).columns(columns));
        text.replace(&failure.seed.to_string(), "<seed>")
    };
    let (narrow, wide) = (text(80), text(140));
    assert!(narrow.lines().all(|line| line.chars().count() <= 80 || line.starts_with("RSMC_REPLAY")), "{narrow}");
    if narrow == wide { narrow } else { format!("{narrow}---- at 140 columns\n{wide}") }
}

#[test]
fn every_kind_has_a_text_under_every_model() {
    for &kind in FailureKind::ALL.iter().filter(|kind| **kind != FailureKind::Crash) {
        let mut golden = String::new();
        let mut before: Option<(String, MemoryModel)> = None;
        for memory in MODELS {
            let text = texts(under(kind, memory).1);
            let plain = text.replace(&memory.to_string(), "<model>");
            match &before {
                Some((other, model)) if *other == plain => golden += &format!("==== {memory}: as {model}\n"),
                _ => {
                    golden += &format!("==== {memory}\n{text}");
                    before = Some((plain, memory));
                }
            }
        }
        check_golden("texts", &format!("{kind:?}"), &golden);
    }
}

/// A test for each, because a worker comes to its check by passing through those before it.
mod crash {
    use super::*;

    fn check(memory: MemoryModel) {
        let (config, report) = under(FailureKind::Crash, memory);
        check_golden("pages", &format!("Crash.{memory}"), &forms_of(FailureKind::Crash, &config, &report));
        check_golden("texts", &format!("Crash.{memory}"), &texts(report));
    }

    #[test]
    fn sc() {
        check(MemoryModel::Sc);
    }

    #[test]
    fn tso() {
        check(MemoryModel::Tso);
    }

    #[test]
    fn pso() {
        check(MemoryModel::Pso);
    }

    #[test]
    fn c11() {
        check(MemoryModel::C11);
    }
}

#[test]
fn the_schema_has_every_kind_and_fits_nothing_else() {
    let schema = schema_file();
    let kinds: Vec<String> = FailureKind::ALL.iter().map(|kind| format!("{kind:?}")).collect();
    assert_eq!(schema["properties"]["kind"]["enum"], serde_json::json!(kinds));
    let (config, report) = under(FailureKind::Panic, MemoryModel::Sc);
    let json: Value = serde_json::from_str(&rsmc::json(&report, &config, None).unwrap()).unwrap();
    let broken = |change: fn(&mut Value)| {
        let mut json = json.clone();
        change(&mut json);
        schema::errors(&schema, &json)
    };
    assert_eq!(broken(|_| ()), Vec::<String>::new());
    for change in [
        |json: &mut Value| json["version"] = 1.into(),
        |json: &mut Value| drop(json["problems"][0].as_object_mut().unwrap().remove("related")),
        |json: &mut Value| json["kind"] = "Boredom".into(),
        |json: &mut Value| json["more"] = true.into(),
        |json: &mut Value| json["steps"][0]["number"] = 0.into(),
        |json: &mut Value| json["steps"][3]["ordering"] = "Consume".into(),
        |json: &mut Value| drop(json["steps"][3].as_object_mut().unwrap().remove("text")),
        |json: &mut Value| json["locations"][0]["created"]["line"] = "12".into(),
    ] {
        assert_eq!(broken(change).len(), 1, "{:?}", broken(change));
    }
}

/// Nothing of what passes is drawn.
#[test]
fn there_is_no_picture_without_a_failure() {
    let config = rsmc::Config::default();
    let report = rsmc::explore(&config, || update(true));
    assert_eq!(rsmc::html(&report, &config, None), None);
    assert_eq!(rsmc::json(&report, &config, None), None);
    assert_eq!(rsmc::dot(&report, &config, None), None);
}
