//! The locations: their names, types, places of creation, and initial values.
//!
//! The column distinguishes two locations of one type that were created on one line. If the columns are equal, as in an
//! array or a derived `Default`, only a name given by the user helps.

use crate::base::LocId;
use crate::report::names::is_of_thread;
use crate::report::rows::Scene;
use crate::report::text::{clip_start, pad, widest, wrap};
use crate::trace::LocInfo;

/// The legend with its heading; empty if there is no location.
pub(super) fn section(scene: &Scene<'_>) -> String {
    let objects = scene.locations.iter().filter(|(_, _, kind)| !is_of_thread(kind));
    let rows: Vec<[String; 4]> = objects.map(|(loc, name, kind)| row(scene, loc, name, kind)).collect();
    let mut lines = Vec::new();
    if !rows.is_empty() {
        lines.push(heading(scene));
        let widths = [0, 1, 2].map(|column| widest(rows.iter().map(|row| row[column].as_str())));
        for [name, kind, place, init] in &rows {
            let (name, kind, place) = (pad(name, widths[0]), pad(kind, widths[1]), pad(place, widths[2]));
            lines.push(format!("  {name}   {kind}   {place}   {init}").trim_end().to_owned());
        }
    }
    if numbers_neighbours(scene) {
        lines.push("  `rsmc::label(&object, \"name\")` names objects that one line creates".to_owned());
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

/// Whether two objects that were created on one line have no name but their type and a number.
fn numbers_neighbours(scene: &Scene<'_>) -> bool {
    let numbered =
        scene.locations.iter().filter(|(loc, _, kind)| scene.locations.is_numbered(*loc) && !is_of_thread(kind));
    let mut lines: Vec<String> =
        numbered.map(|(loc, ..)| scene.places.short(scene.finding.trace.locs[loc].created)).collect();
    lines.sort_unstable();
    lines.windows(2).any(|pair| pair[0] == pair[1] && !pair[0].is_empty())
}

fn heading(scene: &Scene<'_>) -> String {
    match scene.places.only_file() {
        Some(path) => format!("locations, with the line of {} that created them", clip_start(path, 34)),
        None => "locations, with the line that created them".to_owned(),
    }
}

fn row(scene: &Scene<'_>, loc: LocId, name: &str, kind: &str) -> [String; 4] {
    let info = &scene.finding.trace.locs[loc];
    let has_value = kind.starts_with("Atomic") && kind != "AtomicWaker";
    let init = if has_value { format!("at first {}", scene.values.show(info.kind, info.init)) } else { String::new() };
    [name.to_owned(), kind.to_owned(), place(scene, loc), init]
}

/// The place where a location was created; with the column, if another one of its type was created on that line in
/// another column.
fn place(scene: &Scene<'_>, loc: LocId) -> String {
    let locs = &scene.finding.trace.locs;
    let (info, place) = (&locs[loc], scene.places.short(locs[loc].created));
    let column = |info: &LocInfo| info.created.line_and_column().1;
    let is_beside = |other: &LocInfo| {
        other.kind == info.kind && column(other) != column(info) && scene.places.short(other.created) == place
    };
    let has_neighbour = scene.locations.iter().any(|(other, ..)| is_beside(&locs[other]));
    if has_neighbour { format!("{place}:{}", column(info)) } else { place }
}
