//! The way in which an execution finds the location of an object, and notices that the object has moved or that its
//! memory was freed.

use crate::base::{LocId, ThreadId};
use crate::runtime::execution::{Core, Execution};
use crate::runtime::identity::Object;
use crate::runtime::locations::Tag;
use crate::trace::{LocInfo, Making, Site};

impl Execution {
    #[inline]
    pub(super) fn locate(&self, object: Object<'_>, init: impl FnOnce() -> u64, site: Site) -> LocId {
        let known = self.core.borrow().find(object.tag);
        known.unwrap_or_else(|| self.locate_new(object, init, site))
    }

    #[inline(never)]
    fn locate_new(&self, object: Object<'_>, init: impl FnOnce() -> u64, site: Site) -> LocId {
        let core = &mut *self.core.borrow_mut();
        let me = self.running.get();
        if let Some(loc) = core.locations.find_freed(object.tag) {
            core.uses_freed(me, loc, site, Some(object.tag));
            return loc;
        }
        let address = std::ptr::from_ref(object.tag).addr();
        if let Some(loc) = core.locations.find(object.tag) {
            let before = std::mem::replace(&mut core.places[loc], !address);
            core.arena.moves(loc, !before, address);
            return loc;
        }
        // The object is going to say in which execution it is: that is no change by the thread.
        if core.machine.remembers(me) {
            core.catch_up(me);
        }
        let loc = core.create(object, || self.heap.addresses.get().exchange(init()), site, me);
        if core.machine.remembers(me) {
            core.pass_over(me);
        }
        if core.arena.is_freed(address) {
            core.uses_freed(me, loc, site, Some(object.tag));
        }
        loc
    }
}

impl Core {
    /// The location of an object, if the execution has met it where it is.
    #[inline]
    pub(super) fn find(&self, tag: &Tag) -> Option<LocId> {
        let loc = self.locations.find(tag)?;
        (self.places.get(loc) == Some(&!std::ptr::from_ref(tag).addr())).then_some(loc)
    }

    /// The running thread comes to an operation or a fence, or starts a thread.
    #[inline]
    pub(super) fn marks_memory(&mut self, me: ThreadId) {
        if self.arena.has_made_some() {
            let fences = self.births.has_fence;
            self.arena.mark(self.machine.done(me, fences));
        }
    }

    fn create(&mut self, object: Object<'_>, init: impl FnOnce() -> u64, site: Site, me: ThreadId) -> LocId {
        let Self { locations, machine, arena, places, births, .. } = self;
        let before = locations.find_renewed(object.tag);
        locations.resolve(object.tag, || {
            let created = object.created.map_or(site, Site::Code);
            let address = std::ptr::from_ref(object.tag).addr();
            let loc = machine.add_location(LocInfo { kind: object.kind, created, init: init(), address });
            places.grow_to(loc, || 0);
            places[loc] = !address;
            if let Some(before) = before {
                let trace = machine.trace_mut();
                trace.renewed.push((loc, trace.object_at(before)));
            }
            arena.meets(loc, address);
            if is_written_when_made(object.kind)
                && let Some((thread, done)) = arena.made(address, || machine.done(me, births.has_fence))
                && (thread != ThreadId::MAIN || done.spawns > 0)
            {
                machine.trace_mut().made.push(Making { loc, thread, done });
            }
            loc
        })
    }
}

/// Whether the making of an object of this type is a write that others must not race with: it is an object of the
/// program, and none of ours.
fn is_written_when_made(kind: &str) -> bool {
    kind.starts_with("Atomic") || kind.ends_with("Cell") || kind == "Mutex"
}
