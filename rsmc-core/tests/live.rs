//! What is shown of an execution while it goes on is what is shown of it in the end, on random programs.

use std::cell::RefCell;
use std::rc::Rc;

use rsmc_core::explore::RfSmc;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::report::{Live, Sources};
use rsmc_core::runtime::Runtime;
use rsmc_core::step::{Executor, Explorer, Plan, Run};
use rsmc_testkit::litmus::{Program, Size, Weights, random};

use crate::litmus_walker as walker;

/// Compares the executions of a program, and says how many lines they have.
fn compare(program: &Program, memory: MemoryModel) -> usize {
    let shown = Rc::new(RefCell::new(Vec::new()));
    let body = || walker::body(program);
    let mut executor = Runtime::new(&body, Rules::new(memory, 1_000), 1024 * 1024);
    let (live, lines) = (RefCell::new(Live::new(Sources::NONE)), Rc::clone(&shown));
    executor.watch(Some(Rc::new(move |run| lines.borrow_mut().extend(live.borrow_mut().news(run)))));
    let (mut explorer, mut plan, mut run) = (RfSmc::new(memory), Plan::default(), Run::default());
    let (mut runs, mut total) = (0, 0);
    while runs < 20 && explorer.next_plan(&mut plan) {
        executor.execute(&plan, &mut run);
        let at_once = Live::new(Sources::NONE).news(&run);
        assert_eq!(*shown.borrow(), at_once, "run {runs} under {memory} of\n{program}");
        total += shown.take().len();
        explorer.observe(&run);
        runs += 1;
    }
    total
}

#[test]
fn while_it_goes_on_and_in_the_end() {
    let mut lines = 0;
    for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11] {
        for weights in [&Weights::EVERYTHING, &Weights::LOCKS, &Weights::CHOICES] {
            lines += (0..15).map(|seed| compare(&random(seed, Size::default(), weights), memory)).sum::<usize>();
        }
    }
    assert!(lines > 5_000, "{lines} lines");
}
