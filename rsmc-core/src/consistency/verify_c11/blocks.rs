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

/// The blocks of a location, and its accesses.
#[derive(Clone, Debug, Default)]
struct OfLoc {
    /// The block with the initial value, then the others.
    blocks: Vec<u32>,
    threads: Vec<Accesses>,
}

/// The accesses of a location by a thread, in its order.
#[derive(Clone, Debug)]
struct Accesses {
    thread: ThreadId,
    all: Vec<u32>,
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
    /// By block: the last edge that begins there; by edge: the one before it.
    first_edge: Vec<u32>,
    next_edge: Vec<u32>,
}

impl Blocks {
    /// Finds the blocks of these nodes, and what coherence demands of the order among them.
    pub(super) fn build(&mut self, graph: &Graph, nodes: &[u32]) -> Result<(), Cycle> {
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
        Ok(())
    }

    /// Finds the order among the blocks that coherence demands.
    pub(super) fn find_order(&self, order: &mut Poset) -> Result<(), Cycle> {
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
        for OfLoc { blocks, threads } in self.of_loc.values_mut() {
            blocks.clear();
            threads.iter_mut().for_each(|accesses| accesses.all.clear());
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
        for Accesses { thread, all } in &self.of_loc[loc].threads {
            let count = past.count(*thread);
            // Mostly it is all of them or none.
            let before = match all.last() {
                Some(&last) if count > 0 && graph.place(last as usize).index >= count => {
                    all.partition_point(|&access| graph.place(access as usize).index < count)
                }
                _ if count > 0 => all.len(),
                _ => 0,
            };
            let Some(&a) = all[..before].last() else { continue };
            self.ordered.push((a, b));
            let from = self.spots[a as usize].last();
            if from.block != to.block {
                self.edges.push((from.block, to.block));
            } else if from.at > to.at {
                return Err(Cycle);
            }
        }
        let thread = graph.place(b as usize).thread;
        let threads = &mut self.of_loc[loc].threads;
        let own = threads.iter_mut().find(|accesses| accesses.thread == thread);
        self.previous[b as usize] = match own {
            Some(Accesses { all, .. }) => {
                let previous = all.last().copied().unwrap_or(NONE);
                all.push(b);
                previous
            }
            None => {
                threads.push(Accesses { thread, all: vec![b] });
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
        let waits_for = (0..self.len()).map(|block| ones(order.before(block)).count() as u32).collect();
        self.arrange(waits_for, |block| ones(order.after(block)), rank, writes);
    }

    /// All writes, block by block in an order that coherence demands, otherwise by rank; false if there is none.
    pub(super) fn in_order_of_edges(&mut self, rank: &dyn Fn(usize) -> u32, writes: &mut Vec<usize>) -> bool {
        let mut waits_for = vec![0; self.len()];
        self.first_edge.clear();
        self.first_edge.resize(self.len(), NONE);
        self.next_edge.clear();
        for (number, &(from, to)) in self.edges.iter().enumerate() {
            waits_for[to as usize] += 1;
            self.next_edge.push(std::mem::replace(&mut self.first_edge[from as usize], number as u32));
        }
        let Self { edges, first_edge, next_edge, .. } = &*self;
        let after = |block: usize| {
            let mut edge = first_edge[block];
            std::iter::from_fn(move || {
                let (_, to) = *edges.get(edge as usize)?;
                edge = next_edge[edge as usize];
                Some(to as usize)
            })
        };
        self.arrange(waits_for, after, rank, writes)
    }

    /// Puts each block, the smallest rank first, when none of those that it waits for is missing: so many edges lead to
    /// it, and `after` gives the ends of those that begin at a block. Returns whether all are put.
    fn arrange<After: Iterator<Item = usize>>(
        &self,
        mut waits_for: Vec<u32>,
        after: impl Fn(usize) -> After,
        rank: &dyn Fn(usize) -> u32,
        writes: &mut Vec<usize>,
    ) -> bool {
        let key = |block: usize| Reverse((self.blocks[block].loc.index(), self.rank(block, rank), block));
        let mut ready: BinaryHeap<_> = (0..self.len()).filter(|&block| waits_for[block] == 0).map(key).collect();
        let (begin, mut count) = (writes.len(), 0);
        while let Some(Reverse((_, _, block))) = ready.pop() {
            count += 1;
            let mut member = self.blocks[block].first;
            while member != NONE {
                writes.push(member as usize);
                member = self.follower[member as usize];
            }
            for after in after(block) {
                waits_for[after] -= 1;
                if waits_for[after] == 0 {
                    ready.push(key(after));
                }
            }
        }
        if count < self.len() {
            writes.truncate(begin);
        }
        count == self.len()
    }
}
