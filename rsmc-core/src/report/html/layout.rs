//! The layout of a drawing: rows from top to bottom, a lane for each thread, and beside them the columns that all rows
//! have.
//!
//! The words of a row stand beside its node, in a column for each thread, if that is narrow enough. Otherwise the lanes
//! are narrow, and the words stand right of all of them.
//!
//! Sizes are pixels. The widths of texts are estimates, for letters of equal width.

use crate::report::diagram::{Diagram, Place, Step};
use crate::report::html::items::{Row, fold_words};
use crate::report::places::Places;
use crate::report::text::{self, clip, pad, width};

/// The width of a letter.
pub(super) const LETTER: f64 = 7.55;
/// The height of a row.
pub(super) const ROW: f64 = 26.0;
/// The top of the first row.
pub(super) const TOP: f64 = 44.0;
/// The right end of the numbers.
pub(super) const NUMBERS: f64 = 52.0;
/// The left end of the lanes.
const LANES: f64 = 64.0;
/// The distance from the edge of a lane to its nodes: room for edges of stores that are flushed.
const LEFT: f64 = 18.0;
/// The distance from the nodes to the words: room for edges of reads.
pub(super) const RIGHT: f64 = 34.0;
/// The gap between columns.
const GAP: f64 = 16.0;
/// The largest total width at which columns are used.
const WIDEST: f64 = 660.0;
/// The length at which words are cut.
const LONGEST: usize = 48;
/// The width of a lane if columns are too wide.
const NARROW: f64 = 46.0;

/// The measures of a drawing.
pub(super) struct Layout {
    /// By thread: the position of its nodes.
    pub(super) lanes: Vec<f64>,
    /// The position of the words, if not beside their nodes.
    pub(super) words: Option<f64>,
    /// The left ends of the columns that all rows have: ordering, source, place.
    pub(super) tail: [f64; 3],
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    pub(super) fn new(diagram: &Diagram, places: &Places<'_>, rows: &[Row<'_>]) -> Self {
        let (lanes, words, end) = columns(diagram, rows).unwrap_or_else(|| narrow(diagram, rows));
        let folded = rows.iter().filter_map(|row| match row {
            Row::Folded(steps) => Some(text_width(&fold_words(diagram, steps)) + lanes[0] + 4.0 * GAP),
            _ => None,
        });
        let end = folded.fold(end, f64::max);
        let steps = || rows.iter().filter_map(step_of);
        let orders = widest(steps().filter_map(|step| step.ordering.clone()), "ordering");
        let sources = widest(steps().map(source), "from");
        let lines = widest(rows.iter().filter_map(place_of).map(|place| short(places, place)), "line");
        let tail = [end, end + orders + GAP, end + orders + sources + 2.0 * GAP];
        let width = tail[2] + lines + GAP;
        Self { lanes, words, tail, width, height: TOP + ROW * rows.len() as f64 + 10.0 }
    }

    /// The middle of a row.
    pub(super) fn y(&self, row: usize) -> f64 {
        TOP + ROW * (row as f64 + 0.5)
    }
}

/// A column for each thread, with its words; nothing if they are too wide.
fn columns(diagram: &Diagram, rows: &[Row<'_>]) -> Option<(Vec<f64>, Option<f64>, f64)> {
    let mut lanes = Vec::new();
    let mut x = LANES;
    for (number, thread) in diagram.threads.iter().enumerate() {
        let own = rows.iter().filter(|row| words_of(row).is_some_and(|(thread, _)| thread == number));
        let widest = own.map(|row| words_width(diagram, row, false)).fold(text_width(&thread.name), f64::max);
        lanes.push(x + LEFT);
        x += LEFT + RIGHT + widest + GAP;
    }
    (x - LANES <= WIDEST).then_some((lanes, None, x))
}

/// Narrow lanes, and right of them the thread and its words.
fn narrow(diagram: &Diagram, rows: &[Row<'_>]) -> (Vec<f64>, Option<f64>, f64) {
    let lanes: Vec<f64> = (0..diagram.threads.len()).map(|number| LANES + LEFT + NARROW * number as f64).collect();
    let words = LANES + NARROW * lanes.len() as f64 + GAP;
    let all = rows.iter().map(|row| words_width(diagram, row, true));
    (lanes, Some(words), words + all.fold(0.0, f64::max) + GAP)
}

/// The width of the words of a row, with the mark of a failure.
fn words_width(diagram: &Diagram, row: &Row<'_>, with: bool) -> f64 {
    let Some((thread, text)) = words_of(row) else { return 0.0 };
    let words = if with { with_name(diagram, thread, text) } else { shown(text) };
    let failure = if row.fails() { text_width(FAILURE) } else { 0.0 };
    text_width(&words) + failure
}

/// The words of a row that do not stand in a column of their thread: its name comes before them.
pub(super) fn with_name(diagram: &Diagram, thread: usize, text: &str) -> String {
    let names = || diagram.threads.iter().map(|thread| thread.name.as_str());
    format!("{}  {}", pad(&diagram.threads[thread].name, text::widest(names())), shown(text))
}

/// The mark behind the words of a failing row.
pub(super) const FAILURE: &str = "  ✗ failure";

/// The words, cut to the room there is.
pub(super) fn shown(text: &str) -> String {
    clip(text, LONGEST)
}

pub(super) fn text_width(text: &str) -> f64 {
    width(text) as f64 * LETTER
}

fn widest(texts: impl Iterator<Item = String>, heading: &str) -> f64 {
    texts.map(|text| text_width(&text)).fold(text_width(heading), f64::max)
}

fn step_of<'a>(row: &Row<'a>) -> Option<&'a Step> {
    match row {
        Row::Step(step) => Some(step),
        _ => None,
    }
}

fn words_of<'a>(row: &Row<'a>) -> Option<(usize, &'a str)> {
    match row {
        Row::Step(step) => Some((step.thread, &step.text)),
        Row::Waiting(waiting) => Some((waiting.thread, &waiting.text)),
        Row::Folded(_) => None,
    }
}

/// The place of a row.
pub(super) fn place_of<'a>(row: &Row<'a>) -> Option<&'a Place> {
    match row {
        Row::Step(step) => step.place.as_ref(),
        Row::Waiting(waiting) => waiting.place.as_ref(),
        Row::Folded(_) => None,
    }
}

/// A place, as short as it can be.
pub(super) fn short(places: &Places<'_>, place: &Place) -> String {
    places.short_line(place.file.as_deref(), place.line)
}

/// The source of the value of a step, and the newer store that was missed; `buffered` for a store that waits.
pub(super) fn source(step: &Step) -> String {
    let from = match step.reads_from {
        None if step.buffered => "buffered".to_owned(),
        None => String::new(),
        Some(0) => "init".to_owned(),
        Some(number) => format!("#{number}"),
    };
    match step.misses {
        Some(missed) => format!("{from}, not #{missed}"),
        None => from,
    }
}
