//! A check in several parts against one that is not stopped: the same runs in the same order, none twice and none
//! missing, with the same counts and the same failure. Each part has an executor and an explorer of its own, and knows
//! of the parts before nothing but the bytes of a checkpoint.
//!
//! `RSMC_ORACLE_PROGRAMS` and `RSMC_ORACLE_SEED` choose other and more programs, as in `rf_smc_oracle`.

use std::time::Duration;

use rsmc_core::base::{Digest, mix};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Check, Checkpoint, Config, ExplorerKind, Limit, Report, Seen, Verdict};
use rsmc_core::step::Run;
use rsmc_core::trace::reads_from_class;
use rsmc_testkit::litmus::{Interpreter, Program, Weights, random};

use crate::oracle::{self, number};
use crate::spinning;

const MODELS: [MemoryModel; 4] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11];

/// The first part ends before each of the runs up to this one.
const FIRST_STOPS: u64 = 20;

/// The bounds of the sets of decisions under SC, in bytes: there are detours to stop in.
const SETS: [usize; 4] = [0, 500, 2_000, usize::MAX];

const START_OVER: &str = "start over";

/// The history of a check: the class and end of each run and whether it counted, and where it started over.
type History = Vec<(Digest, String, bool)>;

fn note(history: &mut History, seen: Seen<'_>) {
    let end = |run: &Run| format!("{:?} {:?}", run.end, run.steps().collect::<Vec<_>>());
    history.push(match seen {
        Seen::Run(run, counts) => (reads_from_class(&run.trace), end(run), counts),
        Seen::StartOver => (Digest::EMPTY, START_OVER.to_owned(), false),
    });
}

fn interpreter(program: &Program, config: &Config) -> Interpreter {
    Interpreter::new(program, Rules::new(config.effective_memory(), 400)).expect("a generated program is well formed")
}

/// Without a stop.
fn whole(program: &Program, config: &Config) -> (Report, History) {
    let mut history = History::new();
    let report = Check::new(config, &mut interpreter(program, config)).watch(|seen| note(&mut history, seen)).run();
    (report, history)
}

/// One part, which ends before its run with this number.
fn part(
    program: &Program,
    config: &Config,
    resume: Option<Checkpoint>,
    stop: u64,
    history: &mut History,
) -> (Report, Option<Checkpoint>) {
    let mut pulses = 0;
    let mut pulse = |_: &_| {
        pulses += 1;
        pulses <= stop
    };
    let mut executor = interpreter(program, config);
    let check = Check::new(config, &mut executor).watch(|seen| note(history, seen));
    check.pulse(Duration::ZERO, &mut pulse).resume(resume).run_part()
}

/// In parts, each of so many runs as `stop` says.
fn parts(program: &Program, config: &Config, mut stop: impl FnMut(u64) -> u64) -> (Report, History, u64) {
    let (mut history, mut resume, mut count) = (History::new(), None, 0);
    loop {
        let (report, checkpoint) = part(program, config, resume, stop(count), &mut history);
        let Some(checkpoint) = checkpoint else { return (report, history, count) };
        assert!(matches!(report.verdict, Verdict::Incomplete(Limit::Interrupted) | Verdict::Failed(_)));
        assert_eq!(report.notes, Vec::<String>::new());
        assert_eq!(checkpoint.executions(), report.executions);
        let bytes = postcard::to_allocvec(&checkpoint).unwrap();
        resume = Some(postcard::from_bytes(&bytes).unwrap());
        count += 1;
    }
}

fn counts(report: &Report) -> (u64, u64, u64, u64, usize, usize, bool, String) {
    let &Report { executions, runs, blocked, failures, threads, events, shares, .. } = report;
    let verdict = match &report.verdict {
        Verdict::Failed(failure) => format!("{:?}: {} {}", failure.kind, failure.message, failure.seed),
        verdict => format!("{verdict:?}"),
    };
    (executions, runs, blocked, failures, threads, events, shares, verdict)
}

/// The counts of a comparison, to see that this tests something.
#[derive(Default)]
struct Totals {
    stops: u64,
    blocked: u64,
    learned: u64,
    failures: u64,
}

fn compare(program: &Program, config: &Config, seed: u64, totals: &mut Totals) {
    let (one, history) = whole(program, config);
    let mut check = |stop: &mut dyn FnMut(u64) -> u64, how: &str| {
        let (several, pieces, stops) = parts(program, config, stop);
        let context = || format!("{how}, seed {seed}, {} under {}\n{program}", config.explorer, one.memory);
        assert!(pieces == history, "the runs are others, stopped {}", context());
        assert_eq!(counts(&several), counts(&one), "stopped {}", context());
        totals.stops += stops;
    };
    for first in 0..=FIRST_STOPS.min(one.runs) {
        check(&mut |part| if part == 0 { first } else { u64::MAX }, &format!("before run {first}"));
    }
    let mut draw = mix(seed, 11);
    let mut drawn = |_| {
        draw = mix(draw, 5);
        1 + draw % 1.max(one.runs / 3)
    };
    check(&mut drawn, "now and then");
    totals.blocked += one.blocked;
    totals.failures += one.failures;
    totals.learned += history.iter().filter(|(_, end, _)| end == START_OVER).count() as u64;
}

fn config(memory: MemoryModel) -> Config {
    Config::default().memory(memory).keep_going(true)
}

