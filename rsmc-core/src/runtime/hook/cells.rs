//! Accesses to tracked cells.

use std::panic::Location;

use crate::base::LocId;
use crate::machine::Begun;
use crate::runtime::hook::enter::{enter, here, meet};
use crate::runtime::identity::Object;
use crate::trace::NoteKind;

/// Access to a tracked cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellAccess {
    /// A read.
    Read,
    /// A write.
    Write,
}

impl CellAccess {
    fn note(self, cell: LocId) -> NoteKind {
        match self {
            CellAccess::Read => NoteKind::CellRead(cell),
            CellAccess::Write => NoteKind::CellWrite(cell),
        }
    }
}

/// An access to a tracked cell. No scheduling point: races are found by happens-before.
#[inline]
#[track_caller]
pub fn cell(object: Object<'_>, access: CellAccess) {
    record(object, || 0, access);
}

/// As [`cell`], for an object that has the value `init` outside executions.
#[inline]
#[track_caller]
pub(super) fn record(object: Object<'_>, init: impl FnOnce() -> u64, access: CellAccess) {
    let site = here();
    meet(Location::caller(), object, |execution| {
        if execution.unwinding.get() {
            return;
        }
        execution.comes_to_cell();
        let loc = execution.locate(object, init, site);
        execution.core.borrow_mut().machine.access(execution.running.get(), access.note(loc), site);
    });
}

/// As [`cell`], for an access that lasts until [`cell_ends`]. `None` where no check sees it.
#[inline]
#[track_caller]
pub fn cell_begins(object: Object<'_>, access: CellAccess) -> Option<Begun> {
    let site = here();
    let begun = meet(Location::caller(), object, |execution| {
        if execution.unwinding.get() {
            return None;
        }
        execution.comes_to_cell();
        let loc = execution.locate(object, || 0, site);
        execution.core.borrow_mut().machine.access_begins(execution.running.get(), access.note(loc), site)
    });
    begun.flatten()
}

/// Ends an access of a cell.
pub fn cell_ends(begun: Begun) {
    ends(begun, |_| false);
}

/// Ends an access of a cell that was last used when the thread had performed so many operations ([`operations`]). If it
/// has performed others since, the access ended with the last of them, which may release it.
pub fn cell_was_left(begun: Begun, used: u32) {
    ends(begun, |operations| operations > used);
}

fn ends(begun: Begun, early: impl FnOnce(u32) -> bool) {
    enter(|execution| {
        if !execution.unwinding.get() {
            let (thread, machine) = (execution.running.get(), &mut execution.core.borrow_mut().machine);
            let early = early(machine.run().trace.count(thread));
            machine.access_ends(thread, begun, early);
        }
    });
}

/// The number of operations that the running thread has performed; 0 outside executions.
pub fn operations() -> u32 {
    enter(|execution| execution.core.borrow().machine.run().trace.count(execution.running.get())).unwrap_or(0)
}
