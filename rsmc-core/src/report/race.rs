//! A data race: both accesses, the cell, and the operations that almost ordered them.

use crate::analysis::race::{Access, Position, Race};
use crate::model::c11::{acquires, releases};
use crate::report::places::at;
use crate::report::rows::Scene;
use crate::report::rows::row;
use crate::report::text::wrap;
use crate::trace::{Note, NoteKind, Source};

/// The title: the threads, their accesses, and the cell.
pub(super) fn title(scene: &Scene<'_>) -> Option<String> {
    let race = scene.finding.race?;
    let who = |access: &Access| format!("{} {}", scene.threads.name(access.thread), access.verb());
    let cell = scene.locations.name(race.loc);
    if race.is_of_one_thread() {
        let (first, second) = (race.first.verb(), race.second.verb());
        return Some(format!("{} {second} {cell} while it {first} it itself", scene.threads.name(race.first.thread)));
    }
    Some(format!("{} and {} {cell}, and nothing orders the two", who(&race.first), who(&race.second)))
}

/// The lines about the race; none for another failure.
pub(super) fn lines(scene: &Scene<'_>) -> Vec<String> {
    let Some(race) = scene.finding.race else { return Vec::new() };
    let name = scene.locations.name(race.loc);
    let info = &scene.finding.trace.locs[race.loc];
    let unordered = if race.is_of_one_thread() {
        "  one thread does both: the second begins within the first, whose pointer is in use until its end"
    } else if race.first.until.is_some() || race.second.until.is_some() {
        "  there is no lock, no join, and no release after the end of one that the other one acquires before it begins"
    } else {
        "  there is no lock, no join, and no release that the other one acquires"
    };
    let unordered = match race.first.is_atomic() || race.second.is_atomic() {
        true if race.first.is_making() => {
            format!("  to make it is no atomic operation, and {}", unordered.trim_start())
        }
        true => format!("  one of them is no atomic operation, and {}", unordered.trim_start()),
        false => unordered.to_owned(),
    };
    let mut lines = vec![access(scene, race, &race.first), access(scene, race, &race.second)];
    lines.push(format!("  {name}: {} created{}", info.kind, at(info.created)));
    lines.push(wrap(&unordered, "  "));
    lines.extend(near_miss(scene, race).map(|text| wrap(&text, "  ")));
    lines
}

fn access(scene: &Scene<'_>, race: &Race, access: &Access) -> String {
    let (who, cell) = (scene.threads.name(access.thread), scene.locations.name(race.loc));
    let rows = row(match access.position {
        Position::Note(at) => scene.row_of_note(at),
        Position::Event(at) => scene.row_of_event(at),
        Position::Made(_) => None,
    });
    let until = access.until.and_then(|note| scene.row_of_note(note));
    let until = until.map(|end| format!(", until #{end}")).unwrap_or_default();
    format!("  {who} {} {cell}{}{rows}{until}", access.verb(), at(access.site))
}

/// The line about a value that passed from the first thread to the second between the accesses, and would have ordered
/// them if its write released and its read acquired.
fn near_miss(scene: &Scene<'_>, race: &Race) -> Option<String> {
    let trace = scene.finding.trace;
    let (first, second) = (&race.first, &race.second);
    if race.is_of_one_thread() {
        return None;
    }
    let between = first.events_before(trace)..second.events_before(trace);
    let (read_at, write_at) = between.clone().rev().find_map(|at| {
        let event = trace.events.get(at).filter(|event| event.id.thread == second.thread)?;
        let Source::At(from) = event.source else { return None };
        let from = from as usize;
        (between.contains(&from) && trace.events[from].id.thread == first.thread).then_some((at, from))
    })?;
    let (write, read) = (&trace.events[write_at], &trace.events[read_at]);
    let fenced = |thread, from: u32, to: u32| {
        let is_fence = |note: &Note| matches!(note.kind, NoteKind::Fence(_)) && note.thread == thread;
        trace.notes.iter().any(|note| is_fence(note) && (from..=to).contains(&note.at))
    };
    if write.updates() && !releases(write.order()) {
        return None; // it may go on with an earlier release
    }
    let mut missing = Vec::new();
    let (write_row, read_row) = (scene.row_of_event(write_at)?, scene.row_of_event(read_at)?);
    if !releases(write.order()) && !fenced(first.thread, between.start as u32, write_at as u32) {
        missing.push(format!("#{write_row} is no `Release`"));
    }
    if !acquires(read.order()) && !fenced(second.thread, read_at as u32, between.end as u32) {
        missing.push(format!("#{read_row} is no `Acquire`"));
    }
    let missing = (!missing.is_empty()).then(|| missing.join(" and "))?;
    Some(format!("  #{read_row} does see the write of #{write_row}, but {missing}, so that orders nothing"))
}
