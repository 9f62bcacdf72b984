//! Audits of specifications: the questions are asked of all scenarios up to some number of calls.

use rsmc::spec::Spec;
use rsmc::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use rsmc::sync::atomic::{AtomicBool, AtomicU32};

use crate::audit::run_test;
use crate::audit::workers::audit;

/// One number, and whether it is there.
#[derive(Default)]
pub(super) struct Letterbox {
    number: AtomicU32,
    is_full: AtomicBool,
}

impl Letterbox {
    fn put(&self, number: u32) {
        self.number.store(number, SeqCst);
        self.is_full.store(true, SeqCst);
    }

    fn get(&self) -> Option<u32> {
        self.is_full.load(Acquire).then(|| self.number.load(Relaxed))
    }
}

/// The specification that `inner::spec` checks.
pub(super) fn letterbox() -> Spec<Letterbox, Option<u32>> {
    Spec::new(Letterbox::default, || None)
        .op("put", [1, 2], |it: &Letterbox, &number| it.put(number), |model, &number| *model = Some(number))
        .op0("get", Letterbox::get, |model| *model)
        .threads(2)
        .calls(4)
}

/// All scenarios of up to some number of calls, as many as the time allows for each question.
#[test]
fn a_specification_is_audited_as_a_test_is() {
    let (audit, text) = audit("spec", &[("RSMC_AUDIT", "60s")]);
    let [orderings, notes] = ["orderings", "notes"].map(|field| audit[field].as_array().unwrap());
    assert_eq!((audit["is_complete"].as_bool(), notes.len()), (Some(true), 1), "{text}");
    assert!(notes[0].as_str().unwrap().starts_with("audited with the scenarios of up to "), "{text}");
    let found = orderings.iter().map(|one| ["operation", "written", "alone", "together"].map(|field| &one[field]));
    let expected = [
        ["store", "SeqCst", "Relaxed", "Relaxed"],
        ["store", "SeqCst", "Release", "Release"],
        ["load", "Acquire", "Acquire", "Acquire"],
    ];
    assert!(found.eq(expected), "{text}\n{audit}");
    // The execution that needs an ordering is one of a scenario.
    for needed in orderings[1..].iter().map(|one| &one["needed"]) {
        let [seed, scenario] = ["seed", "scenario"].map(|field| needed[field].as_str().unwrap());
        let weakened = needed["weakened"][0].as_str().unwrap();
        let variables = [("RSMC_REPLAY", seed), ("RSMC_SCENARIO", scenario), ("RSMC_WEAKEN", weakened)];
        let command = needed["command"].as_str().unwrap();
        assert!(command.contains(&format!("RSMC_SCENARIO='{scenario}' cargo test audit::inner::spec")), "{command}");
        let (passed, text) = run_test("spec", &variables);
        assert!(!passed && text.contains("no order of these calls gives these results"), "{text}");
    }
}

/// What the scenarios of one number of calls cost decides which are taken.
#[test]
fn an_audit_with_little_time_takes_smaller_scenarios() {
    let calls = |time: &str| {
        let (audit, _) = audit("spec", &[("RSMC_AUDIT", time)]);
        let note = audit["notes"][0].as_str().unwrap();
        let calls = note.strip_prefix("audited with the scenarios of up to ").unwrap().strip_suffix(" calls").unwrap();
        calls.parse::<usize>().unwrap()
    };
    let (few, many) = (calls("20ms"), calls("60s"));
    assert!(2 <= few && few < many && many <= 4, "{few} and {many}");
}

/// A specification that fails has no audit.
#[test]
fn a_specification_that_fails_is_not_audited() {
    let (passed, text) = run_test("broken_spec", &[("RSMC_AUDIT", "60s")]);
    assert!(passed && !text.contains("orderings are"), "{text}");
}

/// One whose numbers come before they are there.
pub(super) fn broken() -> Spec<Letterbox, Option<u32>> {
    let put = |it: &Letterbox, &number: &u32| {
        it.is_full.store(true, SeqCst);
        it.number.store(number, SeqCst);
    };
    Spec::new(Letterbox::default, || None).op("put", [1, 2], put, |model, &number| *model = Some(number)).op0(
        "get",
        Letterbox::get,
        |model| *model,
    )
}

/// The table of a scenario's results is for the report of a replay.
#[test]
fn a_scenario_is_named_in_one_line() {
    let (_, said) = audit("spec", &[("RSMC_AUDIT", "60s")]);
    let file = said.lines().find_map(|line| line.strip_prefix("rsmc: audit::inner::spec: ")?.rsplit_once(": "));
    let text = std::fs::read_to_string(file.unwrap().1).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = "needed: with Relaxed it fails: in put(2) | get(): not linearizable: no order of these calls gives these \
                    results RSMC_WEAKEN=";
    assert!(words.contains(sentence) && !text.contains("__rsmc"), "{text}");
}
