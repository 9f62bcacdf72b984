//! The schedule for many threads: one narrow lane per thread, and beside them the words of the rows.

use crate::base::ThreadId;
use crate::report::fold::Shown;
use crate::report::rows::{Line, Scene};
use crate::report::table::{Tail, gutter, lines};
use crate::report::text::{clip, pad, widest, width};

/// The columns that are kept for lanes where places could have the names of functions.
const LEAST_LANES: usize = 8;

/// The rows of the schedule, with a header.
pub(super) fn rows(scene: &Scene<'_>, shown: &[Shown<'_>]) -> Vec<String> {
    let threads = widest(lines(shown).map(|line| scene.threads.name(line.thread)));
    let natural = widest(lines(shown).map(|line| line.what.as_str()));
    let fits = |tail: &Tail| {
        width(&gutter(scene, None)) + threads + 1 + natural + tail.width() + LEAST_LANES <= scene.finding.form.columns
    };
    let named = Some(Tail::new(scene, shown, true)).filter(fits);
    let mut tail = named.unwrap_or_else(|| Tail::new(scene, shown, false));
    let lanes = Lanes::new(
        scene,
        scene.finding.form.columns.saturating_sub(width(&gutter(scene, None)) + threads + 1 + natural + tail.width()),
    );
    let fixed = width(&gutter(scene, None)) + lanes.width() + threads + 1 + tail.width();
    let what = natural.min(scene.finding.form.columns.saturating_sub(fixed).max(24));
    tail.add_text(scene, shown, scene.finding.form.columns.saturating_sub(fixed + what));
    let header = format!(
        "{}{}{} {}{}",
        gutter(scene, None),
        lanes.header(),
        pad("", threads),
        pad("", what),
        tail.header(scene)
    );
    let mut rows = vec![header];
    for row in shown {
        rows.push(match row {
            Shown::Folded(words) => format!("{}{}{words}", gutter(scene, None), lanes.folded()),
            Shown::Line(line) => {
                let name = pad(scene.threads.name(line.thread), threads);
                let words = pad(&clip(&line.what, what), what);
                format!("{}{}{name} {words}{}", gutter(scene, Some(line)), lanes.row(line), tail.row(scene, line))
            }
        });
    }
    rows.into_iter().map(|row| row.trim_end().to_owned()).collect()
}

/// The lives of the threads, in order of the threads.
struct Lanes {
    alive: Vec<Life>,
    columns: usize,
}

struct Life {
    thread: ThreadId,
    /// Row numbers; a thread that waits at the end lives on.
    from: usize,
    until: usize,
}

impl Lanes {
    /// The lanes of the threads; none if there is no room for them.
    fn new(scene: &Scene<'_>, room: usize) -> Self {
        let alive: Vec<Life> = scene.threads.iter().filter_map(|thread| life(scene, thread)).collect();
        let columns = if alive.len() > 10 { 3 } else { 2 };
        let alive = if alive.len() * columns < room { alive } else { Vec::new() };
        Self { alive, columns }
    }

    fn width(&self) -> usize {
        if self.alive.is_empty() { 0 } else { self.alive.len() * self.columns + 1 }
    }

    /// One cell per lane.
    fn cells(&self, cell: impl Fn(usize, &Life) -> String) -> String {
        let cells: String =
            self.alive.iter().enumerate().map(|(number, life)| pad(&cell(number, life), self.columns)).collect();
        pad(&cells, self.width())
    }

    /// `m` for the test body and the numbers of the other threads.
    fn header(&self) -> String {
        self.cells(|number, _| if number == 0 { "m".to_owned() } else { number.to_string() })
    }

    fn folded(&self) -> String {
        self.cells(|_, _| "⋮".to_owned())
    }

    fn row(&self, line: &Line) -> String {
        self.cells(|_, life| {
            let now = line.number.unwrap_or(usize::MAX);
            let symbol = match life.thread == line.thread {
                true if line.number.is_none() => {
                    if line.what.starts_with('·') {
                        " "
                    } else {
                        "✗"
                    }
                }
                true => "●",
                false if (life.from..life.until).contains(&now) => "│",
                false => " ",
            };
            symbol.to_owned()
        })
    }
}

/// The life of a thread, from its first row to its last; a thread that only waits has no row number.
fn life(scene: &Scene<'_>, thread: ThreadId) -> Option<Life> {
    let own = || scene.lines.iter().filter(|line| line.thread == thread);
    let first = own().next()?;
    let until = own().next_back()?.number.unwrap_or(usize::MAX);
    Some(Life { thread, from: first.number.unwrap_or(usize::MAX), until })
}
