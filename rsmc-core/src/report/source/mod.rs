//! The source text around the places of a report: the line, its function, and the names of objects there.
//!
//! A place has the line and the column of a call: the method's name in `self.tail.load(…)`, the beginning of the path
//! in `AtomicUsize::new(0)`. So the text left of it names the object. This is a reading of text, not of Rust: where it
//! finds nothing, a report falls back on types and numbers.

mod call;
mod expression;

use std::collections::BTreeMap;
use std::fmt;

use crate::report::places::parts;
use crate::trace::Site;

pub use call::Call;

/// Reads a file of the source by the name that the compiler has for it; `None` if it is not there.
#[derive(Clone, Copy)]
pub struct Sources<'a>(pub &'a dyn Fn(&str) -> Option<String>);

impl Sources<'_> {
    /// No file is there.
    pub const NONE: Sources<'static> = Sources(&|_| None);
}

impl fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sources")
    }
}

/// The largest number of lines over which a chain of method calls is followed upwards.
const LONGEST_CHAIN: usize = 6;

/// The source files of a report.
#[derive(Debug, Default)]
pub(super) struct SourceText {
    files: BTreeMap<&'static str, Vec<String>>,
}

/// The name of an object in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// The field or variable.
    pub(super) name: String,
    /// Whether it is one of several, by an index.
    pub(super) is_element: bool,
}

impl SourceText {
    /// Reads the files of these places that were not read before.
    pub(super) fn read(&mut self, sites: impl Iterator<Item = Site>, sources: Sources<'_>) {
        for file in sites.filter_map(|site| parts(site).0) {
            self.files.entry(file).or_insert_with(|| match (sources.0)(file) {
                Some(text) => text.lines().map(str::to_owned).collect(),
                None => Vec::new(),
            });
        }
    }

    /// The line of a place, without its indentation.
    pub(super) fn line(&self, site: Site) -> Option<&str> {
        let (lines, at, _) = self.lines(site)?;
        Some(lines[at].trim()).filter(|line| !line.is_empty())
    }

    /// The name of the function around a place.
    pub(super) fn function(&self, site: Site) -> Option<&str> {
        let (lines, at, _) = self.lines(site)?;
        function_around(lines, at)
    }

    /// The name of the object whose method is called at a place.
    pub(super) fn used(&self, site: Site) -> Option<Name> {
        let (lines, at, column) = self.lines(site)?;
        used(lines, at, column)
    }

    /// The name of the object that is created at a place.
    pub(super) fn created(&self, site: Site) -> Option<Name> {
        let (lines, at, column) = self.lines(site)?;
        created(lines, at, column)
    }

    /// The lines of the file of a place, the number of its line from 0, and its column from 1, or 0.
    fn lines(&self, site: Site) -> Option<(&[String], usize, u32)> {
        let (file, line) = parts(site);
        let lines = self.files.get(file?)?;
        let at = (line? as usize).checked_sub(1).filter(|&at| at < lines.len())?;
        Some((lines, at, site.line_and_column().1))
    }
}

fn function_around(lines: &[String], at: usize) -> Option<&str> {
    around(lines, at).find_map(function_of)
}

/// The name of the type whose `impl` is around a line.
fn type_around(lines: &[String], at: usize) -> Option<&str> {
    around(lines, at).find_map(type_of)
}

/// A line, and those above it that are indented less and less. The end of a signature is left out: it is indented as
/// its beginning.
fn around(lines: &[String], at: usize) -> impl Iterator<Item = &str> {
    let mut depth = usize::MAX;
    let ends_signature = |line: &str| line.is_empty() || line.starts_with([')', '{']) || line == "where";
    let above = lines[..=at].iter().rev().filter(move |line| !ends_signature(line.trim()));
    above.map(String::as_str).filter(move |line| {
        let is_around = indent(line) < depth;
        depth = depth.min(indent(line));
        is_around
    })
}

fn used(lines: &[String], at: usize, column: u32) -> Option<Name> {
    let mut text = left_of(&lines[at], column)?;
    // `.load(…)` alone on its line belongs to the line before.
    for line in lines[..at].iter().rev().take(LONGEST_CHAIN) {
        if !text.trim_start().starts_with('.') {
            break;
        }
        text = format!("{}{}", without_comment(line).trim_end(), text.trim_start());
    }
    let object = expression::object(&text)?;
    let Some(field) = object.name.strip_prefix("self.") else { return Some(object) };
    let name = format!("{}.{field}", type_around(lines, at)?);
    Some(Name { name, ..object })
}

fn created(lines: &[String], at: usize, column: u32) -> Option<Name> {
    let mut text = left_of(&lines[at], column)?;
    for line in lines[..at].iter().rev().take(LONGEST_CHAIN) {
        let before = without_comment(line).trim_end();
        let is_whole = expression::binding(&text).is_some() || before.ends_with([';', '}', '{']);
        if is_whole {
            break;
        }
        text = format!("{before} {}", text.trim_start());
    }
    expression::binding(&text)
}

