//! References to values behind `Arc`s: what the program observes of their counts and of the order of their drops.

use crate::analysis::drops::observed_drops;
use crate::base::{LocId, ThreadId};
use crate::runtime::births::Dropped;
use crate::runtime::execution::{Core, Execution};
use crate::runtime::identity::Object;
use crate::step::{End, Run};
use crate::trace::{NoteKind, Site};

/// The drop of a value.
#[derive(Clone, Copy, Default)]
pub(super) struct Dropping {
    /// The value, if there is a note that its last reference is gone.
    noted: Option<LocId>,
    /// The type of the value in whose destructor the thread is besides.
    within: Option<&'static str>,
}

impl Execution {
    /// The running thread drops a reference. Where it is alone, all that others did has happened before.
    pub(super) fn drops_reference(&self, object: Object<'_>, type_name: &'static str, last: bool, site: Site) {
        if self.unwinding.get() {
            return;
        }
        let (me, mut core) = (self.running.get(), self.core.borrow_mut());
        if core.machine.is_alone(me) {
            return;
        }
        let loc = match core.find(object.tag) {
            Some(loc) => loc,
            None => {
                drop(core);
                let loc = self.locate(object, || 0, site);
                core = self.core.borrow_mut();
                loc
            }
        };
        core.machine.note(me, NoteKind::ArcRelease(loc), site);
        if last {
            core.machine.note(me, NoteKind::ArcAcquire(loc), site);
            core.births.has_fence = true;
        }
        core.births.drops.push(Dropped { value: loc, type_name, last });
    }

    /// The running thread begins to drop a value of this type, since it has just dropped the last reference.
    pub(super) fn begins_to_drop(&self, object: Object<'_>, type_name: &'static str) -> Dropping {
        let me = self.running.get();
        let core = &mut *self.core.borrow_mut();
        let last = core.births.drops.last().filter(|drop| drop.last && core.find(object.tag) == Some(drop.value));
        let noted = last.map(|drop| drop.value);
        Dropping { noted, within: core.fibers[me].dropping.replace(type_name) }
    }

    /// The running thread has dropped the value.
    pub(super) fn has_dropped(&self, Dropping { noted, within }: Dropping) {
        let me = self.running.get();
        let core = &mut *self.core.borrow_mut();
        core.fibers[me].dropping = within;
        if let Some(value) = noted.filter(|_| !self.unwinding.get()) {
            core.machine.note(me, NoteKind::ArcGone(value), Site::Unknown);
        }
    }

    /// Whether the program observes, in an execution that is over, in which order references to a value were dropped.
    /// Then it does not count: it is run again with the counts of that type as steps.
    pub(super) fn sees_drops(&self, run: &mut Run) -> bool {
        let Ok(mut core) = self.core.try_borrow_mut() else { return false };
        let core = &mut *core;
        if core.births.drops.is_empty() || !core.births.has_fence || self.broken.get() || !run.is_maximal() {
            return false;
        }
        let seen = observed_drops(&run.trace, run.model.is_graph());
        for drop in core.births.drops.iter().filter(|drop| seen.contains(&drop.value)) {
            core.observed.note_counts_of(drop.type_name);
        }
        if !seen.is_empty() {
            run.observed.clone_from(&core.observed);
            run.end = End::Learned;
        }
        !seen.is_empty()
    }
}

impl Core {
    /// Notes that the program observes how many references there are to a value behind an `Arc` of this type. If
    /// another thread could change that at this moment, the execution ends: it is run again with their counting as
    /// steps.
    pub(super) fn see_counts(&mut self, me: ThreadId, type_name: &'static str) {
        if !self.observed.has_counts_of(type_name) && !self.machine.is_alone(me) {
            self.observed.learned.note_counts_of(type_name);
            self.machine.give_up();
        }
    }

    /// A thread performs a visible operation. If that is in the destructor of a value, the thread that drops the last
    /// reference performs it, so the counts are observed.
    #[inline]
    pub(super) fn see_destructor(&mut self, me: ThreadId) {
        if let Some(type_name) = self.fibers[me].dropping {
            self.see_counts(me, type_name);
        }
    }
}
