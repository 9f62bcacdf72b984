//! The memory of a check from one execution to the next.

use std::ops::Range;

use crate::runtime::execution::{Core, Execution};
use crate::runtime::reclaim::Between;
use crate::runtime::{pieces, reclaim};

impl Core {
    /// Begins an execution in the arena, with memory in which nothing is in use. `stacks` are those of its threads.
    pub(super) fn begin_arena(&mut self, stacks: impl FnOnce() -> Vec<Range<usize>>) {
        self.arena.stay(self.observed.has_whole_addresses());
        if self.arena.is_to_stay() {
            if let Some(piece) = self.arena.was_left_here() {
                reclaim::collect_between(&Between { piece, stacks: &stacks() });
            }
            return self.arena.begin_here();
        }
        if pieces::is_much_left() {
            reclaim::collect();
        }
        if !self.arena.begin() {
            if pieces::is_something_left() {
                reclaim::collect();
            }
            self.arena.begin_anyhow();
        }
    }
}

impl Execution {
    /// Gives later executions the same addresses; false if it cannot, or does so already.
    pub(super) fn keep_addresses(&self) -> bool {
        let Ok(mut core) = self.core.try_borrow_mut() else { return false };
        let could = !self.broken.get() && core.arena.could_stay();
        if could {
            core.observed.note_whole_addresses();
        }
        could
    }
}
