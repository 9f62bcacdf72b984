//! Thread names that survive a reordering: a thread is the k-th spawn of its parent.

use rustc_hash::FxHashMap;

use crate::base::ThreadId;

/// Gives every spawn path an id, the same one in every execution of an exploration.
#[derive(Clone, Debug)]
pub(super) struct Names {
    ids: FxHashMap<(ThreadId, u32), ThreadId>,
    next: u32,
}

impl Names {
    pub(super) fn new() -> Self {
        Self { ids: FxHashMap::default(), next: 1 }
    }

    /// The threads that have an id, from 1 on.
    pub(super) fn known(&self) -> Vec<(ThreadId, u32)> {
        let mut known: Vec<_> = self.ids.iter().map(|(&child, &id)| (id, child)).collect();
        known.sort_unstable();
        known.into_iter().map(|(_, child)| child).collect()
    }

    /// Gives these threads the ids from 1 on, and no others.
    pub(super) fn know(&mut self, threads: &[(ThreadId, u32)]) {
        *self = Self::new();
        for &(parent, nth) in threads {
            self.child(parent, nth);
        }
    }

    /// The id of the `nth` thread that `parent` spawns.
    pub(super) fn child(&mut self, parent: ThreadId, nth: u32) -> ThreadId {
        let next = &mut self.next;
        *self.ids.entry((parent, nth)).or_insert_with(|| {
            let id = ThreadId(*next);
            *next += 1;
            id
        })
    }
}
