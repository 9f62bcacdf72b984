//! The rows of a page, and the data that its script has about them.
//!
//! A long execution is folded as in the text report. Up to [`LONGEST`] steps, the page also has all of them, and shows
//! them on demand. Beyond that, the script has one item for the folded steps, with their changes as a whole.

use serde::Serialize;

use crate::report::diagram::{Caller, Diagram, Step, Waiting};
use crate::report::html::sources::{Excerpt, Excerpts};
use crate::report::text::visible;

/// The longest execution of which a page shows every step.
pub(super) const LONGEST: usize = 2_000;

/// A row of a drawing.
#[derive(Clone, Copy)]
pub(super) enum Row<'a> {
    /// A step.
    Step(&'a Step),
    /// Steps that are left out.
    Folded(&'a [Step]),
    /// A thread that waits at the end.
    Waiting(&'a Waiting),
}

impl Row<'_> {
    /// The number of its last step.
    pub(super) fn last(&self) -> Option<usize> {
        match self {
            Row::Step(step) => Some(step.number),
            Row::Folded(steps) => steps.last().map(|step| step.number),
            Row::Waiting(_) => None,
        }
    }

    /// Whether the failure is here.
    pub(super) fn fails(&self) -> bool {
        match self {
            Row::Step(step) => step.failing,
            Row::Folded(_) => false,
            Row::Waiting(waiting) => waiting.failing,
        }
    }
}

/// All rows, or those of the text report.
pub(super) fn rows(diagram: &Diagram, fold: bool) -> Vec<Row<'_>> {
    let chunks = diagram.steps.chunk_by(|a, b| fold && a.folded && b.folded);
    let steps = chunks.map(|chunk| match chunk {
        [step] if !(fold && step.folded) => Row::Step(step),
        folded => Row::Folded(folded),
    });
    steps.chain(diagram.waiting.iter().map(Row::Waiting)).collect()
}

/// Whether a folded drawing leaves out steps.
pub(super) fn folds(diagram: &Diagram) -> bool {
    diagram.steps.iter().any(|step| step.folded)
}

/// The data of the script about a row.
#[derive(Serialize)]
pub(super) struct Item {
    /// Its name: `step 5`.
    name: String,
    /// A description.
    text: String,
    /// The excerpt of the source, as a place in [`Data::places`].
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
    /// Locations and their new values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory: Vec<(usize, String)>,
    /// The stores that enter a buffer: step, thread, text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    enters: Vec<(usize, usize, String)>,
    /// The steps whose stores leave the buffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leaves: Vec<usize>,
}

/// The data of the script of a page.
#[derive(Serialize)]
pub(super) struct Data {
    items: Vec<Item>,
    places: Vec<Excerpt>,
    threads: Vec<String>,
    /// The initial value of each location.
    locations: Vec<String>,
    /// The number of steps.
    steps: usize,
    /// The item that the page starts with.
    start: usize,
    /// By number of a step: its item.
    #[serde(skip)]
    of_step: Vec<usize>,
}

impl Data {
    /// The data about all rows that the page can show.
    pub(super) fn new(diagram: &Diagram, excerpts: Excerpts) -> Self {
        let all = rows(diagram, diagram.steps.len() > LONGEST);
        let mut of_step = vec![0];
        for (at, row) in all.iter().enumerate() {
            if let Some(last) = row.last() {
                of_step.resize(last + 1, at);
            }
        }
        let start = all.iter().rposition(Row::fails).unwrap_or(all.len().saturating_sub(1));
        Self {
            items: all.iter().map(|row| item(diagram, &excerpts, row)).collect(),
            places: excerpts.into_list(),
            threads: diagram.threads.iter().map(|thread| thread.name.clone()).collect(),
            locations: diagram.locations.iter().map(|loc| loc.initial.clone().unwrap_or_default()).collect(),
            steps: diagram.steps.len(),
            start,
            of_step,
        }
    }

    /// The item of a row; `waiting` counts the waiting threads before it.
    pub(super) fn item_of(&self, row: &Row<'_>, waiting: usize) -> usize {
        row.last().map_or_else(|| self.first_waiting() + waiting, |last| self.of_step[last])
    }

