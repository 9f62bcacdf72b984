//! VerifyC11 against all modification orders, each judged by the axioms as they are written (`c11_axioms`).
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many graphs there are (default 6,000), `RSMC_ORACLE_SEED` shifts them.

#[allow(dead_code, unused_imports, reason = "graphs only")]
mod c11_axioms;

use c11_axioms::{
    Event, Kind, ModificationOrder, consistent, is_consistent, modification_orders, random_graph, random_necklace,
};
use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::consistency::VerifyC11;
use rsmc_core::model::c11::{Graph, Node};
use rsmc_core::trace::Source;

type Plain = c11_axioms::Graph;

/// The same graph for the verifier, and the number of each node in the plain one.
fn convert(plain: &Plain) -> (Graph, Vec<usize>) {
    let (mut graph, mut names) = (Graph::default(), Vec::new());
    while names.len() < plain.events.len() {
        let waits_for = |&(before, after): &(usize, usize), event: usize| after == event && !names.contains(&before);
        let is_next = |&event: &usize| {
            !names.contains(&event)
                && !plain.sb.iter().any(|edge| waits_for(edge, event))
                && plain.events[event].source.is_none_or(|source| names.contains(&source))
        };
        let next = (0..plain.events.len()).find(is_next).expect("sb and rf have no cycle");
        let Event { thread, kind, loc, order, source } = plain.events[next].clone();
        let thread = ThreadId(thread as u32);
        let number = |event: usize| names.iter().position(|&name| name == event).expect("it came before");
        for &(before, _) in plain.sb.iter().filter(|&&(_, after)| after == next) {
            graph.follow(number(before), thread);
        }
        let source = match source {
            _ if !plain.events[next].reads() => Source::None,
            None => Source::Init,
            Some(source) => Source::At(number(source) as u32),
        };
        match kind {
            Kind::Fence => graph.fence(thread, order),
            _ => graph.access(
                thread,
                Node { loc: Some(LocId(loc as u32)), source, writes: plain.events[next].writes(), order },
            ),
        };
        names.push(next);
    }
    (graph, names)
}

/// The answer of the verifier, as a modification order of the plain graph.
fn verify(verifier: &mut VerifyC11, plain: &Plain, rank: impl Fn(usize) -> u32) -> Option<ModificationOrder> {
    let (graph, names) = convert(plain);
    let mut writes = Vec::new();
    let nodes: Vec<u32> = (0..names.len() as u32).collect();
    verifier.verify(&graph, &nodes, |node| rank(names[node]), &mut writes).then(|| {
        let locations = plain.events.iter().map(|event| event.loc + 1).max().unwrap_or(0);
        let of_loc = |loc: usize| {
            let all = writes.iter().map(|&node| names[node]);
            all.filter(|&event| plain.events[event].loc == loc).collect()
        };
        (0..locations).map(of_loc).collect()
    })
}

#[test]
#[allow(clippy::print_stdout, reason = "how many graphs were possible, for who asks with --nocapture")]
fn agrees_with_all_modification_orders() {
    let number =
        |variable: &str, default: u64| std::env::var(variable).map_or(default, |text| text.parse().expect("a number"));
    let (graphs, first) = (number("RSMC_ORACLE_PROGRAMS", 6_000), number("RSMC_ORACLE_SEED", 0));
    let (mut verifier, mut possible, mut orders) = (VerifyC11::default(), 0, 0);
    for seed in first..first + graphs {
        let plain = if seed % 2 == 0 { random_graph(seed, 7) } else { random_necklace(seed) };
        let expected = consistent(&plain);
        let forwards = verify(&mut verifier, &plain, |event| event as u32);
        let backwards = verify(&mut verifier, &plain, |event| u32::MAX - event as u32);
        for found in [forwards, backwards] {
            assert_eq!(found.is_some(), expected.is_some(), "seed {seed}: {found:?}, {expected:?} of\n{plain:#?}");
            if let Some(order) = found {
                assert!(is_consistent(&plain, &order), "seed {seed}: {order:?} of\n{plain:#?}");
            }
        }
        possible += u64::from(expected.is_some());
        orders += modification_orders(&plain).len();
    }
    println!("{possible} of {graphs} graphs are possible, {orders} orders");
    assert!(possible * 5 > graphs && possible * 5 < graphs * 4, "{possible} of {graphs}");
}
