//! Several workers against one explorer: the same executions, runs and failures on random programs, no class twice,
//! with jobs taken in any order, answered early, and lost with their workers.
//!
//! `RSMC_ORACLE_PROGRAMS` and `RSMC_ORACLE_SEED` choose other and more programs, as in `rf_smc_oracle`.

mod changed;
mod fake;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rsmc_core::base::mix;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::jobs::Crew;
use rsmc_core::session::{Check, Checkpoint, Config, ExplorerKind, FailureKind, Report, Seen as Shown, Verdict};
use rsmc_testkit::litmus::{Program, Weights, random};

use crate::bound_oracle;
use crate::loops;
use crate::oracle::{self, number};
use crate::spinning;
use fake::{Fake, Runs, interpreter};

/// By one explorer.
fn alone(program: &Program, config: &Config) -> (Report, Runs) {
    let mut runs = Runs::default();
    let mut executor = interpreter(program, config.effective_memory());
    let report = Check::new(config, &mut executor).watch(|seen| runs.see(&seen)).run();
    (report, runs)
}

/// By the workers of a crew.
fn together(crew: &mut Fake<'_>) -> Report {
    let (config, runs) = (crew.config.clone(), Rc::clone(&crew.runs));
    let mut executor = interpreter(crew.program, config.effective_memory());
    let check = Check::new(&config, &mut executor).watch(|seen| runs.borrow_mut().see(&seen));
    check.crew(Some(crew)).run()
}

/// The counts of lost and divided work, to see that this tests something.
#[derive(Default)]
struct Seen {
    early: u32,
    deaths: u32,
    blocked: u64,
}

/// The failures that workers show and that one explorer shows.
type Kinds = (Option<FailureKind>, Option<FailureKind>);

/// The kind of failure of a check that failed.
fn kind(report: &Report) -> Option<FailureKind> {
    if let Verdict::Failed(failure) = &report.verdict { Some(failure.kind) } else { None }
}

/// Asserts that several explorers did what one did: each class once, the same counts, and a failure where it has one.
/// `None` if a thread loops for ever, or a loop is bounded: only the verdicts are compared.
fn assert_alike(several: (&Report, &Runs), one: (&Report, &Runs), program: &Program, context: &str) -> Option<Kinds> {
    let ((several, found), (one, runs)) = (several, one);
    let context = || format!("{context} under {} in\n{program}", one.memory);
    // Which failure is shown is open, where there are several; what one process finds, the other can repeat.
    let kinds = (kind(several), kind(one));
    assert_eq!(kinds.0.is_some(), kinds.1.is_some(), "{}", context());
    assert_ne!(kinds.0, Some(FailureKind::Nondeterminism), "{}", context());
    if found.endless || runs.endless {
        assert!(kinds.0.is_some(), "{}", context());
        return None;
    }
    if found.bounded && runs.bounded {
        return None;
    }
    let (found, classes) = (&found.classes, &runs.classes);
    let missed = classes.keys().filter(|class| !found.contains_key(class)).count();
    let extra = found.keys().filter(|class| !classes.contains_key(class)).count();
    // Several explorers may end in the same livelock; only one of these counts.
    let twice = found.values().filter(|(stuck, runs)| !stuck && *runs > 1).count();
    assert_eq!((missed, extra, twice), (0, 0, 0), "missed, extra, twice; {}", context());
    assert_eq!(several.executions, classes.len() as u64, "{}", context());
    let counts = |report: &Report| (report.executions, report.failures, report.threads);
    assert_eq!(counts(several), counts(one), "{}", context());
    // Which runs an explorer gives up depends on which iterations it knows to change nothing, and so how long they are.
    if !waits(program) {
        assert_eq!((several.events, several.blocked), (one.events, one.blocked), "{}", context());
        // Under C11 the first failure may be run once more, in another order, and which is the first is open.
        let is_open = one.failures > 0 && one.memory == MemoryModel::C11;
        assert!(is_open || several.runs == one.runs, "{}", context());
    }
    Some(kinds)
}

