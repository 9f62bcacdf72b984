//! Memory that is used after it was freed, or freed twice: the threads, the object, and the places.

use crate::report::places::at;
use crate::report::rows::{Scene, row};
use crate::report::text::wrap;
use crate::step::{BadMemory, Touch};
use crate::trace::Note;

/// The title: the threads and their operations.
pub(super) fn title(scene: &Scene<'_>) -> Option<String> {
    let bad = *scene.finding.bad_memory?;
    let freed = freed(scene);
    let freer = freed.map(|(_, note)| scene.threads.name(note.thread));
    Some(match bad {
        BadMemory::UsedAfterFree { loc, access, .. } => {
            let (user, name) = (scene.threads.name(access.thread()), scene.locations.name(loc));
            let drops = freed.is_some_and(|(_, note)| note.kind.drops());
            let (verb, whose, past) =
                if drops { ("drops", "which", "dropped") } else { ("frees", "whose memory", "freed") };
            match freer {
                Some(freer) if row_of(scene, access) <= freed_row(scene) => {
                    let what = if drops { name.to_owned() } else { format!("the memory of {name}") };
                    format!("{freer} {verb} {what}, which {user} may still use")
                }
                Some(freer) if user != freer => format!("{user} uses {name}, {whose} {freer} has {past}"),
                Some(_) => format!("{user} uses {name}, {whose} it has {past}"),
                None => format!("{user} uses {name}, {whose} was {past}"),
            }
        }
        BadMemory::FreedTwice { thread, block, .. } => {
            let (user, what) = (scene.threads.name(thread), scene.freed_twice(block));
            match freer {
                Some(freer) if user != freer => format!("{user} frees {what}, which {freer} has freed"),
                _ => format!("{user} frees {what}, which was freed before"),
            }
        }
    })
}

/// The lines about the bad use of memory; none for another failure.
pub(super) fn lines(scene: &Scene<'_>) -> Vec<String> {
    let Some(&bad) = scene.finding.bad_memory else { return Vec::new() };
    let frees = |nth: u32, what: &str| {
        let (number, note) = scene.finding.trace.freed(nth)?;
        let (place, thread) = (at(note.site), scene.threads.name(note.thread));
        let act = if note.kind.drops() { "drops it".to_owned() } else { format!("frees {what}") };
        Some(format!("  {thread} {act}{place}{}", row(scene.row_of_note(number))))
    };
    match bad {
        BadMemory::UsedAfterFree { loc, access, site, freed_at } => {
            let (name, info) = (scene.locations.name(loc), &scene.finding.trace.locs[loc]);
            let used = row_of(scene, access);
            let mut lines =
                vec![format!("  {} uses {name}{}{}", scene.threads.name(access.thread()), at(site), row(used))];
            lines.extend(freed_at.and_then(|nth| frees(nth, "its memory")));
            lines.push(format!("  {name}: {} created{}", info.kind, at(info.created)));
            if used <= freed_row(scene) {
                let late = match freed(scene).is_some_and(|(_, note)| note.kind.drops()) {
                    true => "the value is used after it was dropped",
                    false => "the memory is used after it was freed",
                };
                let why = "  nothing makes the second wait for the first: run with the same steps in another order, ";
                lines.push(wrap(&format!("{why}{late}"), "  "));
            }
            lines
        }
        BadMemory::FreedTwice { block, freed_at, again_at, .. } => {
            let what = scene.freed_twice(block);
            freed_at.into_iter().chain([again_at]).filter_map(|nth| frees(nth, &what)).collect()
        }
    }
}

/// The row of an access. One within a call that did not return has none of its own: then it is the next row of its
/// thread.
fn row_of(scene: &Scene<'_>, access: Touch) -> Option<usize> {
    let row = match access {
        Touch::Event(event) => scene.row_of_event(scene.finding.trace.position(event)?),
        Touch::Cell(thread, number) => scene.row_of_note(scene.finding.trace.access(thread, number)?.0),
    }?;
    (row..=scene.lines.len()).find(|row| scene.lines[row - 1].thread == access.thread())
}

/// The freeing that comes too early, with the place of its note.
fn freed<'a>(scene: &Scene<'a>) -> Option<(usize, &'a Note)> {
    scene.finding.trace.freed(scene.finding.bad_memory?.freed_at()?)
}

fn freed_row(scene: &Scene<'_>) -> Option<usize> {
    scene.row_of_note(freed(scene)?.0)
}
