//! The corpus: every file states exact outcomes and counts of classes, and brute force agrees with all of them.

#[path = "litmus_brute.rs"]
#[allow(dead_code, reason = "each test uses a part of it")]
mod brute;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use brute::brute;
use rsmc_core::litmus::{Expectation, Program, parse};

/// All programs with the names of their files.
fn corpus() -> Vec<(String, Program)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/litmus");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "litmus"));
    files.sort();
    let read = |file: PathBuf| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let program = parse(&fs::read_to_string(&file).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, program)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn brute_force_agrees_under_sc() {
    let mut wrong = Vec::new();
    for (name, program) in corpus() {
        let found = brute(&program, 1_000_000).unwrap_or_else(|| panic!("{name}: too many interleavings"));
        assert!(!found.cut, "{name}: an execution was cut short");
        let mut lines = Vec::new();
        if program.expected_outcomes("sc") != Some(&found.outcomes) {
            lines.push(format!("expect outcomes sc: {}", found.outcomes_text()));
        }
        for equivalence in Expectation::EQUIVALENCES {
            let Some(count) = found.count(equivalence) else { continue };
            if program.expected_classes(equivalence, "sc") != Some(count) {
                lines.push(format!("expect classes {equivalence}/sc: {count}"));
            }
        }
        wrong.extend(lines.iter().map(|line| format!("{name}: {line}")));
    }
    assert!(wrong.is_empty(), "brute force finds\n{}", wrong.join("\n"));
}

#[test]
fn every_file_has_a_name_of_its_own_and_reads_back() {
    let corpus = corpus();
    let names: BTreeSet<&str> = corpus.iter().map(|(_, program)| program.name.as_str()).collect();
    assert_eq!(names.len(), corpus.len());
    for (name, program) in &corpus {
        assert_eq!(parse(&program.to_string()).as_ref(), Ok(program), "{name}");
    }
}
