//! The problems of a failure: for each a sentence, the place to point at, and the places that belong to it.
//!
//! A failure is one problem, and one for each object that is left where objects are left. The first place of a failure
//! is the one to point at; the others are related. Places that are not known are left out.

use serde::Serialize;

use crate::base::ThreadId;
use crate::report::headline::reference;
use crate::report::places::parts;
use crate::report::rows::Scene;
use crate::report::{call_words, headline};
use crate::session::{FailureKind, Spot};
use crate::step::{BadMemory, Held, Panicked, Pending, Why};
use crate::trace::{Note, Site};

/// A problem, as editors and pipelines show it at a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// Its weight.
    pub level: Level,
    /// A description in one line.
    pub message: String,
    /// The path of the file as the compiler knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The other places of the problem.
    pub related: Vec<Related>,
}

/// The weight of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// The check fails because of it.
    Error,
    /// The check notes it.
    Warning,
}

/// Another place of a problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Related {
    /// A description in one line.
    pub message: String,
    /// The path of the file as the compiler knows it; `None` in a litmus program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// The problems of a failing execution.
pub(super) fn of(scene: &Scene<'_>) -> Vec<Problem> {
    let (kind, spots) = (scene.finding.kind, scene.finding.spots);
    if spots.is_empty() {
        let marks = marks(scene);
        return vec![problem(kind, in_one_line(&message(scene, &marks)), marks)];
    }
    let words = headline::words(&format!("{kind:?}"));
    let held = |held: &Held| mark(format!("{} is still there", reference(scene, held)), held.site);
    let one = |spot: &Spot| {
        let marks = [mark("", spot.site)].into_iter().chain(spot.held.iter().map(held)).collect();
        problem(kind, format!("{words}: {}", spot.message), marks)
    };
    spots.iter().map(one).collect()
}

/// The failure in a few lines, without what its other places say.
fn message(scene: &Scene<'_>, marks: &[Mark]) -> String {
    let (finding, title) = (scene.finding, headline::title(scene));
    match (finding.kind, Panicked::cause(finding.panics), marks.first()) {
        (FailureKind::Panic, Some(cause), _) => format!("panic: {}", finding.panics[cause].message),
        // That threads wait does not say which one waits at the place.
        (kind, _, Some((what, _))) if is_stuck(kind) => format!("{title}\n{what}"),
        _ => title,
    }
}

/// A place, with what happens there.
type Mark = (String, Site);

fn mark(what: impl Into<String>, site: Site) -> Mark {
    (what.into(), site)
}

fn problem(kind: FailureKind, message: String, marks: Vec<Mark>) -> Problem {
    let mut marks = marks.into_iter();
    let (file, line) = (None, None);
    let mut problem = Problem { kind, level: Level::Error, message, file, line, column: None, related: Vec::new() };
    if let Some((_, site)) = marks.next() {
        (problem.file, problem.line, problem.column) = place(site);
    }
    for (message, site) in marks {
        if let (file, Some(line), column) = place(site) {
            let related = Related { message, file, line, column };
            if !problem.related.contains(&related) {
                problem.related.push(related);
            }
        }
    }
    problem
}

/// File, line and column, as far as they are known.
fn place(site: Site) -> (Option<String>, Option<u32>, Option<u32>) {
    let (file, line) = parts(site);
    let column = Some(site.line_and_column().1).filter(|&column| column > 0);
    (file.map(str::to_owned), line, column)
}

/// Whether a failure is that threads wait.
fn is_stuck(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Deadlock | FailureKind::Livelock)
}

