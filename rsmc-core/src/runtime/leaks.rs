//! Memory that will never be freed, since nothing points to it any more.
//!
//! Problem. A node that was taken out of a structure without locks, and not freed, is lost. Memory that is in use when
//! an execution is over need not be lost: a static may know it, or what the body captured.
//!
//! Method. Candidates are blocks of the execution that an atomic or a cell has pointed to: a cell when it was read, or
//! after it was written (`candidates`). They are lost unless something leads to them: statics, the variables of the
//! check's caller, blocks of earlier executions, an atomic elsewhere by its last value, a cell elsewhere, or a block
//! that is known itself, by what it holds and by the last values of the atomics in it ([`reclaim`]).
//! All places count from the beginning of the piece: what is written down here must not look like a pointer.
//!
//! Cost. Nothing where all is freed. Otherwise the memory of the process is looked through, in [`LOOKS`] executions of
//! a check at most.
//!
//! Limits. Only blocks of the check's allocator, and where the system shows the memory (Linux). What is known only to
//! memory of the system's heap from before the check, or to a thread-local of std, is taken for lost. A word that only
//! looks like a pointer makes a block known, and so does the first value of an atomic, which stays in its memory. A
//! block that no atomic or cell has pointed to is not looked for: with `Box::leak` a test makes something static, and
//! means it. Nor is one to which only a cell of more than 64 words has pointed, or one that was written through
//! a pointer which does not borrow the cell.

use std::ops::Range;

use crate::base::LocId;
use crate::runtime::candidates::LOOKS;
use crate::runtime::execution::Core;
use crate::runtime::pieces::place_of;
use crate::runtime::reclaim::{self, Search};
use crate::step::{Leak, Leaked, Run};
use crate::trace::Trace;

impl Core {
    /// The memory that the execution, which is over, has lost.
    pub(super) fn lost(&mut self, run: &Run, stacks: Vec<Range<usize>>, caller: usize) -> Vec<Leak> {
        if self.candidates.looks == LOOKS {
            return Vec::new();
        }
        let (blocks, mut pointers) = (self.arena.alive(), pointers(&run.trace));
        pointers.extend(self.candidates.by_cells.iter().map(|(&place, &cell)| (place, cell)));
        let pointer_to =
            |block: &Range<usize>| pointers.iter().find(|(place, _)| block.contains(place)).map(|&(_, loc)| loc);
        let candidates: Vec<Option<LocId>> = blocks.iter().map(pointer_to).collect();
        if candidates.iter().all(Option::is_none) {
            return Vec::new();
        }
        self.candidates.looks += 1;
        let machine = &self.machine;
        let objects: Vec<(usize, LocId)> = self.arena.objects().collect();
        let inside = |block: &Range<usize>| {
            let [from, to] = [block.start, block.end].map(|at| objects.partition_point(|&(place, _)| place < at));
            objects[from..to].iter()
        };
        let value = |loc: LocId| place_of(machine.value_at_end(loc));
        // The memory of a cell elsewhere may not be there any more.
        let pointed_by = |cell: LocId| {
            self.candidates.by_cells.iter().filter(move |(_, other)| **other == cell).map(|(&place, _)| place)
        };
        let mut own = stacks;
        own.push(self.arena.memory());
        let elsewhere = self.places.iter().filter(|(_, place)| !own.iter().any(|memory| memory.contains(&!**place)));
        let search = Search {
            start: self.arena.memory().start,
            known: elsewhere.flat_map(|(loc, _)| value(loc).into_iter().chain(pointed_by(loc))).collect(),
            leads_to: &|block| inside(block).filter_map(|&(_, loc)| value(loc)).collect(),
            blocks,
            caller,
        };
        let Some(known) = reclaim::known(&search) else { return Vec::new() };
        let lost = search.blocks.iter().zip(candidates).zip(known).filter(|(_, known)| !known);
        let leak = |((block, pointer), _): ((&Range<usize>, Option<LocId>), bool)| {
            let pointer = pointer?;
            let (loc, what) = match inside(block).next() {
                Some(&(_, loc)) => (loc, Leaked::MemoryOf),
                None => (pointer, Leaked::MemoryBehind),
            };
            let info = &run.trace.locs[loc];
            Some(Leak { kind: info.kind, created: info.created, what, held: Vec::new() })
        };
        lost.filter_map(leak).collect()
    }
}

/// The places to which atomics have pointed, and the atomics.
fn pointers(trace: &Trace) -> Vec<(usize, LocId)> {
    let first = trace.locs.iter().map(|(loc, info)| (info.init, loc));
    let written = trace.events.iter().filter_map(|event| Some((event.written?, event.op.loc)));
    first.chain(written).filter_map(|(value, loc)| Some((place_of(value)?, loc))).collect()
}
