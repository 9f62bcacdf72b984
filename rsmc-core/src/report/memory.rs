//! Memory that is used after it was freed, or freed twice: who, what, and where.

use crate::base::EventId;
use crate::report::headline::{at, row};
use crate::report::rows::Scene;
use crate::report::text::wrap;
use crate::step::{BadMemory, Touch};
use crate::trace::NoteKind;

/// Who does what.
pub(super) fn title(scene: &Scene<'_>) -> Option<String> {
    Some(match *scene.finding.bad_memory? {
        BadMemory::UsedAfterFree { loc, access, freed_by, .. } => {
            let (user, freer) = (scene.threads.name(access.thread()), scene.threads.name(freed_by));
            let name = scene.locations.name(loc);
            match row_of(scene, access) > freed_row(scene) {
                true if user == freer => format!("{user} uses {name}, whose memory it has freed"),
                true => format!("{user} uses {name}, whose memory {freer} has freed"),
                false => format!("{freer} frees the memory of {name}, which {user} may still use"),
            }
        }
        BadMemory::FreedTwice { thread, loc: Some(loc), .. } => {
            format!("{} frees the memory of {}, which was freed before", scene.threads.name(thread), scene.locations.name(loc))
        }
        BadMemory::FreedTwice { thread, .. } => {
            format!("{} frees memory that was freed before", scene.threads.name(thread))
        }
    })
}

/// The lines about it; none if the failure is something else.
pub(super) fn lines(scene: &Scene<'_>) -> Vec<String> {
    let Some(bad) = scene.finding.bad_memory else { return Vec::new() };
    let created = |loc| {
        let info = &scene.finding.trace.locs[loc];
        format!("  {}: {} created{}", scene.locations.name(loc), info.kind, at(info.created))
    };
    match *bad {
        BadMemory::UsedAfterFree { loc, access, site, freed_by, .. } => {
            let name = scene.locations.name(loc);
            let used = row_of(scene, access);
            let mut lines = vec![
                format!("  {} uses {name}{}{}", scene.threads.name(access.thread()), at(site), row(used)),
                format!("  {} frees its memory{}", scene.threads.name(freed_by), row(freed_row(scene))),
                created(loc),
            ];
            if used <= freed_row(scene) {
                let why = "  nothing makes the second wait for the first: run with the same steps in another order, the memory is \
                           used after it was freed";
                lines.push(wrap(why, "  "));
            }
            lines
        }
        BadMemory::FreedTwice { thread, events, loc, .. } => {
            let trace = scene.finding.trace;
            let last = events.checked_sub(1).and_then(|index| trace.position(EventId { thread, index }));
            let after = last.map(|at| format!(", after {}{}", trace.events[at].op.site, row(scene.row_of_event(at))));
            let after = after.unwrap_or_default();
            let mut lines = vec![format!("  {} frees it{after}", scene.threads.name(thread))];
            lines.extend(loc.map(created));
            lines
        }
    }
}

/// Whether a row says that memory is freed which the report is about.
pub(super) fn is_about(bad: &BadMemory, kind: NoteKind) -> bool {
    let NoteKind::Freed { loc: freed, .. } = kind else { return false };
    match *bad {
        BadMemory::UsedAfterFree { loc, .. } => loc == freed,
        BadMemory::FreedTwice { loc, .. } => loc == Some(freed),
    }
}

fn row_of(scene: &Scene<'_>, access: Touch) -> Option<usize> {
    match access {
        Touch::Event(event) => scene.row_of_event(scene.finding.trace.position(event)?),
        Touch::Cell(_, note) => scene.row_of_note(note),
    }
}

fn freed_row(scene: &Scene<'_>) -> Option<usize> {
    match *scene.finding.bad_memory? {
        BadMemory::UsedAfterFree { freed_at, .. } => scene.row_of_note(freed_at?),
        BadMemory::FreedTwice { .. } => None,
    }
}
