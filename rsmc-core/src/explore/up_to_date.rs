//! Under C11: another order of an execution, in which its reads are as up to date as can be.
//!
//! Problem. An execution is a graph, and any order of program order and reads-from runs it. In some of them a read
//! takes an old value only because the write that overwrote it happened to come first. Such an order hides what
//! matters: the reads that no order explains.
//!
//! Method. Take a modification order. A write should come after those before it in that order, and after the reads of
//! those. Where an event can be next of which this holds, the one that goes on with its thread is taken, or the first
//! of the execution. Otherwise some read has to be late, and the event is taken that leaves the least behind: reads
//! that are not `SeqCst` rather than writes, and writes rather than reads that are.
//!
//! Guarantees. The graph is the same, so the outcome is. If the execution is one of SC by this modification order, no
//! read takes an old value. Otherwise not always the fewest do: the method is greedy.
//!
//! Cost. O(events × threads), and one question to VerifyC11.

use std::sync::atomic::Ordering;

use crate::base::{Id, IdVec, LocId};
use crate::consistency::VerifyC11;
use crate::model::c11::Graph;
use crate::step::{Forced, Plan, Run, Step};
use crate::trace::{Event, ProgramOrder, Source, Trace};

/// A plan that runs an execution of C11 in such an order.
pub fn up_to_date(run: &Run) -> Plan {
    let trace = &run.trace;
    let modification = modification(trace);
    let order = Sorter::new(trace, &modification).sort();
    let forced = order.into_iter().map(|at| {
        let event = &trace.events[at];
        let forced = Forced::of(event, &trace.locs[event.op.loc]);
        let takes = event.op.action.reads().then(|| trace.source_id(event));
        Forced { step: Step::perform(event.id.thread, event.op.action, takes), ..forced }
    });
    Plan {
        forced: forced.collect(),
        modification: modification.iter().map(|&at| trace.events[at].id).collect(),
        ..Plan::default()
    }
}

/// All writes, those of each location in modification order.
fn modification(trace: &Trace) -> Vec<usize> {
    let (mut graph, mut numbers, mut writes) = (Graph::default(), Vec::new(), Vec::new());
    graph.read(trace, &mut numbers);
    let nodes: Vec<u32> = (0..graph.nodes().len() as u32).collect();
    let found = VerifyC11::default().verify(&graph, &nodes, |node| node as u32, &mut writes);
    assert!(found, "this is a bug in rsmc: an execution has no modification order");
    writes.iter().map(|&node| numbers.binary_search(&(node as u32)).expect("a write is an event")).collect()
}

struct Sorter<'a> {
    trace: &'a Trace,
    program: ProgramOrder,
    /// By event: what should come before it.
    wanted: Vec<Vec<usize>>,
    done: Vec<bool>,
}

impl<'a> Sorter<'a> {
    fn new(trace: &'a Trace, modification: &[usize]) -> Self {
        let mut program = ProgramOrder::default();
        program.compute(trace);
        let events = &trace.events;
        let mut readers = vec![Vec::new(); events.len()];
        let mut first_readers: IdVec<LocId, Vec<usize>> = trace.locs.ids().map(|_| Vec::new()).collect();
        for (at, event) in events.iter().enumerate() {
            match event.source {
                Source::At(write) => readers[write as usize].push(at),
                Source::Init => first_readers[event.op.loc].push(at),
                Source::None => {}
            }
        }
        let mut wanted = vec![Vec::new(); events.len()];
        let mut last: IdVec<LocId, Option<usize>> = trace.locs.ids().map(|_| None).collect();
        for &write in modification {
            let loc = events[write].op.loc;
            let before = last[loc].replace(write);
            let of_value = before.map_or(&first_readers[loc], |before| &readers[before]);
            wanted[write].extend(of_value.iter().chain(&before).copied().filter(|&other| other != write));
        }
        Self { trace, program, wanted, done: vec![false; events.len()] }
    }

    fn sort(mut self) -> Vec<usize> {
        let events = &self.trace.events;
        let mut next = vec![0; self.trace.thread_bound()];
        let mut order: Vec<usize> = Vec::with_capacity(events.len());
        while order.len() < events.len() {
            let last = order.last().map(|&last| events[last].id.thread);
            let fronts = self
                .trace
                .threads
                .ids()
                .filter_map(|thread| self.trace.of_thread(thread).get(next[thread.index()]).map(|&at| at as usize));
            let ready = fronts.filter(|&at| self.is_ready(at));
            let chosen = ready.min_by_key(|&at| (self.left_behind(at), Some(events[at].id.thread) != last, at));
            let chosen = chosen.expect("program order and reads-from have no cycle");
            self.done[chosen] = true;
            next[events[chosen].id.thread.index()] += 1;
            order.push(chosen);
        }
        order
    }

    /// Whether all events that must come before an event have come.
    fn is_ready(&self, at: usize) -> bool {
        let source = match self.trace.events[at].source {
            Source::At(write) => self.done[write as usize],
            Source::Init | Source::None => true,
        };
        source && self.program.preds(at).iter().all(|&pred| self.done[pred as usize])
    }

    /// The cost of going on with an event before those that should come before it.
    fn left_behind(&self, at: usize) -> u32 {
        let weight = |event: &Event| match event.written {
            None if event.order() != Ordering::SeqCst => 1,
            Some(_) => 16,
            None => 256,
        };
        let missing = self.wanted[at].iter().filter(|&&other| !self.done[other]);
        missing.map(|&other| weight(&self.trace.events[other])).sum()
    }
}
