//! Runs programs under all explorers that prove, and compares what they show with what brute force shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32 as StdAtomicU32;
use std::time::Instant;

use rsmc::sync::atomic::Ordering::Relaxed;
use rsmc_core::analysis::race::find_race;
use rsmc_core::base::Digest;
use rsmc_core::machine::Rules;
use rsmc_core::runtime::Runtime;
use rsmc_core::session::{Check, Config, ExplorerKind, MemoryModel};
use rsmc_core::step::{End, Executor, Plan, Run, Why};
use rsmc_core::trace::{Action, Trace, reads_from_class};

use super::program::{Log, Mix, Operation, Program, STD, UNORDERED, operations, without};
use super::races::races;

/// The results of an exploration.
#[derive(Debug, Default, PartialEq)]
pub struct Shown {
    /// The outcome of each reads-from class, and how often it was run.
    classes: BTreeMap<Digest, (String, u32)>,
    outcomes: BTreeSet<String>,
    /// Whether an execution has a race.
    has_race: bool,
    mistakes: Vec<String>,
}

impl Shown {
    pub fn take_in(&mut self, run: &Run, counted: bool, log: &Log) {
        if run.end == End::Learned {
            *self = Self::default();
        } else if !run.is_maximal() && run.end != End::Tried {
            self.mistakes.push(format!("an execution ends with {:?}", run.end));
        } else if counted {
            let outcome = self.outcome(run, log);
            self.outcomes.insert(outcome.clone());
            if tries_again(&run.trace) {
                return;
            }
            let class = self.classes.entry(reads_from_class(&run.trace)).or_insert_with(|| (outcome.clone(), 0));
            class.1 += 1;
            if class.0 != outcome && self.mistakes.is_empty() {
                self.mistakes.push(format!("executions of one class show\n    {}\n    {outcome}", class.0));
            }
        }
    }

    /// The outcome of an execution, with its races.
    fn outcome(&mut self, run: &Run, log: &Log) -> String {
        let races = races(&run.trace);
        if races.is_empty() == find_race(&run.trace).is_some() {
            self.mistakes.push(format!("by the definition the races are {races:?}: {:?}", find_race(&run.trace)));
        }
        let mut outcome = outcome(run, log);
        if run.model != MemoryModel::Sc {
            outcome = without(&outcome, STD);
        } else if outcome.contains(STD) {
            self.mistakes.push(format!("std does not do the same: {outcome}"));
        }
        if races.is_empty() {
            return outcome + &format!(", {} leaks", run.leaks.len());
        }
        self.has_race = true;
        without(&outcome, UNORDERED) + &format!(", races: {races:?}")
    }
}

/// Whether a thread loads again behind a compare-exchange that came too late, as `fetch_update` does. Such rounds are
/// left out where a thread is seen to be where it was before, so brute force has a class with one only until then.
fn tries_again(trace: &Trace) -> bool {
    let event = |&at: &u32| &trace.events[at as usize];
    let is_round = |events: &[u32]| {
        let [cas, load] = [&events[0], &events[1]].map(event);
        matches!(cas.op.action, Action::Cas { .. }) && load.op.action == Action::Load && cas.op.site == load.op.site
    };
    trace.present().any(|(thread, _)| trace.of_thread(thread).windows(2).any(is_round))
}

/// The values that the threads have learned in an execution, the threads that panicked, and those that wait at its end.
fn outcome(run: &Run, log: &Log) -> String {
    let mut text = log.text();
    let mut panics: Vec<_> = run.panics.iter().collect();
    panics.sort_by_key(|panic| panic.thread);
    for panic in panics {
        text += &format!(", t{} panicked: {} (received: {})", panic.thread.0, panic.message, panic.received);
    }
    for pending in &run.waiting {
        let why = match &pending.why {
            Why::Lock { holder, .. } => format!("lock of {holder:?}"),
            Why::Join(thread) => format!("end of t{}", thread.0),
            Why::Park => "token".to_owned(),
            Why::Suspended => "nothing".to_owned(),
            Why::Spin { .. } => "value".to_owned(),
        };
        text += &format!(", t{} waits for {why}", pending.id.thread.0);
    }
    text
}

/// Real code that is run so often at most.
struct Patient<'a> {
    runtime: Runtime<'a>,
    left: u32,
}

