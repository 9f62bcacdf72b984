//! Vector clocks: the number of each thread's steps that are known to have happened.

use crate::base::{Id, ThreadId};

/// For every thread, the number of its steps that happen before a point. Missing entries are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorClock {
    entries: Vec<u32>,
}

impl VectorClock {
    /// The clock of a point before everything.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// The number of known steps of `thread`.
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.entries.get(thread.index()).copied().unwrap_or(0)
    }

    /// The threads of which it knows steps, and perhaps others, with their numbers.
    pub fn entries(&self) -> impl Iterator<Item = (ThreadId, u32)> {
        self.entries.iter().enumerate().map(|(thread, &count)| (ThreadId(thread as u32), count))
    }

    /// Counts one more step of `thread`, and returns their number.
    pub fn tick(&mut self, thread: ThreadId) -> u32 {
        if self.entries.len() <= thread.index() {
            self.entries.resize(thread.index() + 1, 0);
        }
        self.entries[thread.index()] += 1;
        self.entries[thread.index()]
    }

    /// Knows no fewer than `count` steps of `thread`.
    pub fn raise(&mut self, thread: ThreadId, count: u32) {
        if self.entries.len() <= thread.index() {
            self.entries.resize(thread.index() + 1, 0);
        }
        let own = &mut self.entries[thread.index()];
        *own = (*own).max(count);
    }

    /// Whether all that `other` knows is known.
    pub fn includes(&self, other: &VectorClock) -> bool {
        other.entries.iter().zip(self.entries.iter().chain(std::iter::repeat(&0))).all(|(theirs, mine)| theirs <= mine)
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

/// Many clocks, each named by a number. They are only added to, so equal knowledge shares a clock. The last entry of a
/// clock is not 0.
#[derive(Clone, Debug)]
pub struct ClockTable {
    entries: Vec<u32>,
    ends: Vec<usize>,
}

/// The number of a clock in its table.
pub type ClockId = u32;

impl Default for ClockTable {
    fn default() -> Self {
        Self { entries: Vec::new(), ends: vec![0] }
    }
}

impl ClockTable {
    /// The clock of a point before everything, in every table.
    pub const NOTHING: ClockId = 0;

    /// Forgets all clocks but the first.
    pub fn clear(&mut self) {
        self.truncate(1);
    }

    /// The number of clocks.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no clock; there always is one.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all clocks after the first `len`, which is not 0.
    pub fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.entries.truncate(self.ends[len - 1]);
    }

    /// The entries of a clock by thread; missing ones are 0.
    pub fn row(&self, clock: ClockId) -> &[u32] {
        &self.entries[self.range(clock)]
    }

    fn range(&self, clock: ClockId) -> std::ops::Range<usize> {
        let start = if clock == 0 { 0 } else { self.ends[clock as usize - 1] };
        start..self.ends[clock as usize]
    }

    /// A clock with one entry raised to `count`.
    pub fn with(&mut self, clock: ClockId, thread: ThreadId, count: u32) -> ClockId {
        let (start, at) = (self.entries.len(), thread.index());
        if self.row(clock).get(at).copied().unwrap_or(0) >= count {
            return clock;
        }
        self.entries.extend_from_within(self.range(clock));
        self.entries.resize(self.entries.len().max(start + at + 1), 0);
        self.entries[start + at] = count;
        self.close()
    }

    /// The clock that knows all that either of them knows.
    pub fn join(&mut self, a: ClockId, b: ClockId) -> ClockId {
        if a == b || b == Self::NOTHING || (a != Self::NOTHING && self.includes(a, b)) {
            return a;
        }
        if a == Self::NOTHING || self.includes(b, a) {
            return b;
        }
        let (start, other) = (self.entries.len(), self.range(b));
        self.entries.extend_from_within(self.range(a));
        self.entries.resize(self.entries.len().max(start + other.len()), 0);
        let (before, both) = self.entries.split_at_mut(start);
        for (mine, theirs) in both.iter_mut().zip(&before[other]) {
            *mine = (*mine).max(*theirs);
        }
        self.close()
    }

    /// Whether the first clock knows all that the second one knows.
    fn includes(&self, a: ClockId, b: ClockId) -> bool {
        let (a, b) = (self.row(a), self.row(b));
        b.len() <= a.len() && b.iter().zip(a).all(|(less, more)| less <= more)
    }

    fn close(&mut self) -> ClockId {
        self.ends.push(self.entries.len());
        (self.ends.len() - 1) as ClockId
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_share_clocks_that_know_the_same() {
        let (mut table, [a, b]) = (ClockTable::default(), [ThreadId(0), ThreadId(2)]);
        let one = table.with(ClockTable::NOTHING, a, 3);
        let two = table.with(ClockTable::NOTHING, b, 1);
        let both = table.join(one, two);
        assert_eq!((table.row(one), table.row(two), table.row(both)), (&[3][..], &[0, 0, 1][..], &[3, 0, 1][..]));
        assert_eq!((table.join(both, one), table.join(one, both), table.with(both, a, 2)), (both, both, both));
        table.truncate(2);
        assert_eq!((table.len(), table.row(one)), (2, &[3][..]));
    }

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