fn compare_mixes(memory: MemoryModel) {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 60) / 6, number("RSMC_ORACLE_SEED", 0));
    let mut totals = Totals::default();
    let mixes = [Weights::ATOMICS, Weights::UPDATES, Weights::LOCKS, Weights::EVERYTHING, Weights::CHOICES];
    for seed in first..first + programs {
        for (weights, size) in mixes.iter().zip([oracle::BUFFERED, oracle::BUFFERED_OF_THREE].into_iter().cycle()) {
            let sets = SETS[seed as usize % SETS.len()];
            compare(&random(seed, size, weights), &config(memory).sets(sets), seed, &mut totals);
        }
    }
    assert!(totals.stops > 300 && totals.failures > 0, "{} stops, {} failures", totals.stops, totals.failures);
}

#[test]
fn under_sc() {
    compare_mixes(MemoryModel::Sc);
}

#[test]
fn under_tso() {
    compare_mixes(MemoryModel::Tso);
}

#[test]
fn under_pso() {
    compare_mixes(MemoryModel::Pso);
}

#[test]
fn under_c11() {
    compare_mixes(MemoryModel::C11);
}

/// What is left out by a bound of preemptions is left out after a stop, too.
#[test]
fn bounded_preemptions() {
    let mut totals = Totals::default();
    for seed in 0..number("RSMC_ORACLE_PROGRAMS", 60) / 6 {
        for (weights, memory) in [Weights::UPDATES, Weights::LOCKS].into_iter().zip([MemoryModel::Sc, MemoryModel::C11])
        {
            let program = random(seed, oracle::BUFFERED_OF_THREE, &weights);
            let mut config = config(memory).preemption_bound(seed as u32 % 2);
            config.delay_bound = [None, Some(0), Some(1)][seed as usize % 3];
            compare(&program, &config, seed, &mut totals);
        }
    }
    assert!(totals.stops > 100, "{} stops", totals.stops);
}

#[test]
fn a_rising_bound_leaves_no_checkpoint() {
    let program = random(3, oracle::SMALL, &Weights::ATOMICS);
    let config = config(MemoryModel::Sc).rising_preemption_bound();
    let (report, checkpoint) = part(&program, &config, None, 2, &mut History::new());
    assert_eq!(report.level, Some(0));
    assert_eq!(report.notes, ["a check by `reads-from` with a rising bound cannot be resumed"]);
    assert!(checkpoint.is_none());
}

/// Loops that wait: what was learned before a stop is known after it, threads stay frozen, livelocks are counted once.
#[test]
fn loops_that_wait() {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 60) / 4, number("RSMC_ORACLE_SEED", 0));
    let mut totals = Totals::default();
    for memory in MODELS {
        // In the last one, two discovery runs on both sides of a stop ask for the same livelock.
        for seed in (first..first + programs).chain([63]) {
            compare(&spinning::program(seed, memory), &config(memory), seed, &mut totals);
        }
    }
    assert!(totals.stops > 100, "{} stops", totals.stops);
    assert!(totals.blocked > 50 && totals.learned > 0, "{} blocked, {} started over", totals.blocked, totals.learned);
}

/// Samples go on with the next number.
#[test]
fn at_random() {
    for seed in 0..number("RSMC_ORACLE_PROGRAMS", 60) / 6 {
        let program = random(seed, oracle::SMALL, &Weights::LOCKS);
        for explorer in [ExplorerKind::Random, ExplorerKind::Pct] {
            let config = config(MemoryModel::Sc).explorer(explorer).max_executions(40);
            compare(&program, &config, seed, &mut Totals::default());
        }
    }
}

/// The limit of time stops a check in the same way, also before its first run.
#[test]
fn the_limit_of_time() {
    let program = random(3, oracle::SMALL, &Weights::ATOMICS);
    let config = config(MemoryModel::C11);
    let (one, history) = whole(&program, &config);
    let mut pieces = History::new();
    let late = config.clone().max_duration(Duration::ZERO);
    let (report, checkpoint) = part(&program, &late, None, u64::MAX, &mut pieces);
    assert!(matches!(report.verdict, Verdict::Incomplete(Limit::Duration(Duration::ZERO))));
    assert_eq!((report.runs, pieces.len()), (0, 0));
    let (report, rest) = part(&program, &config, checkpoint, u64::MAX, &mut pieces);
    assert!(rest.is_none() && pieces == history);
    assert_eq!(counts(&report), counts(&one));
}

#[test]
fn what_cannot_be_resumed_is_said() {
    let program = random(3, oracle::SMALL, &Weights::ATOMICS);
    let config = config(MemoryModel::Sc).explorer(ExplorerKind::Exhaustive);
    let (report, checkpoint) = part(&program, &config, None, 2, &mut History::new());
    assert!(matches!(report.verdict, Verdict::Incomplete(Limit::Interrupted)));
    assert_eq!(report.notes, ["a check by `exhaustive` cannot be resumed"]);
    assert!(checkpoint.is_none());
}

#[test]
fn another_configuration_is_refused() {
    let program = random(3, oracle::SMALL, &Weights::ATOMICS);
    let config = config(MemoryModel::Sc);
    let (_, checkpoint) = part(&program, &config, None, 1, &mut History::new());
    let checkpoint = checkpoint.expect("it was stopped");
    let misfit = |config: Config| checkpoint.misfit(&config);
    let other = "it was made with memory = sc, and this check has memory = pso";
    assert_eq!(misfit(config.clone().memory(MemoryModel::Pso)).as_deref(), Some(other));
    assert!(misfit(config.clone().spurious(0)).is_some_and(|why| why.contains("spurious = 1")));
    assert!(misfit(config.clone().explorer(ExplorerKind::Pct)).is_some_and(|why| why.contains("explorer = pct")));
    assert_eq!(misfit(config.clone().max_duration(Duration::from_secs(9)).max_executions(7).jobs(2)), None);
}
