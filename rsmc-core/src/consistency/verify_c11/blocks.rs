//! Blocks of the modification order, and what coherence says about them.

use crate::base::{Cycle, Id, IdVec, LocId, Poset, ones};
use crate::model::c11::Graph;
use crate::trace::Source;

/// The initial value of a location, as a member of its first block.
pub(super) const INIT: u32 = u32::MAX;

/// A write, then the updates that read from it in a chain.
#[derive(Clone, Debug)]
pub(super) struct Block {
    loc: LocId,
    /// In modification order; the first one is [`INIT`] in the first block of a location.
    pub(super) members: Vec<u32>,
    /// The reads and updates that read from each member.
    pub(super) readers: Vec<Vec<u32>>,
}

impl Block {
    fn new(loc: LocId, first: u32) -> Self {
        Self { loc, members: vec![first], readers: vec![Vec::new()] }
    }
}

/// A place in the modification order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    block: u32,
    /// Number of the member.
    at: u32,
}

/// All blocks of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// By node: what it wrote.
    written: Vec<Place>,
    /// By location: its first block, and all.
    of_loc: IdVec<LocId, Vec<u32>>,
}

impl Blocks {
    /// Finds the blocks, and the order among them that coherence demands.
    pub(super) fn build(&mut self, graph: &Graph, order: &mut Poset) -> Result<(), Cycle> {
        self.blocks.clear();
        self.of_loc.clear();
        self.written.clear();
        self.written.resize(graph.nodes().len(), Place::default());
        for node in 0..graph.nodes().len() {
            self.enter(graph, node)?;
        }
        let mut edges = Vec::new();
        for blocks in self.of_loc.values() {
            edges.extend(blocks.iter().skip(1).map(|&other| (blocks[0], other)));
        }
        self.cohere(graph, &mut edges)?;
        order.rebuild(self.blocks.len(), &edges)
    }

    /// Puts a node into the block of what it writes.
    fn enter(&mut self, graph: &Graph, number: usize) -> Result<(), Cycle> {
        let node = &graph.nodes()[number];
        let Some(loc) = node.loc else { return Ok(()) };
        self.of_loc.grow_to(loc, Vec::new);
        if self.of_loc[loc].is_empty() {
            self.of_loc[loc].push(self.blocks.len() as u32);
            self.blocks.push(Block::new(loc, INIT));
        }
        let source = self.read(loc, node.source);
        if let Some(Place { block, at }) = source {
            self.blocks[block as usize].readers[at as usize].push(number as u32);
        }
        if !node.writes {
            return Ok(());
        }
        self.written[number] = match source {
            None => {
                self.of_loc[loc].push(self.blocks.len() as u32);
                self.blocks.push(Block::new(loc, number as u32));
                Place { block: self.blocks.len() as u32 - 1, at: 0 }
            }
            Some(Place { block, at }) => {
                let chain = &mut self.blocks[block as usize];
                if at as usize + 1 < chain.members.len() {
                    return Err(Cycle); // Two updates cannot both follow one write.
                }
                chain.members.push(number as u32);
                chain.readers.push(Vec::new());
                Place { block, at: at + 1 }
            }
        };
        Ok(())
    }

    /// What a source stands for.
    fn read(&self, loc: LocId, source: Source) -> Option<Place> {
        match source {
            Source::None => None,
            Source::Init => Some(Place { block: self.of_loc[loc][0], at: 0 }),
            Source::At(write) => Some(self.written[write as usize]),
        }
    }

    /// Where `a` happens before `b`, what `a` wrote or read is what `b` reads, or before what `b` reads or writes.
    fn cohere(&self, graph: &Graph, edges: &mut Vec<(u32, u32)>) -> Result<(), Cycle> {
        for (b, second) in graph.nodes().iter().enumerate() {
            let Some(loc) = second.loc else { continue };
            for a in ones(graph.happens_before(b)) {
                let first = &graph.nodes()[a];
                if first.loc != Some(loc) {
                    continue;
                }
                let read = self.read(loc, first.source);
                let from = if first.writes { self.written[a] } else { read.expect("it reads or writes") };
                let (to, may_be_equal) = match self.read(loc, second.source) {
                    Some(source) => (source, true),
                    None => (self.written[b], false),
                };
                if from.block != to.block {
                    edges.push((from.block, to.block));
                } else if from.at > to.at || (from.at == to.at && !may_be_equal) {
                    return Err(Cycle);
                }
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter()
    }

    /// All pairs of blocks of one location.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let of_loc = |blocks: &Vec<u32>| -> Vec<(usize, usize)> {
            let pair = |i: usize| blocks[i + 1..].iter().map(move |&b| (blocks[i] as usize, b as usize));
            (0..blocks.len()).flat_map(pair).collect()
        };
        self.of_loc.values().flat_map(of_loc)
    }

    /// The rank of the first write of a block.
    pub(super) fn rank(&self, block: usize, rank: &impl Fn(usize) -> u32) -> u32 {
        match self.blocks[block].members[0] {
            INIT => 0,
            write => rank(write as usize),
        }
    }

    /// All writes, block by block in an order that respects `order`, otherwise by rank.
    pub(super) fn in_order(&self, order: &Poset, rank: impl Fn(usize) -> u32, writes: &mut Vec<usize>) {
        let mut left: Vec<usize> = (0..self.blocks.len()).collect();
        left.sort_by_key(|&block| (self.blocks[block].loc.index(), self.rank(block, &rank)));
        while !left.is_empty() {
            let is_next = |&block: &usize| !left.iter().any(|&other| order.lt(other, block));
            let next = left.iter().copied().position(|block| is_next(&block)).expect("an order has a least element");
            let members = &self.blocks[left.remove(next)].members;
            writes.extend(members.iter().filter(|&&write| write != INIT).map(|&write| write as usize));
        }
    }
}
