//! C11 by its definition: every modification order of a graph, each judged by the axioms of RC11 (Lahav et al.,
//! "Repairing sequential consistency in C/C++11", PLDI 2017) with the release sequences of C++20.
//!
//! Slow, and meant to be read beside the paper. It shares no code with the checker, which only lends it the data types
//! of litmus programs and the arithmetic of read-modify-writes.
//!
//! Where the paper leaves a choice, as it has neither spawn nor join:
//! - They are no events. Their edges count as program order: in hb, in psc and in "sb ∪ rf is acyclic".
//! - A fence pairs with accesses of its own thread only, as C++ says "sequenced before" there.
//! - Initial values are no events. Each is the first of its location in mo, before everything in hb, and not SC.

mod draw;
mod executions;
mod relation;
mod unrolled;

use std::sync::atomic::Ordering;

pub use draw::{random_graph, random_necklace};
pub use executions::{Executions, executions};
use relation::{Relation, seq, union};
pub use unrolled::states;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A load, or a compare-exchange that failed.
    Read,
    /// A store.
    Write,
    /// A read-modify-write, or a compare-exchange that succeeded.
    Update,
    /// A fence.
    Fence,
}

/// An event of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its thread.
    pub thread: usize,
    /// Its kind.
    pub kind: Kind,
    /// Its location; means nothing for a fence.
    pub loc: usize,
    /// Its ordering; of a failed compare-exchange that for failure.
    pub order: Ordering,
    /// The event it reads from, or `None` for the initial value; `None` too where it does not read.
    pub source: Option<usize>,
}

/// An execution graph without its modification order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Its events, in any order.
    pub events: Vec<Event>,
    /// Program order with the edges of spawn and join, as edges whose closure it is.
    pub sb: Vec<(usize, usize)>,
}

impl Event {
    pub fn reads(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Update)
    }

    pub fn writes(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Update)
    }

    fn fence(&self) -> bool {
        self.kind == Kind::Fence
    }

    fn same_loc(&self, other: &Event) -> bool {
        !self.fence() && !other.fence() && self.loc == other.loc
    }

    /// Acquire or stronger.
    fn acquires(&self) -> bool {
        matches!(self.order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
    }

    /// Release or stronger.
    fn releases(&self) -> bool {
        matches!(self.order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }

    fn sc(&self) -> bool {
        self.order == Ordering::SeqCst
    }
}

/// The writes of each location, oldest first.
pub type ModificationOrder = Vec<Vec<usize>>;

/// A modification order that makes the graph consistent, if there is one.
pub fn consistent(graph: &Graph) -> Option<ModificationOrder> {
    let (base, orders) = (Base::of(graph), modification_orders(graph));
    orders.into_iter().find(|order| base.consistent(graph, order))
}

/// Whether a modification order makes a graph consistent.
pub fn is_consistent(graph: &Graph, order: &ModificationOrder) -> bool {
    Base::of(graph).consistent(graph, order)
}

/// The pairs of writes of a location of which the second was made with knowledge of the first: the closure of
/// `(rf?;hb ∪ rf)|loc;[W]`.
pub fn newer(graph: &Graph) -> Vec<(usize, usize)> {
    let Base { rf, hb, .. } = Base::of(graph);
    let of_writes = graph.pairs(|a, b| a.writes() && b.writes() && a.same_loc(b));
    let accessed = graph.pairs(Event::same_loc).and(&rf.or_equal());
    let newer = union(&[&seq(&[&accessed, &hb]), &rf]).and(&of_writes).closure();
    let all = 0..graph.events.len();
    all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).filter(|&(a, b)| newer.has(a, b)).collect()
}

