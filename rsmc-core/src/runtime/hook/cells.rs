//! Accesses to tracked cells.

use std::panic::Location;

use crate::base::{LocId, ThreadId};
use crate::machine::Begun;
use crate::runtime::execution::Core;
use crate::runtime::hook::enter::{enter, here, meet};
use crate::runtime::identity::Object;
use crate::trace::NoteKind;

pub use crate::runtime::candidates::Contents;

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

/// An access to a tracked cell, which holds the contents, or will hold them after it. No scheduling point: races are
/// found by happens-before.
#[inline]
#[track_caller]
pub fn cell(object: Object<'_>, access: CellAccess, contents: Contents) {
    record(object, || 0, access, contents);
}

/// As [`cell`], for an object that has the value `init` outside executions.
#[inline]
#[track_caller]
pub(super) fn record(object: Object<'_>, init: impl FnOnce() -> u64, access: CellAccess, contents: Contents) {
    let site = here();
    meet(Location::caller(), object, |execution| {
        if execution.unwinding.get() {
            return;
        }
        execution.comes_to_cell();
        let loc = execution.locate(object, init, site);
        let core = &mut *execution.core.borrow_mut();
        core.machine.access(execution.running.get(), access.note(loc), site);
        core.candidates.look_into(|| core.arena.memory(), loc, contents);
    });
}

/// As [`cell`], for an access that lasts until [`cell_ends`]. `None` where no check sees it. A cell that is read holds
/// the contents.
#[inline]
#[track_caller]
pub fn cell_begins(object: Object<'_>, access: CellAccess, contents: Contents) -> Option<Begun> {
    let site = here();
    let begun = meet(Location::caller(), object, |execution| {
        if execution.unwinding.get() {
            return None;
        }
        execution.comes_to_cell();
        let loc = execution.locate(object, || 0, site);
        let core = &mut *execution.core.borrow_mut();
        if access == CellAccess::Read {
            core.candidates.look_into(|| core.arena.memory(), loc, contents);
        }
        core.machine.access_begins(execution.running.get(), access.note(loc), site)
    });
    begun.flatten()
}

/// Ends an access of a cell, which holds the contents.
pub fn cell_ends(begun: Begun, contents: Contents) {
    with_access(|core, thread| {
        if let Some(NoteKind::CellWrite(loc)) = core.machine.access_ends(thread, begun, false) {
            core.candidates.look_into(|| core.arena.memory(), loc, contents);
        }
    });
}

/// Notes that what is accessed is used now.
pub fn cell_is_used(begun: Begun) {
    with_access(|core, thread| core.machine.access_is_used(thread, begun));
}

/// Ends an access of a cell, which may have ended with the last operation of its thread. It has if the thread has
/// performed operations since the access was last used ([`cell_is_used`]).
pub fn cell_was_left(begun: Begun) {
    with_access(|core, thread| {
        core.machine.access_ends(thread, begun, true);
    });
}

fn with_access(note: impl FnOnce(&mut Core, ThreadId)) {
    enter(|execution| {
        if !execution.unwinding.get() {
            note(&mut execution.core.borrow_mut(), execution.running.get());
        }
    });
}
