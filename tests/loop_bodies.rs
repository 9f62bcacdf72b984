//! Waiting hides nothing: loops of every shape, explored, against random samples in which loops run as they are.
//!
//! What is compared is what each loop returns. A sample of which nothing came within [`STEPS`] operations is one that
//! never ends, since the choice of who goes on is fair: what the loops have returned by then must be found as well, in
//! an execution that is stuck. Where the exploration ends at the limit of steps, samples that never end must exist.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many bodies each test gets, `RSMC_ORACLE_SEED` shifts them, `RSMC_ORACLE_SAMPLES`
//! says how often each is sampled, `RSMC_ORACLE_RUNS` when the exploration of one is given up, and
//! `RSMC_ORACLE_SPIN_BOUND` is the `spin_bound` of the exploration.

mod body;
mod forms;
mod locals;
mod memory;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use body::{Body, Log, Shape};
use rsmc::{Config, Explorer, MemoryModel, Verdict};
use rsmc_core::machine::Sees;
use rsmc_core::session::check_body;
use rsmc_core::step::{End, Run};

/// The result of each loop, and the number of panics.
type Outcome = (Vec<Option<u32>>, usize);

/// A sample has so many operations at most.
const STEPS: u32 = 1_000;

/// The results of the executions of a body.
#[derive(Default)]
struct Shown {
    outcomes: BTreeSet<Outcome>,
    /// The number of those that ended.
    complete: u32,
    /// The number of those that did not.
    stuck: u32,
    /// The end of an execution that should have ended otherwise.
    mistake: Option<String>,
    /// An execution reached the limit of steps, which ends an exploration.
    reached_limit: bool,
    /// The verdict of the check.
    verdict: String,
    /// The number of executions that left a loop where it stood.
    left: u32,
}

impl Shown {
    fn take_in(&mut self, run: &Run, log: &Log) {
        match run.end {
            End::Learned => return *self = Self::default(),
            End::Tried | End::Unfair { .. } => return,
            End::Complete => self.complete += 1,
            End::Stuck => self.stuck += 1,
            End::StepLimit { .. } | End::Endless { .. } => {
                self.stuck += 1;
                self.reached_limit = true;
            }
            _ => self.mistake = Some(format!("an execution ends with {:?}", run.end)),
        }
        self.outcomes.insert((log.results(), run.panics.len()));
    }
}

fn run(body: &Body, config: &Config) -> Shown {
    let (log, mut shown) = (Log::default(), Shown::default());
    let config = config.clone().max_steps(STEPS).keep_going(true).shrink(0).check_leaks(false);
    check_body(&config, &|| body.run(&log), |body| body.check().observe(|run, _| shown.take_in(run, &log)).run())
        .unwrap();
    shown
}

/// The results of random samples, without any waiting.
fn samples(body: &Body, memory: MemoryModel, seed: u64, samples: u64) -> Shown {
    let config =
        Config::default().memory(memory).allow_trivial(true).explorer(Explorer::Random).max_executions(samples);
    run(body, &config.seed(seed).waiting(false))
}

/// The results of an exploration; `None` if it takes too long.
fn explored(body: &Body, memory: MemoryModel, effort: Effort) -> Option<Shown> {
    let started = Instant::now();
    let (limit, mut executions) = (Duration::from_secs(3), 0);
    let (log, mut shown) = (Log::default(), Shown::default());
    let config = Config::default().memory(memory).allow_trivial(true).spin_bound(effort.spin_bound).sees(effort.sees);
    let config = config.max_executions(effort.runs).max_duration(limit).max_steps(STEPS);
    let mut observe = |run: &Run, counted: bool| {
        executions += u64::from(counted);
        if counted || !run.is_maximal() {
            shown.take_in(run, &log);
        }
    };
    let config = config.keep_going(true).shrink(0).check_leaks(false);
    let report = check_body(&config, &|| body.run(&log), |body| body.check().observe(&mut observe).run()).unwrap();
    let verdict = match report.verdict {
        Verdict::Failed(failure) => failure.message,
        verdict => format!("{verdict:?}"),
    };
    shown.verdict = format!("{verdict}\n    after {} executions in {} runs", report.executions, report.runs);
    shown.left = log.left();
    (executions < effort.runs && started.elapsed() < limit).then_some(shown)
}

/// The model under which the body with this seed is run.
fn model(seed: u64) -> MemoryModel {
    use MemoryModel::{C11, Pso, Sc, Tso};
    [Sc, C11, Sc, Tso, Sc, C11, Sc, Pso][(seed ^ seed >> 5) as usize % 8]
}

/// The effort of a test.
#[derive(Clone, Copy)]
struct Effort {
    first: u64,
    bodies: u64,
    samples: u64,
    runs: u64,
    spin_bound: u32,
    sees: Sees,
}

impl Effort {
    fn from_environment() -> Self {
        let number =
            |variable: &str, default| std::env::var(variable).map_or(default, |text| text.parse().expect("a number"));
        Self {
            first: number("RSMC_ORACLE_SEED", 0),
            bodies: number("RSMC_ORACLE_PROGRAMS", 60),
            samples: number("RSMC_ORACLE_SAMPLES", 100),
            runs: number("RSMC_ORACLE_RUNS", 3_000),
            spin_bound: number("RSMC_ORACLE_SPIN_BOUND", u64::from(Config::default().spin_bound)) as u32,
            sees: Sees::All,
        }
    }
}

/// The result of a comparison.
enum Comparison {
    Same,
    TooLong,
    /// The exploration came to the limit of steps, as samples do.
    Limit,
    Differs(String),
}

