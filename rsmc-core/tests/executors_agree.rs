//! The coroutine runtime and the litmus interpreter agree run by run, on random programs.
//!
//! A program is run as Rust code that calls the runtime's hooks; nothing of the interpreter takes part. Both
//! executors get every plan of RF-SMC, and must record the same events.

use rsmc_core::explore::RfSmc;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::runtime::{Runtime, Savings};
use rsmc_core::step::{Executor, Explorer, Plan, Run};
use rsmc_core::trace::{Note, NoteKind};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, random};

use crate::litmus_walker as walker;

/// All that must be equal: events and accesses of cells without their places, which threads wait, how many panicked.
fn essence(run: &Run) -> String {
    let event = |event: &rsmc_core::trace::Event| {
        let op = event.op;
        let (action, orders) = (op.action, (op.order, op.failure));
        format!(
            "{:?} {action:?} {:?} {orders:?} {:?} {} {:?}\n",
            event.id, op.loc, event.source, event.read, event.written
        )
    };
    let events: String = run.trace.events.iter().map(event).collect();
    let is_cell = |note: &&Note| matches!(note.kind, NoteKind::CellRead(_) | NoteKind::CellWrite(_));
    let cells = run.trace.notes.iter().filter(is_cell);
    let cells: Vec<_> = cells.map(|note| (note.at, note.thread, note.kind)).collect();
    let steps: Vec<_> = run.steps().collect();
    let waiting: Vec<_> = run.waiting.iter().map(|pending| pending.id).collect();
    format!("{events}{cells:?} {steps:?} {:?} {waiting:?} {}", run.end, run.panics.len())
}

fn compare(program: &Program, memory: MemoryModel) -> u32 {
    compare_on(Savings::ALL, program, memory).0
}

/// The number of runs, and of the stacks that they needed.
fn compare_on(savings: Savings, program: &Program, memory: MemoryModel) -> (u32, usize) {
    let rules = Rules::new(memory, 1_000);
    let mut interpreter = Interpreter::new(program, rules).unwrap();
    let act = || walker::body(program);
    let mut runtime = Runtime::new(&act, rules, 256 * 1024).with_savings(savings);
    let (mut explorer, mut plan) = (RfSmc::new(memory), Plan::default());
    let (mut here, mut there) = (Run::default(), Run::default());
    let mut runs = 0;
    while runs < 300 && explorer.next_plan(&mut plan) {
        // Places differ between the two, so what is expected of them is left out.
        plan.forced.iter_mut().for_each(|forced| forced.expect = None);
        interpreter.execute(&plan, &mut here);
        runtime.execute(&plan, &mut there);
        assert_eq!(essence(&here), essence(&there), "after {runs} runs of\n{program}");
        explorer.observe(&there);
        runs += 1;
    }
    (runs, runtime.stacks_allocated())
}

fn agree(size: Size, weights: &Weights, programs: u64) {
    let models = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso];
    let each = |memory| (0..programs).map(move |seed| compare(&random(seed, size, weights), memory));
    let runs: u32 = models.into_iter().flat_map(each).sum();
    assert!(u64::from(runs) > 6 * programs, "the programs have more than one class: {runs} runs");
}

#[test]
fn on_everything() {
    agree(Size::default(), &Weights::EVERYTHING, 300);
}

#[test]
fn on_locks() {
    agree(Size::default(), &Weights::LOCKS, 150);
}

#[test]
fn on_updates() {
    agree(Size::default(), &Weights::UPDATES, 150);
}

#[test]
fn on_choices() {
    agree(Size::default(), &Weights::CHOICES, 150);
}

#[test]
fn on_cells() {
    agree(Size::default(), &Weights { cell: 6, ..Weights::EVERYTHING }, 150);
}

#[test]
fn without_savings() {
    let on = |savings, seed| {
        let program = random(seed, Size::default(), &Weights::EVERYTHING);
        compare_on(savings, &program, MemoryModel::Tso)
    };
    for seed in 0..40 {
        let (runs, stacks) = on(Savings::ALL, seed);
        assert_eq!(on(Savings { in_place: false, ..Savings::ALL }, seed), (runs, stacks));
        let (same, more) = on(Savings { pooled_stacks: false, ..Savings::ALL }, seed);
        assert_eq!(runs, same);
        assert!(more >= stacks * runs as usize, "{more} stacks in {runs} runs that need {stacks} at a time");
    }
}

#[test]
fn on_every_kind_of_update() {
    let text = |kind| rsmc_testkit::litmus::parse(&format!("t1: a = {kind}(x, 5)\nt2: b = {kind}(x, 9)\n")).unwrap();
    for name in ["swap", "nand", "smax", "umin"] {
        assert_eq!(compare(&text(name), MemoryModel::Pso), 2);
    }
}