impl Executor for Patient<'_> {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        self.left = self.left.saturating_sub(1);
        self.runtime.execute(plan, run);
    }

    fn is_broken(&self) -> bool {
        self.left == 0 || self.runtime.is_broken()
    }
}

/// The results of an explorer; `None` if it is not finished after so many runs.
fn explore<M: Mix>(program: &Program<M>, memory: MemoryModel, explorer: ExplorerKind, most: u32) -> Option<Shown> {
    let config =
        Config::default().memory(memory).explorer(explorer).keep_going(true).allow_trivial(true).check_leaks(false);
    let rules = Rules { spurious: program.spurious, ..Rules::new(memory, 1_000) };
    let (log, mut shown) = (Log::default(), Shown::default());
    let explore = || {
        let body = || program.run(&log);
        let mut patient = Patient { runtime: Runtime::new(&body, rules, config.stack_size), left: most };
        Check::new(&config, &mut patient).observe(|run, counted| shown.take_in(run, counted, &log)).run();
        patient.left > 0
    };
    // As every check, it has a thread of its own.
    let finished = std::thread::scope(|scope| scope.spawn(explore).join());
    finished.unwrap_or_else(|payload| std::panic::resume_unwind(payload)).then_some(shown)
}

/// The differences between the results of an explorer and those of brute force.
fn mistakes(every: &Shown, found: &Shown, explorer: ExplorerKind) -> Vec<String> {
    let only = |which, a: &Shown, b: &Shown| {
        let lines: Vec<String> = a.outcomes.difference(&b.outcomes).map(|outcome| format!("\n    {outcome}")).collect();
        (!lines.is_empty()).then(|| format!("{which}:{}", lines.concat()))
    };
    let mut mistakes = found.mistakes.clone();
    mistakes.extend(only("missed", every, found));
    mistakes.extend(only("extra", found, every));
    if explorer == ExplorerKind::ReadsFrom {
        let twice = found.classes.values().filter(|(_, runs)| *runs > 1).count();
        let differ = !every.classes.keys().eq(found.classes.keys());
        if twice > 0 || differ {
            let (every, found) = (every.classes.len(), found.classes.len());
            mistakes.push(format!("{found} classes of {every}, {twice} run twice"));
        }
    }
    mistakes
}

/// A model, and the explorers that are compared with brute force under it.
type Comparison = (MemoryModel, &'static [ExplorerKind]);

/// The comparisons of the program with this seed.
fn comparisons(seed: u64) -> Vec<Comparison> {
    use ExplorerKind::{ReadsFrom, ReadsValueFrom, View};
    let under_sc: &[_] = if seed.is_multiple_of(2) { &[ReadsFrom, View, ReadsValueFrom] } else { &[ReadsFrom] };
    let mut all = vec![(MemoryModel::Sc, under_sc), (MemoryModel::C11, &[ReadsFrom])];
    match seed % 6 {
        1 => all.push((MemoryModel::Tso, &[ReadsFrom])),
        4 => all.push((MemoryModel::Pso, &[ReadsFrom, View])),
        _ => {}
    }
    all
}

/// The mistakes of the explorers on a program under a model; `None` if brute force takes too long.
fn difference<M: Mix>(program: &Program<M>, (memory, explorers): Comparison, most: u32) -> Option<String> {
    let every = explore(program, memory, ExplorerKind::Exhaustive, most)?;
    if every.has_race && M::RACES_CHANGE_EVENTS {
        let finds = |&explorer: &_| explore(program, memory, explorer, most).is_none_or(|found| found.has_race);
        return Some(if explorers.iter().all(finds) { String::new() } else { format!("{memory}: missed races\n") });
    }
    let mut text =
        every.mistakes.iter().map(|mistake| format!("exhaustive, {memory}: {mistake}\n")).collect::<String>();
    for &explorer in explorers {
        match explore(program, memory, explorer, most) {
            None => text += &format!("{explorer}, {memory}: more runs than interleavings\n"),
            Some(found) => {
                let mistakes = mistakes(&every, &found, explorer);
                text.extend(mistakes.iter().map(|mistake| format!("{explorer}, {memory}: {mistake}\n")));
            }
        }
    }
    Some(text)
}

/// The smallest program found by leaving out operations that still shows a difference.
fn shrunk<M: Mix>(program: Program<M>, comparison: Comparison, most: u32) -> Program<M> {
    let differs = |smaller: &Program<M>| difference(smaller, comparison, most).is_some_and(|text| !text.is_empty());
    let smaller = program.smaller().find(differs);
    smaller.map_or(program, |smaller| shrunk(smaller, comparison, most))
}

/// A number from the environment.
pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// The findings on random programs.
#[derive(Default)]
struct Search {
    asked: u32,
    compared: u32,
    /// The first difference, with the program and what is left of it.
    difference: Option<String>,
}

fn search<M: Mix>(first: u64, programs: u64, most: u32) -> Search {
    let mut search = Search::default();
    let all = (first..first + programs).flat_map(|seed| comparisons(seed).into_iter().map(move |how| (seed, how)));
    for (seed, comparison) in all {
        search.asked += 1;
        let program = Program::<M>::random(seed);
        let Some(text) = difference(&program, comparison, most) else { continue };
        search.compared += 1;
        if !text.is_empty() {
            let text = format!("seed {seed}, {program}{text}");
            let small = shrunk(program, comparison, most);
            let again = difference(&small, comparison, most).unwrap_or_default();
            search.difference = Some(format!("{text}shrunk: {small}{again}"));
            break;
        }
    }
    search
}

/// Compares on random programs of a mix.
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
pub fn compare<M: Mix>(name: &str) {
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 40), number("RSMC_ORACLE_SEED", 0));
    let started = Instant::now();
    let Search { asked, compared, difference } = search::<M>(first, programs, number("RSMC_ORACLE_RUNS", 3_000) as u32);
    if let Some(difference) = difference {
        panic!("{name}, {difference}");
    }
    println!("{name}: {compared} of {asked} comparisons, {:?}", started.elapsed());
    assert!(2 * compared >= asked, "{name}: only {compared} of {asked} comparisons are small enough");
}

