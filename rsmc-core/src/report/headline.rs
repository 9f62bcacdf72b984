//! The first section of a report: the failure in one line, then by kind of failure the threads, the places, and the
//! usual causes.

use std::collections::BTreeSet;

use crate::base::{LocId, ThreadId};
use crate::report::Finding;
use crate::report::call_words::awaited;
use crate::report::functions::functions;
use crate::report::memory;
use crate::report::places::at;
use crate::report::race;
use crate::report::rows::{Scene, row};
use crate::report::text::wrap;
use crate::session::{FailureKind, Spot};
use crate::step::{Held, Panicked, Pending, Why};
use crate::trace::NoteKind;

/// The first section of a report.
pub(super) fn section(scene: &Scene<'_>) -> String {
    let mut lines = vec![wrap(&title(scene), "    ")];
    lines.extend(details(scene));
    lines.join("\n")
}

/// The threads, the places, and the usual causes.
pub(super) fn details(scene: &Scene<'_>) -> Vec<String> {
    let finding = scene.finding;
    let mut lines = calls_of_scenario(finding);
    lines.extend(panics(scene));
    let places = race::lines(scene).into_iter().chain(memory::lines(scene));
    lines.extend(places.map(|line| wrap(&line, "      ")));
    lines.extend(held(scene));
    let told = finding.waiting.iter().filter(|pending| !pending.joins_suspended(finding.waiting));
    lines.extend(told.map(|pending| wrap(&waits(scene, pending), "      ")));
    lines.extend(advice(finding.kind).iter().map(|line| wrap(&format!("  {line}"), "  ")));
    lines
}

/// The calls of the scenario, if this is an execution of one and the message does not have them.
fn calls_of_scenario(finding: &Finding<'_>) -> Vec<String> {
    let table = &finding.trace.scenario.table;
    if table.is_empty() || finding.message.contains(&table.join("\n")) {
        return Vec::new();
    }
    let lines = table.iter().map(|line| format!("    {line}"));
    [String::new()].into_iter().chain(lines).chain([String::new()]).collect()
}

/// `data race: …`, in one line. It does not repeat what the sections below have with the report's own names.
pub(super) fn title(scene: &Scene<'_>) -> String {
    let finding = scene.finding;
    let kind = words(&format!("{:?}", finding.kind));
    let message = match finding.kind {
        FailureKind::Panic => first_panic(finding),
        FailureKind::DataRace => race::title(scene),
        FailureKind::UseAfterFree | FailureKind::DoubleFree => memory::title(scene),
        // The message says which calls cannot complete.
        FailureKind::Deadlock | FailureKind::Livelock if finding.waiting.iter().any(Pending::is_suspended) => None,
        FailureKind::Livelock if finding.repeats.is_some() => goes_round(scene),
        FailureKind::Deadlock | FailureKind::Livelock => nobody_left(finding),
        FailureKind::Nondeterminism => split_difference(finding.message),
        FailureKind::StaleSeed | FailureKind::NothingShared => {
            finding.message.split_once(": ").map(|(what, why)| format!("{what}\n  {why}"))
        }
        _ => None,
    };
    let message = message.unwrap_or_else(|| finding.message.to_owned());
    if message.to_lowercase().starts_with(&kind) { message } else { format!("{kind}: {message}") }
}

/// The first line of the first panic; the other lines follow with its place.
fn first_panic(finding: &Finding<'_>) -> Option<String> {
    let panic = &finding.panics[Panicked::cause(finding.panics)?];
    panic.message.lines().next().map(str::to_owned)
}

/// The references to objects that are left, one line each.
fn held(scene: &Scene<'_>) -> Vec<String> {
    let spots = scene.finding.spots;
    let of = |spot: &Spot| {
        let shares_line = spots.iter().any(|other| other.site != spot.site && other.message == spot.message);
        match spot.site.line_and_column() {
            _ if spots.len() == 1 => String::new(),
            (_, column) if shares_line => format!("of {}:{column} ", spot.site),
            _ => format!("of {} ", spot.site),
        }
    };
    let line = |spot: &Spot, held: &Held| {
        let called = called(scene, held).unwrap_or_default();
        format!("  {}still there: {}{}{called}", of(spot), reference(scene, held), at(held.site))
    };
    let lines = spots.iter().flat_map(|spot| spot.held.iter().map(|held| line(spot, held)).collect::<Vec<_>>());
    lines.map(|line| wrap(&line, "      ")).collect()
}

