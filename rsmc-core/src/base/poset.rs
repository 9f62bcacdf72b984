//! A partial order kept transitively closed, as bit rows (what comes after) and columns (what comes before).

use crate::base::{BitMatrix, ones, unite};

/// The order would have become cyclic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle;

/// A strict partial order on `0..n`, transitively closed after every change.
#[derive(Clone, Debug, Default)]
pub struct Poset {
    after: BitMatrix,
    before: BitMatrix,
    len: usize,
    row: Vec<u64>,
    column: Vec<u64>,
    scratch: Scratch,
}

/// Memory of [`Poset::rebuild`].
#[derive(Debug, Default)]
struct Scratch {
    /// The ends of the edges, sorted by where they begin; and the end of each element's part of that list.
    targets: Vec<u32>,
    ends: Vec<u32>,
    waits_for: Vec<u32>,
    topological: Vec<usize>,
}

impl Scratch {
    /// Sorts edges between `n` elements by where they begin, and finds the elements at which none ends.
    fn sort(&mut self, n: usize, edges: &[(u32, u32)]) {
        self.waits_for.clear();
        self.waits_for.resize(n, 0);
        self.ends.clear();
        self.ends.resize(n + 1, 0);
        for &(a, b) in edges {
            self.waits_for[b as usize] += 1;
            self.ends[a as usize + 1] += 1;
        }
        (0..n).for_each(|a| self.ends[a + 1] += self.ends[a]);
        // Now `ends` has the beginning of each list, which moves to its end while the list is filled.
        self.targets.clear();
        self.targets.resize(edges.len(), 0);
        for &(a, b) in edges {
            let end = &mut self.ends[a as usize];
            self.targets[*end as usize] = b;
            *end += 1;
        }
        self.topological.clear();
        self.topological.extend((0..n).filter(|&a| self.waits_for[a] == 0));
    }

    /// The places of the edges that begin at an element.
    #[inline]
    fn edges_from(&self, a: usize) -> std::ops::Range<usize> {
        a.checked_sub(1).map_or(0, |before| self.ends[before] as usize)..self.ends[a] as usize
    }
}

impl Clone for Scratch {
    /// There is nothing in it to keep.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Poset {
    /// The empty order on `0..n`.
    pub fn new(n: usize) -> Self {
        let mut poset = Self::default();
        poset.reset(n);
        poset
    }

    /// Forgets every edge and sets a new size, keeping the memory.
    pub fn reset(&mut self, n: usize) {
        self.after.reset(n);
        self.before.reset(n);
        self.len = n;
    }

    /// Sets a new size and all edges at once: much cheaper than one after the other. Cost: words × edges.
    pub fn rebuild(&mut self, n: usize, edges: &[(u32, u32)]) -> Result<(), Cycle> {
        self.reset(n);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.sort(n, edges);
        let found = self.follow(&mut scratch);
        self.scratch = scratch;
        found
    }

    /// Adds all sorted edges to an empty order.
    fn follow(&mut self, scratch: &mut Scratch) -> Result<(), Cycle> {
        let mut next = 0;
        while let Some(&a) = scratch.topological.get(next) {
            next += 1;
            for i in scratch.edges_from(a) {
                let b = scratch.targets[i] as usize;
                self.before.add_with_row(b, a);
                scratch.waits_for[b] -= 1;
                if scratch.waits_for[b] == 0 {
                    scratch.topological.push(b);
                }
            }
        }
        if next < self.len {
            return Err(Cycle);
        }
        for &a in scratch.topological.iter().rev() {
            for &b in &scratch.targets[scratch.edges_from(a)] {
                self.after.add_with_row(a, b as usize);
            }
        }
        Ok(())
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `a` is strictly before `b`.
    #[inline]
    pub fn lt(&self, a: usize, b: usize) -> bool {
        self.after.get(a, b)
    }

    /// Everything strictly after `a`, as words.
    #[inline]
    pub fn after(&self, a: usize) -> &[u64] {
        self.after.row(a)
    }

    /// Everything strictly before `a`, as words.
    #[inline]
    pub fn before(&self, a: usize) -> &[u64] {
        self.before.row(a)
    }

    /// Puts `a` before `b` and closes transitively. Cost: words × (elements newly related).
    pub fn add(&mut self, a: usize, b: usize) -> Result<(), Cycle> {
        if a == b || self.lt(b, a) {
            return Err(Cycle);
        }
        if self.lt(a, b) {
            return Ok(());
        }
        let mut row = std::mem::take(&mut self.row);
        let mut column = std::mem::take(&mut self.column);
        copy_with(&mut row, self.after.row(b), b);
        copy_with(&mut column, self.before.row(a), a);
        for x in ones(&column) {
            unite(self.after.row_mut(x), &row);
        }
        for y in ones(&row) {
            unite(self.before.row_mut(y), &column);
        }
        self.row = row;
        self.column = column;
        Ok(())
    }
}

fn copy_with(to: &mut Vec<u64>, words: &[u64], member: usize) {
    to.clear();
    to.extend_from_slice(words);
    to[member / 64] |= 1 << (member % 64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_at_once_is_the_same_as_one_after_the_other() {
        let edges = [(3, 1), (0, 3), (1, 4), (0, 1), (2, 4), (0, 3)];
        let (mut one, mut all) = (Poset::new(6), Poset::default());
        edges.iter().for_each(|&(a, b)| one.add(a as usize, b as usize).unwrap());
        all.rebuild(6, &edges).unwrap();
        for a in 0..6 {
            assert_eq!((all.after(a), all.before(a)), (one.after(a), one.before(a)));
        }
        assert_eq!(all.rebuild(3, &[(0, 1), (1, 2), (2, 0)]), Err(Cycle));
    }

    #[test]
    fn stays_closed_and_refuses_cycles() {
        let mut p = Poset::new(5);
        p.add(0, 1).unwrap();
        p.add(2, 3).unwrap();
        p.add(1, 2).unwrap();
        assert!(p.lt(0, 3) && p.lt(0, 2) && !p.lt(3, 0) && !p.lt(0, 4));
        assert_eq!(p.add(3, 0), Err(Cycle));
        assert_eq!(p.add(4, 4), Err(Cycle));
        assert_eq!(ones(p.before(3)).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
