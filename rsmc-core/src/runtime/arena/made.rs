//! The time at which a thread made a block: what it had done until then.
//!
//! Problem. An object is written when it is made, and `const` constructors say nothing of that. A thread that finds a
//! new object through a pointer that was published without `Release` races with that write.
//!
//! Method. Blocks of a thread lie one behind the other, so a block was made after those before it. When a thread comes
//! to an operation or a fence, or starts another thread, a mark says how far its blocks reach and what it has done. An
//! object was made after the mark before its block.
//!
//! Cost. One comparison for each operation, and a mark where there are new blocks. A thread stops nowhere without one.
//!
//! Limits. Only blocks in the small areas have a time. An object that was made in a block of another thread counts as
//! made when the block was.

use crate::base::{Id, ThreadId};
use crate::runtime::arena::{Arena, Inner, LEVELS};
use crate::trace::Done;

/// The marks of an execution.
#[derive(Default)]
pub(super) struct Made {
    /// By thread: the places up to which its blocks reach, each with what the thread had done before.
    marks: Vec<Vec<(u32, Done)>>,
    /// The place up to which the main thread's blocks reach from before it started a thread. All know of these.
    early: u32,
}

impl Made {
    pub(super) fn clear(&mut self) {
        self.marks.iter_mut().for_each(Vec::clear);
        self.early = 0;
    }
}

impl Inner {
    /// The number of the running thread's small area, unless threads share it.
    fn own_area(&self) -> Option<usize> {
        (self.thread < LEVELS[0].count).then_some(self.thread)
    }
}

impl Arena {
    /// Whether the running thread has made blocks since its last mark.
    #[inline]
    pub(in crate::runtime) fn has_made_some(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.is_unmarked)
    }

    /// Marks how far the blocks of the running thread reach, which has done this.
    #[cold]
    pub(in crate::runtime) fn mark(&mut self, done: Done) {
        let Some(inner) = &mut self.0 else { return };
        inner.is_unmarked = false;
        let Some(number) = inner.own_area() else { return };
        let (next, Made { marks, early }) = (inner.areas[number].next, &mut inner.made);
        if number == ThreadId::MAIN.index() && done.spawns == 0 {
            *early = next;
            return;
        }
        if marks.len() <= number {
            marks.resize_with(number + 1, Vec::new);
        }
        marks[number].push((next, done));
    }

    /// The thread that made the block at an address, and what it had done, if it was not the main thread before it
    /// started another one. `running` says what the running thread has done, which has not marked its last blocks.
    pub(in crate::runtime) fn made(&self, address: usize, running: impl FnOnce() -> Done) -> Option<(ThreadId, Done)> {
        let inner = self.0.as_ref().filter(|inner| inner.has_there(address))?;
        let place = (address - inner.start) as u32;
        let number = place as usize / LEVELS[0].bytes;
        let area = inner.areas.get(number).filter(|_| number < LEVELS[0].count)?;
        let is_early = number == ThreadId::MAIN.index() && place < inner.made.early;
        if is_early || !(area.from..area.next).contains(&place) {
            return None;
        }
        let marks = inner.made.marks.get(number).map_or(&[][..], |marks| marks);
        let marked = marks.get(marks.partition_point(|&(next, _)| next <= place)).map(|&(_, done)| done);
        let done = marked.or_else(|| (number == inner.thread).then(running))?;
        Some((ThreadId::from_index(number), done))
    }
}
