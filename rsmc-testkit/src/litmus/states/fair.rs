//! Cycles that a fair scheduler can follow for ever.
//!
//! Problem. A cycle of states is an execution under a fair scheduler if every mover that can move again and again on it
//! does move again and again (strong fairness). For each mover that is a pair of sets, the states in which it can move
//! and the edges on which it moves, so that the condition is Streett's: where the first is met infinitely often, the
//! second is, too.
//!
//! Method. In a strongly connected component all edges lie on one cycle. If a mover could move there and no edge of the
//! component is a move of it, then no fair cycle goes through the states where it could move: these are dropped, and
//! the rest is decomposed again. A component of which nothing must be dropped is a fair cycle.
//!
//! Cost. (States + edges) × movers at most; nearly always one or two rounds.
//!
//! Source. V. Toman, thesis (IST Austria, 2021), chapter 6, the basic algorithm for graphs with Streett objectives;
//! components by R. Tarjan, "Depth-first search and linear graph algorithms", 1972, without recursion.
//!
//! Deviations. The second sets are edges and not states. Movers are bits of one number. No lock-step search: graphs are
//! small.

use crate::litmus::states::step::Impact;

/// A step to another state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: u32,
    /// The mover; below 128.
    pub(super) mover: u8,
    pub(super) impact: Impact,
}

/// All states and steps.
pub(super) struct Graph {
    edges: Vec<Vec<Edge>>,
    /// The movers that can move in a state, as bits.
    enabled: Vec<u128>,
}

impl Graph {
    pub(super) fn new(edges: Vec<Vec<Edge>>) -> Self {
        let enabled = |edges: &Vec<Edge>| edges.iter().fold(0, |all, edge| all | 1_u128 << edge.mover);
        Self { enabled: edges.iter().map(enabled).collect(), edges }
    }

    /// Whether there is a fair cycle of steps of this impact at most, one of which has that impact at least.
    pub(super) fn has_fair_cycle(&self, most: Impact, one: Impact) -> bool {
        self.search(most, one, |state| self.enabled[state as usize])
    }

    /// Whether there is a cycle of such steps, be it fair or not.
    pub(super) fn has_cycle(&self, most: Impact, one: Impact) -> bool {
        self.search(most, one, |_| 0)
    }

    /// Whether there is such a cycle on which every mover moves that has to move in one of its states.
    fn search(&self, most: Impact, one: Impact, have_to: impl Fn(u32) -> u128) -> bool {
        let mut regions = Regions { graph: self, most, of: vec![0; self.edges.len()], last: 0 };
        let mut todo = vec![(0..self.edges.len() as u32).collect::<Vec<u32>>()];
        while let Some(states) = todo.pop() {
            for component in regions.components(&states) {
                let inner = || component.iter().flat_map(|&state| regions.inner(state));
                if inner().all(|edge| edge.impact < one) {
                    continue;
                }
                let moved = inner().fold(0, |all, edge| all | 1_u128 << edge.mover);
                let starved = component.iter().fold(0, |all, &state| all | have_to(state)) & !moved;
                if starved == 0 {
                    return true;
                }
                todo.push(component.into_iter().filter(|&state| have_to(state) & starved == 0).collect());
            }
        }
        false
    }
}

/// The states that are looked at together: those of one region, with the edges that stay in it.
struct Regions<'a> {
    graph: &'a Graph,
    most: Impact,
    /// The region of each state.
    of: Vec<u32>,
    last: u32,
}

/// A state on the path of the depth-first search, and the number of its edges that were followed.
struct Visit {
    state: u32,
    edge: usize,
}

/// The knowledge of Tarjan's search about a state.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// The number by which it was met; 0 if it was not.
    number: u32,
    /// The earliest state on the stack that it reaches.
    low: u32,
}

impl Regions<'_> {
    /// The edges from a state that stay in its region.
    fn inner(&self, state: u32) -> impl Iterator<Item = &Edge> {
        let region = self.of[state as usize];
        let stays = move |edge: &&Edge| edge.impact <= self.most && self.of[edge.to as usize] == region;
        self.graph.edges[state as usize].iter().filter(stays)
    }

    /// The strongly connected components among some states, without their regions of before. Each becomes a region.
    fn components(&mut self, states: &[u32]) -> Vec<Vec<u32>> {
        self.last += 1;
        states.iter().for_each(|&state| self.of[state as usize] = self.last);
        let mut marks = rustc_hash::FxHashMap::default();
        let mut stack = Vec::new();
        let mut components = Vec::new();
        for &state in states {
            if !marks.contains_key(&state) {
                self.visit(state, &mut marks, &mut stack, &mut components);
            }
        }
        for component in &components {
            self.last += 1;
            component.iter().for_each(|&state| self.of[state as usize] = self.last);
        }
        components
    }

    fn visit(
        &self,
        root: u32,
        marks: &mut rustc_hash::FxHashMap<u32, Mark>,
        stack: &mut Vec<u32>,
        components: &mut Vec<Vec<u32>>,
    ) {
        let mut path = Vec::new();
        let meet = |state, marks: &mut rustc_hash::FxHashMap<u32, Mark>, stack: &mut Vec<u32>| {
            let number = marks.len() as u32 + 1;
            marks.insert(state, Mark { number, low: number });
            stack.push(state);
            Visit { state, edge: 0 }
        };
        path.push(meet(root, marks, stack));
        while let Some(top) = path.last_mut() {
            let state = top.state;
            let edge = self.inner(state).nth(top.edge).copied();
            top.edge += 1;
            if let Some(edge) = edge {
                match marks.get(&edge.to) {
                    None => path.push(meet(edge.to, marks, stack)),
                    Some(to) => {
                        let low = to.low;
                        let own = marks.get_mut(&state).expect("it was met");
                        own.low = own.low.min(low);
                    }
                }
                continue;
            }
            path.pop();
            let mark = marks[&state];
            if let Some(before) = path.last() {
                let before = marks.get_mut(&before.state).expect("it was met");
                before.low = before.low.min(mark.low);
            }
            if mark.low == mark.number {
                let first = stack.iter().rposition(|&other| other == state).expect("it is on the stack");
                let component = stack.split_off(first);
                component.iter().for_each(|state| marks.get_mut(state).expect("it was met").low = u32::MAX);
                components.push(component);
            }
        }
    }
}
