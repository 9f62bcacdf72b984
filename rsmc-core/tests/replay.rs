//! Seeds replay: 200 random failing programs, each with the same failure and the same trace, in a new executor.

use rsmc_core::litmus::{Interpreter, Program, Size, Weights, random};
use rsmc_core::machine::Limits;
use rsmc_core::seed::Seed;
use rsmc_core::session::{Config, Failure, FailureKind, Verdict, check};

const LIMITS: Limits = Limits { max_steps: 1_000, spin_bound: 2 };

fn run(program: &Program, config: &Config) -> (Option<Failure>, u64) {
    let mut executor = Interpreter::new(program, LIMITS).unwrap();
    let report = check(config, &mut executor, &mut |_| {});
    match report.verdict {
        Verdict::Failed(failure) => (Some(*failure), report.runs),
        _ => (None, report.runs),
    }
}

/// All that must be equal.
fn essence(failure: &Failure) -> String {
    let events: Vec<_> =
        failure.trace.events.iter().map(|event| (event.id, event.op, event.source, event.read)).collect();
    format!("{:?} {} {events:?} {:?} {:?}", failure.kind, failure.message, failure.waiting, failure.panics)
}

#[test]
fn two_hundred_failing_programs_fail_again() {
    let mut kinds = [0; 2];
    let mut programs = 0;
    for seed in 0.. {
        let program = random(seed, Size::default(), &Weights::EVERYTHING);
        let (Some(failure), _) = run(&program, &Config::default()) else { continue };
        let text = failure.seed.to_string();
        let replay = Config::default().replay(text.parse::<Seed>().unwrap());
        let (again, runs) = run(&program, &replay);
        let again = again.unwrap_or_else(|| panic!("the replay of {text} does not fail:\n{program}"));
        assert_eq!(runs, 1);
        assert_eq!(essence(&again), essence(&failure), "{program}");
        assert_eq!(again.seed, failure.seed);
        kinds[usize::from(failure.kind == FailureKind::Deadlock)] += 1;
        programs += 1;
        if programs == 200 {
            break;
        }
    }
    assert!(kinds.iter().all(|&count| count >= 20), "panics and deadlocks: {kinds:?}");
}

#[test]
fn a_seed_of_another_program_is_refused_or_harmless() {
    let failing = (0..).map(|seed| random(seed, Size::default(), &Weights::EVERYTHING));
    let seeds: Vec<_> =
        failing.filter_map(|program| run(&program, &Config::default()).0).take(30).map(|f| f.seed).collect();
    let other = rsmc_core::litmus::parse("t1: x = 1; a = y; b = x\nt2: y = 1; c = x\n").unwrap();
    for seed in seeds {
        let (failure, runs) = run(&other, &Config::default().replay(seed.clone()));
        let failure = failure.unwrap_or_else(|| panic!("{seed} fits another program"));
        assert_eq!((failure.kind, runs), (FailureKind::StaleSeed, 1), "{}", failure.message);
    }
}
