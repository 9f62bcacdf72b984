//! Memory that may be lost in the end, since cells have pointed to it (`leaks`).
//!
//! What a cell holds is looked at when it is read, and after it was written: before, it may hold anything.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::base::LocId;
use crate::runtime::memcheck;

/// The largest number of executions of a check that are looked at because they leave memory in use.
pub(super) const LOOKS: u32 = 64;

/// The largest number of words of a cell that are looked at.
const WORDS: usize = 64;

/// The memory to which cells have pointed.
#[derive(Default)]
pub(super) struct Candidates {
    /// The number of executions of the check in which lost memory was looked for.
    pub(super) looks: u32,
    /// The places in the arena to which cells have pointed in the execution, with the last cell that did.
    pub(super) by_cells: FxHashMap<usize, LocId>,
}

/// The words of what a cell holds, or will hold.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    start: *const usize,
    words: usize,
}

impl Contents {
    /// Those of an atomic, or of a cell that is not known.
    pub const NONE: Self = Self { start: std::ptr::null(), words: 0 };

    /// The words of a value; none if it is too large to be looked at.
    #[inline]
    pub fn of<T: ?Sized>(value: *const T, bytes: usize) -> Self {
        let start = value.cast::<u8>();
        let skipped = start.align_offset(align_of::<usize>());
        let words = bytes.saturating_sub(skipped) / size_of::<usize>();
        if words > WORDS {
            return Self::NONE;
        }
        Self { start: start.wrapping_add(skipped).cast(), words }
    }
}

impl Candidates {
    /// Notes to which places in this memory a cell points.
    #[inline]
    pub(super) fn look_into(&mut self, memory: impl FnOnce() -> Range<usize>, cell: LocId, contents: Contents) {
        if contents.words > 0 && self.looks < LOOKS {
            self.look(&memory(), cell, contents);
        }
    }

    #[inline(never)]
    fn look(&mut self, memory: &Range<usize>, cell: LocId, contents: Contents) {
        if memory.is_empty() {
            return; // Nothing is allocated here, so that a cell whose memory was freed may not be there any more.
        }
        for at in 0..contents.words {
            // SAFETY: the caller has the value, or had it, and the memory of a check stays mapped. Where it was never
            // written, anything may come out: a word that looks like a pointer is one more candidate, no more. The
            // function is not inlined, so nobody knows that.
            let word = memcheck::defined(unsafe { contents.start.add(at).read_volatile() });
            if memory.contains(&word) {
                self.by_cells.insert(word - memory.start, cell);
            }
        }
    }
}
