//! The form of comments: lines that fit beside a diff, docs that say what an item is, and a glossary of what exists.

use std::fs;
use std::path::{Path, PathBuf};

/// No line has more characters, except those that cannot be broken: with a string, or the row of a table.
const LONGEST_LINE: usize = 120;

/// Beginnings of item docs that do not say what the item is.
const EMPTY_BEGINNINGS: [&str; 6] = ["The same", "What", "How", "Who", "Whose", "Somebody"];

/// Returns the numbers of the lines that are too long.
pub fn long_lines(text: &str) -> Vec<usize> {
    let is_long = |line: &str| {
        let is_code = !line.trim_start().starts_with("//");
        let is_row = !is_code && line.ends_with('|');
        line.chars().count() > LONGEST_LINE && !(is_row || is_code && line.contains('"'))
    };
    text.lines().enumerate().filter(|(_, line)| is_long(line)).map(|(at, _)| at + 1).collect()
}

/// Returns the numbers of the lines at which an item doc begins with a word that says nothing.
pub fn empty_docs(text: &str) -> Vec<usize> {
    let doc = |line: &str| line.trim_start().strip_prefix("///").map(|doc| doc.trim_start().to_owned());
    let mut found = Vec::new();
    let mut is_inside = false;
    for (at, line) in text.lines().enumerate() {
        let doc = doc(line);
        let begins = doc.as_ref().filter(|_| !is_inside);
        let is_empty = |doc: &&String| {
            let rest = |beginning: &&str| {
                doc.strip_prefix(*beginning).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            };
            EMPTY_BEGINNINGS.iter().any(rest)
        };
        found.extend(begins.filter(is_empty).map(|_| at + 1));
        is_inside = doc.is_some();
    }
    found
}

/// Returns the names in the last column of the glossary's tables that no source has: types, functions, modules.
pub fn unknown_places(glossary: &str, sources: &[PathBuf]) -> Vec<String> {
    let texts: Vec<String> = sources.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let has_word = |word: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        texts.iter().any(|text| {
            text.match_indices(word).any(|(at, _)| {
                let after = text[at + word.len()..].chars().next();
                !text[..at].ends_with(is_part) && !after.is_some_and(is_part)
            })
        })
    };
    let rows = glossary.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let last = rows.filter_map(|row| row.trim_end_matches('|').rsplit_once('|').map(|(_, cell)| cell));
    let places = last.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|place| !place.contains('/'));
    let is_unknown = |place: &&str| !place.split("::").all(has_word);
    places.filter(is_unknown).map(str::to_owned).collect()
}

/// Returns whether a file is one of the sources whose docs are checked: not a test, a benchmark or an example.
pub fn is_source(root: &Path, file: &Path) -> bool {
    let path = file.strip_prefix(root).unwrap();
    path.components().any(|part| part.as_os_str() == "src")
}

mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_found() {
        let long = "x".repeat(LONGEST_LINE + 1);
        assert_eq!(long_lines(&format!("short\n// {long}\nlet s = \"{long}\";\n{long}\n")), [2, 4]);
    }

    #[test]
    fn a_doc_that_says_nothing_is_found() {
        let text = "/// The number.\n/// What counts.\nfn a();\n/// The same for b.\nfn b();\n/// Whatever.\nfn c();\n";
        assert_eq!(empty_docs(text), [4]);
    }

    #[test]
    fn an_unknown_place_is_found() {
        let this = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layers/sentences.rs");
        let glossary = "| term | where |\n| --- | --- |\n| a | `long_lines` |\n| b | `sentences::not_here_ever` |\n";
        let without = glossary.replace("not_here_ever", "empty_docs");
        assert_eq!(unknown_places(&without, std::slice::from_ref(&this)), Vec::<String>::new());
        // The name is in this test, so another file has to lack it.
        let other = this.with_file_name("sizes.rs");
        assert_eq!(unknown_places(glossary, &[other]).len(), 2);
    }
}
