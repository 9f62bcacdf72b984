//! The litmus programs of `tests/litmus`.

use std::fs;
use std::path::PathBuf;

use rsmc_testkit::litmus::{Program, parse};

/// All programs with the names of their files.
pub fn corpus() -> Vec<(String, Program)> {
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