/// The differences between workers and one explorer.
fn compare(program: &Program, config: &Config, seed: u64, seen: &mut Seen) -> Option<Kinds> {
    let (one, runs) = alone(program, config);
    let mut crew = Fake::new(program, config, seed);
    let several = together(&mut crew);
    let found = crew.runs.borrow();
    let kinds = assert_alike((&several, &found), (&one, &runs), program, &format!("seed {seed}"));
    seen.early += crew.early;
    seen.deaths += crew.deaths;
    seen.blocked += one.blocked;
    kinds
}

fn config(memory: MemoryModel) -> Config {
    Config::default().memory(memory).keep_going(true).divide_after(Duration::ZERO)
}

/// The configuration of a check; for every other seed with decisions that take no more, and detours, to divide.
fn bounded(memory: MemoryModel, seed: u64) -> Config {
    config(memory).sets([0, usize::MAX][seed as usize / 4 % 2])
}

const MODELS: [MemoryModel; 4] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso, MemoryModel::C11];

/// The random programs of several mixes.
fn compare_mixes(memory: MemoryModel) {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 60), number("RSMC_ORACLE_SEED", 0));
    let mut seen = Seen::default();
    let mixes = [Weights::ATOMICS, Weights::UPDATES, Weights::LOCKS, Weights::EVERYTHING, Weights::CHOICES];
    for seed in first..first + programs {
        for (weights, size) in mixes.iter().zip([oracle::SMALL, oracle::THREE_THREADS].into_iter().cycle()) {
            compare(&random(seed, size, weights), &bounded(memory, seed), seed, &mut seen);
        }
    }
    assert!(seen.early > 100 && seen.deaths > 100, "{} early, {} deaths", seen.early, seen.deaths);
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

/// Workers run every class within a bound of preemptions, and none twice. Which others they run depends on who
/// discovers a schedule first.
#[test]
fn bounded_preemptions() {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 60) / 3, number("RSMC_ORACLE_SEED", 0));
    let mut divided = 0;
    for seed in first..first + programs {
        for weights in [Weights::ATOMICS, Weights::UPDATES, Weights::LOCKS] {
            let program = random(seed, oracle::THREE_THREADS, &weights);
            let Some(fewest) = bound_oracle::fewest(&program, MemoryModel::Sc) else { continue };
            let most = seed as u32 % 3;
            let config = config(MemoryModel::Sc).preemption_bound(most);
            let mut crew = Fake::new(&program, &config, seed);
            together(&mut crew);
            let found = &crew.runs.borrow().classes;
            let within = fewest.iter().filter(|(_, count)| **count <= most);
            let missed = within.filter(|(class, _)| !found.contains_key(class)).count();
            let extra = found.keys().filter(|class| !fewest.contains_key(class)).count();
            let twice = found.values().filter(|(_, runs)| *runs > 1).count();
            assert_eq!((missed, extra, twice), (0, 0, 0), "seed {seed}: missed, extra, twice in\n{program}");
            divided += crew.early;
        }
    }
    assert!(divided > 10, "{divided} early");
}

#[test]
fn loops_that_wait() {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 60), number("RSMC_ORACLE_SEED", 0));
    let (mut seen, mut livelocks) = (Seen::default(), 0);
    for memory in MODELS {
        // In the last one but one, a worker finds that the exploration has to start over; in the last one, a thread may
        // loop for ever.
        for seed in (first..first + programs).chain([154, 53_151]) {
            let program = if seed % 2 == 0 { spinning::program } else { spinning::drawn }(seed, memory);
            let Some((several, one)) = compare(&program, &config(memory), seed, &mut seen) else { continue };
            assert_eq!(several, one, "seed {seed} under {memory}\n{program}");
            livelocks += u32::from(several == Some(FailureKind::Livelock));
        }
    }
    assert!(seen.blocked > 100 && seen.deaths > 100, "{} blocked, {} deaths", seen.blocked, seen.deaths);
    assert!(livelocks > 30, "{livelocks} livelocks");
}