/// The text of a line left of the column of a place, if a name or path begins there.
fn left_of(line: &str, column: u32) -> Option<String> {
    let column = (column as usize).checked_sub(1)?;
    let begins_a_path = |c: char| c.is_alphabetic() || matches!(c, '_' | '<' | ':');
    line.chars().nth(column).filter(|&c| begins_a_path(c))?;
    Some(line.chars().take(column).collect())
}

fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name of the function that a line begins.
fn function_of(line: &str) -> Option<&str> {
    let line = without_comment(line);
    let (before, after) = line.split_once("fn ")?;
    let is_item = before.is_empty() || before.ends_with([' ', '\t']);
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
    Some(&after[..end]).filter(|name| is_item && !name.is_empty())
}

/// The name of the type whose `impl` a line begins: `Queue` of `impl<T> Clone for spsc::Queue<T> {`.
fn type_of(line: &str) -> Option<&str> {
    let line = without_comment(line).trim();
    let rest = line.strip_prefix("unsafe ").unwrap_or(line).strip_prefix("impl")?;
    let rest = if rest.starts_with('<') { &rest[generics(rest)..] } else { rest.strip_prefix(' ')? };
    let rest = rest.split_once(" for ").map_or(rest, |(_, of)| of).trim_start();
    let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':')).unwrap_or(rest.len());
    rest[..end].rsplit(':').next().filter(|name| !name.is_empty())
}

/// The length of the list of generic parameters with which a text begins.
fn generics(text: &str) -> usize {
    let mut depth = 0;
    let ends = |&(at, c): &(usize, char)| {
        match c {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        depth == 0
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
impl Queue {
    pub fn push(&self) {
        if true {
            self.tail.load(Acquire);
        }

        self.q
            .slots[i % 2] // the next one
            .store(1, Release);
    }
}

fn new() -> Queue {
    Queue {
        head: AtomicUsize::new(0),
        tail: Arc::new(
            AtomicUsize::new(0),
        ),
    }
}
#[test]
fn test() { let x = Mutex::new(0); }
impl<F: Fn() -> u32> Drop for own::Counter<F>
where
    F: Send,
{
    fn drop(
        &mut self,
    ) {
        self.0.load(Relaxed);
    }
}
";

    /// The lines, the number of a line, and the column of a word in it.
    fn at(line: usize, word: &str) -> (Vec<String>, usize, u32) {
        let lines: Vec<String> = FILE.lines().map(str::to_owned).collect();
        let column = lines[line - 1].find(word).expect("it is there") as u32 + 1;
        (lines, line - 1, column)
    }

    #[test]
    fn functions_are_those_around_a_place() {
        let function = |line, word| {
            let (lines, at, _) = at(line, word);
            function_around(&lines, at).map(str::to_owned)
        };
        assert_eq!(function(4, "load").as_deref(), Some("push"));
        assert_eq!(function(15, "AtomicUsize").as_deref(), Some("new"));
        assert_eq!(function(22, "Mutex").as_deref(), Some("test"));
        assert_eq!(function(30, "load").as_deref(), Some("drop"));
        assert_eq!(function(1, "impl"), None);
    }

    #[test]
    fn an_impl_names_its_type() {
        assert_eq!(type_of("impl Queue {"), Some("Queue"));
        assert_eq!(type_of("unsafe impl<T: Into<u8>> Sync for spsc::Queue<T> {}"), Some("Queue"));
        assert_eq!(type_of("    impl<'a, F: Fn() -> u8> Guard<'a, F>"), Some("Guard"));
        assert_eq!(type_of("impl<T> Get for &T {"), None);
        assert_eq!([type_of("implicit()"), type_of("let x = 1;")], [None, None]);
    }

    #[test]
    fn objects_have_the_names_of_fields_and_variables() {
        let used = |line, word| {
            let (lines, at, column) = at(line, word);
            used(&lines, at, column).map(|name| (name.name, name.is_element))
        };
        let created = |line, word| {
            let (lines, at, column) = at(line, word);
            created(&lines, at, column).map(|name| name.name)
        };
        assert_eq!(used(4, "load"), Some(("tail".to_owned(), false)));
        assert_eq!(used(9, "store"), Some(("slots".to_owned(), true)));
        assert_eq!(used(30, "load"), Some(("Counter.0".to_owned(), false)));
        assert_eq!(created(15, "AtomicUsize").as_deref(), Some("head"));
        assert_eq!(created(17, "AtomicUsize").as_deref(), Some("tail"));
        assert_eq!(created(22, "Mutex").as_deref(), Some("x"));
    }
}