/// All modification orders in which no write comes before one that is sb-before it or that it reads. (Others break
/// coherence.)
pub fn modification_orders(graph: &Graph) -> Vec<ModificationOrder> {
    let before = union(&[&graph.sb(), &graph.rf()]);
    let locations = graph.events.iter().map(|event| event.loc + 1).max().unwrap_or(0);
    let mut all = vec![Vec::new()];
    for loc in 0..locations {
        let events = 0..graph.events.len();
        let writes = events.filter(|&e| graph.events[e].writes() && graph.events[e].loc == loc).collect();
        let of_loc = permutations(writes, &before);
        let extended = |order: &ModificationOrder| {
            let order = order.clone();
            of_loc.iter().map(move |writes| [order.clone(), vec![writes.clone()]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extended).collect();
    }
    all
}

/// All permutations that go along with a partial order.
fn permutations(events: Vec<usize>, before: &Relation) -> Vec<Vec<usize>> {
    if events.is_empty() {
        return vec![Vec::new()];
    }
    let is_first = |&first: &usize| !events.iter().any(|&other| before.has(other, first));
    let starting_with = |first: usize| {
        let rest = events.iter().copied().filter(|&event| event != first).collect();
        permutations(rest, before).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    events.iter().copied().filter(is_first).flat_map(starting_with).collect()
}

impl Graph {
    /// Every edge between two events that a condition picks.
    fn pairs(&self, related: impl Fn(&Event, &Event) -> bool) -> Relation {
        Relation::of(self.events.len(), |a, b| related(&self.events[a], &self.events[b]))
    }

    /// `[X]`: the identity on the events that a condition picks.
    fn only(&self, picked: impl Fn(&Event) -> bool) -> Relation {
        Relation::of(self.events.len(), |a, b| a == b && picked(&self.events[a]))
    }

    fn sb(&self) -> Relation {
        Relation::of(self.events.len(), |a, b| self.sb.contains(&(a, b))).closure()
    }

    fn rf(&self) -> Relation {
        Relation::of(self.events.len(), |a, b| self.events[b].reads() && self.events[b].source == Some(a))
    }
}

/// The relations that do not depend on the modification order.
struct Base {
    sb: Relation,
    rf: Relation,
    hb: Relation,
}

impl Base {
    fn of(graph: &Graph) -> Self {
        let (sb, rf) = (graph.sb(), graph.rf());
        let sw = synchronizes_with(graph, &sb, &rf);
        let hb = union(&[&sb, &sw]).closure();
        Self { sb, rf, hb }
    }

    /// Whether all axioms hold.
    fn consistent(&self, graph: &Graph, order: &ModificationOrder) -> bool {
        // Atomicity alone first, since it is quick.
        atomic(graph, order) && self.axioms(graph, order).iter().all(|(_, holds)| *holds)
    }

    /// The axioms, and whether they hold.
    fn axioms(&self, graph: &Graph, order: &ModificationOrder) -> [(&'static str, bool); 4] {
        let Base { sb, rf, hb } = self;
        let mo = modification_order(graph, order);
        let rb = reads_before(graph, rf, &mo);
        let eco = union(&[rf, &mo, &rb]).closure();
        [
            ("coherence", hb.is_irreflexive() && seq(&[hb, &eco]).is_irreflexive()),
            ("atomicity", atomic(graph, order)),
            ("sc", partial_sc(graph, sb, hb, &mo, &rb, &eco).is_acyclic()),
            ("no thin air", union(&[sb, rf]).is_acyclic()),
        ]
    }
}

/// sw = `([W_rel] ∪ [F_rel];sb;[W]); rs; rf; ([R_acq] ∪ [R];sb;[F_acq])`, where rs = `[W];(rf;[U])*` is the release
/// sequence, and sb stays in a thread.
fn synchronizes_with(graph: &Graph, sb: &Relation, rf: &Relation) -> Relation {
    let sb_in_thread = sb.and(&graph.pairs(|a, b| a.thread == b.thread));
    let writes = graph.only(Event::writes);
    let reads = graph.only(Event::reads);
    let updates = graph.only(|event| event.kind == Kind::Update);
    let release_writes = graph.only(|event| event.writes() && event.releases());
    let release_fences = graph.only(|event| event.fence() && event.releases());
    let acquire_reads = graph.only(|event| event.reads() && event.acquires());
    let acquire_fences = graph.only(|event| event.fence() && event.acquires());

    let release_sequence = seq(&[&writes, &seq(&[rf, &updates]).closure().or_equal()]);
    let from = union(&[&release_writes, &seq(&[&release_fences, &sb_in_thread, &writes])]);
    let to = union(&[&acquire_reads, &seq(&[&reads, &sb_in_thread, &acquire_fences])]);
    seq(&[&from, &release_sequence, rf, &to])
}

/// mo: each write before all later ones of its location.
fn modification_order(graph: &Graph, order: &ModificationOrder) -> Relation {
    let place = |event: usize| order[graph.events[event].loc].iter().position(|&write| write == event);
    Relation::of(graph.events.len(), |a, b| {
        let (first, second) = (&graph.events[a], &graph.events[b]);
        first.writes() && second.writes() && first.same_loc(second) && place(a) < place(b)
    })
}

/// rb = `rf⁻¹;mo` without the identity; a read of the initial value is before all writes of its location.
fn reads_before(graph: &Graph, rf: &Relation, mo: &Relation) -> Relation {
    let of_initial = graph.pairs(|a, b| a.reads() && a.source.is_none() && b.writes() && a.same_loc(b));
    let different = Relation::of(graph.events.len(), |a, b| a != b);
    union(&[&seq(&[&rf.inverse(), mo]), &of_initial]).and(&different)
}

/// Every update comes in mo immediately after the write it reads from.
fn atomic(graph: &Graph, order: &ModificationOrder) -> bool {
    order.iter().all(|writes| {
        (0..writes.len()).all(|place| {
            let event = &graph.events[writes[place]];
            let previous = place.checked_sub(1).map(|place| writes[place]);
            event.kind != Kind::Update || event.source == previous
        })
    })
}

/// psc = psc_base ∪ psc_F, with
/// scb = `sb ∪ sb|≠loc;hb;sb|≠loc ∪ hb|loc ∪ mo ∪ rb`,
/// psc_base = `([E_sc] ∪ [F_sc];hb?); scb; ([E_sc] ∪ hb?;[F_sc])` and
/// psc_F = `[F_sc]; (hb ∪ hb;eco;hb); [F_sc]`.
fn partial_sc(graph: &Graph, sb: &Relation, hb: &Relation, mo: &Relation, rb: &Relation, eco: &Relation) -> Relation {
    let same_loc = graph.pairs(Event::same_loc);
    let sb_other_loc = sb.and(&graph.pairs(|a, b| !a.same_loc(b)));
    let events = graph.only(Event::sc);
    let fences = graph.only(|event| event.fence() && event.sc());

    let around = seq(&[&sb_other_loc, hb, &sb_other_loc]);
    let scb = union(&[sb, &around, &hb.and(&same_loc), mo, rb]);
    let from = union(&[&events, &seq(&[&fences, &hb.or_equal()])]);
    let to = union(&[&events, &seq(&[&hb.or_equal(), &fences])]);
    let psc_base = seq(&[&from, &scb, &to]);
    let psc_f = seq(&[&fences, &union(&[hb, &seq(&[hb, eco, hb])]), &fences]);
    union(&[&psc_base, &psc_f])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of all writes of each location, whatever sb says.
    fn all_orders(graph: &Graph) -> Vec<ModificationOrder> {
        modification_orders(&Graph { sb: Vec::new(), ..graph.clone() })
    }

    #[test]
    fn orders_against_program_order_are_never_consistent() {
        for seed in 0..1_000 {
            let graph = random_graph(seed, 7);
            let base = Base::of(&graph);
            let good = |orders: Vec<ModificationOrder>| -> Vec<ModificationOrder> {
                orders.into_iter().filter(|order| base.consistent(&graph, order)).collect()
            };
            assert_eq!(good(modification_orders(&graph)), good(all_orders(&graph)), "seed {seed}: {graph:?}");
        }
    }

    #[test]
    fn a_graph_without_its_last_events_stays_consistent() {
        for seed in (0..2_000).filter(|&seed| consistent(&random_graph(seed, 7)).is_some()) {
            let graph = random_graph(seed, 7);
            for last in 0..graph.events.len() {
                if let Some(smaller) = without(&graph, last) {
                    assert!(consistent(&smaller).is_some(), "seed {seed} without {last}: {graph:?}");
                }
            }
        }
    }

    /// The graph without an event, if nothing comes after it in sb ∪ rf.
    fn without(graph: &Graph, last: usize) -> Option<Graph> {
        if graph.sb.iter().any(|&(a, _)| a == last) || graph.events.iter().any(|event| event.source == Some(last)) {
            return None;
        }
        let renamed = |event: usize| event - usize::from(event > last);
        let mut events = graph.events.clone();
        events.remove(last);
        events.iter_mut().for_each(|event| event.source = event.source.map(renamed));
        let sb = graph.sb.iter().filter(|edge| edge.1 != last).map(|&(a, b)| (renamed(a), renamed(b))).collect();
        Some(Graph { events, sb })
    }

    /// Whether all axioms but one can be made to hold.
    fn consistent_without(graph: &Graph, left_out: &str) -> bool {
        let base = Base::of(graph);
        let holds = |order: &_| base.axioms(graph, order).iter().all(|(name, holds)| *holds || *name == left_out);
        modification_orders(graph).iter().any(holds)
    }

    #[test]
    fn every_axiom_decides_some_random_graphs() {
        let graphs: Vec<Graph> = (0..2_000).map(|seed| random_graph(seed, 7)).collect();
        let good = graphs.iter().filter(|graph| consistent(graph).is_some()).count();
        assert!((800..1_600).contains(&good), "{good} consistent by chance");
        let bad = || graphs.iter().filter(|graph| consistent(graph).is_none());
        for (axiom, least) in [("coherence", 100), ("atomicity", 30), ("sc", 20)] {
            let decided = bad().filter(|graph| consistent_without(graph, axiom)).count();
            assert!(decided >= least, "{decided} by {axiom}");
        }
        assert!(bad().all(|graph| !consistent_without(graph, "no thin air")));
    }
}
