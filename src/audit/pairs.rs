//! The places that synchronise: at one a thread releases what a thread acquires at the other.

use std::collections::HashSet;

use rsmc_core::base::ThreadId;
use rsmc_core::model::c11::{acquires, releases};
use rsmc_core::step::Run;
use rsmc_core::trace::{Action, Event, Note, NoteKind, Site, Source, Trace};

/// A place, and whether the ordering is that of a compare-exchange that fails.
pub(super) type Key = (Site, bool);

/// The pairs of places that synchronised in some execution, releases first.
#[derive(Default)]
pub(super) struct Pairs(HashSet<(Key, Key)>);

impl Pairs {
    /// Adds the pairs of a run: each read with the write that it reads from, and with those at which the release
    /// sequence of that write begins.
    pub(super) fn see(&mut self, run: &Run) {
        let trace = &run.trace;
        for (at, read) in trace.events.iter().enumerate().filter(|(_, event)| is_of_atomic(trace, event)) {
            let mut source = read.source;
            let acquired = Acquired { trace, at, read };
            while let Source::At(from) = source {
                let write = &trace.events[from as usize];
                if write.id.thread != read.id.thread {
                    self.add(trace, from as usize, &acquired);
                }
                source = write.source; // Of a store none: the release sequence begins there.
            }
        }
    }

    fn add(&mut self, trace: &Trace, at: usize, acquired: &Acquired<'_>) {
        let write = &trace.events[at];
        let own = releases(write.op.order).then_some((write.op.site, false));
        let is_before = |note: &&Note| note.at as usize <= at && is_fence(note, write.id.thread, releases);
        let fence = trace.notes.iter().rev().find(is_before).map(|note| (note.site, false));
        for release in own.into_iter().chain(fence) {
            self.0.extend(acquired.places().map(|acquire| (release, acquire)));
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

/// A read, and the places at which its thread acquires what it reads.
struct Acquired<'t> {
    trace: &'t Trace,
    at: usize,
    read: &'t Event,
}

impl Acquired<'_> {
    /// The read itself, and the next fence of its thread.
    fn places(&self) -> impl Iterator<Item = Key> {
        let Self { trace, at, read } = self;
        let writes = read.written.is_some();
        let own = acquires(read.op.effective_order(writes)).then_some((read.op.site, !writes && fails(read)));
        let is_behind = |note: &&Note| note.at as usize > *at && is_fence(note, read.id.thread, acquires);
        let fence = trace.notes.iter().find(is_behind).map(|note| (note.site, false));
        own.into_iter().chain(fence)
    }
}

fn is_of_atomic(trace: &Trace, event: &Event) -> bool {
    trace.locs[event.op.loc].kind.starts_with("Atomic")
}

/// Whether an event that writes nothing is a compare-exchange.
fn fails(event: &Event) -> bool {
    matches!(event.op.action, Action::Cas { .. } | Action::Fail { .. })
}

fn is_fence(note: &Note, thread: ThreadId, has: fn(std::sync::atomic::Ordering) -> bool) -> bool {
    note.thread == thread && matches!(note.kind, NoteKind::Fence(order) if has(order))
}
