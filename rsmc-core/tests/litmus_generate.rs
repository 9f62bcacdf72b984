//! Generated programs: small enough for brute force, and with the trouble they are meant to have.

use rsmc_core::model::MemoryModel::Sc;
use rsmc_core::step::{Executor, Plan, Run, SchedulingPolicy};
use rsmc_testkit::litmus::{Interpreter, Size, Weights, enumerate, random};

use crate::litmus_brute::{brute, rules};

/// How many of 100 programs have a deadlock and a panic in some interleaving.
fn troubles(weights: &Weights) -> (u64, u64) {
    let (mut stuck, mut panicked, mut interleavings) = (0, 0, 0);
    for seed in 0..100 {
        let program = random(seed, Size::default(), weights);
        let found = brute(&program, Sc, 10_000).unwrap_or_else(|| panic!("too many interleavings\n{program}"));
        assert!(!found.cut && found.interleavings > 0, "{program}");
        let [hb, rf, view] = ["hb", "rf", "view"].map(|name| found.count(name).unwrap());
        assert!(found.interleavings >= hb && hb >= rf && rf >= view, "{program}");
        stuck += u64::from(found.outcomes.iter().any(|outcome| outcome.stuck));
        panicked += u64::from(found.outcomes.iter().any(|outcome| outcome.panicked));
        interleavings += found.interleavings;
    }
    assert!(interleavings > 2_000, "programs are not trivial: {interleavings}");
    (stuck, panicked)
}

#[test]
fn random_programs_go_wrong_in_every_way() {
    assert_eq!(troubles(&Weights::ATOMICS), (0, 0));
    assert_eq!(troubles(&Weights::UPDATES), (0, 0));
    let (stuck, panicked) = troubles(&Weights::LOCKS);
    assert!(stuck >= 15 && panicked == 0, "{stuck} {panicked}");
    let (stuck, panicked) = troubles(&Weights::EVERYTHING);
    assert!(stuck >= 10 && panicked >= 10, "{stuck} {panicked}");
}

#[test]
fn random_schedules_show_only_what_brute_force_shows() {
    for seed in 0..60 {
        let program = random(seed, Size { operations: 7, ..Size::default() }, &Weights::EVERYTHING);
        let found = brute(&program, Sc, 100_000).expect("few interleavings");
        let mut interpreter = Interpreter::new(&program, rules(Sc)).unwrap();
        let mut run = Run::default();
        for schedule in 0..50 {
            interpreter.execute(&Plan { policy: SchedulingPolicy::Random(schedule), ..Plan::default() }, &mut run);
            assert!(run.is_maximal());
            assert!(found.outcomes.contains(&interpreter.outcome()), "{}\n{program}", interpreter.outcome());
        }
    }
}

#[test]
fn enumerated_programs_have_the_interleavings_of_their_lengths() {
    for program in enumerate(2).step_by(97) {
        let found = brute(&program, Sc, 100).expect("few interleavings");
        let expected = match (program.threads[0].body.len(), program.threads[1].body.len()) {
            (1, 1) => 2,
            (2, 2) => 6,
            _ => 3,
        };
        assert_eq!(found.interleavings, expected, "{program}");
    }
}