/// `, called by link at src/list.rs:12`: the caller of the function that made a reference.
fn called(scene: &Scene<'_>, held: &Held) -> Option<String> {
    let path = functions(scene.finding.trace.paths.of_reference(held.number), held.site, &scene.source);
    let caller = path.get(1)?;
    Some(format!(", called by {} at {}", caller.name, caller.site()))
}

/// `the reference that t1 cloned`
pub(super) fn reference(scene: &Scene<'_>, held: &Held) -> String {
    let who = scene.threads.name(held.thread);
    match held.verb {
        "new" => format!("the reference that {who} created it with"),
        "clone" => format!("a reference that {who} cloned"),
        "upgrade" => format!("a reference that {who} upgraded"),
        "into_raw" => format!("a pointer that {who} made of a reference"),
        _ => format!("a reference that {who} made of a pointer"),
    }
}

fn goes_round(scene: &Scene<'_>) -> Option<String> {
    let since = scene.finding.repeats? as usize;
    let events = &scene.finding.trace.events;
    let threads: BTreeSet<ThreadId> = events.get(since..)?.iter().map(|event| event.id.thread).collect();
    let who: Vec<&str> = threads.into_iter().map(|thread| scene.threads.name(thread)).collect();
    let (first, last) = (scene.row_of_event(since)?, scene.row_of_event(events.len() - 1)?);
    Some(format!("{} can repeat #{first} to #{last} for ever, though all get their turns", who.join(" and ")))
}

fn nobody_left(finding: &Finding<'_>) -> Option<String> {
    let spinning = finding.waiting.iter().filter(|pending| matches!(pending.why, Why::Spin { .. })).count();
    match (finding.waiting.len(), spinning) {
        (0, _) => None,
        (1, 0) => Some("1 thread waits, and nobody is left to let it go on".to_owned()),
        (waiting, 0) => Some(format!("{waiting} threads wait, and nobody is left to let them go on")),
        (_, 1) => Some("1 thread spins, and nobody is left to write what it waits for".to_owned()),
        (_, spinning) => Some(format!("{spinning} threads spin, and nobody is left to write what they wait for")),
    }
}

