//! The locations: their names, types, where they were created, and what they held at first.

use crate::base::LocId;
use crate::report::rows::Scene;
use crate::report::text::{clip_start, pad, widest, wrap};

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
    [name.to_owned(), info.kind.to_owned(), scene.places.short(info.created), init]
}
