//! The axiom of sequential consistency: `psc` has no cycle.
//!
//! It is an order of the `SeqCst` accesses and fences. In the words of the source: psc = psc_base ∪ psc_F, with
//! scb = sb ∪ sb≠loc;hb;sb≠loc ∪ hb=loc ∪ mo ∪ rb,
//! psc_base = ([E] ∪ [F];hb?) ; scb ; ([E] ∪ hb?;[F]) and psc_F = [F] ; (hb ∪ hb;eco;hb) ; [F].
//!
//! So an edge of scb from `x` to `y` counts from what *starts* at `x` (itself if it is `SeqCst`, and the fences before
//! it) to what *ends* at `y` (itself, and the fences after it).
//!
//! Everything but mo and rb is known from the start. What two blocks add where one is put before the other is the same
//! for all their members, and kept for each block.
//!
//! Only cycles matter, which allows to leave out most edges. The `SeqCst` nodes of a thread follow one another in psc,
//! so of a thread's nodes before something the last one stands for all, and of those after something the first. And all
//! edges but those of mo, rb and eco say that one node happens before another. A cycle needs one of mo, rb or eco;
//! where its way from the end of one of these to the start of the next leads through a fence, that fence is an end of
//! the first and a start of the second. So happens-before with fences need not be kept.

use crate::base::{BitMatrix, BitSet, Cycle, IdVec, LocId, Poset, ThreadId, ones, unite};
use crate::consistency::verify_c11::blocks::{Blocks, NONE, Spot, Spots};
use crate::model::c11::{Graph, Past};

/// Pairs of places.
type Edges = Vec<(u32, u32)>;

/// The `SeqCst` nodes of a graph, and how they are reached; see the module. Sets of them are sets of places.
#[derive(Clone, Debug, Default)]
pub(super) struct Psc {
    len: usize,
    /// By node: its place.
    places: Vec<u32>,
    threads: IdVec<ThreadId, Own>,
    starts: BitMatrix,
    ends: BitMatrix,
    /// The fences among them.
    fences_before: BitMatrix,
    fences_after: BitMatrix,
    /// By node: those with a node of another location behind them in program order that is this one, or one before it
    /// in its thread.
    passed: BitMatrix,
    effects: Effects,
    edges: Edges,
    /// The nodes of blocks, in their order: each write, then the nodes that only read it.
    inside: Vec<(Spot, bool, u32)>,
}

/// The nodes of a thread, in its order.
#[derive(Clone, Debug, Default)]
struct Own {
    all: Vec<u32>,
    seq_cst: Vec<u32>,
    fences: Vec<u32>,
}

/// By block: the ends of the edges of mo and rb that its place in the order adds.
#[derive(Clone, Debug, Default)]
struct Effects {
    /// Where it comes first: the starts of its members and their readers.
    starts: BitMatrix,
    fences_before: BitMatrix,
    /// Where it comes second: the ends of its members; and the fences behind the readers of its members.
    ends: BitMatrix,
    fences_after_readers: BitMatrix,
}

impl Psc {
    /// Whether there are not enough nodes for a cycle.
    pub(super) fn is_trivial(&self) -> bool {
        self.len < 2
    }

    /// Finds all that does not depend on what is open in the order of blocks. Call [`Psc::find_nodes`] before.
    pub(super) fn build(
        &mut self,
        graph: &Graph,
        nodes: &[u32],
        blocks: &Blocks,
        order: &Poset,
        psc: &mut Poset,
    ) -> Result<(), Cycle> {
        let mut edges = std::mem::take(&mut self.edges);
        edges.clear();
        self.find_ends(graph, nodes);
        self.find_passed(graph);
        nodes.iter().for_each(|&node| self.add_program(graph, node, &mut edges));
        self.add_ordered(blocks, &mut edges);
        self.find_effects(nodes, blocks);
        self.add_inside(nodes, blocks, &mut edges);
        for before in 0..blocks.len() {
            let all = ones(order.after(before)).flat_map(|after| self.edges_between(before, after));
            edges.extend(all.map(|(a, b)| (a as u32, b as u32)));
        }
        let built = psc.rebuild(self.len, &edges);
        self.edges = edges;
        built
    }

