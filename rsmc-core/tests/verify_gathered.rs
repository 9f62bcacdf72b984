//! The verifiers on the questions that explorations ask: RF-SMC on random programs, every question it puts.

use std::cell::RefCell;
use std::rc::Rc;

use rsmc_core::consistency::{Instance, Verifier, check_witness, close_buffers};
use rsmc_core::explore::RfSmc;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{Executor, Explorer, Plan, Run};
use rsmc_testkit::litmus::{Interpreter, Size, Weights, random};
use rsmc_testkit::naive;

/// A question, and what the exploration was told.
type Asked = (Instance, bool);

/// The questions that explorations of these programs ask, up to `most` of them.
fn gather(memory: MemoryModel, size: Size, weights: &Weights, most: usize) -> Vec<Asked> {
    let asked: Rc<RefCell<Vec<Asked>>> = Rc::default();
    for seed in 0.. {
        let program = random(seed, size, weights);
        let rules = Rules::new(memory, 1_000);
        let mut executor = Interpreter::new(&program, rules).unwrap();
        let mut explorer = RfSmc::new(memory);
        let list = Rc::clone(&asked);
        explorer.on_question(move |instance, answer| list.borrow_mut().push((instance.clone(), answer)));
        let (mut plan, mut run) = (Plan::default(), Run::default());
        while asked.borrow().len() < most && explorer.next_plan(&mut plan) {
            executor.execute(&plan, &mut run);
            explorer.observe(&run);
        }
        if asked.borrow().len() >= most {
            break;
        }
    }
    asked.take()
}

/// Everybody must give the same answer; returns how many are possible, and how many impossible ones the closure
/// finds.
fn compare(memory: MemoryModel, asked: &[Asked]) -> (usize, usize) {
    let (mut with, mut without) = (Verifier::new(memory), Verifier::new(memory).without_closure());
    let (mut possible, mut seen_by_closure) = (0, 0);
    for (instance, answer) in asked {
        assert_eq!(naive(instance, memory, &[]).is_some(), *answer, "{memory:?}: {instance:?}");
        for verifier in [&mut with, &mut without] {
            let mut witness = Vec::new();
            assert_eq!(verifier.verify(instance, |event| event as u32, &mut witness), *answer, "{instance:?}");
            if *answer {
                assert_eq!(check_witness(instance, memory, &witness), Ok(()), "{instance:?}");
            }
        }
        let closed = close_buffers(instance, memory).is_ok();
        assert!(closed || !answer, "closure rejects a possible instance under {memory:?}: {instance:?}");
        possible += usize::from(*answer);
        seen_by_closure += usize::from(!closed);
    }
    (possible, seen_by_closure)
}

fn ten_thousand(memory: MemoryModel) {
    let size = Size { threads: 3, locations: 3, locks: 2, operations: 12 };
    let (mut possible, mut impossible) = (0, 0);
    for weights in [Weights::ATOMICS, Weights::EVERYTHING] {
        let asked = gather(memory, size, &weights, 5_000);
        let (yes, _) = compare(memory, &asked);
        possible += yes;
        impossible += asked.len() - yes;
    }
    assert!(possible >= 1_000 && impossible >= 1_000, "{possible} possible, {impossible} not");
}

#[test]
fn under_tso() {
    ten_thousand(MemoryModel::Tso);
}

#[test]
fn under_pso() {
    ten_thousand(MemoryModel::Pso);
}

/// Thesis, 5.2.3. With two threads, main does not count: what it does is before or after everything.
#[test]
fn closure_is_complete_for_two_threads() {
    let size = Size { threads: 2, locations: 3, locks: 2, operations: 14 };
    for memory in [MemoryModel::Tso, MemoryModel::Pso] {
        let asked = gather(memory, size, &Weights::EVERYTHING, 5_000);
        let (possible, seen) = compare(memory, &asked);
        assert_eq!(possible + seen, asked.len(), "{memory}: closure misses an impossible instance");
        assert!(seen >= 500, "{memory}: {seen} of {} are impossible", asked.len());
    }
}
