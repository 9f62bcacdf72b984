//! Shrinking against brute force: random failing programs under each model. Every interleaving is run and judged here,
//! by rules of this file's own, and says how few context switches the failure takes.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many failing programs each model gets (default 100), `RSMC_ORACLE_SEED` shifts them.

use std::collections::BTreeMap;

use rsmc_core::analysis::race::find_race;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel::{self, C11, Pso, Sc, Tso};
use rsmc_core::seed::Seed;
use rsmc_core::session::{Check, Config, ExplorerKind, Failure, Fewest, Report, Verdict};
use rsmc_core::step::{End, Executor, Forced, Plan, Run, Step};
use rsmc_core::trace::Site;
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, parse, random};

/// Programs with more interleavings are left out.
const MOST: usize = 30_000;

fn interpreter(program: &Program, memory: MemoryModel) -> Interpreter {
    Interpreter::new(program, Rules::new(memory, 200)).expect("the program can be run")
}

fn run_check(program: &Program, config: &Config) -> Report {
    Check::new(config, &mut interpreter(program, config.effective_memory())).run()
}

fn failure(report: Report) -> Option<Failure> {
    match report.verdict {
        Verdict::Failed(failure) => Some(*failure),
        _ => None,
    }
}

/// The text that is the same for executions that fail the same way.
fn how(run: &Run) -> Option<String> {
    let sorted = |mut parts: Vec<String>| {
        parts.sort();
        parts.join(", ")
    };
    if let Some(panic) = run.panics.first() {
        return Some(format!("panic at {}: {}", panic.site, panic.message));
    }
    if let Some(race) = find_race(&run.trace) {
        let side = |writes: bool, site: Site| format!("{writes} {site}");
        let (a, b) = (race.first, race.second);
        return Some(format!("race: {}", sorted(vec![side(a.writes, a.site), side(b.writes, b.site)])));
    }
    (run.end == End::Stuck).then(|| {
        let waits = run.waiting.iter().map(|pending| {
            let why = format!("{:?}", pending.why);
            format!("{} at {}", why.split([' ', '(']).next().unwrap_or_default(), pending.site)
        });
        format!("stuck: {}", sorted(waits.collect()))
    })
}

/// Switches, weak steps, alternatives and steps of an execution.
fn cost(run: &Run) -> (usize, usize, usize, usize) {
    let steps: Vec<Step> = run.steps().collect();
    let threads: Vec<_> =
        steps.iter().filter(|step| !matches!(step, Step::Flush(_))).map(|step| step.thread()).collect();
    let switches = threads.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let mut events = run.trace.events.iter();
    let (mut weak, mut chosen) = (0, 0);
    for (at, step) in steps.iter().enumerate() {
        if matches!(step, Step::Flush(_)) {
            continue;
        }
        let event = events.next().expect("every other step is an event");
        let takes_old = matches!(step, Step::Take(..) | Step::Choose { takes: Some(_), .. });
        let waits = event.buffered && steps.get(at + 1) != Some(&Step::Flush(event.id));
        weak += usize::from(takes_old) + usize::from(waits);
        chosen += usize::from(event.op.action.alternative() > 0);
    }
    (switches, weak, chosen, steps.len())
}

/// By failure: by number of switches, the cheapest of the rest.
type Costs = BTreeMap<String, BTreeMap<usize, (usize, usize, usize)>>;

/// All failures of all interleavings, unless there are too many.
fn brute(program: &Program, memory: MemoryModel) -> Option<Costs> {
    let mut interpreter = interpreter(program, memory);
    let (mut costs, mut run) = (Costs::new(), Run::default());
    let mut stack: Vec<(Step, Vec<Step>)> = Vec::new();
    for _ in 0..MOST {
        let forced = stack.iter().map(|(step, _)| Forced { step: *step, expect: None }).collect();
        interpreter.execute(&Plan { forced, record_choices: true, ..Plan::default() }, &mut run);
        assert!(run.is_maximal(), "{:?} in\n{program}", run.end);
        if let Some(how) = how(&run) {
            let (switches, weak, chosen, steps) = cost(&run);
            let least = costs.entry(how).or_default().entry(switches).or_insert((weak, chosen, steps));
            *least = (*least).min((weak, chosen, steps));
        }
        for choice in run.choices.iter().skip(stack.len()) {
            let others = choice.possible.iter().copied().filter(|step| *step != choice.taken).collect();
            stack.push((choice.taken, others));
        }
        loop {
            let Some((_, mut others)) = stack.pop() else { return Some(costs) };
            if let Some(next) = others.pop() {
                stack.push((next, others));
                break;
            }
        }
    }
    None
}

/// Runs a seed, as text, in a new executor.
fn replay(program: &Program, memory: MemoryModel, seed: &Seed) -> Run {
    let seed: Seed = seed.to_string().parse().expect("a seed reads back");
    let mut run = Run::default();
    interpreter(program, memory).execute(&seed.plan(), &mut run);
    run
}

