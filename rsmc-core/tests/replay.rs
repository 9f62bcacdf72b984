//! Seeds replay: 200 random failing programs, each with the same failure and the same trace, in a new executor.

use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::seed::Seed;
use rsmc_core::session::{Check, Config, ExplorerKind, Failure, FailureKind, Seen, Verdict};
use rsmc_core::step::{End, Pending, Run};
use rsmc_core::trace::NoteKind;
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, random};

use crate::spinning;

fn run(program: &Program, config: &Config) -> (Option<Failure>, u64) {
    let rules = Rules::new(config.effective_memory(), 1_000);
    let mut executor = Interpreter::new(program, rules).unwrap();
    let report = Check::new(config, &mut executor).run();
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
    let other = rsmc_testkit::litmus::parse("t1: x = 1; a = y; b = x\nt2: y = 1; c = x\n").unwrap();
    for seed in seeds {
        let (failure, runs) = run(&other, &Config::default().replay(seed.clone()));
        let failure = failure.unwrap_or_else(|| panic!("{seed} fits another program"));
        assert_eq!((failure.kind, runs), (FailureKind::StaleSeed, 1), "{}", failure.message);
    }
}

/// The threads that wait at the end, each with what it saw last.
fn waiting(waiting: &[Pending]) -> String {
    format!("{waiting:?}")
}

/// Every execution of a program that ends stuck, with the seed of each.
fn stuck(program: &Program, config: &Config) -> Vec<(Seed, String, bool)> {
    let mut executor = Interpreter::new(program, Rules::new(config.effective_memory(), 400)).unwrap();
    let mut found = Vec::new();
    let report = Check::new(config, &mut executor)
        .watch(|seen| match seen {
            Seen::StartOver => found.clear(),
            Seen::Run(run, true) if run.end == End::Stuck => {
                found.push((Seed::of_run(run, run.model), waiting(&run.waiting), !run.newest.is_empty()));
            }
            Seen::Run(..) => {}
        })
        .run();
    // The one that is shown is in an order of its own.
    if let Verdict::Failed(failure) = report.verdict {
        found.push((failure.seed, waiting(&failure.waiting), false));
    }
    found
}

/// Under C11 it takes more than the steps to repeat a livelock: which write is the newest at the end.
#[test]
fn threads_that_spin_for_ever_do_so_again() {
    let (mut all, mut reordered) = (0, 0);
    for (number, explorer) in
        (0..60).flat_map(|number| [(number, ExplorerKind::ReadsFrom), (number, ExplorerKind::Random)])
    {
        let memory = MemoryModel::C11;
        let program = spinning::program(number, memory);
        let shrink = if number % 2 == 0 { 300 } else { 0 };
        let config =
            Config::default().memory(memory).explorer(explorer).keep_going(true).max_executions(200).shrink(shrink);
        for (seed, ends, is_reordered) in stuck(&program, &config) {
            let text = seed.to_string();
            let parsed: Seed = text.parse().unwrap();
            assert_eq!(parsed, seed);
            let replay = config.clone().replay(parsed);
            let mut executor = Interpreter::new(&program, Rules::new(memory, 400)).unwrap();
            let mut again = String::new();
            let mut observe = |run: &Run, counts| {
                if counts {
                    again = waiting(&run.waiting);
                }
            };
            let report = Check::new(&replay, &mut executor).observe(&mut observe).run();
            let Verdict::Failed(failure) = report.verdict else {
                panic!("program {number} by {explorer}: the replay of {text} does not fail:\n{program}")
            };
            let message = &failure.message;
            assert_eq!(
                failure.kind,
                FailureKind::Livelock,
                "program {number} by {explorer}, {text}: {message}\n{program}"
            );
            assert_eq!(again, ends, "program {number} by {explorer}, {text}\n{program}");
            assert_eq!(failure.seed, seed);
            all += 1;
            reordered += u32::from(is_reordered);
        }
    }
    assert!(all >= 100 && reordered >= 10, "{reordered} of {all} livelocks need an order of writes");
}

/// A livelock, since the update comes last in its location, though the store of `t4` happens last.
fn updated(from: u64) -> Program {
    let text = format!(
        "t1:\n    a = x\n    while a < 3 {{\n        spin\n        a = x\n    }}\nt2: x.rlx = 1\n\
         t3: b = cas(x, {from}, 2)\nt4: x.rlx = 3\n"
    );
    rsmc_testkit::litmus::parse(&text).unwrap()
}

/// A seed says that a write is the newest which is none any more.
#[test]
fn what_is_no_write_any_more_is_not_the_newest() {
    let memory = MemoryModel::C11;
    let config = Config::default().memory(memory).keep_going(true);
    let reads = |run: &Run, write| run.trace.events[run.trace.position(write).unwrap()].op.action.reads();
    let of_update = |run: &Run| run.newest.iter().any(|&write| reads(run, write));
    let mut seeds = Vec::new();
    let mut executor = Interpreter::new(&updated(1), Rules::new(memory, 400)).unwrap();
    Check::new(&config, &mut executor)
        .observe(|run, counts| {
            if counts && run.end == End::Stuck && of_update(run) {
                seeds.push(Seed::of_run(run, memory));
            }
        })
        .run();
    assert!(!seeds.is_empty());
    for seed in seeds {
        let (same, _) = run(&updated(1), &config.clone().replay(seed.clone()));
        assert_eq!(same.unwrap().kind, FailureKind::Livelock);
        let (other, _) = run(&updated(7), &config.clone().replay(seed));
        assert_eq!(other.unwrap().kind, FailureKind::StaleSeed);
    }
}