/// Operations that depend on each other in a way that no event tells.
struct Hidden;

impl Mix for Hidden {
    type Objects = StdAtomicU32;
    type Given = ();
    type Held<'a> = ();
    const LENGTH: usize = 4;

    fn objects(_: usize) -> StdAtomicU32 {
        StdAtomicU32::new(0)
    }

    fn given(_: &StdAtomicU32, _: usize, _: usize) {}

    fn operations(thread: usize) -> &'static [Operation<Self>] {
        let all: [&[Operation<Self>]; 2] = [
            operations! { |me| (me.x.load(Relaxed), me.all.load(Relaxed)); },
            operations! { |me| (me.y.load(Relaxed), me.all.store(1, Relaxed)); },
        ];
        all[thread.min(1)]
    }
}

#[test]
fn what_no_event_tells_is_noticed() {
    let difference = search::<Hidden>(0, 10, 3_000).difference.expect("a difference");
    assert!(difference.contains("executions of one class show"), "{difference}");
    let (_, shrunk) = difference.split_once("shrunk: ").expect("it was shrunk");
    assert!(shrunk.contains("sc: missed:"), "{shrunk}");
    assert_eq!(shrunk.matches("me.").count(), 4, "two operations are enough: {shrunk}");
}

#[test]
fn what_is_left_out_or_run_twice_is_noticed() {
    let outcome = |class: u64| {
        let mut digest = Digest::EMPTY;
        digest.add(&[class]);
        (digest, (format!("t0: {class}"), 1))
    };
    let shown = |classes: &[u64]| Shown {
        classes: classes.iter().copied().map(outcome).collect(),
        outcomes: classes.iter().map(|&class| outcome(class).1.0).collect(),
        ..Shown::default()
    };
    let (every, mut twice) = (shown(&[0, 1, 2]), shown(&[0, 1, 2]));
    twice.classes.values_mut().for_each(|(_, runs)| *runs = 2);
    let mistakes = |found: &Shown| mistakes(&every, found, ExplorerKind::ReadsFrom);
    assert!(mistakes(&every).is_empty());
    assert_eq!(mistakes(&twice), ["3 classes of 3, 3 run twice"]);
    assert_eq!(mistakes(&shown(&[0, 2])), ["missed:\n    t0: 1", "2 classes of 3, 0 run twice"]);
    assert_eq!(mistakes(&shown(&[0, 1, 2, 3])), ["extra:\n    t0: 3", "4 classes of 3, 0 run twice"]);
}