    /// Finds the `SeqCst` nodes, and the nodes of each thread.
    pub(super) fn find_nodes(&mut self, graph: &Graph, nodes: &[u32]) {
        self.len = 0;
        self.places.clear();
        self.places.resize(graph.nodes().len(), NONE);
        for Own { all, seq_cst, fences } in self.threads.values_mut() {
            all.clear();
            seq_cst.clear();
            fences.clear();
        }
        for &number in nodes {
            let (node, thread) = (&graph.nodes()[number as usize], graph.place(number as usize).thread);
            self.threads.grow_to(thread, Own::default);
            let own = &mut self.threads[thread];
            own.all.push(number);
            if node.is_seq_cst() {
                self.places[number as usize] = self.len as u32;
                self.len += 1;
                own.seq_cst.push(number);
                if node.loc.is_none() {
                    own.fences.push(number);
                }
            }
        }
    }

    fn place(&self, node: u32) -> usize {
        self.places[node as usize] as usize
    }

    fn is_seq_cst(&self, node: u32) -> bool {
        self.places[node as usize] != NONE
    }

    fn find_ends(&mut self, graph: &Graph, nodes: &[u32]) {
        let all = graph.nodes().len();
        for table in [&mut self.starts, &mut self.ends, &mut self.fences_before, &mut self.fences_after] {
            table.reset_to(all, self.len);
        }
        for (thread, own) in self.threads.iter().filter(|(_, own)| !own.fences.is_empty()) {
            for &node in nodes {
                let (at, place) = (node as usize, graph.place(node as usize));
                if let Some(fence) = last(graph, &own.fences, graph.happened_before(at).count(thread)) {
                    self.fences_before.set(at, self.place(fence));
                }
                let before = |&fence: &u32| !graph.happened_before(fence as usize).includes(place);
                if let Some(&fence) = own.fences.get(own.fences.partition_point(before)) {
                    self.fences_after.set(at, self.place(fence));
                }
            }
        }
        for &node in nodes {
            let at = node as usize;
            unite(self.starts.row_mut(at), self.fences_before.row(at));
            unite(self.ends.row_mut(at), self.fences_after.row(at));
            if self.is_seq_cst(node) {
                self.starts.set(at, self.place(node));
                self.ends.set(at, self.place(node));
            }
        }
    }

    /// x sb≠loc z, for all z of a thread up to some node.
    fn find_passed(&mut self, graph: &Graph) {
        let mut passed = std::mem::take(&mut self.passed);
        passed.reset_to(graph.nodes().len(), self.len);
        for own in self.threads.values() {
            let mut previous = None;
            for &z in &own.all {
                let at = z as usize;
                if let Some(previous) = previous.replace(at) {
                    passed.union_rows(at, previous);
                }
                for (own, count) in self.in_past(graph.program_before(at)) {
                    if let Some(x) = elsewhere(graph, &own.seq_cst, count, graph.nodes()[at].loc) {
                        passed.set(at, self.place(x));
                    }
                }
            }
        }
        self.passed = passed;
    }

    /// sb and sb≠loc;hb;sb≠loc, as far as they end at a node.
    fn add_program(&self, graph: &Graph, b: u32, edges: &mut Edges) {
        if !self.is_seq_cst(b) {
            return;
        }
        let (at, end) = (b as usize, self.places[b as usize]);
        for (own, count) in self.in_past(graph.program_before(at)) {
            edges.extend(last(graph, &own.seq_cst, count).map(|a| (self.places[a as usize], end)));
            let w = graph.nodes()[at].loc.and_then(|loc| elsewhere(graph, &own.all, count, Some(loc)));
            let Some(w) = w else { continue };
            for (own, count) in self.in_past(graph.happened_before(w as usize)) {
                let passed = last(graph, &own.all, count).map(|z| ones(self.passed.row(z as usize)));
                edges.extend(passed.into_iter().flatten().map(|x| (x as u32, end)));
            }
        }
    }