/// Whether there are samples that never end.
fn never_ends(body: &Body, memory: MemoryModel, seed: u64, number: u64) -> bool {
    (0..10).any(|round| samples(body, memory, seed + 1_000 * round, number).stuck > 0)
}

fn compare(body: &Body, seed: u64, effort: Effort) -> (Comparison, Shown) {
    let memory = model(seed);
    let samples = samples(body, memory, seed, effort.samples);
    let Some(found) = explored(body, memory, effort) else { return (Comparison::TooLong, samples) };
    if found.reached_limit && never_ends(body, memory, seed, effort.samples) {
        return (Comparison::Limit, samples);
    }
    let mut text: String = samples
        .outcomes
        .difference(&found.outcomes)
        .map(|(returned, panics)| format!("  missed: {returned:?}, {panics} panics\n"))
        .collect();
    for mistake in samples.mistake.iter().chain(&found.mistake) {
        text += &format!("  {mistake}\n");
    }
    if found.left > 0 && found.stuck + samples.stuck == 0 && !never_ends(body, memory, seed, effort.samples) {
        text += &format!("  {} executions left a loop\n", found.left);
    }
    if text.is_empty() {
        return (Comparison::Same, samples);
    }
    let returned: Vec<_> = found.outcomes.iter().map(|(returned, _)| returned).take(20).collect();
    (Comparison::Differs(format!("  under {memory}\n{text}  found: {returned:?}\n  {}\n", found.verdict)), samples)
}

/// The smallest body found by leaving things out that still shows a difference, and the difference.
fn shrunk(body: Body, text: String, seed: u64, effort: Effort) -> (Body, String) {
    let smaller = body.smaller().find_map(|smaller| match compare(&smaller, seed, effort).0 {
        Comparison::Differs(text) => Some((smaller, text)),
        _ => None,
    });
    match smaller {
        Some((smaller, text)) => shrunk(smaller, text, seed, effort),
        None => (body, text),
    }
}

/// Compares on random bodies with these shapes. All differences are shown, of each shape one.
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
fn search(name: &str, shapes: &[(&'static str, Shape)]) {
    let (effort, started) = (Effort::from_environment(), Instant::now());
    let (mut compared, mut limits, mut complete, mut stuck) = (0, 0, 0, 0);
    let mut skipped: BTreeMap<&str, u32> = BTreeMap::new();
    let mut differences: BTreeMap<&str, (u32, String)> = BTreeMap::new();
    for seed in effort.first..effort.first + effort.bodies {
        let body = Body::random(seed, shapes);
        let (comparison, samples) = compare(&body, seed, effort);
        complete += samples.complete;
        stuck += samples.stuck;
        match comparison {
            Comparison::Same => compared += 1,
            Comparison::Limit => limits += 1,
            Comparison::TooLong => *skipped.entry(body.loops[0].name).or_default() += 1,
            Comparison::Differs(text) => {
                compared += 1;
                let (body, text) = shrunk(body, text, seed, effort);
                let difference = differences.entry(body.loops[0].name).or_default();
                difference.0 += 1;
                if difference.1.is_empty() {
                    difference.1 = format!("seed {seed}, shrunk:\n{body}{text}");
                }
            }
        }
    }
    let time = started.elapsed();
    let asked = effort.bodies;
    println!("{name}: {compared} of {asked} bodies, {complete} samples, {stuck} more that do not end, {time:?}");
    println!("{name}: {limits} at the limit of steps; took too long: {skipped:?}");
    let mut text = String::new();
    for (shape, (times, difference)) in &differences {
        text += &format!("{shape}: {times} bodies, such as {difference}");
    }
    assert!(text.is_empty(), "{name}: {} shapes show a difference\n{text}", differences.len());
    assert!(4 * compared >= 3 * asked, "{name}: only {compared} of {asked} bodies are small enough");
    assert!(complete > 3 * stuck, "{name}: most samples should end");
}

#[test]
fn what_is_remembered_in_locals() {
    search("locals", locals::SHAPES);
}

#[test]
fn loops_of_many_forms() {
    search("forms", forms::SHAPES);
}

#[test]
fn what_is_remembered_elsewhere() {
    search("memory", memory::SHAPES);
}

/// The comparison has an edge: a loop of which too little is explored is noticed.
#[test]
fn samples_show_what_waiting_hides() {
    let bounded = [*locals::SHAPES.iter().find(|(name, _)| *name == "bounded").expect("there is one")];
    let differs = (0..20).any(|seed| {
        let body = Body::random(seed, &bounded);
        let memory = model(seed);
        let few = run(&body, &Config::default().memory(memory).allow_trivial(true).max_executions(1));
        !samples(&body, memory, seed, 100).outcomes.is_subset(&few.outcomes)
    });
    assert!(differs);
}

/// Whether the comparison notices that states show less than they should.
fn notices(sees: Sees, shapes: &[(&'static str, Shape)]) -> bool {
    let effort = Effort { sees, samples: 100, runs: 1_000, ..Effort::from_environment() };
    (0..60).any(|seed| matches!(compare(&Body::random(seed, shapes), seed, effort).0, Comparison::Differs(_)))
}

#[test]
fn that_no_stack_is_seen_is_noticed() {
    assert!(notices(Sees::Heap, locals::SHAPES));
}

#[test]
fn that_no_register_is_seen_is_noticed() {
    assert!(notices(Sees::Memory, locals::SHAPES));
}

#[test]
fn that_no_heap_is_seen_is_noticed() {
    assert!(notices(Sees::Stack, memory::SHAPES));
}
