//! The space-time diagram as SVG. It is complete without the script, which only adds emphasis.

use std::collections::HashMap;
use std::fmt::Write;

use crate::report::diagram::{Diagram, Place, Step, Waiting};
use crate::report::html::edges::Edges;
use crate::report::html::escape::escape;
use crate::report::html::items::{Data, Row, fold_words};
use crate::report::html::layout::{
    FAILURE, Layout, NUMBERS, RIGHT, ROW, TOP, place_of, short, shown, source, with_name,
};
use crate::report::places::Places;

/// A drawing of these rows.
pub(super) fn draw(diagram: &Diagram, data: &Data, rows: &[Row<'_>], class: &str) -> String {
    let files = diagram.steps.iter().map(|step| &step.place).chain(diagram.waiting.iter().map(|w| &w.place));
    let places = Places::of_files(files.filter_map(|place| place.as_ref()?.file.as_deref()));
    let layout = Layout::new(diagram, &places, rows);
    let drawing = Drawing { diagram, data, rows, layout, places, row_of: row_of(rows) };
    drawing.svg(class)
}

struct Drawing<'a> {
    diagram: &'a Diagram,
    data: &'a Data,
    rows: &'a [Row<'a>],
    layout: Layout,
    places: Places<'a>,
    /// By number of a step: its row, if it has one of its own.
    row_of: HashMap<usize, usize>,
}

