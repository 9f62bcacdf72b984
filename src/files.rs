//! The files of a failure, for `RSMC_REPORT_DIR`, the source files that a page quotes, and files that keep long seeds.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use rsmc_core::report::{self, Diagram, Sources};
use rsmc_core::seed::Seed;

use crate::audit::Forms;

/// Longer names of files are cut: no file system takes more than 255 bytes.
const LONGEST: usize = 120;
/// Names that Windows takes for devices, whatever follows after a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Writes `<name>.html`, `.dot` and `.json`, and says in a line for the report where the page is, or why it is not
/// there.
pub(crate) fn write(dir: &Path, name: &str, diagram: &Diagram) -> String {
    match write_all(dir, name, diagram) {
        Ok(page) => format!("\nto look at in a browser: {}", page.display()),
        Err((path, error)) => format!("\nRSMC_REPORT_DIR: cannot write {}: {error}", path.display()),
    }
}

fn write_all(dir: &Path, name: &str, diagram: &Diagram) -> Result<PathBuf, (PathBuf, io::Error)> {
    fs::create_dir_all(dir).map_err(|error| (dir.to_owned(), error))?;
    let put = |extension: &str, text: String| {
        let path = dir.join(format!("{name}.{extension}"));
        fs::write(&path, text).map(|()| path.clone()).map_err(|error| (path, error))
    };
    put("json", report::json(diagram))?;
    put("dot", report::dot(diagram))?;
    put("html", report::html(diagram, SOURCES))
}

/// Writes `<name>.audit.txt`, `.json` and `.html`, and says in a line what they have and where the text is, or why it
/// is not there.
pub(crate) fn write_audit(dir: Option<&Path>, name: &str, audit: &Forms) -> String {
    let first = audit.text.lines().next().unwrap_or_default();
    match write_forms(dir, name, audit) {
        Ok(path) => format!("{first}: {}", path.display()),
        Err((path, error)) => format!("cannot write {}: {error}\n{}", path.display(), audit.text),
    }
}

/// Writes `<program>.audit.txt`, `.json` and `.html`: the audits of all tests of this process so far. A test has said
/// where its own are.
pub(crate) fn write_merged(dir: Option<&Path>, audit: &Forms) {
    drop(write_forms(dir, &file_name(&program()), audit));
}

fn write_forms(dir: Option<&Path>, name: &str, audit: &Forms) -> Result<PathBuf, (PathBuf, io::Error)> {
    let dir = dir.map_or_else(folder, Path::to_owned);
    fs::create_dir_all(&dir).map_err(|error| (dir.clone(), error))?;
    let put = |extension: &str, text: &str| {
        let path = dir.join(format!("{name}.audit.{extension}"));
        fs::write(&path, text).map(|()| path.clone()).map_err(|error| (path, error))
    };
    put("json", &audit.json)?;
    put("html", &audit.html)?;
    put("txt", &audit.text)
}

/// Longer seeds are kept in a file, which the report names.
const LONGEST_SEED: usize = 80;
/// The extension of files with seeds.
const SEED: &str = "seed";

/// Writes the seed of a failure to a file, if it is long and that is possible; returns the file as a replay takes it.
pub(crate) fn keep(seed: &Seed, dir: Option<&Path>, name: &str) -> Option<String> {
    let text = seed.to_string();
    if text.len() <= LONGEST_SEED {
        return None;
    }
    let dir = dir.map_or_else(folder, Path::to_owned);
    fs::create_dir_all(&dir).ok()?;
    let path = dir.join(format!("{name}.{SEED}"));
    fs::write(&path, text + "\n").ok()?;
    // Tests run in the root of their package, so a replay finds the file from there, wherever the user types the
    // command.
    let here = std::env::current_dir().ok()?;
    Some(path.strip_prefix(here).unwrap_or(&path).display().to_string())
}

/// The text of a seed: the value itself, or what the file says that it names.
pub(crate) fn seed_text(value: &str) -> io::Result<String> {
    if value.ends_with(&format!(".{SEED}")) { fs::read_to_string(value) } else { Ok(value.to_owned()) }
}