/// Workers run every class within the bound of loops that take back what they change, and none twice.
#[test]
fn loops_that_take_back() {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 60) / 4, number("RSMC_ORACLE_SEED", 0));
    let mut bounded = 0;
    for seed in first..first + programs {
        let memory = MODELS[seed as usize % 3];
        let program = loops::taking_back(seed, memory);
        let (brute, every) = (config(memory).explorer(ExplorerKind::Exhaustive), Rc::default());
        let (report, _) = part(&program, &brute, (Who::One, seed), 3_000, None, &every);
        let every = every.borrow();
        if matches!(report.verdict, Verdict::Incomplete(_)) || every.endless {
            continue;
        }
        let mut crew = Fake::new(&program, &config(memory), seed);
        together(&mut crew);
        let found = &crew.runs.borrow();
        let missed = every.classes.keys().filter(|class| !found.classes.contains_key(class)).count();
        let twice = found.classes.values().filter(|(stuck, runs)| !stuck && *runs > 1).count();
        assert_eq!((missed, twice), (0, 0), "seed {seed} under {memory}: missed, twice in\n{program}");
        bounded += u32::from(found.bounded);
    }
    assert!(u64::from(bounded) * 3 > programs, "{bounded} of {programs}");
}

/// A limit of executions is met exactly.
#[test]
fn limits() {
    for seed in 0..number("RSMC_ORACLE_PROGRAMS", 60) {
        let program = random(seed, oracle::SMALL, &Weights::EVERYTHING);
        let (all, ..) = alone(&program, &config(MemoryModel::Sc));
        for most in [1, all.executions / 2, all.executions, all.executions + 1].into_iter().filter(|&most| most > 0) {
            let config = config(MemoryModel::Sc).max_executions(most);
            let report = together(&mut Fake::new(&program, &config, seed));
            assert_eq!(report.executions, most.min(all.executions), "seed {seed}, {most} of\n{program}");
            let is_complete = matches!(report.verdict, Verdict::Verified | Verdict::Failed(_));
            assert!(is_complete || most < all.executions, "{:?}", report.verdict);
        }
    }
}

/// A check that was stopped while one explorer did it goes on with workers.
#[test]
fn resumed() {
    let mut stops = 0;
    for seed in 0..number("RSMC_ORACLE_PROGRAMS", 60) {
        let memory = MODELS[seed as usize % MODELS.len()];
        let (config, size) = (bounded(memory, seed), oracle::BUFFERED_OF_THREE);
        let program =
            if seed % 3 == 0 { spinning::program(seed, memory) } else { random(seed, size, &Weights::EVERYTHING) };
        let (one, runs) = alone(&program, &config);
        let found = Rc::default();
        let (_, resume) = part(&program, &config, (Who::One, seed), 1 + seed % 7, None, &found);
        let Some(resume) = resume else { continue };
        stops += 1;
        let (several, rest) = part(&program, &config, (Who::Several, seed), u64::MAX, Some(resume), &found);
        assert!(rest.is_none(), "seed {seed} under {memory}\n{program}");
        assert_alike((&several, &found.borrow()), (&one, &runs), &program, &format!("seed {seed}"));
    }
    assert!(stops > 30, "{stops} checks were stopped");
}

/// The explorer of one part of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    One,
    Several,
    /// Workers that do not answer when the check is stopped.
    Silent,
    /// Workers that are still to come.
    Absent,
}

