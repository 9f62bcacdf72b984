//! The map of ARCHITECTURE.md as a test: a layer imports only what the map allows, no files import each other in a
//! circle, files, functions and structs stay small, few files name memory models, and comments have a form.

mod circles;
mod sentences;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};

use circles::Crate;
use rsmc_core::model::MemoryModel;
use sizes::Large;

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
    ("runtime", &["base", "trace", "model", "analysis", "step", "machine"]),
    (
        "session",
        &["base", "trace", "model", "step", "machine", "seed", "explore", "runtime", "consistency", "analysis"],
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
            "runtime",
            "consistency",
            "analysis",
            "session",
        ],
    ),
];

/// The crates whose code asks a memory model for its properties, from the folder of this one.
const ASK_MODELS: &[&str] = &["src", "../src", "../rsmc-shim/src", "../rsmc-macros/src"];

/// The files there that name memory models: the ends of their paths.
const NAME_MODELS: &[&str] = &[
    // The list of all, and what describes each.
    "rsmc-core/src/model/mod.rs",
    "rsmc-core/src/model/sc.rs",
    "rsmc-core/src/model/tso.rs",
    "rsmc-core/src/model/pso.rs",
    "rsmc-core/src/model/c11.rs",
    // Which verifier each has.
    "rsmc-core/src/consistency/verifier.rs",
    // The words that the attribute knows: the crate has no dependency.
    "rsmc-macros/src/known.rs",
];

/// So many files more may hold the algorithms of one model: its verifier, what is causally before what under it
/// (`explore/rf_smc/graph`), and the two modules to which these belong.
const OF_ALGORITHMS: usize = 4;

/// A new memory model touches no more files.
const OF_A_MODEL: usize = 8;

/// A file, and a word in it that names something else: the ordering of an operation.
const OTHER_WORDS: &[(&str, &str)] = &[("rsmc-core/src/report/rows.rs", "\"sc\"")];

/// No file is longer.
const LONGEST_FILE: usize = 600;

/// The structs that may have more fields than others, each by its file and name, and why.
const WIDE_STRUCTS: &[(&str, &str, &str)] = &[
    ("rsmc-core/src/explore/view_xplore/mod.rs", "ViewXplore", "frames and the tables that all of them share"),
    ("rsmc-core/src/machine/mod.rs", "Machine", "the state that all rules of a step read and write"),
    ("rsmc-core/src/report/diagram/mod.rs", "Diagram", "a field for each of the JSON form"),
    ("rsmc-core/src/report/diagram/mod.rs", "Step", "a field for each of the JSON form"),
    ("rsmc-core/src/session/config.rs", "Config", "a field for each setting"),
    ("rsmc-core/src/session/outcome.rs", "Report", "a field for each figure of a check"),
    ("rsmc-core/src/step/run.rs", "Run", "everything that comes back from an execution"),
];

/// The sources of the helpers of tests. They have no layers.
fn testkit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rsmc-testkit/src")
}

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

/// The wrong imports of a file.
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
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_are_short_and_start_with_what_they_are_for() {
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    rust_files(&testkit(), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} starts with what it is for", file.display());
        assert!(text.lines().count() <= LONGEST_FILE, "{} is longer than {LONGEST_FILE} lines", file.display());
    }
}

#[test]
fn lines_are_short_and_docs_say_what_an_item_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    let folders = [
        "rsmc-core",
        "rsmc-loom",
        "rsmc-macros",
        "rsmc-shim",
        "rsmc-shuttle",
        "rsmc-testkit",
        "src",
        "tests",
        "benches",
        "examples",
    ];
    folders.iter().for_each(|folder| rust_files(&root.join(folder), &mut files));
    files.retain(|file| !file.components().any(|part| part.as_os_str() == "target"));
    let at =
        |file: &Path, lines: Vec<usize>| lines.into_iter().map(|line| format!("{}:{line}", file.display())).collect();
    let text = |file: &PathBuf| fs::read_to_string(file).unwrap();
    let long: Vec<String> =
        files.iter().flat_map(|file| -> Vec<_> { at(file, sentences::long_lines(&text(file))) }).collect();
    assert!(long.is_empty(), "lines of more than 120 columns: {long:#?}");
    let sources = files.iter().filter(|file| sentences::is_source(root, file));
    let empty: Vec<String> =
        sources.flat_map(|file| -> Vec<_> { at(file, sentences::empty_docs(&text(file))) }).collect();
    assert!(empty.is_empty(), "docs that do not say what the item is: {empty:#?}");
}

#[test]
fn the_glossary_names_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    let glossary = fs::read_to_string(root.join("docs/glossary.md")).unwrap();
    let unknown = sentences::unknown_places(&glossary, &files);
    assert!(unknown.is_empty(), "docs/glossary.md names what no source has: {unknown:?}");
}

#[test]
fn files_import_each_other_in_no_circle() {
    let circles = Crate::at(&source()).circles();
    assert!(circles.is_empty(), "these import each other: {circles:#?}");
}

