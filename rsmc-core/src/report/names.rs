//! The names of threads and locations in a report.
//!
//! Threads are numbered by the order in which this execution spawns them and not by their ids, which depend on earlier
//! runs: the report of a replay must read like the report of the search. Locations have the name that the user gave
//! them, or one of their type: `usize1`, `bool2`, `mutex1`.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::base::{LocId, ThreadId};
use crate::report::Finding;
use crate::report::calls::CallRows;
use crate::report::source::{Name, SourceText};
use crate::report::text;
use crate::step::BadMemory;
use crate::trace::{Action, Note, NoteKind, Site, Trace};

/// The length at which names of threads are cut.
const LONGEST: usize = 12;
/// The length at which labels of locations are cut.
const LONGEST_LABEL: usize = 24;

/// Names of the threads, in the order of the columns.
pub(super) struct Threads {
    order: Vec<ThreadId>,
    names: Vec<String>,
}

impl Threads {
    pub(super) fn new(trace: &Trace) -> Self {
        let order = spawn_order(trace);
        let mut names: Vec<String> = Vec::new();
        for (number, thread) in order.iter().enumerate() {
            let given = trace.threads.get(*thread).and_then(|info| info.name.as_deref());
            let name = match given.map(text::visible_in_line) {
                _ if number == 0 => "main".to_owned(),
                Some(name) if !name.trim().is_empty() => {
                    let name = text::clip_middle(name.trim(), LONGEST);
                    if names.contains(&name) { format!("t{number} {}", text::clip(&name, LONGEST - 4)) } else { name }
                }
                _ => format!("t{number}"),
            };
            names.push(name);
        }
        Self { order, names }
    }

    /// The name of a thread.
    pub(super) fn name(&self, thread: ThreadId) -> &str {
        self.number(thread).map_or("a thread", |number| &self.names[number])
    }

    /// Its place among the threads; 0 is the test body.
    pub(super) fn number(&self, thread: ThreadId) -> Option<usize> {
        self.order.iter().position(|known| *known == thread)
    }

    /// The threads in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.order.iter().copied()
    }
}

fn spawn_order(trace: &Trace) -> Vec<ThreadId> {
    let mut order = vec![ThreadId::MAIN];
    for thread in trace.spawned().chain(trace.present().map(|(thread, _)| thread)) {
        if !order.contains(&thread) {
            order.push(thread);
        }
    }
    order
}

/// Whether a type is that of something that belongs to a thread: its user has no object of it.
pub(super) fn is_of_thread(kind: &str) -> bool {
    matches!(kind, "park token" | "thread end" | "Waker")
}

/// Names of the locations that the report mentions.
pub(super) struct Locations {
    /// By location, its name and its type as the user wrote it.
    names: BTreeMap<u32, (String, &'static str)>,
    /// Those whose name is only their type and a number.
    numbered: BTreeSet<u32>,
    /// The object of which a location is a part that the user does not know.
    parts: BTreeMap<LocId, LocId>,
}

impl Locations {
    pub(super) fn new(finding: &Finding<'_>, threads: &Threads, calls: &CallRows<'_>, source: &SourceText) -> Self {
        let mut ordinals: BTreeMap<String, u32> = BTreeMap::new();
        let (mut names, mut taken, mut all_numbered) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mentioned = mentioned(finding);
        let (objects, parts) = calls.objects(finding);
        let from_source = names_from_source(finding, source, &parts);
        for (loc, info) in finding.trace.locs.iter().filter(|(loc, _)| !parts.contains_key(loc)) {
            let owner = |action| by_user(finding, loc, &action).map(|thread| threads.name(thread));
            let name = match info.kind {
                "thread end" => owner(Action::Store(1)).map(|thread| format!("end({thread})")),
                "Waker" => owner(Action::Park).map(|thread| format!("{thread}'s future")),
                _ => owner(Action::Park).map(|thread| format!("token({thread})")),
            };
            let kind = objects.get(&loc).copied().unwrap_or(info.kind);
            let known = name.or_else(|| from_source.get(&loc).cloned());
            let label = finding.trace.labels.iter().rfind(|(labelled, _)| *labelled == loc);
            if label.is_none() && known.is_none() {
                all_numbered.insert(loc.0);
            }
            let name = known.unwrap_or_else(|| numbered(stem(kind), &mut ordinals));
            let name = apart(label.map_or(name, |(_, label)| labelled(label)), &mut taken);
            // The numbers count locations without an operation too: so the names do not change while the execution
            // runs.
            if mentioned.contains(&loc.0) {
                names.insert(loc.0, (name, kind));
            }
        }
        Self { names, numbered: all_numbered, parts }
    }

