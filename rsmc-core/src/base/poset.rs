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
    sorted: Vec<(u32, u32)>,
    waits_for: Vec<u32>,
    topological: Vec<usize>,
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
        let Scratch { mut sorted, mut waits_for, mut topological } = std::mem::take(&mut self.scratch);
        sorted.clear();
        sorted.extend_from_slice(edges);
        sorted.sort_unstable();
        sorted.dedup();
        waits_for.clear();
        waits_for.resize(n, 0);
        sorted.iter().for_each(|&(_, b)| waits_for[b as usize] += 1);
        topological.clear();
        topological.extend((0..n).filter(|&a| waits_for[a] == 0));
        let from = |a: usize| {
            let start = sorted.partition_point(|&(other, _)| (other as usize) < a);
            sorted[start..].iter().take_while(move |&&(other, _)| other as usize == a).map(|&(_, b)| b as usize)
        };
        let mut next = 0;
        while let Some(&a) = topological.get(next) {
            next += 1;
            for b in from(a) {
                self.before.union_rows(b, a);
                self.before.set(b, a);
                waits_for[b] -= 1;
                if waits_for[b] == 0 {
                    topological.push(b);
                }
            }
        }
        if next == n {
            for &a in topological.iter().rev() {
                for b in from(a) {
                    self.after.union_rows(a, b);
                    self.after.set(a, b);
                }
            }
        }
        self.scratch = Scratch { sorted, waits_for, topological };
        if next == n { Ok(()) } else { Err(Cycle) }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `a` is strictly before `b`.
    pub fn lt(&self, a: usize, b: usize) -> bool {
        self.after.get(a, b)
    }

    /// Everything strictly after `a`, as words.
    pub fn after(&self, a: usize) -> &[u64] {
        self.after.row(a)
    }

    /// Everything strictly before `a`, as words.
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
