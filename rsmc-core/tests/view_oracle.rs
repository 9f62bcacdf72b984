//! ViewXplore against brute force: every view class once, with its outcomes, deadlocks and panics; and every plausible
//! cut of every run.

use std::collections::BTreeSet;

use rsmc_core::base::Spill;
use rsmc_core::explore::ViewXplore;
use rsmc_core::explore::view_xplore::Traversal;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{Executor, Explorer, Plan, Run};
use rsmc_core::trace::{Event, ProgramOrder, Source, Trace};
use rsmc_testkit::litmus::{Interpreter, Program, Weights};

use crate::litmus_brute as brute;
use crate::oracle::{self, Oracle, mixes};

const VIEW: Oracle = Oracle {
    class: brute::view_class,
    explorer: |memory, number| {
        let depth_first = number.is_multiple_of(2);
        let traversal = if depth_first { Traversal::DepthFirst } else { Traversal::BreadthFirst };
        let spill = Spill { full: 16, ..Spill::to(&std::env::temp_dir(), u64::MAX) };
        let explorer = ViewXplore::new(memory, traversal);
        Box::new(explorer.with_spill(number.is_multiple_of(3).then_some(spill)))
    },
};

mixes!(VIEW);

/// An observation: thread, index, and what is seen there.
type Observation = (u32, u32, u64);

fn observation(trace: &Trace, event: &Event) -> Observation {
    let seen = match trace.source_id(event) {
        Some(write) if event.op.action.locks() => 1 << 63 | u64::from(write.thread.0) << 32 | u64::from(write.index),
        _ => event.read,
    };
    (event.id.thread.0, event.id.index, seen)
}

/// The events of a run with the observations of `made` only, by thread; none if what must happen before one of these is
/// missing, or the write that it takes.
fn inside(trace: &Trace, order: &ProgramOrder, made: &[usize]) -> Option<Vec<usize>> {
    let (mut inside, mut observed) = (vec![false; trace.events.len()], vec![0; made.len()]);
    for (at, event) in trace.events.iter().enumerate() {
        let thread = event.id.thread.0 as usize;
        let observes = event.source != Source::None;
        let has_preds = order.preds(at).iter().all(|&pred| inside[pred as usize]);
        inside[at] = has_preds && (!observes || observed[thread] < made[thread]);
        observed[thread] += usize::from(inside[at] && observes);
    }
    let inside: Vec<usize> = (0..inside.len()).filter(|&at| inside[at]).collect();
    let takes = |&read: &usize| {
        let event = &trace.events[read];
        let is_by_write = event.op.action.locks();
        let source = trace.source_id(event);
        let is_good = |&at: &usize| {
            let write = &trace.events[at];
            let is_same = if is_by_write { source == Some(write.id) } else { write.written == Some(event.read) };
            at != read && write.op.loc == event.op.loc && write.written.is_some() && is_same
        };
        let init = if is_by_write { source.is_none() } else { trace.locs[event.op.loc].init == event.read };
        event.source == Source::None || init || inside.iter().any(is_good)
    };
    (observed == made && inside.iter().all(takes)).then_some(inside)
}

/// The plausible cuts of a run, from the whole cross-product.
fn cuts(trace: &Trace) -> BTreeSet<Vec<Observation>> {
    let mut order = ProgramOrder::default();
    order.compute(trace);
    let mut all = vec![0; trace.thread_bound()];
    for event in trace.events.iter().filter(|event| event.source != Source::None) {
        all[event.id.thread.0 as usize] += 1;
    }
    let (mut found, mut made) = (BTreeSet::new(), vec![0; all.len()]);
    loop {
        if let Some(inside) = inside(trace, &order, &made) {
            let events = inside.iter().map(|&at| &trace.events[at]).filter(|event| event.source != Source::None);
            let mut cut: Vec<_> = events.map(|event| observation(trace, event)).collect();
            cut.sort_unstable();
            found.insert(cut);
        }
        let Some(thread) = (0..all.len()).find(|&thread| made[thread] < all[thread]) else { return found };
        made[thread] += 1;
        made[..thread].fill(0);
    }
}

/// The number of cuts that ViewXplore visits, and that of all plausible ones, if they differ.
fn difference(program: &Program, _: u64) -> Option<String> {
    let mut executor = Interpreter::new(program, Rules::new(MemoryModel::Sc, 1_000)).expect("it is well formed");
    let mut explorer = ViewXplore::new(MemoryModel::Sc, Traversal::DepthFirst);
    let (mut plan, mut run, mut all) = (Plan::default(), Run::default(), BTreeSet::new());
    while explorer.next_plan(&mut plan) {
        executor.execute(&plan, &mut run);
        all.append(&mut cuts(&run.trace));
        explorer.observe(&run);
    }
    let visited = explorer.effort().cuts;
    (visited != all.len() as u64).then(|| format!("{visited} cuts are visited, of {} plausible ones", all.len()))
}

#[test]
fn every_plausible_cut_is_visited_once() {
    for (name, weights) in [("atomics", Weights::ATOMICS), ("updates", Weights::UPDATES), ("locks", Weights::LOCKS)] {
        oracle::compare(name, oracle::SMALL, &weights, &difference);
        oracle::compare(name, oracle::TWO_THREADS, &weights, &difference);
    }
}