/// Text of several lines in one, without blanks that align it.
fn in_one_line(text: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The places of a failure, that to point at first.
fn marks(scene: &Scene<'_>) -> Vec<Mark> {
    match scene.finding.kind {
        FailureKind::Panic => panics(scene),
        FailureKind::DataRace => race(scene),
        FailureKind::UseAfterFree | FailureKind::DoubleFree => memory(scene),
        FailureKind::Livelock if scene.finding.repeats.is_some() => repeated(scene),
        kind if is_stuck(kind) => waiting(scene),
        FailureKind::StepLimit => {
            let last = scene.finding.trace.events.last();
            last.map(|event| mark("the last operation", event.op.site)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The panic that makes the check fail, and those that are not passed on and that no thread received.
fn panics(scene: &Scene<'_>) -> Vec<Mark> {
    let panics = scene.finding.panics;
    let Some(cause) = Panicked::cause(panics) else { return Vec::new() };
    let others = panics.iter().enumerate().filter(|&(number, panic)| number != cause && !panic.received);
    let others = others.map(|(_, panic)| panic).filter(|panic| !panic.passes_on());
    let sentence = |panic: &Panicked| {
        let first = panic.message.lines().next().unwrap_or_default();
        mark(format!("{} panics here, too: {first}", scene.threads.name(panic.thread)), panic.site)
    };
    [&panics[cause]].into_iter().chain(others).map(sentence).collect()
}

fn race(scene: &Scene<'_>) -> Vec<Mark> {
    let Some(race) = scene.finding.race else { return Vec::new() };
    let name = scene.locations.name(race.loc);
    let sides = [race.first, race.second];
    let sides =
        sides.map(|side| mark(format!("{} {} {name} here", scene.threads.name(side.thread), side.verb()), side.site));
    let created = scene.finding.trace.locs[race.loc].created;
    sides.into_iter().chain([mark(format!("{name} is created here"), created)]).collect()
}

fn memory(scene: &Scene<'_>) -> Vec<Mark> {
    let Some(&bad) = scene.finding.bad_memory else { return Vec::new() };
    let freed = |nth: u32, what: &str| {
        let (_, note) = scene.finding.trace.freed(nth)?;
        let here = if note.site == Site::Unknown { "here, or next" } else { "here" };
        let act = if note.kind.drops() { "drops" } else { "frees" };
        Some(mark(format!("{} {act} {what} {here}", scene.threads.name(note.thread)), near(scene, note)))
    };
    match bad {
        BadMemory::UsedAfterFree { loc, access, site, freed_at } => {
            let (name, created) = (scene.locations.name(loc), scene.finding.trace.locs[loc].created);
            let mut marks = vec![mark(format!("{} uses {name} here", scene.threads.name(access.thread())), site)];
            let drops = |nth| scene.finding.trace.freed(nth).is_some_and(|(_, note)| note.kind.drops());
            let what = if freed_at.is_some_and(drops) { name.to_owned() } else { format!("the memory of {name}") };
            marks.extend(freed_at.and_then(|nth| freed(nth, &what)));
            marks.push(mark(format!("{name} is created here"), created));
            marks
        }
        BadMemory::FreedTwice { block, freed_at, again_at, .. } => {
            let what = scene.freed_twice(block);
            [Some(again_at), freed_at].into_iter().flatten().filter_map(|nth| freed(nth, &what)).collect()
        }
    }
}

/// The place of a note, or that of the last operation of its thread before it: a free has a place only where call paths
/// were captured.
fn near(scene: &Scene<'_>, note: &Note) -> Site {
    let before = &scene.finding.trace.events[..(note.at as usize).min(scene.finding.trace.events.len())];
    let last = before.iter().rfind(|event| event.id.thread == note.thread).map_or(Site::Unknown, |event| event.op.site);
    if note.site == Site::Unknown { last } else { note.site }
}

/// The operations that threads repeat for ever.
fn repeated(scene: &Scene<'_>) -> Vec<Mark> {
    let events = &scene.finding.trace.events;
    let since = scene.finding.repeats.map_or(events.len(), |since| since as usize);
    let repeated = events.get(since..).unwrap_or_default().iter();
    repeated.map(|event| mark(format!("{} repeats this", scene.threads.name(event.id.thread)), event.op.site)).collect()
}

/// The threads that wait, first those that do not wait for the end of another one, and the places where the locks were
/// taken that they wait for.
fn waiting(scene: &Scene<'_>) -> Vec<Mark> {
    let all = scene.finding.waiting;
    let mut waiting: Vec<&Pending> = all.iter().filter(|pending| !pending.joins_suspended(all)).collect();
    waiting.sort_by_key(|pending| (matches!(pending.why, Why::Join(_)), pending.is_suspended()));
    let waits = waiting.iter().map(|pending| wait(scene, pending));
    waits.chain(waiting.iter().filter_map(|pending| taken(scene, pending))).collect()
}

fn wait(scene: &Scene<'_>, pending: &Pending) -> Mark {
    let name = |thread: ThreadId| scene.threads.name(thread);
    let who = name(pending.id.thread);
    match &pending.why {
        Why::Lock { loc, .. } => mark(format!("{who} waits for {} here", scene.locations.name(*loc)), pending.site),
        Why::Join(target) => mark(format!("{who} waits here for {} to end", name(*target)), pending.site),
        Why::Park => {
            let trace = scene.finding.trace;
            let call = trace.calls.open(pending.id.thread);
            let what = call.map(|call| call_words::awaited(call, trace, &scene.locations));
            mark(format!("{who} waits here {}", what.as_deref().unwrap_or("to be woken")), pending.site)
        }
        Why::Spin { site, .. } => mark(format!("{who} spins here"), *site),
        Why::Suspended => mark(format!("{who} is suspended here"), pending.site),
    }
}

/// The place where the lock was taken that a thread waits for.
fn taken(scene: &Scene<'_>, pending: &Pending) -> Option<Mark> {
    let Why::Lock { loc, since: Some(at), .. } = pending.why else { return None };
    let event = scene.finding.trace.events.get(at)?;
    let (who, lock) = (scene.threads.name(event.id.thread), scene.locations.name(loc));
    Some(mark(format!("{who} took {lock} here"), event.op.site))
}