/// `DataRace` → `data race`
pub(super) fn words(variant: &str) -> String {
    let mut words = String::new();
    for c in variant.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// Puts the expected and the found operation below each other.
fn split_difference(message: &str) -> Option<String> {
    let (before, after) = message.split_once("expected ")?;
    let (expected, found) = after.split_once(", found ").or_else(|| after.split_once(", read "))?;
    let before = before.trim_end_matches([' ', ':', ',']);
    Some(format!("{before}\n  expected  {expected}\n  found     {found}"))
}

fn panics(scene: &Scene<'_>) -> Vec<String> {
    let cause = Panicked::cause(scene.finding.panics);
    let told = |&(number, panic): &(usize, &Panicked)| !panic.received || Some(number) == cause;
    let panics = scene.finding.panics.iter().enumerate().filter(told);
    panics.map(|(number, panic)| panicked(scene, number, panic)).collect()
}

fn panicked(scene: &Scene<'_>, number: usize, panic: &Panicked) -> String {
    let note = scene.finding.trace.notes.iter().position(|note| note.kind == NoteKind::Panic(number as u32));
    let who = scene.threads.name(panic.thread);
    let place = format!("  in {who}{}{}", at(panic.site), row(note.and_then(|note| scene.row_of_note(note))));
    let skip = usize::from(first_panic(scene.finding).as_deref() == panic.message.lines().next());
    let rest = panic.message.lines().skip(skip).map(|line| format!("\n    {line}"));
    rest.fold(place, |text, line| text + &line)
}

/// One line about a waiting thread.
fn waits(scene: &Scene<'_>, pending: &Pending) -> String {
    let who = scene.threads.name(pending.id.thread);
    let call = scene.finding.trace.calls.open(pending.id.thread);
    let place = at(call.map_or(pending.site, |call| call.site));
    match &pending.why {
        Why::Suspended => {
            let last = scene.finding.trace.of_thread(pending.id.thread).last();
            format!(
                "  {who} is suspended for ever{place}{}",
                row(last.and_then(|&last| scene.row_of_event(last as usize)))
            )
        }
        Why::Lock { loc, holder, since } => {
            let lock = scene.locations.name(*loc);
            format!("  {who}{place} waits for {lock}, {}", held_by(scene, *holder, *since, pending.id.thread))
        }
        Why::Join(target) => format!("  {who}{place} waits for {} to end", scene.threads.name(*target)),
        Why::Park => match (call, pending.op) {
            (Some(call), _) => format!("  {who}{place} waits {}", awaited(call, scene.finding.trace, &scene.locations)),
            (None, Some(op)) if scene.finding.trace.locs[op.loc].kind == "Waker" => {
                let name = scene.locations.name(op.loc);
                format!("  {who}{place} waits until {name} is woken, and nobody is left to do so")
            }
            _ => format!("  {who}{place} is parked, and nobody is left to unpark it"),
        },
        Why::Spin { watched, hinted, site } => {
            let values: Vec<String> = watched.iter().map(|watched| until(scene, watched.loc, watched.value)).collect();
            let note = if *hinted { "" } else { "\n      (taken as a spin loop; add `hint::spin_loop()` to say so)" };
            format!("  {who} spins{} until {}{note}", at(*site), values.join(" or "))
        }
    }
}

fn held_by(scene: &Scene<'_>, holder: Option<ThreadId>, since: Option<usize>, waiting: ThreadId) -> String {
    let since =
        since.and_then(|at| scene.row_of_event(at)).map(|number| format!(" since #{number}")).unwrap_or_default();
    match holder {
        Some(holder) if holder == waiting => format!("which it holds itself{since}"),
        Some(holder) => format!("held by {}{since}", scene.threads.name(holder)),
        None => format!("held{since} by a thread that ended without releasing it"),
    }
}

fn until(scene: &Scene<'_>, loc: LocId, value: u64) -> String {
    let kind = scene.finding.trace.locs[loc].kind;
    let name = scene.locations.name(loc);
    match kind {
        "Mutex" | "Barrier" | "Notify" => format!("{name} is free"),
        "AtomicBool" | "thread end" => format!("{name} is {}", value == 0),
        _ => format!("{name} is not {}", scene.values.show(kind, value)),
    }
}

/// Advice for this kind of failure.
fn advice(kind: FailureKind) -> &'static [&'static str] {
    match kind {
        FailureKind::StepLimit => {
            &["if this is a loop that waits for another thread, call `hint::spin_loop()` in it; if the test is just \
             long, raise `max_steps`"]
        }
        FailureKind::Nondeterminism => &[
            "usual causes:",
            "- it reads the time, or a random number",
            "- it iterates over a map or set that hashes with random keys",
            "- it starts a real thread, or uses a lock, an atomic or an `Arc` of std",
            "- a static that rsmc does not know keeps its value from run to run",
            "- it compares or hashes addresses, and one was reused",
        ],
        FailureKind::StaleSeed => &[
            "the code changed since the seed was made, or it belongs to another test",
            "to search again, run without RSMC_REPLAY: if something still fails, there is a new seed",
        ],
        FailureKind::NothingShared => &[
            "no order of their operations makes a difference, so nothing was tested",
            "usual cause: a `use std::sync` where `use rsmc_shim::sync` (or `rsmc::sync`) was meant, here or in the code under \
             test",
            "if it is meant: `#[rsmc::test(allow_trivial = true)]`, or `Config::allow_trivial(true)`",
        ],
        FailureKind::Crash => &[
            "usual causes: `unsafe` code, or an abort; what the process printed is lost",
            "nothing is left of the execution but its seed, which ends the process of the test in the same way",
        ],
        _ => &[],
    }
}
