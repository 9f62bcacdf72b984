//! VerifyC11 against all modification orders, each judged by the axioms as they are written (`c11_axioms`).
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many graphs there are (default 6,000), `RSMC_ORACLE_SEED` shifts them.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use rsmc_core::base::{LocId, ThreadId};
use rsmc_core::consistency::VerifyC11;
use rsmc_core::model::c11::{Graph, Node};
use rsmc_core::trace::Source;

use crate::c11_axioms::{
    self, Event, Kind, ModificationOrder, consistent, is_consistent, modification_orders, random_graph, random_necklace,
};

type Plain = c11_axioms::Graph;

/// The graph for the verifier, and the number of each node in the plain one.
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

/// An access of a thread: what, where, with which ordering, and for a read the write that it takes (its thread and its
/// number there), if that is not the initial value.
type Access = (Kind, usize, Ordering, Option<(usize, usize)>);

fn graph_of(threads: &[&[Access]]) -> Plain {
    let first: Vec<usize> =
        threads.iter().scan(0, |sum, accesses| Some(std::mem::replace(sum, *sum + accesses.len()))).collect();
    let mut plain = Plain::default();
    for (thread, accesses) in threads.iter().enumerate() {
        for (index, &(kind, loc, order, source)) in accesses.iter().enumerate() {
            let source = source.map(|(thread, index)| first[thread] + index);
            plain.sb.extend((index > 0).then(|| (plain.events.len() - 1, plain.events.len())));
            plain.events.push(Event { thread, kind, loc, order, source });
        }
    }
    plain
}

/// Cycles of psc by different parts of its definition.
#[test]
fn every_part_of_psc_forbids_something() {
    const F: Access = (Kind::Fence, 0, SeqCst, None);
    let [read, write] = [Kind::Read, Kind::Write].map(|kind| move |loc, order| (kind, loc, order, None));
    let take = |loc, order, thread, index| (Kind::Read, loc, order, Some((thread, index)));
    let (x, y, z) = (0, 1, 2);
    let graphs: [(&str, &[&[Access]]); 7] = [
        (
            "mo or rb, then hb;[F]",
            &[
                &[write(x, SeqCst), write(z, Release)],
                &[take(z, Acquire, 0, 1), F, read(y, Relaxed)],
                &[write(y, SeqCst), read(x, SeqCst)],
            ],
        ),
        (
            "[F];hb, then mo or rb",
            &[
                &[write(x, Relaxed), F, write(z, Release)],
                &[take(z, Acquire, 0, 2), read(y, SeqCst)],
                &[write(y, SeqCst), read(x, SeqCst)],
            ],
        ),
        (
            "sb≠loc;hb;sb≠loc",
            &[
                &[write(x, SeqCst), write(z, Release)],
                &[take(z, Acquire, 0, 1), read(y, SeqCst)],
                &[write(y, SeqCst), read(x, SeqCst)],
            ],
        ),
        (
            "sb≠loc;hb;sb≠loc with more of the first location behind",
            &[
                &[write(x, SeqCst), write(z, Relaxed), write(x, Release)],
                &[take(x, Acquire, 0, 2), read(y, SeqCst)],
                &[write(y, SeqCst), read(x, SeqCst)],
            ],
        ),
        ("[F];sb;rb;sb;[F]", &[&[write(x, Relaxed), F, read(y, Relaxed)], &[write(y, Relaxed), F, read(x, Relaxed)]]),
        (
            "[F];hb;mo;rf;hb;[F]",
            &[
                &[write(y, Relaxed), F, write(x, Relaxed)],
                &[take(x, Relaxed, 0, 2), write(x, Relaxed)],
                &[take(x, Relaxed, 1, 1), F, read(y, Relaxed)],
            ],
        ),
        (
            "[F];hb;rb;rf;hb;[F]",
            &[
                &[write(y, Relaxed), F, read(x, Relaxed)],
                &[(Kind::Update, x, Relaxed, None)],
                &[take(x, Relaxed, 1, 0), F, read(y, Relaxed)],
            ],
        ),
    ];
    for (part, threads) in graphs {
        let strong = graph_of(threads);
        assert!(consistent(&strong).is_none(), "{part}: the axioms allow it");
        assert!(verify(&mut VerifyC11::default(), &strong, |event| event as u32).is_none(), "{part}");
        // Nothing but psc forbids it.
        let mut weak = strong;
        let is_strong = |event: &&mut Event| event.order == SeqCst;
        weak.events.iter_mut().filter(is_strong).for_each(|event| {
            event.order = match event.kind {
                Kind::Read => Acquire,
                Kind::Write => Release,
                Kind::Update | Kind::Fence => AcqRel,
            }
        });
        assert!(verify(&mut VerifyC11::default(), &weak, |event| event as u32).is_some(), "{part}, weakened");
    }
}
