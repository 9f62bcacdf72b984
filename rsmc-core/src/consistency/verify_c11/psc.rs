//! The axiom of sequential consistency: `psc` has no cycle.
//!
//! It is an order of the `SeqCst` accesses and fences. In the words of the source: psc = psc_base ∪ psc_F, with
//! scb = sb ∪ sb≠loc;hb;sb≠loc ∪ hb=loc ∪ mo ∪ rb,
//! psc_base = ([E] ∪ [F];hb?) ; scb ; ([E] ∪ hb?;[F]) and psc_F = [F] ; (hb ∪ hb;eco;hb) ; [F].
//!
//! Everything but mo and rb is known from the start. What two blocks add where one is put before the other is the same
//! for all their members, and kept for each block.

use crate::base::{BitMatrix, BitSet, Cycle, Poset, ones};
use crate::consistency::verify_c11::blocks::{Block, Blocks, INIT};
use crate::model::c11::Graph;

/// Pairs of places.
type Edges = Vec<(u32, u32)>;

/// The `SeqCst` nodes of a graph, and how they are reached; see the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Psc {
    /// The `SeqCst` nodes; sets of them are sets of places in this list.
    nodes: Vec<u32>,
    ends: Vec<Ends>,
    blocks: Vec<Effect>,
}

/// By node: from which `SeqCst` nodes an edge of scb that starts here counts, and for which one that ends here.
#[derive(Clone, Debug, Default)]
struct Ends {
    starts: BitSet,
    ends: BitSet,
    /// The fences among them.
    fences_before: BitSet,
    fences_after: BitSet,
}

/// What a block means for edges of mo and rb.
#[derive(Clone, Debug, Default)]
struct Effect {
    /// Where it comes first: of its members and their readers.
    starts: BitSet,
    fences_before: BitSet,
    /// Where it comes second: of its members; and the fences behind the readers of its members.
    ends: BitSet,
    fences_after_readers: BitSet,
}

impl Psc {
    /// How many `SeqCst` nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Finds all that does not depend on the order of blocks.
    pub(super) fn build(&mut self, graph: &Graph, blocks: &Blocks, psc: &mut Poset) -> Result<(), Cycle> {
        self.nodes.clear();
        self.blocks.clear();
        let nodes = graph.nodes();
        self.nodes.extend((0..nodes.len() as u32).filter(|&node| nodes[node as usize].is_seq_cst()));
        psc.reset(self.nodes.len());
        if self.len() < 2 {
            return Ok(());
        }
        self.find_ends(graph);
        let mut edges = Vec::new();
        self.add_program(graph, &mut edges);
        self.add_fences(graph, blocks, &mut edges);
        for block in blocks.iter() {
            self.add_block(block, &mut edges);
            let effect = self.effect(block);
            self.blocks.push(effect);
        }
        psc.rebuild(self.nodes.len(), &edges)
    }

    fn find_ends(&mut self, graph: &Graph) {
        let empty = || BitSet::new(self.nodes.len());
        let none = || Ends { starts: empty(), ends: empty(), fences_before: empty(), fences_after: empty() };
        self.ends.clear();
        self.ends.resize_with(graph.nodes().len(), none);
        for (place, &node) in self.nodes.iter().enumerate() {
            let node = node as usize;
            self.ends[node].starts.insert(place);
            self.ends[node].ends.insert(place);
            if graph.nodes()[node].loc.is_some() {
                continue;
            }
            for before in ones(graph.happens_before(node)) {
                self.ends[before].ends.insert(place);
                self.ends[before].fences_after.insert(place);
            }
            for after in (0..graph.nodes().len()).filter(|&after| contains(graph.happens_before(after), node)) {
                self.ends[after].starts.insert(place);
                self.ends[after].fences_before.insert(place);
            }
        }
    }

    /// sb, sb≠loc;hb;sb≠loc and hb=loc.
    fn add_program(&self, graph: &Graph, edges: &mut Edges) {
        let nodes = graph.nodes();
        let n = nodes.len();
        // By node: what follows at another location in program order, and what happens after.
        let (mut elsewhere, mut later) = (BitMatrix::new(n), BitMatrix::new(n));
        for b in 0..n {
            for a in ones(graph.program_before(b)).filter(|&a| nodes[a].loc != nodes[b].loc) {
                elsewhere.set(a, b);
            }
            ones(graph.happens_before(b)).for_each(|a| later.set(a, b));
        }
        let (mut between, mut reached) = (BitSet::new(n), BitSet::new(n));
        for a in (0..n).filter(|&a| !self.ends[a].starts.is_empty()) {
            between.reset(n);
            reached.reset(n);
            ones(elsewhere.row(a)).for_each(|c| between.union(later.row(c)));
            between.iter().for_each(|d| reached.union(elsewhere.row(d)));
            for b in ones(later.row(a)) {
                let same_loc = nodes[a].loc.is_some() && nodes[a].loc == nodes[b].loc;
                if same_loc || contains(graph.program_before(b), a) {
                    reached.insert(b);
                }
            }
            let mut ends = BitSet::new(self.len());
            reached.iter().for_each(|b| ends.union(self.ends[b].ends.words()));
            push_all(&self.ends[a].starts, &ends, edges);
        }
    }

