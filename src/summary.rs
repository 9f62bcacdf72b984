//! `RSMC_SUMMARY`: a line for each check, at the end of a file that tests share.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::panic::Location;
use std::path::Path;

use rsmc_core::report::{self, About};
use rsmc_core::session::Report;

use crate::files;

/// Appends the line of a check in one write, so that lines of tests that run at once, in one process or in several,
/// stay whole. `path` is that of the test, with the name of its crate; `test` its name, if libtest knows one.
///
/// Returns the error, as text, if the file cannot be written.
pub(crate) fn append(
    file: &Path,
    report: &Report,
    path: Option<&str>,
    test: Option<&str>,
    place: &Location<'_>,
    passed: bool,
) -> Result<(), String> {
    let program = files::program();
    let package = path.and_then(|path| path.split_once("::")).map_or(program.as_str(), |(name, _)| name);
    let place = format!("{}:{}", place.file(), place.line());
    let line = report::line(report, &About { package, test, place: &place, passed });
    put(file, &line).map_err(|error| format!("RSMC_SUMMARY: cannot write {}: {error}", file.display()))
}

fn put(file: &Path, line: &str) -> io::Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().append(true).create(true).open(file)?.write_all(line.as_bytes())
}
