//! The documentation of every public item says what a check does with it, as far as a reader may believe otherwise.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]

use std::path::{Path, PathBuf};

/// The files with modelled items.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("the sources are there") {
        let path = entry.expect("the directory can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The name of a public item that a line begins, if it does.
fn item(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.trim_start_matches("const ").trim_start_matches("unsafe ");
    let kinds = ["struct ", "enum ", "fn ", "trait ", "type "];
    kinds.iter().find_map(|kind| rest.strip_prefix(kind))?.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[test]
fn every_item_says_what_a_check_does_with_it() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model"), &mut paths);
    let (mut silent, mut items) = (Vec::new(), 0);
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("the source can be read");
        let mut above = String::new();
        for line in text.lines() {
            if line.starts_with("///") || line.starts_with("#[") {
                above += line;
                continue;
            }
            if let Some(name) = item(line) {
                items += 1;
                let says = ["check", "execution", "modelled", "doc(hidden)"].iter().any(|word| above.contains(word));
                if !says {
                    silent.push(format!("{name} in {}", path.display()));
                }
            }
            above.clear();
        }
    }
    assert!(items > 50, "only {items} items were found");
    assert!(silent.is_empty(), "nothing is said about checks for {silent:#?}");
}
