//! The places of a body at which an ordering is written, gathered from its executions.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::report::is_of_user;
use rsmc_core::step::Run;
use rsmc_core::trace::{Action, Event, NoteKind, Site, Trace, Weakened, strongest};

/// The places seen so far, in the order of the source.
#[derive(Default)]
pub(super) struct Places {
    found: Vec<Place>,
    /// By location of the run at hand: the thread that uses it first, and whether another one does, too.
    users: HashMap<LocId, (ThreadId, bool)>,
}

/// A place at which an ordering is written.
pub(super) struct Place {
    pub(super) site: Site,
    /// The operation, in a word of std.
    pub(super) operation: &'static str,
    /// Whether the ordering is that of a failed compare-exchange.
    pub(super) is_failure: bool,
    /// The strongest ordering that an operation there had.
    pub(super) written: Ordering,
    /// Whether an operation there was on an atomic that two threads of the execution use.
    pub(super) is_shared: bool,
}

/// Whether an event is on an atomic of the user, not on a lock or a thread.
pub(super) fn is_of_atomic(trace: &Trace, event: &Event) -> bool {
    trace.locs[event.op.loc].kind.starts_with("Atomic")
}

/// A place in the source of the user: file, line and column.
pub(super) fn name(site: Site) -> Option<String> {
    let Site::Code(place) = site else { return None };
    if !is_of_user(site) {
        return None;
    }
    Some(format!("{}:{}:{}", place.file(), place.line(), place.column()))
}

impl Place {
    /// Another ordering for it.
    pub(super) fn weakened(&self, most: Ordering) -> Weakened {
        let (line, column) = self.site.line_and_column();
        let file = if let Site::Code(place) = self.site { place.file().to_owned() } else { String::new() };
        Weakened { file, line, column, is_failure: self.is_failure, most }
    }

    /// The weaker orderings that its operation can have, the weakest first: each is weaker than those behind it, or not
    /// comparable with them.
    pub(super) fn weaker(&self) -> Vec<Ordering> {
        use Ordering::{AcqRel, Acquire, Relaxed, Release};
        let natural: &[Ordering] = match self.operation {
            "load" => &[Relaxed, Acquire],
            "store" => &[Relaxed, Release],
            _ if self.is_failure => &[Relaxed, Acquire],
            _ => &[Relaxed, Acquire, Release, AcqRel],
        };
        let is_weaker = |&order: &Ordering| strongest(order, self.written) == self.written && order != self.written;
        natural.iter().copied().filter(is_weaker).collect()
    }
}

/// The word for the operations at one place: `fetch_update` loads and exchanges there, and a macro may do anything.
fn both(one: &'static str, other: &'static str) -> &'static str {
    match (one, other) {
        _ if one == other => one,
        ("load", "compare_exchange" | "update") => other,
        ("compare_exchange" | "update", "load") => one,
        _ => "update",
    }
}

impl Places {
    /// Adds the places of a run.
    pub(super) fn see(&mut self, run: &Run) {
        self.users.clear();
        for event in &run.trace.events {
            let (loc, thread) = (event.op.loc, event.id.thread);
            let (first, is_shared) = self.users.entry(loc).or_insert((thread, false));
            *is_shared |= *first != thread;
        }
        for event in &run.trace.events {
            if is_of_atomic(&run.trace, event) {
                self.see_event(event);
            }
        }
        for note in &run.trace.notes {
            if let NoteKind::Fence(order) = note.kind {
                self.add(note.site, "fence", false, order, true);
            }
        }
    }

    fn see_event(&mut self, event: &Event) {
        let op = event.op;
        let operation = match op.action {
            Action::Load => "load",
            Action::Store(_) => "store",
            Action::Rmw(_) => "update",
            Action::Cas { .. } | Action::Fail { .. } => "compare_exchange",
            _ => return,
        };
        let is_shared = self.users.get(&op.loc).is_some_and(|&(_, is_shared)| is_shared);
        self.add(op.site, operation, false, op.order, is_shared);
        if operation == "compare_exchange" {
            self.add(op.site, operation, true, op.failure, is_shared);
        }
    }

    fn add(&mut self, site: Site, operation: &'static str, is_failure: bool, order: Ordering, is_shared: bool) {
        if !(matches!(site, Site::Code(_)) && is_of_user(site)) {
            return;
        }
        match self.found.iter_mut().find(|place| place.site == site && place.is_failure == is_failure) {
            Some(place) => {
                place.operation = both(place.operation, operation);
                place.written = strongest(place.written, order);
                place.is_shared |= is_shared;
            }
            None => self.found.push(Place { site, operation, is_failure, written: order, is_shared }),
        }
    }

    /// All places, in the order of the source.
    pub(super) fn all(self) -> Vec<Place> {
        let mut found = self.found;
        let key = |place: &Place| {
            let Weakened { file, line, column, is_failure, .. } = place.weakened(place.written);
            (file, line, column, is_failure)
        };
        found.sort_by_cached_key(key);
        found
    }
}
