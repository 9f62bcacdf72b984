//! The memory and buffers of a diagram, against the model itself: every read has the value that it should find
//! there, in random executions of the whole corpus and under every model.

use std::collections::BTreeMap;

use rsmc_core::explore::Random;
use rsmc_core::machine::Rules;
use rsmc_core::report::{Counts, Diagram, Failures, Finding, Step};
use rsmc_core::session::{Config, ExplorerKind, FailureKind, MemoryModel};
use rsmc_core::step::{Executor, Explorer, Plan, Run};
use rsmc_testkit::litmus::Interpreter;

use crate::corpus::corpus;

/// Runs of each program under each model.
const RUNS: usize = 8;

fn diagram(run: &Run, memory: MemoryModel) -> Diagram {
    let of = Finding::of(FailureKind::Panic, &run.trace);
    let finding = Finding { waiting: &run.waiting, panics: &run.panics, ..of };
    let counts = Counts {
        executions: 1,
        runs: 1,
        blocked: 0,
        failures: Failures { executions: 1, causes: &[] },
        threads: 0,
        events: 0,
        shares: true,
        unmodelled: false,
        estimate: None,
        elapsed: std::time::Duration::ZERO,
        memory,
        explorer: ExplorerKind::Random,
        preemption_bound: None,
        delay_bound: None,
        level: None,
    };
    Diagram::new(&finding, None, &counts, &Config::default())
}

/// Memory, and the buffered stores in order, before each step.
struct State<'a> {
    memory: BTreeMap<usize, &'a str>,
    stores: Vec<&'a Step>,
}

impl<'a> State<'a> {
    fn before(diagram: &'a Diagram, number: usize) -> Self {
        let initial = diagram.locations.iter().enumerate();
        let memory = initial.filter_map(|(at, location)| Some((at, location.initial.as_deref()?))).collect();
        let mut state = State { memory, stores: Vec::new() };
        for step in &diagram.steps[..number - 1] {
            state.memory.extend(step.memory.iter().map(|change| (change.location, change.value.as_str())));
            state.stores.retain(|store| !step.flushes.contains(&store.number));
            if step.buffered {
                state.stores.push(step);
            }
        }
        state
    }

    /// The value that a thread finds at a location, and the step in whose buffer it is, if it is in one.
    fn find(&self, thread: usize, location: usize) -> (&'a str, Option<usize>) {
        let own = |store: &&&Step| store.thread == thread && store.location == Some(location);
        match self.stores.iter().rev().find(own) {
            Some(store) => (store.written.as_deref().unwrap(), Some(store.number)),
            None => (self.memory[&location], None),
        }
    }
}

/// Reads find what memory and buffers hold.
fn check_values(diagram: &Diagram, what: &str) -> usize {
    let reads = diagram.steps.iter().filter(|step| step.operation != "choose");
    let mut count = 0;
    for step in reads {
        let (Some(read), Some(location)) = (&step.read, step.location) else { continue };
        let (value, store) = State::before(diagram, step.number).find(step.thread, location);
        assert_eq!(read, value, "{what}, step {}: {diagram:#?}", step.number);
        assert_eq!(step.from_buffer, store.is_some(), "{what}, step {}", step.number);
        if store.is_some() {
            assert_eq!(step.reads_from, store, "{what}, step {}", step.number);
        }
        count += 1;
    }
    count
}

/// In coherence order no thread goes back, and an update follows its source.
fn check_coherence(diagram: &Diagram, what: &str) {
    for coherence in &diagram.coherence {
        let rank = |number: usize| match number {
            0 => 0,
            number => 1 + coherence.steps.iter().position(|step| *step == number).unwrap_or(coherence.steps.len()),
        };
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for step in diagram.steps.iter().filter(|step| step.location == Some(coherence.location)) {
            let written = step.written.is_some() && step.operation != "unlock";
            let read = step.reads_from.map(rank);
            let last = last.entry(step.thread).or_default();
            for now in read.into_iter().chain(written.then(|| rank(step.number))) {
                assert!(now >= *last, "{what}, step {}: {diagram:#?}", step.number);
                *last = now;
            }
            if let (true, Some(read)) = (written, read) {
                assert_eq!(rank(step.number), read + 1, "{what}, step {}: {diagram:#?}", step.number);
            }
        }
    }
}

#[test]
fn every_read_finds_what_the_diagram_says() {
    let (mut reads, mut buffered, mut flushes) = (0, 0, 0);
    for (name, program) in corpus() {
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11] {
            let Ok(mut interpreter) = Interpreter::new(&program, Rules::new(memory, 200)) else { continue };
            let (mut explorer, mut plan, mut run) = (Random::new(7), Plan::default(), Run::default());
            for _ in 0..RUNS {
                assert!(explorer.next_plan(&mut plan));
                interpreter.execute(&plan, &mut run);
                explorer.observe(&run);
                let (diagram, what) = (diagram(&run, memory), format!("{name}, {memory}"));
                check_coherence(&diagram, &what);
                if memory != MemoryModel::C11 {
                    reads += check_values(&diagram, &what);
                }
                buffered += diagram.steps.iter().filter(|step| step.from_buffer).count();
                flushes += diagram.steps.iter().map(|step| step.flushes.len()).sum::<usize>();
            }
        }
    }
    assert!(reads > 2_000 && buffered > 50 && flushes > 500, "{reads} {buffered} {flushes}");
}
