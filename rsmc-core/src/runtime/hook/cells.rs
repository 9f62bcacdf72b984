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
    enter(|execution| {
        if !execution.unwinding.get() {
            execution.core.borrow_mut().machine.access_ends(execution.running.get(), begun);
        }
    });
}