    fn first_waiting(&self) -> usize {
        if self.of_step.len() > 1 { self.of_step.last().map_or(0, |at| at + 1) } else { 0 }
    }
}

fn item(diagram: &Diagram, excerpts: &Excerpts, row: &Row<'_>) -> Item {
    let mut item = match row {
        Row::Step(step) => Item {
            name: format!("step {}", step.number),
            text: said(diagram, step),
            place: step.place.as_ref().and_then(|place| excerpts.number(place)),
            ..empty()
        },
        Row::Folded(steps) => Item { name: fold_name(steps), text: fold_words(diagram, steps), ..empty() },
        Row::Waiting(waiting) => Item {
            name: "at the end".to_owned(),
            text: format!("{}: {}{}", diagram.threads[waiting.thread].name, waiting.text, called(&waiting.callers)),
            place: waiting.place.as_ref().and_then(|place| excerpts.number(place)),
            ..empty()
        },
    };
    let steps = match row {
        Row::Step(step) => std::slice::from_ref(*step),
        Row::Folded(steps) => steps,
        Row::Waiting(_) => &[],
    };
    item.text = visible(&item.text);
    steps.iter().for_each(|step| change(diagram, &mut item, step));
    item
}

fn empty() -> Item {
    Item {
        name: String::new(),
        text: String::new(),
        place: None,
        memory: Vec::new(),
        enters: Vec::new(),
        leaves: Vec::new(),
    }
}

/// Adds the changes of a step.
fn change(diagram: &Diagram, item: &mut Item, step: &Step) {
    for change in &step.memory {
        match item.memory.iter_mut().find(|(location, _)| *location == change.location) {
            Some((_, value)) => value.clone_from(&change.value),
            None => item.memory.push((change.location, change.value.clone())),
        }
    }
    if let (true, Some(location), Some(value)) = (step.buffered, step.location, &step.written) {
        let says = format!("{} = {value}", diagram.locations[location].name);
        item.enters.push((step.number, step.thread, says));
    }
    item.leaves.extend(&step.flushes);
}

/// A step in words: the thread, the operation, and the source of the value.
fn said(diagram: &Diagram, step: &Step) -> String {
    let who = &diagram.threads[step.thread].name;
    let ordering = step.ordering.as_ref().map(|ordering| format!(" ({ordering})")).unwrap_or_default();
    let from = match step.reads_from {
        None => String::new(),
        Some(0) => ", the initial value".to_owned(),
        Some(from) if step.from_buffer => format!(", from #{from} in its own buffer"),
        Some(from) => format!(", from #{from}"),
    };
    let misses = step.misses.map(|missed| format!(", not the newer #{missed}")).unwrap_or_default();
    let inner = if step.inner.is_empty() { String::new() } else { format!(" [in steps: {}]", step.inner.join(", ")) };
    format!("{who}: {}{ordering}{from}{misses}{inner}{}", step.text, called(&step.callers))
}

/// `, called by fill :40, by main :71`
fn called(callers: &[Caller]) -> String {
    let by = |caller: &Caller| format!("by {} :{}", caller.function, caller.place.line);
    let all: Vec<String> = callers.iter().map(by).collect();
    if all.is_empty() { String::new() } else { format!(", called {}", all.join(", ")) }
}

/// `steps 11 to 50`
fn fold_name(steps: &[Step]) -> String {
    let number = |step: Option<&Step>| step.map_or(0, |step| step.number);
    format!("steps {} to {}", number(steps.first()), number(steps.last()))
}

/// `40 steps folded: main 2, t1 38`
pub(super) fn fold_words(diagram: &Diagram, steps: &[Step]) -> String {
    let of = |thread| steps.iter().filter(|step| step.thread == thread).count();
    let counts = diagram.threads.iter().enumerate().map(|(number, thread)| (thread, of(number)));
    let parts = counts.filter(|(_, count)| *count > 0).map(|(thread, count)| format!("{} {count}", thread.name));
    format!("{} steps folded: {}", steps.len(), parts.collect::<Vec<_>>().join(", "))
}