/// One part of a check, which is stopped after so many pulses. What it runs is noted.
fn part(
    program: &Program,
    config: &Config,
    (who, seed): (Who, u64),
    stop: u64,
    resume: Option<Checkpoint>,
    found: &Rc<RefCell<Runs>>,
) -> (Report, Option<Checkpoint>) {
    let (mut pulses, stopped) = (0, AtomicBool::new(who == Who::Absent));
    let mut pulse = |_: &_| {
        pulses += 1;
        stopped.fetch_or(pulses > stop, Relaxed);
        pulses <= stop
    };
    let mut watch = |seen: Shown<'_>| found.borrow_mut().see(&seen);
    let silent = matches!(who, Who::Silent | Who::Absent).then_some(&stopped);
    let mut crew = Fake::new(program, config, seed);
    (crew.runs, crew.silent) = (Rc::clone(found), silent);
    let crew = if who == Who::One { None } else { Some(&mut crew as &mut dyn Crew) };
    let mut executor = interpreter(program, config.effective_memory());
    let check = Check::new(config, &mut executor).watch(&mut watch).pulse(Duration::ZERO, &mut pulse);
    check.crew(crew).resume(resume).run_part()
}

/// Explores in parts, each of which another explorer does, and each knows nothing of those before but the bytes of a
/// checkpoint. Returns the report of the last part, what was found, and how often the check was stopped while workers
/// explored.
fn in_parts(program: &Program, config: &Config, seed: u64, silent: bool) -> (Report, Rc<RefCell<Runs>>, u32) {
    let (found, mut resume, mut stops) = (Rc::default(), None, 0);
    for number in 0.. {
        let draw = mix(mix(seed, 13), number);
        let who = match draw % 3 {
            _ if number > 400 => Who::One,
            0 if number > 0 => Who::One,
            _ if silent => Who::Silent,
            _ => Who::Several,
        };
        let stop = if number > 400 { u64::MAX } else { 1 + draw / 3 % 9 };
        let (report, checkpoint) = part(program, config, (who, draw), stop, resume, &found);
        let Some(checkpoint) = checkpoint else {
            return (report, found, stops);
        };
        stops += u32::from(who != Who::One);
        assert_eq!(report.notes, Vec::<String>::new());
        assert_eq!(checkpoint.executions(), report.executions);
        assert!(!matches!(report.verdict, Verdict::Verified));
        let bytes = postcard::to_allocvec(&checkpoint).unwrap();
        resume = Some(postcard::from_bytes(&bytes).unwrap());
    }
    unreachable!("it ends with a part that is not stopped")
}

/// Whether a thread may wait in a loop. Which looks change nothing each process finds out by itself, so it gives up
/// more or fewer runs.
fn waits(program: &Program) -> bool {
    program.to_string().contains("while")
}

/// Each class once and the same counts, however often a check is stopped, and whichever explorer goes on.
fn compare_parts(program: &Program, config: &Config, seed: u64, silent: bool) -> u32 {
    let (one, runs) = alone(program, config);
    let (several, found, stops) = in_parts(program, config, seed, silent);
    let context = format!("seed {seed}, {stops} stops");
    assert_alike((&several, &found.borrow()), (&one, &runs), program, &context);
    stops
}

#[test]
fn stopped_while_workers_explore() {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 60), number("RSMC_ORACLE_SEED", 0));
    let mut stops = 0;
    for memory in MODELS {
        for seed in first..first + programs {
            let mixes = [Weights::ATOMICS, Weights::LOCKS, Weights::EVERYTHING, Weights::CHOICES];
            let weights = &mixes[seed as usize % mixes.len()];
            let program = random(seed, oracle::BUFFERED_OF_THREE, weights);
            stops += compare_parts(&program, &bounded(memory, seed), seed, false);
        }
        // In the last one, discovery runs on both sides of a stop ask for the same livelock.
        for seed in (first..first + programs).chain([63]) {
            stops += compare_parts(&spinning::program(seed, memory), &config(memory), seed, false);
        }
    }
    assert!(stops > 500, "{stops} stops");
}

/// The explorer that goes on explores the jobs that workers do not answer in time.
#[test]
fn stopped_while_workers_do_not_answer() {
    let stops: u32 = (0..3)
        .map(|seed| compare_parts(&random(seed, oracle::SMALL, &Weights::EVERYTHING), &config(MODELS[0]), seed, true))
        .sum();
    assert!(stops > 2, "{stops} stops");
}