    /// The name of a location; that of its object if it is a part of one.
    pub(super) fn name(&self, loc: LocId) -> &str {
        let loc = self.parts.get(&loc).copied().unwrap_or(loc);
        self.names.get(&loc.0).map_or("a location", |(name, _)| name)
    }

    /// Whether the name of a location is only its type and a number.
    pub(super) fn is_numbered(&self, loc: LocId) -> bool {
        self.numbered.contains(&loc.0)
    }

    /// The locations that have names, in order, each with its name and its type as the user wrote it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (LocId, &str, &'static str)> {
        self.names.iter().map(|(loc, (name, kind))| (LocId(*loc), name.as_str(), *kind))
    }
}

/// The names that objects have in the source: where they are created, or else where they are used, if that is the same
/// everywhere. Several objects of one name are numbered in the order of their creation.
fn names_from_source(
    finding: &Finding<'_>,
    source: &SourceText,
    parts: &BTreeMap<LocId, LocId>,
) -> BTreeMap<LocId, String> {
    let trace = finding.trace;
    let in_notes = trace.notes.iter().filter_map(|note| match note.kind {
        NoteKind::CellRead(cell) | NoteKind::CellWrite(cell) => Some((cell, note.site)),
        _ => None,
    });
    let calls = trace.calls.iter().map(|call| (call.object, call.site));
    let uses = trace.events.iter().map(|event| (event.op.loc, event.op.site)).chain(in_notes).chain(calls);
    // Most places are used many times.
    let mut places: BTreeMap<LocId, FxHashSet<Site>> = BTreeMap::new();
    for (loc, site) in uses.filter(|(_, site)| *site != Site::Unknown) {
        places.entry(loc).or_default().insert(site);
    }
    // The field of a newtype has a better name outside of its methods, if any.
    let used = |loc: LocId| {
        let names: Option<Vec<Name>> = places.get(&loc)?.iter().map(|&site| source.used(site)).collect();
        let (fields, others): (Vec<_>, Vec<_>) = names?.into_iter().partition(|name| name.name.contains('.'));
        let mut names = if others.is_empty() { fields } else { others };
        names.dedup();
        names.pop().filter(|_| names.is_empty())
    };
    let mut of_name: BTreeMap<Name, Vec<LocId>> = BTreeMap::new();
    for (loc, info) in trace.locs.iter().filter(|(loc, info)| !parts.contains_key(loc) && !info.is_internal()) {
        // The ends of a channel have names, and the channel has none.
        let has_name = !is_of_thread(info.kind) && !info.kind.starts_with("mpsc::");
        let name = if has_name { source.created(info.created).or_else(|| used(loc)) } else { None };
        if let Some(name) = name {
            of_name.entry(name).or_default().push(loc);
        }
    }
    let mut names = BTreeMap::new();
    for (Name { name, is_element }, mut locs) in of_name {
        let name = labelled(&name);
        // `let x = Arc::new(AtomicU32::new(0))`: the name is that of the atomic.
        let is_count = |loc: LocId| matches!(trace.locs[loc].kind, "Arc" | "Weak");
        if !locs.iter().all(|&loc| is_count(loc)) {
            locs.retain(|&loc| !is_count(loc));
        }
        locs.sort_by_key(|&loc| (trace.locs[loc].created.line_and_column(), trace.locs[loc].address, loc));
        let is_alone = locs.len() == 1 && !is_element;
        for (number, loc) in locs.into_iter().enumerate() {
            let name = match (is_alone, is_element) {
                (true, _) => name.clone(),
                (_, true) => format!("{name}[{number}]"),
                _ => numbered_object(&name, number + 1),
            };
            names.insert(loc, name);
        }
    }
    names
}

