//! A running execution: its rows, as soon as they have happened.
//!
//! Numbers, and names of threads and locations, are those of the report of the finished execution. What a later row
//! decides is missing: the mark of the failure, whether a store waits in its buffer, the owner of a park token for
//! which no thread has waited yet, and the number of an object while no second one has its name.

use crate::report::places::at;
use crate::report::rows::{Buffering, Line, Origin, Scene};
use crate::report::source::{SourceText, Sources};
use crate::report::{Finding, text};
use crate::session::FailureKind;
use crate::step::Run;

/// The number of rows of an execution that were shown.
#[derive(Debug)]
pub struct Live {
    shown: usize,
    sources: Sources<'static>,
    source: SourceText,
}

impl Live {
    /// No row was shown. The names of objects come from the source.
    pub fn new(sources: Sources<'static>) -> Self {
        Self { shown: 0, sources, source: SourceText::default() }
    }

    /// The rows of the run that were not shown before, a line for each. A run with fewer rows is another one, and
    /// begins with a heading. Cost: that of the rows so far.
    pub fn news(&mut self, run: &Run) -> Vec<String> {
        // It did not fail so far; the kind only decides which rows are marked.
        let mut finding = Finding { panics: &run.panics, ..Finding::of(FailureKind::Panic, &run.trace) };
        finding.form.sources = self.sources;
        let scene = Scene::with_source(&finding, std::mem::take(&mut self.source));
        let mut lines = Vec::new();
        if scene.lines.len() < self.shown {
            self.shown = 0;
        }
        if self.shown == 0 && !scene.lines.is_empty() {
            lines.push("rsmc: an execution".to_owned());
        }
        lines.extend(scene.lines[self.shown..].iter().map(|line| row(&scene, line)));
        self.shown = scene.lines.len();
        self.source = scene.source;
        lines
    }
}

/// `rsmc:   4 t1   load usize1 → 0 (acq, from the initial value) at src/queue.rs:12`.
fn row(scene: &Scene<'_>, line: &Line) -> String {
    let number = line.number.map(|number| number.to_string()).unwrap_or_default();
    let thread = text::pad(scene.threads.name(line.thread), 4);
    text::visible(&format!("rsmc: {number:>3} {thread} {}", said(line)))
}

/// A row in words: `load usize1 → 0 (acq, from the initial value) at src/queue.rs:12`.
pub(super) fn said(line: &Line) -> String {
    let from = match line.from {
        Origin::Nowhere => None,
        Origin::Init => Some("from the initial value".to_owned()),
        Origin::Row(row) => Some(format!("from #{row}")),
    };
    let buffering = match line.buffering {
        // Whether a store waits is not known yet; the row in which it becomes visible to all shows it.
        Buffering::Nothing | Buffering::Waits | Buffering::Flush(_) => None,
        Buffering::Misses(row) => Some(format!("does not see #{row}")),
    };
    let order = Some(line.order.to_owned()).filter(|order| !order.is_empty());
    let details: Vec<String> = order.into_iter().chain(from).chain(buffering).collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    let place = at(line.site);
    format!("{}{details}{place}", line.what)
}