    /// The threads with nodes in a past, each with the number of these nodes.
    fn in_past<'a>(&'a self, past: Past<'a>) -> impl Iterator<Item = (&'a Own, u32)> {
        past.counts().filter_map(|(thread, count)| Some((self.threads.get(thread)?, count)))
    }

    /// hb=loc.
    fn add_ordered(&self, blocks: &Blocks, edges: &mut Edges) {
        for &(a, b) in blocks.ordered().iter().filter(|&&(_, b)| self.is_seq_cst(b)) {
            let mut x = a;
            while x != NONE && !self.is_seq_cst(x) {
                x = blocks.previous(x);
            }
            if x != NONE {
                edges.push((self.places[x as usize], self.places[b as usize]));
            }
        }
    }

    /// Finds the effects of blocks on others.
    fn find_effects(&mut self, nodes: &[u32], blocks: &Blocks) {
        let Effects { starts, fences_before, ends, fences_after_readers } = &mut self.effects;
        for table in [&mut *starts, fences_before, ends, fences_after_readers] {
            table.reset_to(blocks.len(), self.len);
        }
        for &node in nodes {
            let (Spots { read, written }, at) = (blocks.spots(node), node as usize);
            for spot in read.iter().chain(&written) {
                unite(starts.row_mut(spot.block as usize), self.starts.row(at));
                unite(fences_before.row_mut(spot.block as usize), self.fences_before.row(at));
            }
            if let Some(Spot { block, .. }) = written {
                unite(ends.row_mut(block as usize), self.ends.row(at));
            }
            if let Some(Spot { block, .. }) = read {
                unite(fences_after_readers.row_mut(block as usize), self.fences_after.row(at));
            }
        }
    }

    /// mo and rb inside blocks, and psc_F with rf.
    fn add_inside(&mut self, nodes: &[u32], blocks: &Blocks, edges: &mut Edges) {
        let mut inside = std::mem::take(&mut self.inside);
        inside.clear();
        inside.extend(nodes.iter().filter_map(|&node| {
            let Spots { read, written } = blocks.spots(node);
            Some((written.or(read)?, written.is_none(), node))
        }));
        inside.sort_unstable();
        let (mut starts, mut fences) = (BitSet::new(self.len), BitSet::new(self.len));
        for block in inside.chunk_by(|a, b| a.0.block == b.0.block) {
            starts.reset(self.len);
            fences.reset(self.len);
            for value in block.chunk_by(|a, b| a.0 == b.0) {
                for &(_, only_reads, node) in value {
                    let at = node as usize;
                    if only_reads {
                        push_all(fences.words(), self.fences_after.row(at), edges);
                    } else {
                        push_all(starts.words(), self.ends.row(at), edges);
                        // What reads from it is behind what is before it, too.
                        fences.union(self.fences_before.row(at));
                    }
                }
                for &(_, _, node) in value {
                    starts.union(self.starts.row(node as usize));
                    fences.union(self.fences_before.row(node as usize));
                }
            }
        }
        self.inside = inside;
    }

    /// The edges that follow where one block is before another.
    fn edges_between(&self, before: usize, after: usize) -> impl Iterator<Item = (usize, usize)> {
        let Effects { starts, fences_before, ends, fences_after_readers } = &self.effects;
        let tables = [(starts, ends), (fences_before, fences_after_readers)];
        tables.into_iter().flat_map(move |(from, to)| {
            ones(from.row(before)).flat_map(move |a| ones(to.row(after)).map(move |b| (a, b)))
        })
    }

    /// Whether putting one block before another adds an edge.
    pub(super) fn sees(&self, before: usize, after: usize) -> bool {
        self.edges_between(before, after).next().is_some()
    }

    /// Adds the edges that follow where one block is before another.
    pub(super) fn relate(&self, before: usize, after: usize, psc: &mut Poset) -> Result<(), Cycle> {
        self.edges_between(before, after).try_for_each(|(a, b)| psc.add(a, b))
    }
}

/// The last of a thread's nodes in a list among its first `count` nodes.
fn last(graph: &Graph, list: &[u32], count: u32) -> Option<u32> {
    let among = list.partition_point(|&node| graph.place(node as usize).index < count);
    list[..among].last().copied()
}

/// The last of those that have another location than this.
fn elsewhere(graph: &Graph, list: &[u32], count: u32, loc: Option<LocId>) -> Option<u32> {
    let among = list.partition_point(|&node| graph.place(node as usize).index < count);
    list[..among].iter().rev().copied().find(|&node| graph.nodes()[node as usize].loc != loc)
}

fn push_all(from: &[u64], to: &[u64], edges: &mut Edges) {
    edges.extend(ones(from).flat_map(|a| ones(to).map(move |b| (a as u32, b as u32))));
}
