//! RF-SMC against brute force: every reads-from class once, with its outcomes, deadlocks and panics.
//!
//! CI runs more programs than the ordinary test run, and others.

use rsmc_core::explore::RfSmc;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{Explorer, Plan, Run};
use rsmc_core::trace::reads_from_class;
use rsmc_testkit::litmus::enumerate;

use crate::oracle::{self, Oracle, mixes};

const READS_FROM: Oracle = Oracle { class: reads_from_class, explorer: |memory, _| Box::new(RfSmc::new(memory)) };

/// The oracle with sets that are too small at once, or soon.
const BOUNDED: Oracle = Oracle {
    class: reads_from_class,
    explorer: |memory, number| Box::new(RfSmc::new(memory).with_memory_budget(SETS[number as usize % SETS.len()])),
};

/// The bounds of the sets, in bytes.
const SETS: [usize; 5] = [0, 0, 200, 1_000, 4_000];

mixes!(READS_FROM);
mod bounded {
    use super::{BOUNDED, mixes, oracle};

    mixes!(BOUNDED);
    mixes!(BOUNDED, C11);
}
mixes!(READS_FROM, C11);
mixes!(READS_FROM, C11: c11_choices: BUFFERED, CHOICES;);

/// First all small programs, then random larger ones: two threads with up to two operations each.
#[test]
fn every_small_program() {
    let mut programs = 0;
    for program in enumerate(2) {
        for oracle in [READS_FROM, BOUNDED] {
            assert_eq!(oracle.difference(&program, MemoryModel::Sc, 0), None, "{program}");
        }
        programs += 1;
    }
    assert_eq!(programs, 24_336);
}

/// What the first read sees is possible under weak models only: nobody proposes that alone, so it has a name.
#[test]
fn what_is_possible_under_weak_models_only() {
    // The reader of `z` decides first, and another thread depends on it.
    let reader = "t1: c = z; v = 1\nt2: d = v\n";
    let messages = "t3: x.rlx = 1; y.rlx = 1\nt4: a = y.rlx; b = x.rlx; z = 1\n";
    let buffers = "t3: x.rlx = 1; a = y; u = 1\nt4: y.rlx = 1; b = x; e = u; z = 1\n";
    for (shape, memory) in [(messages, MemoryModel::Pso), (messages, MemoryModel::C11), (buffers, MemoryModel::Tso)] {
        let program = rsmc_testkit::litmus::parse(&format!("{reader}{shape}")).unwrap();
        assert_eq!(BOUNDED.difference(&program, memory, 0), None, "under {memory}\n{program}");
    }
}

/// A thread that waits for a lock at the end could have taken it before: then that is what proposes.
#[test]
fn who_waits_at_the_end_could_have_gone_on() {
    let program = "t1: c = x; v = 1\nt2: x = 1\nt3: lock m; unlock m\nt4: lock m\nt5: d = v\n";
    let program = rsmc_testkit::litmus::parse(program).unwrap();
    assert_eq!(BOUNDED.difference(&program, MemoryModel::Sc, 0), None, "{program}");
}

/// An explorer with a mistake: it forgets one plan, or gives one twice.
struct Mistaken {
    right: RfSmc,
    plans: u32,
    forgets: bool,
}

impl Explorer for Mistaken {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.plans += 1;
        match (self.plans, self.forgets) {
            (2, true) => self.right.next_plan(plan) && self.right.next_plan(plan),
            (2, false) => true,
            _ => self.right.next_plan(plan),
        }
    }

    fn observe(&mut self, run: &Run) {
        if self.forgets || self.plans != 2 {
            self.right.observe(run);
        }
    }
}

/// Agreement that cannot fail proves nothing.
#[test]
fn the_comparison_notices_a_forgotten_and_a_repeated_class() {
    let program = rsmc_testkit::litmus::parse("t1: x = 1; a = y\nt2: y = 1; b = x\n").unwrap();
    let memory = MemoryModel::Sc;
    let found = |forgets| {
        let mut mistaken = Mistaken { right: RfSmc::new(memory), plans: 0, forgets };
        READS_FROM.difference_of(&program, oracle::rules(memory), &mut mistaken)
    };
    assert_eq!(found(true).as_deref(), Some("2 missed, 0 extra, 0 run twice, of 3 classes"));
    assert_eq!(found(false).as_deref(), Some("0 missed, 0 extra, 1 run twice, of 3 classes"));
    assert_eq!(READS_FROM.difference(&program, memory, 0), None);
}
