//! The texts of places in the source: short in tables, in full for the places of a failure.

use std::collections::BTreeSet;

use crate::trace::Site;

/// The files that a report names.
pub(super) struct Places<'a> {
    files: BTreeSet<&'a str>,
}

impl Places<'static> {
    /// The files of these places.
    pub(super) fn new(sites: impl Iterator<Item = Site>) -> Self {
        Self::of_files(sites.filter_map(|site| parts(site).0))
    }
}

impl<'a> Places<'a> {
    /// A value with these files.
    pub(super) fn of_files(files: impl Iterator<Item = &'a str>) -> Self {
        Self { files: files.collect() }
    }

    /// The path of the file, if all places are in one.
    pub(super) fn only_file(&self) -> Option<&'a str> {
        if self.files.len() == 1 { self.files.first().copied() } else { None }
    }

    /// The heading of a column of places.
    pub(super) fn heading(&self) -> &'static str {
        if self.files.len() > 1 { "where" } else { "line" }
    }

    /// The place in a table: `:12` if there is one file only, `queue.rs:12` otherwise.
    pub(super) fn short(&self, site: Site) -> String {
        let (file, line) = parts(site);
        line.map(|line| self.short_line(file, line)).unwrap_or_default()
    }

    /// The text of a line of a file in a table, as [`Places::short`].
    pub(super) fn short_line(&self, file: Option<&str>, line: u32) -> String {
        match file {
            Some(path) if self.only_file().is_none() => format!("{}:{line}", self.short_file(path)),
            _ => format!(":{line}"),
        }
    }

    /// The paths of all files, if tables abbreviate them.
    pub(super) fn abbreviated(&self) -> Vec<&'a str> {
        if self.files.len() > 1 { self.files.iter().copied().collect() } else { Vec::new() }
    }

    /// The shortest end of a path that no other file has.
    fn short_file<'p>(&self, path: &'p str) -> &'p str {
        let ends = path.rmatch_indices(SEPARATORS).map(|(at, _)| &path[at + 1..]);
        let unique = |end: &&str| self.files.iter().filter(|other| has_end(other, end)).count() <= 1;
        ends.into_iter().find(unique).unwrap_or(path)
    }
}

const SEPARATORS: [char; 2] = ['/', '\\'];

fn has_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with(SEPARATORS))
}

/// File and line, as far as they are known and the user's.
pub(super) fn parts(site: Site) -> (Option<&'static str>, Option<u32>) {
    match site {
        Site::Unknown => (None, None),
        Site::Code(place) => of_user(place.file(), place.line()),
        Site::Place { file, line } => of_user(file, line),
        Site::Line(line) => (None, Some(line)),
    }
}

/// The beginning of the name of a file with code of rsmc's own that stands for a test of the user. No user has such a
/// file, though some have a `rsmc_queue.rs`.
const OURS: &str = "__rsmc_";

fn of_user(file: &'static str, line: u32) -> (Option<&'static str>, Option<u32>) {
    let name = file.rsplit(SEPARATORS).next().unwrap_or_default();
    if name.starts_with(OURS) { (None, None) } else { (Some(file), Some(line)) }
}

/// Whether the file is known and the user's: not one of rsmc's own that stands for a test.
pub fn is_of_user(site: Site) -> bool {
    parts(site).0.is_some()
}

/// ` at src/lib.rs:12`, or nothing.
pub(super) fn at(site: Site) -> String {
    if parts(site) == (None, None) { String::new() } else { format!(" at {site}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_shortened_as_far_as_they_stay_apart() {
        let places = Places { files: BTreeSet::from(["src/a/queue.rs", "src/b/queue.rs", "src/lib.rs"]) };
        let short = ["src/a/queue.rs", "src/b/queue.rs", "src/lib.rs"].map(|path| places.short_file(path));
        assert_eq!(short, ["a/queue.rs", "b/queue.rs", "lib.rs"]);
        assert_eq!(places.heading(), "where");
    }

    #[test]
    fn a_file_of_our_own_has_no_place() {
        let site = |file| Site::Place { file, line: 7 };
        assert_eq!(parts(site("/home/me/rsmc/src/spec/__rsmc_execute.rs")), (None, None));
        assert!(is_of_user(site("src/a.rs")) && !is_of_user(site("src/__rsmc_a.rs")) && !is_of_user(Site::Line(7)));
        assert_eq!(at(site("src\\spec\\__rsmc_execute.rs")), "");
        assert_eq!(at(site("__rsmc_/rsmc_queue.rs")), " at __rsmc_/rsmc_queue.rs:7");
    }
}
