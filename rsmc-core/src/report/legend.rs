//! The locations: their names, types, where they were created, and what they held at first.
//!
//! Two of one type that were created on one line are told apart by their columns. Where these are the same, as in an array
//! or a derived `Default`, only a name given by the user helps.

use crate::base::LocId;
use crate::report::places::parts;
use crate::report::rows::Scene;
use crate::report::text::{clip_start, pad, widest, wrap};
use crate::trace::LocInfo;

/// The legend with its heading; empty if there is no location.
pub(super) fn section(scene: &Scene<'_>) -> String {
    let rows: Vec<[String; 4]> = scene.locations.iter().map(|(loc, name)| row(scene, loc, name)).collect();
    let mut lines = Vec::new();
    if !rows.is_empty() {
        lines.push(heading(scene));
        let widths = [0, 1, 2].map(|column| widest(rows.iter().map(|row| row[column].as_str())));
        for [name, kind, place, init] in &rows {
            let (name, kind, place) = (pad(name, widths[0]), pad(kind, widths[1]), pad(place, widths[2]));
            lines.push(format!("  {name}   {kind}   {place}   {init}").trim_end().to_owned());
        }
    }
    if scene.values.has_addresses() {
        lines.push("  &A, &B, … stand for addresses, which change from run to run".to_owned());
    }
    let files = scene.places.abbreviated();
    if !files.is_empty() {
        lines.push(wrap(&format!("  files: {}", files.join(", ")), "    "));
    }
    lines.join("\n")
}

fn heading(scene: &Scene<'_>) -> String {
    match scene.places.only_file() {
        Some(path) => format!("locations, with the line of {} that created them", clip_start(path, 44)),
        None => "locations, with the line that created them".to_owned(),
    }
}

fn row(scene: &Scene<'_>, loc: LocId, name: &str) -> [String; 4] {
    let info = &scene.finding.trace.locs[loc];
    let has_value = info.kind.starts_with("Atomic");
    let init = if has_value { format!("at first {}", scene.values.show(info.kind, info.init)) } else { String::new() };
    [name.to_owned(), info.kind.to_owned(), place(scene, loc), init]
}

/// Where a location was created; with the column, if another one of its type was created on that line in another column.
fn place(scene: &Scene<'_>, loc: LocId) -> String {
    let info = &scene.finding.trace.locs[loc];
    let (line, column) = info.created.line_and_column();
    let is_beside = |other: &LocInfo| {
        let (other_line, other_column) = other.created.line_and_column();
        (other_line, parts(other.created).0) == (line, parts(info.created).0) && other_column != column
    };
    let place = scene.places.short(info.created);
    if alike(scene, loc).any(is_beside) { format!("{place}:{column}") } else { place }
}

/// The other locations of the same type.
fn alike<'a>(scene: &'a Scene<'_>, loc: LocId) -> impl Iterator<Item = &'a LocInfo> {
    let locs = &scene.finding.trace.locs;
    let others = scene.locations.iter().filter(move |(other, _)| *other != loc).map(|(other, _)| &locs[other]);
    others.filter(move |other| other.kind == locs[loc].kind)
}
