//! Thread names that survive a reordering: a thread is the k-th spawn of its parent.

use crate::base::{Id, ThreadId};

/// Gives every spawn path an id, the same one in every execution of an exploration.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// By thread: its spawns. [`ThreadId::MAIN`], which no thread spawns, stands for a spawn without an id.
    children: Vec<Vec<ThreadId>>,
    /// The threads that have an id, from 1 on.
    known: Vec<(ThreadId, u32)>,
}

impl Names {
    /// The threads that have an id, from 1 on.
    pub(super) fn known(&self) -> Vec<(ThreadId, u32)> {
        self.known.clone()
    }

    /// Gives these threads the ids from 1 on, and no others.
    pub(super) fn know(&mut self, threads: &[(ThreadId, u32)]) {
        *self = Self::default();
        for &(parent, nth) in threads {
            self.child(parent, nth);
        }
    }

    /// The id of the `nth` thread that `parent` spawns.
    #[inline]
    pub(super) fn child(&mut self, parent: ThreadId, nth: u32) -> ThreadId {
        let known = self.children.get(parent.index()).and_then(|own| own.get(nth as usize));
        match known {
            Some(&id) if id != ThreadId::MAIN => id,
            _ => self.name(parent, nth),
        }
    }

    #[cold]
    fn name(&mut self, parent: ThreadId, nth: u32) -> ThreadId {
        self.known.push((parent, nth));
        let id = ThreadId(self.known.len() as u32);
        let parents = self.children.len().max(parent.index() + 1);
        self.children.resize_with(parents, Vec::new);
        let own = &mut self.children[parent.index()];
        own.resize(own.len().max(nth as usize + 1), ThreadId::MAIN);
        own[nth as usize] = id;
        id
    }
}
