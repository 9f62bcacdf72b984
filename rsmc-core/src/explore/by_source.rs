//! Reads that count by their source in explorers that otherwise compare executions by values.
//!
//! Values do not tell all sources apart. A lock is taken from a release, an address comes from the thread that stored
//! it, and a choice has no source. Once two threads have accessed one tracked cell, it also matters which write a read
//! synchronises with: that decides whether there is a data race. Where a thread frees memory that another one has used,
//! it matters what each read knew: that decides whether the use may come too late.

use rustc_hash::FxHashMap;

use crate::base::{LocId, ThreadId};
use crate::model::c11::acquires;
use crate::step::Run;
use crate::trace::{Action, Effect, LocInfo, Note, NoteKind, Op};

/// The reads that count by their source, the fewest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BySource {
    /// Lock operations, and addresses.
    #[default]
    Locks,
    /// Also reads that acquire, and updates, which carry on what earlier writes released: a cell is shared.
    Acquires,
    /// All: there are acquire fences as well, which make every read before them acquire; or a thread frees what another
    /// one uses.
    All,
}

impl BySource {
    /// The reads that count by their source in a run.
    pub(super) fn of(run: &Run) -> Self {
        let notes = &run.trace.notes;
        let mut cells: FxHashMap<LocId, ThreadId> = FxHashMap::default();
        // What a thread knew when it freed memory depends on all of its reads.
        if run.trace.frees_what_others_use() {
            return BySource::All;
        }
        let is_shared = notes.iter().any(|note| match note.kind {
            NoteKind::CellRead(cell) | NoteKind::CellWrite(cell) => {
                *cells.entry(cell).or_insert(note.thread) != note.thread
            }
            _ => false,
        }) || run.trace.events.iter().any(|event| {
            // An atomic that is accessed like a cell.
            cells.get(&event.op.loc).is_some_and(|&thread| thread != event.id.thread)
        });
        let fence = |note: &Note| matches!(note.kind, NoteKind::Fence(order) if acquires(order));
        match is_shared {
            false => BySource::Locks,
            true if notes.iter().any(fence) => BySource::All,
            true => BySource::Acquires,
        }
    }

    /// Whether an operation counts by its source where it reads this value.
    pub(super) fn counts(self, op: &Op, loc: &LocInfo, value: u64) -> bool {
        let effect = op.action.effect(value);
        op.action.locks()
            || matches!(op.action, Action::Choose { .. })
            || (loc.kind == "AtomicPtr" && value != 0)
            || ADDRESSES.contains(&value)
            || match self {
                BySource::Locks => false,
                BySource::Acquires => {
                    acquires(op.effective_order(effect.written().is_some())) || matches!(effect, Effect::Update(_))
                }
                BySource::All => true,
            }
    }
}

/// Values that look like addresses differ from run to run, whatever the type of the atomic that holds them.
const ADDRESSES: std::ops::Range<u64> = 1 << 32..1 << 48;
