//! The writes that each read of a random execution may take, against the axioms: in each state, those that the machine
//! offers are those with which the execution so far stays consistent.
//!
//! Classes do not show that: what is not offered in one order of execution is offered in another one.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs there are (default 150), `RSMC_ORACLE_SEED` shifts them.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use rsmc_core::base::{EventId, ThreadId};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel::C11;
use rsmc_core::step::{Executor, Plan, Run, SchedulingPolicy, Step};
use rsmc_core::trace::{Action, Effect, NoteKind, Op, Row, Source, Trace};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights};

use crate::c11_axioms::{self as axioms, Kind};
use crate::corpus::corpus;
use crate::oracle;

/// The beginning of an execution as the axioms see it.
#[derive(Clone, Default)]
struct Beginning {
    graph: axioms::Graph,
    /// By thread: the nodes right before its next one.
    last: BTreeMap<ThreadId, BTreeSet<usize>>,
    /// By event: its node.
    nodes: Vec<usize>,
    /// True if something is neither `SeqCst` nor the use of a lock. Until then reads that are take the newest write.
    is_mixed: bool,
}

impl Beginning {
    fn add(&mut self, row: &Row<'_>) {
        match row {
            Row::Event(_, event) => {
                self.is_mixed |= !event.op.is_sequential(event.written.is_some());
                self.nodes.push(self.graph.events.len());
                self.add_access(event.id.thread, &event.op, event.source, event.written.is_some());
            }
            Row::Note(note) => match note.kind {
                NoteKind::Fence(order) => {
                    self.is_mixed |= order != Ordering::SeqCst;
                    let (thread, kind) = (note.thread.0 as usize, Kind::Fence);
                    self.add_node(note.thread, axioms::Event { thread, kind, loc: 0, order, source: None });
                }
                NoteKind::Spawn(child) => self.follow(note.thread, child),
                NoteKind::Join(child) => self.follow(child, note.thread),
                _ => {}
            },
        }
    }

    fn add_access(&mut self, id: ThreadId, op: &Op, source: Source, writes: bool) {
        let kind = match (source, writes) {
            (Source::None, _) => Kind::Write,
            (_, true) => Kind::Update,
            (_, false) => Kind::Read,
        };
        let source = if let Source::At(at) = source { Some(self.nodes[at as usize]) } else { None };
        let order = if writes { op.order } else { op.failure };
        self.add_node(id, axioms::Event { thread: id.0 as usize, kind, loc: op.loc.0 as usize, order, source });
    }

    fn add_node(&mut self, thread: ThreadId, node: axioms::Event) {
        let number = self.graph.events.len();
        self.graph.events.push(node);
        let before = self.last.insert(thread, BTreeSet::from([number])).unwrap_or_default();
        self.graph.sb.extend(before.into_iter().map(|before| (before, number)));
    }

    /// What comes next in `thread` comes behind what `first` did so far.
    fn follow(&mut self, first: ThreadId, thread: ThreadId) {
        let last = self.last.get(&first).cloned().unwrap_or_default();
        self.last.entry(thread).or_default().extend(last);
    }

    /// Whether it stays consistent if the operation of a thread takes this source.
    fn allows(&self, trace: &Trace, thread: ThreadId, op: &Op, source: Source) -> bool {
        let value = match source {
            Source::At(at) => trace.events[at as usize].written.expect("a write"),
            _ => trace.locs[op.loc].init,
        };
        let effect = op.action.effect(value);
        let mut next = self.clone();
        next.add_access(thread, op, source, effect.written().is_some());
        effect != Effect::Blocked && axioms::consistent(&next.graph).is_some()
    }
}

/// The number of old values that reads of a random execution could take, and a state in which other ones are offered.
fn compare(program: &Program, seed: u64) -> (usize, Option<String>) {
    let mut interpreter = Interpreter::new(program, Rules::new(C11, 1_000)).expect("it is well formed");
    let policy = SchedulingPolicy::Random(seed);
    let (plan, mut run) = (Plan { policy, record_choices: true, ..Plan::default() }, Run::default());
    interpreter.execute(&plan, &mut run);
    let trace = &run.trace;
    let (mut beginning, mut old) = (Beginning::default(), 0);
    for row in trace.rows() {
        if let Row::Event(at, event) = row
            && event.source != Source::None
            && !matches!(event.op.action, Action::Choose { .. })
        {
            let id =
                |source: Source| if let Source::At(at) = source { Some(trace.events[at as usize].id) } else { None };
            let writes = trace.events[..at].iter().enumerate();
            let of_loc = writes.filter(|(_, write)| write.op.loc == event.op.loc && write.written.is_some());
            let sources = of_loc.map(|(at, _)| Source::At(at as u32)).chain([Source::Init]);
            let allowed = sources.filter(|&source| beginning.allows(trace, event.id.thread, &event.op, source));
            let allowed: BTreeSet<Option<EventId>> = allowed.map(id).collect();
            let takes = |step: &Step| match *step {
                Step::Take(thread, write) if thread == event.id.thread => Some(write),
                _ => None,
            };
            let offered: BTreeSet<_> = run.choices[at].possible.iter().filter_map(takes).collect();
            let is_right = if beginning.is_mixed { offered == allowed } else { offered.is_subset(&allowed) };
            if !is_right || offered.is_empty() {
                let id = event.id;
                return (old, Some(format!("{id:?} may take {allowed:?}, offered are {offered:?}, seed {seed}")));
            }
            old += offered.len() - 1;
        }
        beginning.add(&row);
    }
    (old, None)
}

#[test]
fn every_old_value_is_offered_and_no_other() {
    let size = Size { threads: 3, locations: 2, locks: 1, operations: 9 };
    let fences = Weights { fence: 5, rmw: 2, ..Weights::ATOMICS };
    let updates = Weights { fence: 1, ..Weights::UPDATES };
    for (name, weights) in [("fences", &fences), ("updates", &updates), ("everything", &Weights::EVERYTHING)] {
        let (old, executions) = (Cell::new(0), Cell::new(0));
        oracle::compare_some(150, name, size, weights, &|program, seed| {
            (4 * seed..4 * seed + 4).find_map(|seed| {
                let (found, wrong) = compare(program, seed);
                old.set(old.get() + found);
                executions.set(executions.get() + 1);
                wrong
            })
        });
        assert!(
            old.get() > executions.get() / 2,
            "{name}: {} old values in {} executions",
            old.get(),
            executions.get()
        );
    }
}

/// Few random programs have `SeqCst` fences where they matter.
#[test]
fn every_old_value_is_offered_in_known_programs() {
    let (mut old, mut programs) = (0, 0);
    for (name, program) in corpus().iter().filter(|(_, program)| !program.to_string().contains("while")) {
        for seed in 0..10 {
            let (found, wrong) = compare(program, seed);
            old += found;
            assert!(wrong.is_none(), "{name}: {}", wrong.unwrap_or_default());
        }
        programs += 1;
    }
    assert!(programs > 200 && old > programs, "{old} old values in {programs} programs");
}