/// The counts of a test.
#[derive(Debug, Default)]
struct Seen {
    programs: u64,
    shrunk: u64,
    proven: u64,
    one_more: u64,
    as_short: u64,
    kinds: BTreeMap<String, u64>,
    most_runs: u64,
}

fn compare(program: &Program, config: &Config, seen: &mut Seen) {
    let memory = config.effective_memory();
    let report = run_check(program, config);
    let extra_runs = report.extra_runs;
    let Some(small) = failure(report) else { return };
    let Some(costs) = brute(program, memory) else { return };
    let first = failure(run_check(program, &config.clone().shrink(0))).expect("it fails anyway");
    assert_eq!((first.fewest, &first.needs), (Fewest::Unsought, &None));

    let run = replay(program, memory, &small.seed);
    let original = replay(program, memory, &first.seed);
    let kind = how(&original).expect("the replay fails");
    assert_eq!(how(&run).as_ref(), Some(&kind), "another failure in\n{program}");
    let again = failure(run_check(program, &config.clone().replay(small.seed.clone()))).expect("the replay fails");
    assert_eq!((again.kind, &again.message, &again.seed), (small.kind, &small.message, &small.seed), "{program}");
    assert_eq!((again.switches, again.fewest, again.needs), (small.switches, Fewest::Unsought, None));

    let costs = &costs[&kind];
    let fewest = *costs.keys().next().expect("it was found");
    let found = cost(&run);
    assert_eq!(found.0, small.switches as usize, "{program}");
    assert!(found.0 <= fewest + 1, "{found:?}, but there is one with {fewest} switches in\n{program}");
    assert!(found.0 <= cost(&original).0 + 1);
    // Of the schedules with one more at most, the one with the fewest weak steps, then the fewest switches.
    let few = costs.range(..=fewest + 1);
    let (&switches, &(weak, chosen, steps)) = few.min_by_key(|(switches, (weak, ..))| (*weak, **switches)).unwrap();
    if small.fewest != Fewest::Found {
        assert_eq!(
            (found.0, found.1, found.2),
            (switches, weak, chosen),
            "{:?} of {costs:?} in\n{program}",
            small.fewest
        );
        assert!(found.3 >= steps);
        let expected = if switches > fewest { Fewest::OneMore } else { Fewest::Possible };
        assert_eq!(small.fewest, expected, "{program}");
        seen.proven += 1;
        seen.as_short += u64::from(found.3 == steps);
    }
    seen.programs += 1;
    seen.shrunk += u64::from(cost(&original) != found);
    seen.one_more += u64::from(small.fewest == Fewest::OneMore);
    seen.most_runs = seen.most_runs.max(extra_runs);
    *seen.kinds.entry(kind.split([' ', ':']).next().unwrap_or_default().to_owned()).or_default() += 1;
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

fn compare_all(memory: MemoryModel, operations: usize) -> Seen {
    let (programs, mut seed) = (number("RSMC_ORACLE_PROGRAMS", 100), number("RSMC_ORACLE_SEED", 0));
    let mut seen = Seen::default();
    while seen.programs < programs {
        let cells = if seed.is_multiple_of(3) { 5 } else { 0 };
        let weights = Weights { cell: cells, weak_cas: 1, choose: 1, assert: 4, ..Weights::EVERYTHING };
        let weights = if seed % 4 == 1 { Weights::LOCKS } else { weights };
        let program = random(seed, Size { operations, ..Size::default() }, &weights);
        let explorer = if seed.is_multiple_of(2) { ExplorerKind::ReadsFrom } else { ExplorerKind::Random };
        let config =
            Config::default().memory(memory).explorer(explorer).max_executions(300).shrink_improves(seed % 4 == 3);
        compare(&program, &config, &mut seen);
        seed += 1;
    }
    assert!(seen.proven * 10 >= seen.programs * 9, "{seen:?}");
    assert!(seen.shrunk * 5 >= seen.programs, "{seen:?}");
    seen
}

/// Two orders of the same writes are two states, also where all threads have read the same: with the fewest switches
/// `t2` comes before `t1`, and both before `t3`, which makes a choice in between.
#[test]
fn what_is_in_memory_is_part_of_a_state() {
    let text =
        "t1: x = 1\nt2: x = 2; z = 1\nt3: y = 1; c = choose 2; a = x; b = z; assert c == 0 || a != 1 || b != 1\n";
    let mut seen = Seen::default();
    for seed in 0..20 {
        let config = Config::default().memory(Sc).explorer(ExplorerKind::Random).seed(seed).shrink_improves(false);
        compare(&parse(text).unwrap(), &config, &mut seen);
    }
    assert_eq!((seen.programs, seen.proven), (20, 20));
    assert!(seen.shrunk > 5, "{seen:?}");
}

#[test]
fn under_sc() {
    assert_eq!(compare_all(Sc, 9).one_more, 0);
}

#[test]
fn under_tso() {
    compare_all(Tso, 7);
}

#[test]
fn under_pso() {
    compare_all(Pso, 7);
}

#[test]
fn under_c11() {
    compare_all(C11, 7);
}
