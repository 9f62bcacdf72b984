//! The schedule as a table: one column per thread, then the columns that all rows have.

mod lanes;

use std::collections::BTreeSet;

use crate::base::ThreadId;
use crate::report::buffer_legend;
use crate::report::fold::{Shown, fold};
use crate::report::rows::{Buffering, Line, Origin, Scene};
use crate::report::text::{clip, clip_middle, pad, widest, width};
use crate::trace::Site;

/// The schedule with its heading; empty if nothing happened.
pub(super) fn section(scene: &Scene<'_>) -> String {
    if scene.lines.is_empty() {
        return String::new();
    }
    let inner = inner(scene);
    let shown = with_inner(fold(scene), &inner);
    let rows = columns(scene, &shown).unwrap_or_else(|| lanes::rows(scene, &shown));
    format!("{}\n{}", heading(scene), rows.join("\n"))
}

/// By row, a row for each step of which it consists, if these are shown.
fn inner(scene: &Scene<'_>) -> Vec<Vec<Line>> {
    let of = |line: &Line, what: &String| Line {
        marked: false,
        number: None,
        what: format!("· {what}"),
        order: "",
        from: Origin::Nowhere,
        buffering: Buffering::Nothing,
        site: Site::Unknown,
        inner: Vec::new(),
        path: Vec::new(),
        ..*line
    };
    let all = scene.lines.iter().map(|line| line.inner.iter().map(|what| of(line, what)).collect());
    if scene.finding.form.full { all.collect() } else { Vec::new() }
}

/// The rows, each with those of the steps of which it consists.
fn with_inner<'a>(shown: Vec<Shown<'a>>, inner: &'a [Vec<Line>]) -> Vec<Shown<'a>> {
    let mut all = Vec::new();
    for row in shown {
        let number = if let Shown::Line(line) = &row { line.number } else { None };
        all.push(row);
        let own = number.and_then(|number| inner.get(number - 1));
        all.extend(own.into_iter().flatten().map(Shown::Line));
    }
    all
}

/// The heading, with a key to the signs in the rows.
fn heading(scene: &Scene<'_>) -> String {
    let mut parts = vec!["→ reads", "= writes"];
    if scene.lines.iter().any(|line| matches!(line.from, Origin::Row(_))) {
        parts.push("from #n: the value of row n");
    }
    if scene.lines.iter().any(|line| line.marked) {
        parts.push("✗ the failure");
    }
    let legend = buffer_legend::legend(scene).map(|legend| format!("\n{legend}")).unwrap_or_default();
    format!("schedule ({}){legend}", parts.join(", "))
}

/// The least width of the column with the source, if that cuts lines, and the largest.
const SOURCE: std::ops::RangeInclusive<usize> = 40..=72;

/// The columns right of the threads: ordering, source of the value, place, and the line of the source text.
pub(super) struct Tail {
    order: usize,
    from: usize,
    place: usize,
    text: usize,
    has_functions: bool,
}

impl Tail {
    /// The columns, wide enough for these rows. A column that is empty in all rows is left out. Places have the names
    /// of functions if there are several.
    pub(super) fn new(scene: &Scene<'_>, shown: &[Shown<'_>], names_functions: bool) -> Self {
        let column = |heading: &str, cell: &dyn Fn(&Line) -> String| {
            let cells: Vec<String> = lines(shown).map(cell).collect();
            match widest(cells.iter().map(String::as_str)) {
                0 => 0,
                cells => cells.max(width(heading)),
            }
        };
        let functions: BTreeSet<&str> = lines(shown).filter_map(|line| scene.source.function(line.site)).collect();
        let has_functions = names_functions && functions.len() > 1;
        Self {
            order: column("order", &|line| line.order.to_owned()),
            from: column("from", &source),
            place: column(scene.places.heading(), &|line| place(scene, line, has_functions)),
            text: 0,
            has_functions,
        }
    }

    /// Adds the line of the source text to each row, if so many columns suffice.
    pub(super) fn add_text(&mut self, scene: &Scene<'_>, shown: &[Shown<'_>], free: usize) {
        let natural = widest(lines(shown).filter_map(|line| scene.source.line(line.site)));
        let most = natural.min(*SOURCE.end()).min(free.saturating_sub(2));
        if natural > 0 && most >= natural.min(*SOURCE.start()) {
            self.text = most;
        }
    }

    /// Its width, with the blanks before each column.
    pub(super) fn width(&self) -> usize {
        width(&self.cells([""; 4]))
    }

    fn cells(&self, texts: [&str; 4]) -> String {
        let widths = [self.order, self.from, self.place, self.text];
        let used = widths.iter().zip(texts).filter(|(width, _)| **width > 0);
        let cells: Vec<String> = used.map(|(width, text)| pad(text, *width)).collect();
        if cells.is_empty() { String::new() } else { format!(" {}", cells.join("  ")) }
    }

    pub(super) fn header(&self, scene: &Scene<'_>) -> String {
        self.cells(["order", "from", scene.places.heading(), "source"])
    }

    pub(super) fn row(&self, scene: &Scene<'_>, line: &Line) -> String {
        let text = scene.source.line(line.site).unwrap_or_default();
        self.cells([line.order, &source(line), &place(scene, line, self.has_functions), &clip(text, self.text)])
    }
}