/// The functions that are too large and not named, and those that are named and not too large.
fn misnamed(large: &[Large], named: &[(&str, &str, &str)]) -> Vec<String> {
    let is = |(file, item, _): &Large, named: &(&str, &str, &str)| (named.0, named.1) == (file, item);
    let unnamed = large.iter().filter(|large| !named.iter().any(|named| is(large, named)));
    let unnamed = unnamed.map(|(file, item, size)| format!("{file}: `{item}` has {size}"));
    let not_large = named.iter().filter(|named| !large.iter().any(|large| is(large, named)));
    unnamed.chain(not_large.map(|(file, item, _)| format!("{file}: `{item}` is small enough"))).collect()
}

#[test]
fn functions_are_short_and_structs_have_few_fields() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = ["rsmc-core/src", "rsmc-loom/src", "rsmc-shim/src", "rsmc-shuttle/src", "rsmc-macros/src", "src"];
    let [functions, structs] = sizes::large(root, &folders);
    assert!(functions.is_empty(), "more than {} lines: {functions:#?}", sizes::LONGEST_FUNCTION);
    let structs = misnamed(&structs, WIDE_STRUCTS);
    assert!(structs.is_empty(), "more than {} fields: {structs:#?}", sizes::MOST_FIELDS);
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
    // `executor` calls `coroutine`, and `current` follows the pointer to an execution. `slots` drops values that the
    // shim keeps there, of types that it does not know; `arena` is an allocator, of `blocks`, which `freed` looks into,
    // `again` gives out once more and `oracle` tests, for which `pieces` maps and `reclaim` reads memory; `state` and
    // `frame` look at registers and stacks, `liveness` at code, `hash_keys` at std's thread-locals. `leave` is some.
    // `signals` handles signals, and looks at an execution whose OS thread stands in a handler.
    let may = [
        "abort.rs",
        "again.rs",
        "arena.rs",
        "blocks.rs",
        "candidates.rs",
        "coroutine.rs",
        "current.rs",
        "executor.rs",
        "freed.rs",
        "frame.rs",
        "hash_keys.rs",
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

#[test]
fn one_loop_of_a_session_asks_for_plans() {
    let mut files = Vec::new();
    rust_files(&source().join("session"), &mut files);
    let asks = |file: &&PathBuf| fs::read_to_string(file).unwrap().contains(".next_plan(");
    let found: Vec<_> = files.iter().filter(asks).map(|file| file.file_name().unwrap().to_owned()).collect();
    assert_eq!(found, ["driver.rs"]);
}

/// The lines of a text in front of its unit tests, each with its number, without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().enumerate().map(|(at, line)| (at + 1, line.split("//").next().unwrap()))
}

/// The places at which code names a memory model: a variant of `MemoryModel` as a word of its own, or its name in
/// configurations as a string.
fn named_models(text: &str) -> Vec<String> {
    let variants = MemoryModel::ALL.map(|model| format!("{model:?}"));
    let strings = MemoryModel::NAMES.map(|name| format!("\"{name}\""));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (number, line) in code(text) {
        let words = line.split(|c| !is_part(c)).filter(|word| variants.iter().any(|variant| word == variant));
        let names = strings.iter().filter(|name| line.contains(name.as_str()));
        found.extend(words.chain(names.map(String::as_str)).map(|name| format!("line {number}: {name}")));
    }
    found
}

#[test]
fn few_files_name_memory_models() {
    let mut files = Vec::new();
    for folder in ASK_MODELS {
        rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).canonicalize().unwrap(), &mut files);
    }
    let is_in = |file: &Path, list: &[&str]| {
        let path = file.to_str().unwrap().replace('\\', "/");
        list.iter().any(|end| path.ends_with(end))
    };
    let (mut wrong, mut naming) = (Vec::new(), 0);
    for file in &files {
        let mut named = named_models(&fs::read_to_string(file).unwrap());
        let other = OTHER_WORDS.iter().find(|(path, _)| is_in(file, &[path]));
        named.retain(|what| other.is_none_or(|(_, word)| !what.ends_with(word)));
        match is_in(file, NAME_MODELS) {
            true => naming += usize::from(!named.is_empty()),
            false => wrong.extend(named.into_iter().map(|what| format!("{}, {what}", file.display()))),
        }
    }
    assert!(wrong.is_empty(), "ask for a property of the model (`model/description.rs`):\n{}", wrong.join("\n"));
    assert_eq!(naming, NAME_MODELS.len(), "a file of the list is not there or names no model");
    let of_all = NAME_MODELS.len() - MemoryModel::ALL.len();
    assert!(of_all + 1 + OF_ALGORITHMS <= OF_A_MODEL, "those of all models, its own, and those of its algorithms");
}

#[test]
fn the_attribute_knows_every_memory_model() {
    let known = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rsmc-macros/src/known.rs")).unwrap();
    for model in MemoryModel::ALL {
        assert!(known.contains(&format!("(\"{model}\", \"{model:?}\")")), "{model}");
    }
}

#[test]
fn the_name_of_a_memory_model_is_noticed() {
    let text = "//! Sc in a comment.\nuse MemoryModel::{Sc, Tso as Other};\nfn f() -> bool { VerifySc; model.is_graph() }\n\
                match model { M::C11 => 1, _ => 2 } // Pso\nif name == \"pso\" {}\nlet title = \"PSO, tso\";\n\
                #[cfg(test)]\nmod tests {\n    const MODEL: MemoryModel = MemoryModel::Pso;\n}\n";
    assert_eq!(named_models(text), ["line 2: Sc", "line 2: Tso", "line 4: C11", "line 5: \"pso\""]);
}
