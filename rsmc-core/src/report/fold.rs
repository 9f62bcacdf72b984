//! Folding: the report leaves out the middle of a long schedule, and the rows after the failure.
//!
//! It keeps the beginning, the rows before the last marked row, every marked row with its neighbours, the writes that
//! marked rows and the last rows read from, the rows in which the locks were taken that a thread waits for, and those
//! that have a spurious outcome: nothing else in the schedule says why a thread went on. The rows after the last marked
//! row do not matter: after a data race they may be most of the execution.
//!
//! In a schedule of any length, it leaves out the iterations that a loop repeats, but for the first two and the last.
//!
//! A read that missed a buffered store may be long before the failure that it causes. So the first and the last such
//! reads are kept too, each with the store and with the row in which the store becomes visible.

use crate::report::buffer_legend;
use crate::report::rows::{Buffering, Line, Origin, Scene};

/// The largest number of rows up to the failure of a schedule that is shown in full.
const LONGEST: usize = 60;
/// The number of rows that are kept at the beginning of a longer one, and before the failure.
const BEGINNING: usize = 10;
const END: usize = 30;
/// The number of reads that missed a buffered store that are kept, of the first and of the last.
const MISSES: usize = 2;
/// The least number of rows that are folded.
const FEWEST: usize = 4;
/// The longest iteration of a loop that is folded where it repeats, in rows.
const ITERATION: usize = 4;

/// A row, or several that are left out.
pub(super) enum Shown<'a> {
    /// A row.
    Line(&'a Line),
    /// The text in place of rows.
    Folded(String),
}

/// The rows to show.
pub(super) fn fold<'a>(scene: &'a Scene<'_>) -> Vec<Shown<'a>> {
    let lines = &scene.lines;
    let kept = kept(scene);
    let mut shown = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let hidden = kept[at..].iter().take_while(|kept| !**kept).count();
        if hidden >= FEWEST {
            shown.push(Shown::Folded(words(scene, &lines[at..at + hidden])));
            at += hidden;
        } else {
            let end = at + hidden.max(1);
            shown.extend(lines[at..end].iter().map(Shown::Line));
            at = end;
        }
    }
    shown
}

fn kept(scene: &Scene<'_>) -> Vec<bool> {
    let failed = scene.lines.iter().rposition(|line| line.marked);
    let mut kept = kept_until(scene, failed.map_or(scene.lines.len(), |at| at + 1));
    (1..=ITERATION).for_each(|length| leave_repetitions(&scene.lines[..kept.len()], length, &mut kept));
    kept.resize(scene.lines.len(), false);
    kept
}

/// Leaves out the rows that repeat the `length` rows before them, but for the first repetition and the last.
fn leave_repetitions(lines: &[Line], length: usize, kept: &mut [bool]) {
    let mut at = length;
    while at < lines.len() {
        let repeated = (at..lines.len()).take_while(|&at| lines[at].repeats(&lines[at - length])).count();
        let end = at + repeated;
        if repeated >= 2 * length + FEWEST {
            kept[at + length..end - length].fill(false);
        }
        at = end + 1;
    }
}

/// The rows to keep of the first `count` rows, the last of which is marked.
fn kept_until(scene: &Scene<'_>, count: usize) -> Vec<bool> {
    let lines = &scene.lines[..count];
    if count <= LONGEST {
        return vec![true; count];
    }
    let mut kept: Vec<bool> = (0..count).map(|at| at < BEGINNING || at + END >= count).collect();
    for (at, line) in lines.iter().enumerate() {
        if line.marked {
            kept[at.saturating_sub(1)..(at + 2).min(count)].fill(true);
        }
        let matters = line.marked || at + END / 4 >= count;
        if let (true, Origin::Row(number)) = (matters, line.from) {
            kept[number - 1] = true;
        }
    }
    let events = &scene.finding.trace.events;
    let is_spurious = |&at: &usize| events[at].op.action.is_spurious();
    let spurious = (0..events.len()).filter(is_spurious).filter_map(|at| scene.row_of_event(at));
    let overtaking = buffer_legend::overtaking(scene).map(|(later, earlier)| [later, earlier]);
    for number in
        scene.held_since().chain(spurious).chain(overtaking.into_iter().flatten()).filter(|number| *number <= count)
    {
        kept[number - 1] = true;
    }
    keep_misses(lines, &mut kept);
    keep_stores(lines, &mut kept);
    kept
}

/// Keeps some of the reads that missed a store.
fn keep_misses(lines: &[Line], kept: &mut [bool]) {
    let misses = |at: &usize| matches!(lines[*at].buffering, Buffering::Misses(_));
    let all: Vec<usize> = (0..lines.len()).filter(misses).collect();
    let (first, last) = (all.iter().take(MISSES), all.iter().rev().take(MISSES));
    first.chain(last).for_each(|read| kept[*read] = true);
}

/// Keeps, for every kept row, the buffered stores that it names, and the rows in which they become visible.
fn keep_stores(lines: &[Line], kept: &mut [bool]) {
    for at in 0..lines.len() {
        if let (true, Buffering::Flush(store) | Buffering::Misses(store)) = (kept[at], lines[at].buffering) {
            kept[store - 1] = true;
        }
    }
    for (at, line) in lines.iter().enumerate() {
        if let Buffering::Flush(store) = line.buffering {
            kept[at] |= kept[store - 1];
        }
    }
}

/// `… 40 rows folded: main 2, t1 38 …`
fn words(scene: &Scene<'_>, hidden: &[Line]) -> String {
    let of = |thread| hidden.iter().filter(|line| line.thread == thread).count();
    let counts = scene.threads.iter().map(|thread| (thread, of(thread))).filter(|(_, count)| *count > 0);
    let parts: Vec<String> = counts.map(|(thread, count)| format!("{} {count}", scene.threads.name(thread))).collect();
    match parts.as_slice() {
        [_] => format!("… {} rows of {} folded …", hidden.len(), scene.threads.name(hidden[0].thread)),
        [_, _, _, _, ..] => format!("… {} rows of {} threads folded …", hidden.len(), parts.len()),
        _ => format!("… {} rows folded: {} …", hidden.len(), parts.join(", ")),
    }
}
