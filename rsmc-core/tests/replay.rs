//! Seeds replay: 200 random failing programs, each with the same failure and the same trace, in a new executor.

use rsmc_core::litmus::{Interpreter, Program, Size, Weights, random};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::seed::Seed;
use rsmc_core::session::{Config, ExplorerKind, Failure, FailureKind, Verdict, check};
use rsmc_core::trace::NoteKind;

fn run(program: &Program, config: &Config) -> (Option<Failure>, u64) {
    let rules = Rules::new(config.effective_memory(), 1_000);
    let mut executor = Interpreter::new(program, rules).unwrap();
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

/// A configuration for the program of a seed: all models and explorers in turn.
fn config(seed: u64) -> Config {
    let explorer = if seed.is_multiple_of(2) { ExplorerKind::ReadsFrom } else { ExplorerKind::Random };
    let memory = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11][seed as usize / 2 % 4];
    // Small schedules have few choices and delays.
    let shrink = if seed.is_multiple_of(5) { 2_000 } else { 0 };
    Config::default().memory(memory).explorer(explorer).max_executions(500).shrink(shrink)
}

#[test]
fn two_hundred_failing_programs_fail_again() {
    let (mut kinds, mut delayed, mut chosen, mut programs) = ([0; 2], 0, 0, 0);
    for seed in 0.. {
        let weights = Weights { weak_cas: 3, choose: 2, ..Weights::EVERYTHING };
        let program = random(seed, Size::default(), &weights);
        let config = config(seed);
        let (Some(failure), _) = run(&program, &config) else { continue };
        let text = failure.seed.to_string();
        let (again, runs) = run(&program, &config.replay(text.parse::<Seed>().unwrap()));
        let again = again.unwrap_or_else(|| panic!("the replay of {text} does not fail:\n{program}"));
        assert_eq!(runs, 1);
        assert_eq!(essence(&again), essence(&failure), "{program}");
        assert_eq!(again.seed, failure.seed);
        kinds[usize::from(failure.kind == FailureKind::Deadlock)] += 1;
        delayed += u32::from(failure.trace.notes.iter().any(|note| matches!(note.kind, NoteKind::Flush(_))));
        chosen += u32::from(failure.trace.events.iter().any(|event| event.op.action.alternative() > 0));
        programs += 1;
        if programs == 200 {
            break;
        }
    }
    assert!(kinds.iter().all(|&count| count >= 20), "panics and deadlocks: {kinds:?}");
    assert!(delayed >= 20, "{delayed} of 200 executions have buffered stores");
    assert!(chosen >= 20, "{chosen} of 200 executions have choices");
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
