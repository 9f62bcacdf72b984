//! The places that synchronise: at one a thread releases what a thread acquires at the other.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use rsmc_core::base::ThreadId;
use rsmc_core::model::c11::{acquires, releases};
use rsmc_core::step::Run;
use rsmc_core::trace::{Action, Note, NoteKind, Site, Source, Trace};

use crate::audit::places::is_of_atomic;

/// A place, and whether the ordering is that of a compare-exchange that fails.
pub(super) type Key = (Site, bool);

/// The pairs of places that synchronised in some execution, releases first.
#[derive(Default)]
pub(super) struct Pairs(HashSet<(Key, Key)>);

impl Pairs {
    /// Adds the pairs of a run: each read that acquires with the write that it reads from, and with those in whose
    /// release sequence that write is.
    pub(super) fn see(&mut self, run: &Run) {
        let trace = &run.trace;
        for (at, read) in trace.events.iter().enumerate().filter(|(_, event)| is_of_atomic(trace, event)) {
            let acquires: Vec<Key> = acquires_at(trace, at).collect();
            let mut source = if acquires.is_empty() { Source::None } else { read.source };
            while let Source::At(from) = source {
                let write = &trace.events[from as usize];
                if write.id.thread != read.id.thread {
                    let pairs = |release| acquires.iter().map(move |&acquire| (release, acquire));
                    self.0.extend(releases_at(trace, from as usize).flat_map(pairs));
                }
                source = write.source; // Of a store none: the release sequence begins there.
            }
        }
    }

    /// The places that synchronise with one, in no order.
    pub(super) fn of(&self, key: Key) -> impl Iterator<Item = Key> {
        let other = move |&(release, acquire): &(Key, Key)| match key {
            _ if release == key => Some(acquire),
            _ if acquire == key => Some(release),
            _ => None,
        };
        self.0.iter().filter_map(other)
    }
}

/// The places at which what a thread has written so far is released with a write: the write, and the last fence before
/// it.
fn releases_at(trace: &Trace, at: usize) -> impl Iterator<Item = Key> {
    let write = &trace.events[at];
    let own = releases(write.op.order).then_some((write.op.site, false));
    let is_before = |note: &&Note| note.at as usize <= at && is_fence(note, write.id.thread, releases);
    own.into_iter().chain(trace.notes.iter().rev().find(is_before).map(|note| (note.site, false)))
}

/// The places at which a thread acquires what it reads: the read, and the next fence behind it.
fn acquires_at(trace: &Trace, at: usize) -> impl Iterator<Item = Key> {
    let read = &trace.events[at];
    let writes = read.written.is_some();
    let is_failure = !writes && matches!(read.op.action, Action::Cas { .. } | Action::Fail { .. });
    let own = acquires(read.op.effective_order(writes)).then_some((read.op.site, is_failure));
    let is_behind = |note: &&Note| note.at as usize > at && is_fence(note, read.id.thread, acquires);
    own.into_iter().chain(trace.notes.iter().find(is_behind).map(|note| (note.site, false)))
}

fn is_fence(note: &Note, thread: ThreadId, has: fn(Ordering) -> bool) -> bool {
    note.thread == thread && matches!(note.kind, NoteKind::Fence(order) if has(order))
}
