//! The call paths of a report: through which functions the threads came to the failure.
//!
//! Shown are the paths of the rows in which the failure is, and of those in which a lock was taken for which a thread
//! waits; in a full report, those of all rows.

use crate::report::fold::fold;
use crate::report::functions::Function;
use crate::report::places::Places;
use crate::report::rows::{Line, Scene};
use crate::report::table;
use crate::report::text::{pad, widest, wrap};

/// The largest number of functions of a path that are shown: more are cut out of its middle.
const LONGEST: usize = 6;

/// The paths, with a heading; empty if there are none.
pub(super) fn section(scene: &Scene<'_>) -> String {
    let shown = fold(scene);
    let held: Vec<usize> = scene.held_since().collect();
    let is_wanted = |line: &&Line| {
        let holds = line.number.is_some_and(|number| held.contains(&number));
        line.path.len() > 1 && (line.marked || holds || scene.finding.form.full)
    };
    let wanted: Vec<&Line> = table::lines(&shown).filter(is_wanted).collect();
    if wanted.is_empty() {
        return String::new();
    }
    let callers = wanted.iter().flat_map(|line| line.path.iter().map(Function::site));
    let places = Places::new(callers.chain(scene.lines.iter().map(|line| line.site)));
    let labels: Vec<String> = wanted.iter().map(|line| label(scene, line)).collect();
    let columns = widest(labels.iter().map(String::as_str));
    let mut text = "call paths, the innermost function first".to_owned();
    for (line, label) in wanted.iter().zip(&labels) {
        let row = format!("  {}  {}", pad(label, columns), words(&line.path, &places));
        text += &format!("\n{}", wrap(&row, &" ".repeat(columns + 6)));
    }
    text
}

/// `#12`, or the thread of a row without a number.
fn label(scene: &Scene<'_>, line: &Line) -> String {
    line.number.map_or_else(|| scene.threads.name(line.thread).to_owned(), |number| format!("#{number}"))
}

/// `push :31 ← fill :40 ← test :71`
fn words(path: &[Function], places: &Places<'_>) -> String {
    let word = |function: &Function| format!("{} {}", function.name, places.short(function.site()));
    let mut words: Vec<String> = path.iter().map(word).collect();
    if words.len() > LONGEST {
        words.splice(LONGEST - 2..words.len() - 1, ["…".to_owned()]);
    }
    words.join(" ← ")
}