fn row_of(rows: &[Row<'_>]) -> HashMap<usize, usize> {
    let own = rows.iter().enumerate().filter_map(|(at, row)| match row {
        Row::Step(step) => Some((step.number, at)),
        _ => None,
    });
    own.collect()
}

impl Drawing<'_> {
    fn svg(&self, class: &str) -> String {
        let (width, height) = (self.layout.width, self.layout.height);
        let parts = [self.bands(), self.header(), self.lanes(), self.edges(), self.nodes()];
        format!(
            "<svg class=\"drawing {class}\" style=\"--width:{width:.0}px\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"group\" aria-label=\"the schedule, a lane for each \
             thread\">\n\
             {MARKERS}{}</svg>\n",
            parts.concat()
        )
    }

    fn header(&self) -> String {
        let (y, tail) = (TOP - 18.0, self.layout.tail);
        let mut text = String::from("<g class=\"header\">");
        for (number, (thread, x)) in self.diagram.threads.iter().zip(&self.layout.lanes).enumerate() {
            let (name, x) = match (self.layout.words, number) {
                (None, _) => (thread.name.clone(), x - 5.0),
                (Some(_), 0) => ("m".to_owned(), x - 4.0),
                (Some(_), _) => (number.to_string(), x - 4.0),
            };
            let _ = write!(text, "<text class=\"name\" x=\"{x:.1}\" y=\"{y}\">{}</text>", escape(name));
        }
        let line = if self.places.only_file().is_some() { "line" } else { "where" };
        for (x, heading) in tail.into_iter().zip(["ordering", "from", line]) {
            let _ = write!(text, "<text x=\"{x:.1}\" y=\"{y}\">{heading}</text>");
        }
        text + "</g>\n"
    }

    /// A line for each thread, from its spawn to its last row.
    fn lanes(&self) -> String {
        let mut text = String::from("<g class=\"lanes\">");
        for (thread, x) in self.layout.lanes.iter().enumerate() {
            let own = |row: &Row<'_>| match row {
                Row::Step(step) => step.thread == thread,
                Row::Folded(steps) => steps.iter().any(|step| step.thread == thread),
                Row::Waiting(waiting) => waiting.thread == thread,
            };
            let Some(last) = self.rows.iter().rposition(own) else { continue };
            let first = self.rows.iter().position(own).unwrap_or(last);
            let begin = self.spawn(thread).unwrap_or_else(|| match thread {
                0 => format!("M{x:.1} {:.1}", TOP - 10.0),
                _ => format!("M{x:.1} {:.1}", self.layout.y(first)),
            });
            let _ = write!(text, "<path class=\"lane\" d=\"{begin}V{:.1}\"/>", self.layout.y(last));
        }
        text + "</g>\n"
    }

    /// The way from a spawn to the lane of the thread, between two rows.
    fn spawn(&self, thread: usize) -> Option<String> {
        let spawns = |row: &Row<'_>| match row {
            Row::Step(step) => step.operation == "spawn" && step.other == Some(thread),
            _ => false,
        };
        let at = self.rows.iter().position(spawns)?;
        let Row::Step(step) = self.rows[at] else { return None };
        let (from, to, y) = (self.layout.lanes[step.thread], self.layout.lanes[thread], self.layout.y(at));
        let (below, side) = (y + ROW / 2.0, if to > from { 6.0 } else { -6.0 });
        Some(format!(
            "M{from:.1} {y:.1}V{:.1}Q{from:.1} {below:.1} {:.1} {below:.1}H{:.1}Q{to:.1} {below:.1} {to:.1} {:.1}",
            below - 6.0,
            from + side,
            to - side,
            below + 6.0
        ))
    }

    /// The bands behind the rows of the failure.
    fn bands(&self) -> String {
        let failing = self.rows.iter().enumerate().filter(|(_, row)| row.fails());
        let width = self.layout.width;
        let band = |(at, _)| {
            let y = self.layout.y(at) - ROW / 2.0;
            format!("<rect class=\"band\" x=\"0\" y=\"{y:.1}\" width=\"{width:.0}\" height=\"{ROW}\"/>")
        };
        failing.map(band).collect::<String>() + "\n"
    }

    /// The edges of reads-from, and those from buffered stores to the rows in which they become visible.
    fn edges(&self) -> String {
        let mut edges = Edges::new(&self.layout);
        for (at, row) in self.rows.iter().enumerate() {
            let Row::Step(step) = row else { continue };
            let item = self.data.item_of(row, 0);
            let from = step.reads_from.and_then(|number| Some((number, *self.row_of.get(&number)?)));
            if let Some((number, source)) = from {
                let class = if step.from_buffer { "rf own" } else { "rf" };
                let lanes = (self.diagram.steps[number - 1].thread, step.thread);
                edges.right(class, (number, step.number), item, (source, at), lanes);
            }
            for number in &step.flushes {
                if let Some(source) = self.row_of.get(number) {
                    edges.left((*number, step.number), item, (*source, at), self.diagram.steps[number - 1].thread);
                }
            }
        }
        format!("<g class=\"edges\">{}</g>\n", edges.text())
    }

    fn nodes(&self) -> String {
        let mut waiting = 0;
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            let item = self.data.item_of(row, waiting);
            let y = self.layout.y(at);
            let inside = match row {
                Row::Step(step) => self.step(step, y),
                Row::Folded(steps) => self.folded(steps, y),
                Row::Waiting(thread) => {
                    waiting += 1;
                    self.waiting(thread, y)
                }
            };
            let fails = if row.fails() { " failing" } else { "" };
            let place = place_of(row).map(|place| self.place(place, y)).unwrap_or_default();
            let number = row.last().filter(|_| matches!(row, Row::Step(_))).unwrap_or_default();
            let _ = writeln!(
                text,
                "<g class=\"row {}{fails}\" data-item=\"{item}\" data-step=\"{number}\" tabindex=\"0\">\
                 <rect class=\"hit\" x=\"0\" y=\"{:.1}\" width=\"{:.0}\" height=\"{ROW}\"/>{inside}{place}{}</g>",
                kind(row),
                y - ROW / 2.0,
                self.layout.width,
                self.mark(row, y)
            );
        }
        text
    }

    fn step(&self, step: &Step, y: f64) -> String {
        let (base, tail) = (y + 4.0, self.layout.tail);
        let ordering = step.ordering.as_deref().unwrap_or_default();
        let mut text = format!("<text class=\"number\" x=\"{NUMBERS}\" y=\"{base:.1}\">{}</text>", step.number);
        text += &self.node(step.thread, y, step.failing, step.operation);
        text += &self.words(step.thread, &step.text, y, step.failing);
        let missed = if step.misses.is_some() { "tail missed" } else { "tail" };
        for (class, x, cell) in [("tail", tail[0], ordering), (missed, tail[1], &source(step))] {
            if !cell.is_empty() {
                let _ = write!(text, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{base:.1}\">{}</text>", escape(cell));
            }
        }
        text
    }

    fn waiting(&self, waiting: &Waiting, y: f64) -> String {
        let node = self.node(waiting.thread, y, waiting.failing, "wait");
        node + &self.words(waiting.thread, &waiting.text, y, waiting.failing)
    }

    fn folded(&self, steps: &[Step], y: f64) -> String {
        let threads = (0..self.layout.lanes.len()).filter(|thread| steps.iter().any(|step| step.thread == *thread));
        let dots = threads.map(|thread| {
            let x = self.layout.lanes[thread];
            format!("<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"/>")
        });
        let (x, words) = (self.layout.words.unwrap_or(self.layout.lanes[0] + RIGHT), fold_words(self.diagram, steps));
        dots.collect::<String>()
            + &format!("<text class=\"fold\" x=\"{x:.1}\" y=\"{:.1}\">… {}</text>", y + 4.0, escape(words))
    }

    fn node(&self, thread: usize, y: f64, fails: bool, operation: &str) -> String {
        let x = self.layout.lanes[thread];
        if fails {
            let cross = format!("M{:.1} {:.1}l7 7m0 -7l-7 7", x - 3.5, y - 3.5);
            return format!(
                "<circle class=\"node\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\"/><path class=\"cross\" d=\"{cross}\"/>"
            );
        }
        match operation {
            "flush" => format!("<path class=\"node\" d=\"M{x:.1} {:.1}l6 6l-6 6l-6 -6z\"/>", y - 6.0),
            _ => format!("<circle class=\"node\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>"),
        }
    }

    fn words(&self, thread: usize, words: &str, y: f64, fails: bool) -> String {
        let (x, words) = match self.layout.words {
            Some(x) => (x, with_name(self.diagram, thread, words)),
            None => (self.layout.lanes[thread] + RIGHT, shown(words)),
        };
        let failure = if fails { format!("<tspan class=\"mark\">{FAILURE}</tspan>") } else { String::new() };
        let (y, words) = (y + 4.0, escape(words));
        format!("<text class=\"what\" x=\"{x:.1}\" y=\"{y:.1}\">{words}{failure}</text>")
    }

    fn place(&self, place: &Place, y: f64) -> String {
        let (x, words) = (self.layout.tail[2], escape(short(&self.places, place)));
        format!("<text class=\"tail\" x=\"{x:.1}\" y=\"{:.1}\">{words}</text>", y + 4.0)
    }

    /// The mark of a failing row in the margin; its words have a mark, too.
    fn mark(&self, row: &Row<'_>, y: f64) -> String {
        let base = y + 4.0;
        if row.fails() { format!("<text class=\"mark\" x=\"8\" y=\"{base:.1}\">✗</text>") } else { String::new() }
    }
}

/// The CSS class of a row.
fn kind(row: &Row<'_>) -> &'static str {
    match row {
        Row::Step(step) => match step.operation {
            "flush" => "flush",
            "spawn" | "join" | "end" | "fence" | "read" | "write" | "panic" => "note",
            _ => "event",
        },
        Row::Folded(_) => "folded",
        Row::Waiting(_) => "waiting",
    }
}

/// The heads of arrows.
const MARKERS: &str = "<defs>\
     <marker id=\"rf-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
     markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"rf-head\" d=\"M0 0.5L8 4L0 7.5z\"/></marker>\
     <marker id=\"flush-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
     markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"flush-head\" d=\"M0 0.5L8 4L0 \
     7.5z\"/></marker></defs>\n";