/// The folder `rsmc` in cargo's target folder, or where the executable is.
pub(crate) fn folder() -> PathBuf {
    target_of(&std::env::current_exe().unwrap_or_default()).join("rsmc")
}

/// The folder that cargo builds in: the one that it has marked, or else the one above `<profile>/deps`. Otherwise that
/// of the executable.
fn target_of(executable: &Path) -> &Path {
    let folders = || executable.ancestors().skip(1);
    let marked = folders().find(|folder| folder.join("CACHEDIR.TAG").exists());
    let is_cargos = |folder: &&Path| folder.ends_with("deps") || folder.ends_with("examples");
    let usual = || folders().find(is_cargos).and_then(|folder| folder.ancestors().nth(2));
    marked.or_else(usual).or_else(|| folders().next()).unwrap_or(Path::new("."))
}

/// The base name of the files of a check: after the test and its crate, or the thread, which libtest names after the
/// test.
pub(crate) fn name_of(path: Option<&str>) -> String {
    match path {
        Some(path) => file_name(path),
        None => {
            let (program, thread) = (program(), std::thread::current());
            let thread = thread.name().filter(|name| *name != "main");
            file_name(&thread.map_or(program.clone(), |name| format!("{program}::{name}")))
        }
    }
}

/// The name of the test executable.
pub(crate) fn program() -> String {
    let program = std::env::current_exe().ok();
    let program = program.as_ref().and_then(|path| path.file_stem()).unwrap_or_default().to_string_lossy();
    without_hash(&program).to_owned()
}

/// Cargo ends the names of test executables with a hash, which changes: `queue-1f0e…` → `queue`.
pub(crate) fn without_hash(program: &str) -> &str {
    match program.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit()) => name,
        _ => program,
    }
}

/// A name that every system takes: `a::b` → `a.b`.
pub(crate) fn file_name(path: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = path.replace("::", ".").chars().map(plain).collect();
    let name = name.trim_matches('.');
    let device =
        name.split('.').next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase();
    let name = if name.is_empty() || DEVICES.contains(&device.as_str()) { format!("_{name}") } else { name.to_owned() };
    if name.len() <= LONGEST {
        return name;
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let end = (0..=LONGEST - 17).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    format!("{}-{:016x}", &name[..end], hasher.finish())
}

/// The text of a source file. The compiler names it from the root of the workspace, and tests run at the root of their
/// package, which is below.
pub(crate) const SOURCES: Sources<'static> = Sources(&sources);

fn sources(file: &str) -> Option<String> {
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors().find_map(|dir| fs::read_to_string(dir.join(file)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files_everywhere() {
        assert_eq!(file_name("queue::tests::push"), "queue.tests.push");
        assert_eq!(file_name("../a\\b:c d"), "_a_b_c_d");
        assert_eq!(file_name("con::tests"), "_con.tests");
        assert_eq!(file_name("COM1"), "_COM1");
        assert_eq!(file_name("console"), "console");
        assert_eq!(file_name(""), "_");
        let [long, longer] = [130, 131].map(|length| file_name(&"ä".repeat(length)));
        assert!(long.len() <= LONGEST && longer.len() <= LONGEST && long != longer, "{long} {longer}");
    }

    #[test]
    fn the_target_is_found() {
        let of = |path: &str| target_of(Path::new(path)).to_owned();
        assert_eq!(of("/nowhere/target/debug/deps/x-1"), Path::new("/nowhere/target"));
        assert_eq!(of("/nowhere/target/debug/examples/x"), Path::new("/nowhere/target"));
        assert_eq!(of("/nowhere/bin/x"), Path::new("/nowhere/bin"));
    }

    #[test]
    fn the_hash_of_a_build_is_left_out() {
        assert_eq!(without_hash("my-queue-0123456789abcdef"), "my-queue");
        assert_eq!(without_hash("my-queue"), "my-queue");
    }

    #[test]
    fn source_files_are_found_from_below() {
        assert!(sources("src/files.rs").is_some_and(|text| text.starts_with("//! The files of a failure")));
        assert!(sources("src/no_such_file.rs").is_none());
    }
}
