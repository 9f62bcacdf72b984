//! Memory that a thread gets again.
//!
//! Problem. Where each allocation has an address of its own, a compare-exchange never takes a new node for an old one
//! (ABA).
//!
//! Method. A thread keeps what it frees, by size. When it allocates, it gets the block of that size that it freed last.
//! So the place of a block still depends on nothing but what its thread did.
//!
//! Limits. A thread does not get memory that another one has freed, nor memory that was allocated for another size or
//! alignment.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::runtime::arena::{Inner, outside};
use crate::runtime::blocks::Block;

/// The memory that threads may get again.
#[derive(Default)]
pub(super) struct Again {
    is_wanted: bool,
    /// By thread and size: the places of blocks in the piece, the last that was freed last.
    freed: BTreeMap<(usize, usize), Vec<usize>>,
}

impl Again {
    pub(super) fn want(&mut self, on: bool) {
        self.is_wanted = on;
    }

    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    pub(super) fn clear(&mut self) {
        self.freed.clear();
    }

    /// A number for the order in which memory will be handed out.
    pub(super) fn number(&self) -> u64 {
        let mut hasher = FxHasher::default();
        if self.is_wanted {
            self.freed.hash(&mut hasher);
        }
        hasher.finish()
    }
}

impl Inner {
    /// Keeps a block that the thread that runs has freed.
    pub(super) fn keep(&mut self, block: Block, bytes: usize) {
        let _ours = outside();
        let place = block.start() - self.start;
        self.again.freed.entry((self.thread, bytes)).or_default().push(place);
    }

    /// The block of this size that the thread that runs freed last.
    pub(super) fn allocate_again(&mut self, layout: Layout) -> Option<*mut u8> {
        let freed = self.again.freed.get_mut(&(self.thread, layout.size()))?;
        let start = self.start + freed.pop_if(|place| (self.start + *place) & (layout.align() - 1) == 0)?;
        // SAFETY: a block begins there.
        unsafe { Block::at(start) }.lives();
        self.piece.has_one_more();
        Some(std::ptr::with_exposed_provenance_mut(start))
    }
}
