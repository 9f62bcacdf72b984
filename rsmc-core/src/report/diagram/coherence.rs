//! The order of the writes of each location, by position of the events.

use std::collections::BTreeMap;

use crate::base::LocId;
use crate::consistency::VerifyC11;
use crate::model::c11::Graph;
use crate::trace::Trace;

/// The order of the writes of each location, all of them or those that have reached memory.
pub(super) type Order = BTreeMap<LocId, Vec<usize>>;

/// The largest number of events for which a modification order is searched under C11: the time is cubic in the number
/// of writes.
const LONGEST: usize = 2_000;

/// A modification order of an execution under C11, the one closest to the order of happening; `None` if it is too long.
pub(super) fn modification(trace: &Trace) -> Option<Order> {
    if trace.events.len() > LONGEST {
        return None;
    }
    let (mut graph, mut numbers, mut writes) = (Graph::default(), Vec::new(), Vec::new());
    graph.read(trace, &mut numbers);
    let nodes: Vec<u32> = (0..graph.nodes().len() as u32).collect();
    if !VerifyC11::default().verify(&graph, &nodes, |node| node as u32, &mut writes) {
        return None;
    }
    let mut order = Order::new();
    for node in writes {
        if let Ok(at) = numbers.binary_search(&(node as u32)) {
            order.entry(trace.events[at].op.loc).or_default().push(at);
        }
    }
    Some(order)
}