    /// psc_F with hb and with rf.
    fn add_fences(&self, graph: &Graph, blocks: &Blocks, edges: &mut Edges) {
        for (place, &fence) in self.nodes.iter().enumerate() {
            if graph.nodes()[fence as usize].loc.is_none() {
                let after = self.ends[fence as usize].fences_after.iter();
                edges.extend(after.map(|after| (place as u32, after as u32)));
            }
        }
        for block in blocks.iter() {
            for (&write, readers) in block.members.iter().zip(&block.readers).filter(|&(&write, _)| write != INIT) {
                for &reader in readers {
                    let (before, after) = (&self.ends[write as usize], &self.ends[reader as usize]);
                    push_all(&before.fences_before, &after.fences_after, edges);
                }
            }
        }
    }

    /// mo and rb inside a block.
    fn add_block(&self, block: &Block, edges: &mut Edges) {
        for (at, &write) in block.members.iter().enumerate() {
            let itself = (write != INIT).then_some(&write);
            for &first in itself.into_iter().chain(&block.readers[at]) {
                for (later, &second) in block.members.iter().enumerate().skip(at + 1) {
                    if first != second {
                        self.add_edge(first, second, &block.readers[later], edges);
                    }
                }
            }
        }
    }

    /// An edge of mo or rb that ends in a write with these readers.
    fn add_edge(&self, first: u32, second: u32, readers: &[u32], edges: &mut Edges) {
        let (first, second) = (&self.ends[first as usize], &self.ends[second as usize]);
        push_all(&first.starts, &second.ends, edges);
        for &reader in readers {
            push_all(&first.fences_before, &self.ends[reader as usize].fences_after, edges);
        }
    }

    fn effect(&self, block: &Block) -> Effect {
        let empty = || BitSet::new(self.len());
        let mut effect =
            Effect { starts: empty(), fences_before: empty(), ends: empty(), fences_after_readers: empty() };
        let writes = block.members.iter().filter(|&&write| write != INIT);
        for &reader in block.readers.iter().flatten() {
            effect.fences_after_readers.union(self.ends[reader as usize].fences_after.words());
        }
        for &first in writes.clone().chain(block.readers.iter().flatten()) {
            effect.starts.union(self.ends[first as usize].starts.words());
            effect.fences_before.union(self.ends[first as usize].fences_before.words());
        }
        for &second in writes {
            effect.ends.union(self.ends[second as usize].ends.words());
        }
        effect
    }

    /// Whether putting one block before another adds an edge.
    pub(super) fn sees(&self, before: usize, after: usize) -> bool {
        self.len() > 1 && {
            let (before, after) = (&self.blocks[before], &self.blocks[after]);
            (!before.starts.is_empty() && !after.ends.is_empty())
                || (!before.fences_before.is_empty() && !after.fences_after_readers.is_empty())
        }
    }

    /// Adds what follows where one block is before another.
    pub(super) fn relate(&self, before: usize, after: usize, psc: &mut Poset) -> Result<(), Cycle> {
        if self.len() < 2 {
            return Ok(());
        }
        let (before, after) = (&self.blocks[before], &self.blocks[after]);
        add_all(&before.starts, &after.ends, psc)?;
        add_all(&before.fences_before, &after.fences_after_readers, psc)
    }
}

fn contains(words: &[u64], member: usize) -> bool {
    words[member / 64] >> (member % 64) & 1 == 1
}

fn push_all(from: &BitSet, to: &BitSet, edges: &mut Edges) {
    edges.extend(from.iter().flat_map(|a| to.iter().map(move |b| (a as u32, b as u32))));
}

fn add_all(from: &BitSet, to: &BitSet, psc: &mut Poset) -> Result<(), Cycle> {
    from.iter().try_for_each(|a| to.iter().try_for_each(|b| psc.add(a, b)))
}
