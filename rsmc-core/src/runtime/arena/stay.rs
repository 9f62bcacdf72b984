//! Executions that stay in one piece of memory.
//!
//! Problem. Where an execution leaves memory in use, the next one has another piece. Names take that out of the values
//! of atomics (`pieces`), but not out of what code computes from whole addresses: a table that hashes pointers has
//! other buckets then, and a schedule does not repeat.
//!
//! Method. A check of which a schedule does not repeat starts again, and stays in one piece: the first, which is at the
//! same address in every process (`heap`). Before an execution, what threads were left with is taken back if nothing
//! leads to it (`reclaim`). What is still in use keeps its place, and areas are filled as if it were not there. A block
//! whose place is taken lies aside, in an area where no place serves twice.
//!
//! Cost. After an execution that left threads the memory of the process is looked through: milliseconds.
//!
//! Limits. A difference that no schedule shows is not noticed: an operation on another object, at the same line and
//! with the same value. A block that lies aside has another address in every execution. One check at a time has the
//! first piece; a second one stays in another, and its seeds may be stale in a process where that is not so.

use std::ops::Range;

use crate::runtime::arena::{ASIDE, Arena, Inner, LEVELS, empty_areas, up_to};
use crate::runtime::blocks::{Block, Header};
use crate::runtime::pieces::Piece;

/// The state of a check that stays in its piece. Nothing here looks like a pointer: places count from the beginning
/// of the piece.
#[derive(Default)]
pub(super) struct Stay {
    is_wanted: bool,
    has_begun: bool,
    /// Only the piece knows where its last block is.
    is_noted: bool,
    /// The blocks from before this execution, headers included, that were in use when it began and do not lie aside; in
    /// ascending order.
    kept: Vec<Range<usize>>,
    /// The header of the last block from before this execution that lies aside.
    aside: Option<usize>,
}

impl Stay {
    #[inline]
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether a block from before this execution is there.
    #[inline]
    pub(super) fn is_taken(&self, places: Range<usize>) -> bool {
        !self.kept.is_empty() && self.overlaps(&places)
    }

    #[cold]
    fn overlaps(&self, places: &Range<usize>) -> bool {
        let behind = self.kept.partition_point(|block| block.start < places.end);
        self.kept[..behind].last().is_some_and(|block| block.end > places.start)
    }
}

impl Arena {
    /// Whether executions from the next one on stay in one piece.
    pub(in crate::runtime) fn stay(&mut self, on: bool) {
        if let Some(inner) = &mut self.0 {
            inner.stay.is_wanted = on;
        }
    }

    /// Whether they can, and do not yet.
    pub(in crate::runtime) fn could_stay(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| !inner.stay.is_wanted)
    }

    /// Whether they do.
    pub(in crate::runtime) fn is_to_stay(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.stay.is_wanted)
    }

    /// Where the last execution has left threads: the number of the piece, in which the memory that nothing leads to
    /// can be taken back before the next one begins. The piece notes where its last block is, and nothing else leads
    /// there.
    pub(in crate::runtime) fn was_left_here(&mut self) -> Option<usize> {
        let inner = self.0.as_mut()?;
        if !std::mem::replace(&mut inner.stay.has_begun, true) {
            inner.begin_to_stay();
        }
        if !inner.own().any(Block::is_left) {
            return None;
        }
        inner.piece.ends_with(std::mem::take(&mut inner.last));
        inner.stay.is_noted = true;
        Some(inner.piece.number())
    }

    /// Begins an execution in the piece of the one before.
    pub(in crate::runtime) fn begin_here(&mut self) {
        if let Some(inner) = &mut self.0 {
            inner.begin_here();
        }
    }
}

impl Inner {
    pub(super) fn begin_here(&mut self) {
        self.forget();
        if std::mem::take(&mut self.stay.is_noted) {
            self.last = self.piece.last();
        }
        self.keep_what_is_in_use();
        for number in self.take_used() {
            self.areas[number].next = self.areas[number].from;
        }
    }

    /// Notes which blocks are in use, and puts them behind all that the execution will make in the list of the piece.
    fn keep_what_is_in_use(&mut self) {
        let start = self.start;
        let in_use = |block: &Block| !block.is_dead();
        // SAFETY: the places are those of blocks which were in use when the last execution began, and no block is made
        // where one of them is.
        let kept =
            self.stay.kept.drain(..).map(|block| unsafe { Block::at(start + block.start + size_of::<Header>()) });
        let mut kept: Vec<Block> = kept.filter(in_use).collect();
        let own: Vec<Block> = self.own().filter(in_use).collect();
        let mut last = self.stay.aside.map_or(0, |place| start + place);
        let aside = &mut self.areas[LEVELS[ASIDE].first];
        // The last comes first.
        for block in own.into_iter().rev() {
            if block.start() < start + LEVELS[ASIDE].start {
                kept.push(block);
                continue;
            }
            block.comes_after(last);
            last = block.header();
            aside.from = aside.from.max(up_to(block.range().end - start, align_of::<Header>()) as u32);
        }
        aside.next = aside.from;
        self.stay.aside = (last != 0).then(|| last - start);
        kept.sort_unstable_by_key(|block| block.header());
        for block in &kept {
            block.comes_after(last);
            last = block.header();
        }
        self.stay.kept.extend(kept.iter().map(|block| block.header() - start..block.range().end - start));
        (self.last, self.behind) = (last, last);
    }

    /// Changes over to the first piece if no other check has it, where something may be in use.
    fn begin_to_stay(&mut self) {
        self.piece.ends_with(self.last);
        if let Some(first) = Piece::take_first() {
            self.start = first.start();
            self.piece = first;
        }
        self.last = self.piece.last();
        self.behind = 0;
        self.take_used().for_each(drop);
        self.areas = empty_areas();
    }
}