/// `:41`, or with the function `push :41`.
fn place(scene: &Scene<'_>, line: &Line, with_function: bool) -> String {
    let short = scene.places.short(line.site);
    match scene.source.function(line.site).filter(|_| with_function) {
        Some(function) => format!("{} {short}", clip_middle(function, 16)),
        None => short,
    }
}

/// The rows that are not folded.
pub(super) fn lines<'a>(shown: &'a [Shown<'_>]) -> impl Iterator<Item = &'a Line> {
    shown.iter().filter_map(|shown| match shown {
        Shown::Line(line) => Some(*line),
        Shown::Folded(_) => None,
    })
}

/// The source of the value, and the newer store that was missed; or, for a store that waits, `buffered`.
fn source(line: &Line) -> String {
    let from = match line.from {
        Origin::Nowhere => String::new(),
        Origin::Init => "init".to_owned(),
        Origin::Row(number) => format!("#{number}"),
    };
    match line.buffering {
        Buffering::Nothing | Buffering::Flush(_) => from,
        Buffering::Waits => "buffered".to_owned(),
        Buffering::Misses(store) => format!("{from}, not #{store}"),
    }
}

/// Marker and number of a row, both blank for the header.
pub(super) fn gutter(scene: &Scene<'_>, line: Option<&Line>) -> String {
    let mark = if line.is_some_and(|line| line.marked) { "✗" } else { " " };
    let number = line.and_then(|line| line.number).map(|number| number.to_string()).unwrap_or_default();
    let digits = scene.lines.len().to_string().len().max(3);
    format!("{mark} {number:>digits$} ")
}

/// The table, if it is narrow enough with some separator, and with the names of functions or without.
fn columns(scene: &Scene<'_>, shown: &[Shown<'_>]) -> Option<Vec<String>> {
    let mut columns = Vec::new();
    for thread in scene.threads.iter() {
        let cells = lines(shown).filter(|line| line.thread == thread).map(|line| line.what.as_str());
        let widest = widest(cells);
        if widest > 0 {
            columns.push((thread, widest.max(width(scene.threads.name(thread)))));
        }
    }
    let threads = width(&gutter(scene, None)) + columns.iter().map(|(_, width)| width).sum::<usize>();
    let forms = [(true, " │ "), (false, " │ "), (false, "│")];
    forms.into_iter().find_map(|(names_functions, gap)| {
        let mut tail = Tail::new(scene, shown, names_functions);
        let gaps = columns.len() * width(gap) - width(gap) / 2;
        let free = scene.finding.form.columns.checked_sub(threads + tail.width() + gaps)?;
        tail.add_text(scene, shown, free);
        Some(Table { scene, columns: columns.clone(), tail, gap }.rows(shown))
    })
}

struct Table<'a> {
    scene: &'a Scene<'a>,
    columns: Vec<(ThreadId, usize)>,
    tail: Tail,
    gap: &'static str,
}

impl Table<'_> {
    fn rows(&self, shown: &[Shown<'_>]) -> Vec<String> {
        let names = self.cells(|thread| self.scene.threads.name(thread));
        let header = format!("{}{names}{}", gutter(self.scene, None), self.tail.header(self.scene));
        let rows = shown.iter().map(|row| match row {
            Shown::Folded(words) => format!("{}{words}", gutter(self.scene, None)),
            Shown::Line(line) => {
                let cells = self.cells(|thread| if thread == line.thread { &line.what } else { "" });
                format!("{}{cells}{}", gutter(self.scene, Some(line)), self.tail.row(self.scene, line))
            }
        });
        let rows = [header, self.rule()].into_iter().chain(rows);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// A cell for each thread, each closed by a line.
    fn cells<'t>(&self, cell: impl Fn(ThreadId) -> &'t str) -> String {
        let cells: Vec<String> = self.columns.iter().map(|(thread, width)| pad(cell(*thread), *width)).collect();
        format!("{}{}", cells.join(self.gap), self.gap.trim_end())
    }

    fn rule(&self) -> String {
        let gap = self.gap.replace(' ', "─").replace('│', "┼");
        let cells: Vec<String> = self.columns.iter().map(|(_, width)| "─".repeat(*width)).collect();
        let end = gap.trim_end_matches('─');
        format!("{}{}{end}{}", gutter(self.scene, None), cells.join(&gap), "─".repeat(self.tail.width()))
    }
}
