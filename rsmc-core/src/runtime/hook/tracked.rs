//! Tracked values: their uses and ends.
//!
//! A use is recorded as the read of a cell that nobody writes: it is no step and races with nothing. The end is a use
//! and a note, so that `machine::freed` tries uses by other threads behind it.

use std::panic::Location;

use crate::base::LocId;
use crate::runtime::births::Birth;
use crate::runtime::execution::Execution;
use crate::runtime::hook;
use crate::runtime::hook::enter::{enter, here, meet};
use crate::runtime::identity::Object;
pub use crate::trace::TRACKED as KIND;
use crate::trace::{NoteKind, Site};

/// Notes that a tracked value is used; false if it was dropped before. No scheduling point, and no access that races.
#[track_caller]
pub fn is_used(object: Object<'_>, birth: Birth) -> bool {
    let site = here();
    meet(Location::caller(), object, |execution| execution.uses_tracked(object, birth, site)).unwrap_or(true)
}

/// Notes that a tracked value is taken out; false if it was gone before.
#[track_caller]
pub fn is_taken(object: Object<'_>, birth: Birth) -> bool {
    ends(object, birth, here())
}

/// Notes that a tracked value is dropped; false if it was gone before. A destructor does not know its caller.
pub fn is_dropped(object: Object<'_>, birth: Birth) -> bool {
    ends(object, birth, Site::Unknown)
}

fn ends(object: Object<'_>, birth: Birth, site: Site) -> bool {
    enter(|execution| execution.ends_tracked(object, birth, site));
    hook::counts::died(birth)
}

impl Execution {
    /// Whether the value was created in this execution, and its threads are not unwound.
    fn knows(&self, birth: Birth) -> bool {
        !self.unwinding.get() && self.core.borrow().locations.execution() == birth.execution
    }

    fn uses_tracked(&self, object: Object<'_>, birth: Birth, site: Site) -> bool {
        if !self.knows(birth) {
            return true;
        }
        self.comes_to_cell();
        self.accesses_tracked(object, birth, site).1
    }

    /// The end is a use as well: the value, or the memory in which it is, may have gone before.
    fn ends_tracked(&self, object: Object<'_>, birth: Birth, site: Site) {
        if !self.knows(birth) {
            return;
        }
        let me = self.running.get();
        let makes_no_difference = {
            let core = self.core.borrow();
            core.machine.is_alone(me) && !core.arena.is_watching() && core.births.is_alive(birth)
        };
        if makes_no_difference {
            self.locate(object, || 0, site);
            return;
        }
        self.comes_to_cell();
        if let (loc, true) = self.accesses_tracked(object, birth, site) {
            self.core.borrow_mut().machine.dropped(me, loc);
        }
    }

    /// Notes an access, and whether the value was still there.
    fn accesses_tracked(&self, object: Object<'_>, birth: Birth, site: Site) -> (LocId, bool) {
        let loc = self.locate(object, || 0, site);
        let core = &mut *self.core.borrow_mut();
        let me = self.running.get();
        let is_alive = core.births.is_alive(birth);
        if !is_alive {
            core.uses_freed(me, loc, site, Some(object.tag));
        }
        core.machine.access(me, NoteKind::CellRead(loc), site);
        (loc, is_alive)
    }
}