/// Until the first worker is ready, who goes on explores alone: each part comes further, however short it is.
#[test]
fn resumed_before_workers_are_ready() {
    for seed in 0..10 {
        let program = random(seed, oracle::THREE_THREADS, &Weights::ATOMICS);
        let (config, found) = (config(MemoryModel::C11), Rc::default());
        let (one, runs) = alone(&program, &config);
        let (_, resume) = part(&program, &config, (Who::Several, seed), 2, None, &found);
        let Some(resume) = resume else { continue };
        let (several, rest) = part(&program, &config, (Who::Absent, seed), 300, Some(resume), &found);
        assert!(rest.is_none() && found.borrow().classes == runs.classes, "seed {seed}\n{program}");
        assert_eq!((several.executions, several.runs), (one.executions, one.runs), "seed {seed}\n{program}");
    }
}

/// Samples that workers share: the same ones, and the same failure is the first.
#[test]
fn stopped_at_random() {
    let mut stops = 0;
    for seed in 0..number("RSMC_ORACLE_PROGRAMS", 60) {
        let program = random(seed, oracle::SMALL, &Weights::LOCKS);
        for keep_going in [false, true] {
            let config = config(MemoryModel::Sc).explorer(ExplorerKind::Random).keep_going(keep_going);
            let config = config.max_executions(60);
            let (one, ..) = alone(&program, &config);
            let (several, _, more) = in_parts(&program, &config, seed, false);
            let counts = |report: &Report| (report.executions, report.runs, report.failures, report.events);
            let schedule = |report: &Report| match &report.verdict {
                Verdict::Failed(failure) => failure.seed.to_string(),
                verdict => format!("{verdict:?}"),
            };
            // Without it the first failure ends the check, and a part may come to a later one first.
            if keep_going || one.failures == 0 {
                assert_eq!(counts(&several), counts(&one), "seed {seed}\n{program}");
                assert_eq!(schedule(&several), schedule(&one), "seed {seed}\n{program}");
            }
            assert_eq!(several.failures > 0, one.failures > 0, "seed {seed}\n{program}");
            stops += more;
        }
    }
    assert!(stops > 100, "{stops} stops");
}

/// The report of a check that is stopped says how much is left at least; it is never more than there is.
#[test]
fn what_is_left_is_said() {
    let program = random(3, oracle::THREE_THREADS, &Weights::ATOMICS);
    let (config, found) = (config(MemoryModel::C11), Rc::default());
    let (all, ..) = alone(&program, &config);
    let (report, checkpoint) = part(&program, &config, (Who::Several, 1), 3, None, &found);
    let least = report.estimate.expect("schedules are left").at_least;
    assert!(checkpoint.is_some() && report.runs < least && least <= all.runs, "{least} of {}", all.runs);
}

/// Executions at random are those of one explorer, failures included.
#[test]
fn at_random() {
    for seed in 0..number("RSMC_ORACLE_PROGRAMS", 60) {
        let program = random(seed, oracle::SMALL, &Weights::LOCKS);
        for keep_going in [false, true] {
            let config = config(MemoryModel::Sc).explorer(ExplorerKind::Random);
            let config = config.max_executions(50).keep_going(keep_going);
            let (one, ..) = alone(&program, &config);
            let several = together(&mut Fake::new(&program, &config, seed));
            let counts = |report: &Report| (report.executions, report.runs, report.failures, report.events);
            assert_eq!(counts(&several), counts(&one), "seed {seed}\n{program}");
            let schedule = |report: &Report| match &report.verdict {
                Verdict::Failed(failure) => failure.seed.to_string(),
                verdict => format!("{verdict:?}"),
            };
            assert_eq!(schedule(&several), schedule(&one), "seed {seed}\n{program}");
        }
    }
}
