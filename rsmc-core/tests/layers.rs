//! The map of ARCHITECTURE.md as a test: a layer imports only what the map allows, and files stay small.

use std::fs;
use std::path::{Path, PathBuf};

/// Each layer, and the layers it may import besides itself.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("trace", &["base"]),
    ("model", &["base", "trace"]),
    ("consistency", &["base", "trace", "model"]),
    ("analysis", &["base", "trace", "model", "consistency"]),
    ("step", &["base", "trace", "model"]),
    ("machine", &["base", "trace", "model", "consistency", "step"]),
    ("seed", &["base", "trace", "model", "step"]),
    ("explore", &["base", "trace", "model", "step", "consistency", "analysis"]),
    ("litmus", &["base", "trace", "model", "step", "machine"]),
    ("runtime", &["base", "trace", "model", "step", "machine"]),
    (
        "session",
        &[
            "base",
            "trace",
            "model",
            "step",
            "machine",
            "seed",
            "explore",
            "litmus",
            "runtime",
            "consistency",
            "analysis",
        ],
    ),
    (
        "report",
        &[
            "base",
            "trace",
            "model",
            "step",
            "machine",
            "seed",
            "explore",
            "litmus",
            "runtime",
            "consistency",
            "analysis",
            "session",
        ],
    ),
];

/// No file is longer.
const LONGEST_FILE: usize = 600;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The layer a path below `src` belongs to.
fn layer_of(path: &Path) -> String {
    let first = path.strip_prefix(source()).unwrap().components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

/// The layers that a text names after `crate::`.
fn imports(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap();
        for part in code.split("crate::").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((number + 1, name));
        }
    }
    found
}

/// What is wrong with the imports of a file.
fn wrong_imports(layer: &str, text: &str) -> Vec<String> {
    let (_, allowed) = MAY_IMPORT.iter().find(|(name, _)| *name == layer).expect("every layer is in the table");
    let wrong = imports(text).into_iter().filter(|(_, name)| name != layer && !allowed.contains(&name.as_str()));
    wrong
        .map(|(line, name)| format!("line {line}: `{layer}` may not import `{name}`; see ARCHITECTURE.md, \"Layers\""))
        .collect()
}

#[test]
fn layers_import_downwards_only() {
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    assert!(files.len() > 40, "the sources were found");
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("lib.rs")) {
        let text = fs::read_to_string(file).unwrap();
        wrong.extend(
            wrong_imports(&layer_of(file), &text).into_iter().map(|what| format!("{}, {what}", file.display())),
        );
        assert!(text.starts_with("//!"), "{} starts with what it is for", file.display());
        assert!(text.lines().count() <= LONGEST_FILE, "{} is longer than {LONGEST_FILE} lines", file.display());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_import_is_noticed() {
    assert_eq!(wrong_imports("trace", "use crate::base::Id;\nuse crate::trace::Event;\n"), Vec::<String>::new());
    let wrong = wrong_imports("explore", "use crate::base::Id;\nfn f() { crate::runtime::in_run(); }\n");
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].starts_with("line 2: `explore` may not import `runtime`"));
}

#[test]
fn unsafe_code_is_in_the_runtime_only() {
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    let code = |line: &str| line.split("//").next().unwrap().to_owned();
    let has_unsafe = |file: &&PathBuf| {
        fs::read_to_string(file)
            .unwrap()
            .lines()
            .any(|line| code(line).contains("unsafe {") || code(line).contains("unsafe fn"))
    };
    let found: Vec<_> = files.iter().filter(has_unsafe).map(|file| file.file_name().unwrap().to_owned()).collect();
    // `slots` drops values that the shim keeps there, of types that it does not know; `arena` is an allocator, of `blocks`, which
    // `freed` looks into, `again` gives out once more and `oracle` tests, for which `pieces` maps and `reclaim` reads memory; `state`
    // and `frame` look at registers and stacks, `liveness` at code. `leave` is some. `signals` handles signals, and looks at an
    // execution whose OS thread stands in a handler.
    let may = [
        "abort.rs",
        "again.rs",
        "arena.rs",
        "blocks.rs",
        "coroutine.rs",
        "current.rs",
        "freed.rs",
        "frame.rs",
        "leave.rs",
        "liveness.rs",
        "memcheck.rs",
        "oracle.rs",
        "pieces.rs",
        "reclaim.rs",
        "signals.rs",
        "slots.rs",
        "state.rs",
    ];
    assert!(
        found.iter().all(|file| may.iter().any(|name| file == name)),
        "unsafe code in {found:?}, not in {may:?} only"
    );
}
