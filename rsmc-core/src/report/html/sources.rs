//! Excerpts of the source around the places of a diagram.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::diagram::{Diagram, Place};
use crate::report::source::Sources;
use crate::report::text::{clip, visible};

/// The number of lines that are shown before and after the line in question.
const AROUND: u32 = 2;
/// The length at which lines are cut.
const WIDTH: usize = 160;

/// A few lines of a file, without the indentation that all of them have.
#[derive(Serialize)]
pub(super) struct Excerpt {
    /// `src/queue.rs:12`
    label: String,
    /// The line in question.
    line: u32,
    /// The number of the first line below.
    first: u32,
    /// The lines; empty if the file is not known.
    lines: Vec<String>,
}

/// The excerpts of a diagram, in order of their places.
pub(super) struct Excerpts {
    of: BTreeMap<Place, Excerpt>,
}

impl Excerpts {
    /// The excerpts of a diagram. It asks `sources` once for each file.
    pub(super) fn new(diagram: &Diagram, sources: Sources<'_>) -> Self {
        let steps = diagram.steps.iter().filter_map(|step| step.place.as_ref());
        let places = steps.chain(diagram.waiting.iter().filter_map(|waiting| waiting.place.as_ref()));
        let mut files: BTreeMap<&str, Option<String>> = BTreeMap::new();
        let mut of = BTreeMap::new();
        for place in places {
            if !of.contains_key(place) {
                let file = place.file.as_deref();
                let text = file.and_then(|file| files.entry(file).or_insert_with(|| (sources.0)(file)).as_deref());
                of.insert(place.clone(), excerpt(place, text.unwrap_or_default()));
            }
        }
        Self { of }
    }

    /// The number of the excerpt of a place.
    pub(super) fn number(&self, place: &Place) -> Option<usize> {
        self.of.get(place).map(|_| self.of.range(..place).count())
    }

    pub(super) fn into_list(self) -> Vec<Excerpt> {
        self.of.into_values().collect()
    }
}

/// `src/queue.rs:12`
pub(super) fn label(place: &Place) -> String {
    match &place.file {
        Some(file) => format!("{file}:{}", place.line),
        None => format!("line {}", place.line),
    }
}

fn excerpt(place: &Place, text: &str) -> Excerpt {
    let first = place.line.saturating_sub(AROUND).max(1);
    let until = place.line + AROUND;
    let lines = text.lines().skip(first as usize - 1).take((until - first + 1) as usize);
    let lines: Vec<String> = lines.map(|line| visible(&line.replace('\t', "    "))).collect();
    let indents = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len());
    let indent = indents.min().unwrap_or(0);
    let lines = lines.iter().map(|line| clip(line.get(indent..).unwrap_or_default(), WIDTH)).collect();
    Excerpt { label: visible(&label(place)), line: place.line, first, lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_lines_as_far_as_there_are_so_many() {
        let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
        let shown = |line| {
            let excerpt = excerpt(&Place { file: Some("src/a.rs".to_owned()), line }, text);
            (excerpt.first, excerpt.lines.join(" "))
        };
        assert_eq!(shown(3), (1, "one two three four five".to_owned()));
        assert_eq!(shown(1), (1, "one two three".to_owned()));
        assert_eq!(shown(6), (4, "four five six".to_owned()));
        assert_eq!(shown(60), (58, String::new()));
        let lines = excerpt(&Place { file: None, line: 2 }, "\t  one\n\n      \n        two").lines;
        assert_eq!(lines, ["one", "", "", "  two"]);
    }
}
