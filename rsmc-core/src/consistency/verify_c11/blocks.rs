//! Blocks of the modification order, and the order among them that coherence demands.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::{Cycle, Id, IdVec, LocId, Poset, ThreadId, ones};
use crate::model::c11::Graph;
use crate::trace::Source;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A write, then the updates that read from it in a chain.
#[derive(Clone, Debug)]
struct Block {
    loc: LocId,
    /// Its first node; [`NONE`] if it has the initial value only.
    first: u32,
    /// The number of its values.
    len: u32,
}

/// A place in the modification order: one value of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) block: u32,
    pub(super) at: u32,
}

/// The places that a node reads and writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spots {
    pub(super) read: Option<Spot>,
    pub(super) written: Option<Spot>,
}

impl Spots {
    /// The last place that the node has seen.
    fn last(self) -> Spot {
        self.written.or(self.read).expect("an access reads or writes")
    }
}

/// The blocks of a location, and its last accesses.
#[derive(Clone, Debug, Default)]
struct OfLoc {
    /// The block with the initial value, then the others.
    blocks: Vec<u32>,
    /// The last access of each thread.
    last: Vec<(ThreadId, u32)>,
}

/// All blocks of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    spots: Vec<Spots>,
    /// By node: the update that reads from it.
    follower: Vec<u32>,
    /// By node: the access of its location by its thread before it.
    previous: Vec<u32>,
    of_loc: IdVec<LocId, OfLoc>,
    /// Pairs of accesses of a location: the last one of some thread that happens before another access, and that other
    /// access.
    ordered: Vec<(u32, u32)>,
    edges: Vec<(u32, u32)>,
}

impl Blocks {
    /// Finds the blocks of these nodes, and the order among them that coherence demands.
    pub(super) fn build(&mut self, graph: &Graph, nodes: &[u32], order: &mut Poset) -> Result<(), Cycle> {
        self.clear(graph.nodes().len());
        for &node in nodes {
            if let Some(loc) = graph.nodes()[node as usize].loc {
                self.enter(graph, loc, node)?;
            }
        }
        for of_loc in self.of_loc.values() {
            let others = of_loc.blocks.iter().skip(1);
            self.edges.extend(others.map(|&other| (of_loc.blocks[0], other)));
        }
        order.rebuild(self.blocks.len(), &self.edges)
    }

    fn clear(&mut self, nodes: usize) {
        self.blocks.clear();
        self.ordered.clear();
        self.edges.clear();
        self.spots.clear();
        self.spots.resize(nodes, Spots::default());
        self.previous.resize(nodes, NONE);
        self.follower.clear();
        self.follower.resize(nodes, NONE);
        for OfLoc { blocks, last } in self.of_loc.values_mut() {
            blocks.clear();
            last.clear();
        }
    }

    /// Puts an access into the block of what it writes, and behind what happens before it.
    fn enter(&mut self, graph: &Graph, loc: LocId, number: u32) -> Result<(), Cycle> {
        self.of_loc.grow_to(loc, OfLoc::default);
        if self.of_loc[loc].blocks.is_empty() {
            self.add_block(loc, NONE);
        }
        let node = &graph.nodes()[number as usize];
        let read = match node.source {
            Source::None => None,
            Source::Init => Some(Spot { block: self.of_loc[loc].blocks[0], at: 0 }),
            Source::At(write) => self.spots[write as usize].written,
        };
        let written = match read {
            _ if !node.writes => None,
            None => Some(self.add_block(loc, number)),
            Some(read) => Some(self.lengthen(read, node.source, number)?),
        };
        self.spots[number as usize] = Spots { read, written };
        self.cohere(graph, loc, number)
    }

    fn add_block(&mut self, loc: LocId, first: u32) -> Spot {
        let block = self.blocks.len() as u32;
        self.of_loc[loc].blocks.push(block);
        self.blocks.push(Block { loc, first, len: 1 });
        Spot { block, at: 0 }
    }

