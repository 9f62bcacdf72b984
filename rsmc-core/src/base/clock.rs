//! Vector clocks: how much of every thread is known to have happened.

use crate::base::{Id, ThreadId};

/// For every thread, how many of its steps happen before a point. Missing entries are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorClock {
    entries: Vec<u32>,
}

impl VectorClock {
    /// The clock of a point before everything.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// How many steps of `thread` are known.
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.entries.get(thread.index()).copied().unwrap_or(0)
    }

    /// Counts one more step of `thread`, and returns how many there are now.
    pub fn tick(&mut self, thread: ThreadId) -> u32 {
        if self.entries.len() <= thread.index() {
            self.entries.resize(thread.index() + 1, 0);
        }
        self.entries[thread.index()] += 1;
        self.entries[thread.index()]
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &VectorClock) {
        if self.entries.len() < other.entries.len() {
            self.entries.resize(other.entries.len(), 0);
        }
        for (mine, theirs) in self.entries.iter_mut().zip(&other.entries) {
            *mine = (*mine).max(*theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_takes_the_maximum() {
        let (mut a, mut b) = (VectorClock::new(), VectorClock::new());
        a.tick(ThreadId(0));
        b.tick(ThreadId(2));
        b.tick(ThreadId(2));
        a.join(&b);
        assert_eq!([0, 1, 2, 9].map(|t| a.get(ThreadId(t))), [1, 0, 2, 0]);
    }
}
