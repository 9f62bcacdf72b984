//! VerifyC11: is there a modification order that makes an execution graph consistent, and which?
//!
//! Problem. Given the events and fences of an execution with program order and reads-from: find a total order of the
//! writes of each location such that the graph is one of C11.
//!
//! Algorithm. An update follows its source at once, so a write and the updates that read from it in a chain are one
//! *block*, and what is open is the order of the blocks of each location. Coherence says nothing but that certain
//! blocks come before others (`blocks`): where `a` happens before `b`, what `a` wrote or read is not behind what `b`
//! wrote or read. Where there are no two `SeqCst` nodes, every order that respects this will do. Otherwise the order
//! `psc` of these nodes must not have a cycle (`psc`); every pair of blocks that puts edges there is decided, by a
//! search that looks at `psc` after each decision and follows the order of the auxiliary trace first.
//!
//! Cost. Without two `SeqCst` nodes O(n·t·log n) for n nodes and t threads that access a location. Otherwise O(b³/64)
//! for b blocks, and exponential in the pairs of blocks that coherence leaves open and `psc` sees.
//!
//! Source. The axioms are RC11: Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing sequential consistency in C/C++11",
//! PLDI 2017, section 3. That sb ∪ rf has no cycle is known from how the graph was made.

mod blocks;
mod psc;

use crate::base::{Cycle, Poset, ones};
use crate::consistency::verify_c11::blocks::Blocks;
use crate::consistency::verify_c11::psc::Psc;
use crate::model::c11::Graph;

/// Answers questions; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub struct VerifyC11 {
    blocks: Blocks,
    psc: Psc,
    state: State,
    /// Pairs of blocks that are still open.
    open: Vec<(u32, u32)>,
}

/// The decisions so far.
#[derive(Clone, Debug, Default)]
struct State {
    /// The modification order of blocks.
    order: Poset,
    /// The order of the sequentially consistent nodes.
    psc: Poset,
}

impl VerifyC11 {
    /// A modification order: all writes among these nodes, those of each location in its order, appended to `order`;
    /// false if there is none. In `nodes` all nodes that are before a node come in front of it. `rank` gives the place
    /// of each write in an order that is followed where nothing forbids it.
    pub fn verify(
        &mut self,
        graph: &Graph,
        nodes: &[u32],
        rank: impl Fn(usize) -> u32,
        order: &mut Vec<usize>,
    ) -> bool {
        if self.blocks.build(graph, nodes).is_err() {
            return false;
        }
        self.psc.find_nodes(graph, nodes);
        if self.psc.is_trivial() {
            return self.blocks.in_order_of_edges(&rank, order);
        }
        let mut state = std::mem::take(&mut self.state);
        let found = self.start(graph, nodes, &mut state).is_ok() && self.decide(&mut state, &rank);
        if found {
            self.blocks.in_order(&state.order, &rank, order);
        }
        self.state = state;
        found
    }

    /// Finds the order that every modification order has.
    fn start(&mut self, graph: &Graph, nodes: &[u32], state: &mut State) -> Result<(), Cycle> {
        self.blocks.find_order(&mut state.order)?;
        self.psc.build(graph, nodes, &self.blocks, &state.order, &mut state.psc)
    }

    /// Decides the pairs of blocks that coherence leaves open and `psc` sees, each in the order of the ranks first.
    fn decide(&mut self, state: &mut State, rank: &dyn Fn(usize) -> u32) -> bool {
        self.open.clear();
        for (a, b) in self.blocks.pairs() {
            let is_open = !state.order.lt(a, b) && !state.order.lt(b, a);
            if is_open && (self.psc.sees(a, b) || self.psc.sees(b, a)) {
                let (rank_a, rank_b) = (self.blocks.rank(a, rank), self.blocks.rank(b, rank));
                let pair = if rank_a <= rank_b { (a, b) } else { (b, a) };
                self.open.push((pair.0 as u32, pair.1 as u32));
            }
        }
        self.open.is_empty()
            || match self.search(state.clone(), &self.open) {
                Some(found) => {
                    *state = found;
                    true
                }
                None => false,
            }
    }

    fn search(&self, mut state: State, open: &[(u32, u32)]) -> Option<State> {
        for (at, &(a, b)) in open.iter().enumerate() {
            let (a, b) = (a as usize, b as usize);
            if state.order.lt(a, b) || state.order.lt(b, a) {
                continue;
            }
            let mut as_ranked = state.clone();
            if self.put_before(&mut as_ranked, a, b).is_ok()
                && let found @ Some(_) = self.search(as_ranked, &open[at + 1..])
            {
                return found;
            }
            self.put_before(&mut state, b, a).ok()?;
        }
        Some(state)
    }

    /// Puts one block before another, with all that follows.
    fn put_before(&self, state: &mut State, a: usize, b: usize) -> Result<(), Cycle> {
        let (before, after) = (with(state.order.before(a), a), with(state.order.after(b), b));
        let mut new = Vec::new();
        for &x in &before {
            new.extend(after.iter().filter(|&&y| !state.order.lt(x, y)).map(|&y| (x, y)));
        }
        state.order.add(a, b)?;
        new.into_iter().try_for_each(|(x, y)| self.psc.relate(x, y, &mut state.psc))
    }
}

fn with(words: &[u64], member: usize) -> Vec<usize> {
    ones(words).chain([member]).collect()
}