    /// Adds an update behind what it reads.
    fn lengthen(&mut self, read: Spot, source: Source, update: u32) -> Result<Spot, Cycle> {
        let block = &mut self.blocks[read.block as usize];
        if read.at + 1 < block.len {
            return Err(Cycle); // Two updates cannot both follow one write.
        }
        block.len += 1;
        match source {
            Source::At(write) => self.follower[write as usize] = update,
            Source::Init | Source::None => block.first = update,
        }
        Ok(Spot { at: read.at + 1, ..read })
    }

    /// Applies coherence: where `a` happens before `b`, the value that `a` wrote or read is the one that `b` reads, or
    /// before the one that `b` reads or writes. That holds for all `a` of a thread if it holds for the last.
    fn cohere(&mut self, graph: &Graph, loc: LocId, b: u32) -> Result<(), Cycle> {
        let past = graph.happened_before(b as usize);
        let Spots { read, written } = self.spots[b as usize];
        let to = read.or(written).expect("an access reads or writes");
        for &(thread, last) in &self.of_loc[loc].last {
            let count = past.count(thread);
            let mut a = last;
            while a != NONE && graph.place(a as usize).index >= count {
                a = self.previous[a as usize];
            }
            if a == NONE {
                continue;
            }
            self.ordered.push((a, b));
            let from = self.spots[a as usize].last();
            if from.block != to.block {
                self.edges.push((from.block, to.block));
            } else if from.at > to.at {
                return Err(Cycle);
            }
        }
        let thread = graph.place(b as usize).thread;
        let last = &mut self.of_loc[loc].last;
        let own = last.iter_mut().find(|(other, _)| *other == thread);
        self.previous[b as usize] = match own {
            Some((_, last)) => std::mem::replace(last, b),
            None => {
                last.push((thread, b));
                NONE
            }
        };
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The places that a node reads and writes.
    pub(super) fn spots(&self, node: u32) -> Spots {
        self.spots[node as usize]
    }

    /// Accesses of one location where the first happens before the second; the last of each thread stands for all.
    pub(super) fn ordered(&self) -> &[(u32, u32)] {
        &self.ordered
    }

    /// The access of the same location by the same thread before this one, or [`NONE`].
    pub(super) fn previous(&self, access: u32) -> u32 {
        self.previous[access as usize]
    }

    /// All pairs of blocks of one location.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.of_loc.values().flat_map(|OfLoc { blocks, .. }| {
            let later = move |i: usize| blocks[i + 1..].iter().map(move |&b| (blocks[i] as usize, b as usize));
            (0..blocks.len()).flat_map(later)
        })
    }

    /// The rank of the first write of a block.
    pub(super) fn rank(&self, block: usize, rank: &dyn Fn(usize) -> u32) -> u32 {
        match self.blocks[block].first {
            NONE => 0,
            first => rank(first as usize),
        }
    }

    /// All writes, block by block in an order that respects `order`, otherwise by rank.
    pub(super) fn in_order(&self, order: &Poset, rank: &dyn Fn(usize) -> u32, writes: &mut Vec<usize>) {
        let mut waits_for: Vec<usize> = (0..self.len()).map(|block| ones(order.before(block)).count()).collect();
        let key = |block: usize| Reverse((self.blocks[block].loc.index(), self.rank(block, rank), block));
        let mut ready: BinaryHeap<_> = (0..self.len()).filter(|&block| waits_for[block] == 0).map(key).collect();
        while let Some(Reverse((_, _, block))) = ready.pop() {
            let mut member = self.blocks[block].first;
            while member != NONE {
                writes.push(member as usize);
                member = self.follower[member as usize];
            }
            for after in ones(order.after(block)) {
                waits_for[after] -= 1;
                if waits_for[after] == 0 {
                    ready.push(key(after));
                }
            }
        }
    }
}