/// The name of one of several objects: `head_2`, `Counter_2.0`.
fn numbered_object(name: &str, number: usize) -> String {
    match name.split_once('.') {
        Some((of, field)) => format!("{of}_{number}.{field}"),
        None => format!("{name}_{number}"),
    }
}

/// The locations that a row or line of the report names; not those that are only shared through an `Arc`.
fn mentioned(finding: &Finding<'_>) -> BTreeSet<u32> {
    let in_note = |note: &Note| match note.kind {
        NoteKind::CellRead(cell) | NoteKind::CellWrite(cell) => Some(cell),
        _ => None,
    };
    let events = finding.trace.events.iter().map(|event| event.op.loc);
    let notes = finding.trace.notes.iter().filter_map(in_note);
    let waiting = finding.waiting.iter().filter_map(|pending| Some(pending.op?.loc));
    let race = finding.race.map(|race| race.loc);
    let freed = finding.bad_memory.and_then(BadMemory::loc);
    let all = events.chain(notes).chain(waiting).chain(race).chain(freed);
    all.filter(|&loc| !finding.trace.locs[loc].is_internal()).map(|loc| loc.0).collect()
}

/// The thread that performs an action on a location that only its owner performs, if there is one.
fn by_user(finding: &Finding<'_>, loc: LocId, action: &Action) -> Option<ThreadId> {
    let done = finding.trace.events.iter().map(|event| (event.id.thread, event.op));
    let waiting = finding.waiting.iter().filter_map(|pending| Some((pending.id.thread, pending.op?)));
    done.chain(waiting).find(|(_, op)| op.loc == loc && op.action == *action).map(|(thread, _)| thread)
}

/// The label that a user gave a location, as reports write it.
fn labelled(label: &str) -> String {
    let name = text::visible_in_line(label);
    let name = text::clip_middle(name.trim(), LONGEST_LABEL);
    if name.is_empty() { "?".to_owned() } else { name }
}

/// The name, made unique: the second `slot` is `slot_2`.
fn apart(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| taken.insert(name.clone())).expect("there are enough numbers")
}

/// `AtomicUsize` → `usize`, `UnsafeCell` → `cell`, `park token` → `token`, `mpsc::sync_channel` → `ch`.
fn stem(kind: &str) -> String {
    match kind {
        "Condvar" => return "cv".to_owned(),
        "mpsc::channel" | "mpsc::sync_channel" => return "ch".to_owned(),
        "OnceLock" => return "once".to_owned(),
        "LazyLock" => return "lazy".to_owned(),
        "AtomicWaker" => return "waker".to_owned(),
        _ => {}
    }
    let last = kind.rsplit([' ', ':']).next().unwrap_or(kind);
    last.trim_start_matches("Atomic").trim_start_matches("Unsafe").to_lowercase()
}

/// `usize` → `usize1`; a name that ends in a digit keeps apart from it: `u64_1`.
fn numbered(stem: String, ordinals: &mut BTreeMap<String, u32>) -> String {
    let gap = if stem.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    let ordinal = ordinals.entry(stem.clone()).or_default();
    *ordinal += 1;
    format!("{stem}{gap}{ordinal}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_named_after_their_types() {
        let mut ordinals = BTreeMap::new();
        let kinds = ["AtomicUsize", "AtomicU64", "AtomicUsize", "Mutex", "UnsafeCell", "park token", "AtomicU64"];
        let names = kinds.map(|kind| numbered(stem(kind), &mut ordinals));
        assert_eq!(names, ["usize1", "u64_1", "usize2", "mutex1", "cell1", "token1", "u64_2"]);
        assert_eq!(["mpsc::channel", "Condvar", "LazyLock"].map(stem), ["ch", "cv", "lazy"]);
    }
}
