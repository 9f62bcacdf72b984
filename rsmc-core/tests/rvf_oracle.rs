//! RVF-SMC against brute force: every outcome, deadlock, panic and view class is a leaf, and no more leaves than there
//! are reads-from classes.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs each mix gets (default 100), `RSMC_ORACLE_SEED` shifts them.

#[path = "litmus_brute.rs"]
#[allow(dead_code, reason = "each test uses a part of it")]
mod brute;
#[allow(dead_code, unused_imports, unused_macros, reason = "only the sizes of the mixes are used")]
mod oracle;

use std::collections::BTreeSet;

use rsmc_core::base::Digest;
use rsmc_core::explore::rvf_smc::{Effort, Options};
use rsmc_core::explore::{Exhaustive, RvfSmc};
use rsmc_core::litmus::{Interpreter, Program, Size, Weights, parse, random, shrink};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Executor, Explorer, Plan, Run};
use rsmc_core::trace::{outcome_digest, reads_from_class};

/// Brute force gives up on longer programs.
const LONGEST: u64 = 400_000;

/// What one execution shows.
#[derive(Clone, Copy, Debug)]
struct Shown {
    /// The outcome, whether the execution is stuck, and how many panics there are.
    end: (Digest, bool, usize),
    view: Digest,
    reads_from: Digest,
}

impl Shown {
    fn of(run: &Run) -> Self {
        let end = (outcome_digest(&run.trace), run.end == End::Stuck, run.panics.len());
        Self { end, view: brute::view_class(&run.trace), reads_from: reads_from_class(&run.trace) }
    }
}

/// What all executions show together.
#[derive(Debug, Default)]
struct All {
    ends: BTreeSet<(Digest, bool, usize)>,
    views: BTreeSet<Digest>,
    reads_from: BTreeSet<Digest>,
}

impl All {
    fn take(&mut self, shown: &Shown) {
        self.ends.insert(shown.end);
        self.views.insert(shown.view);
        self.reads_from.insert(shown.reads_from);
    }
}

/// Runs what an explorer plans; false if that takes too long.
fn explore<E: Explorer>(program: &Program, explorer: &mut E, mut each: impl FnMut(&E, Option<&Run>)) -> bool {
    let rules = Rules { max_steps: 1_000, ..brute::rules(MemoryModel::Sc) };
    let mut executor = Interpreter::new(program, rules).expect("a program of a test is well formed");
    let (mut plan, mut run) = (Plan::default(), Run::default());
    for _ in 0..LONGEST {
        let goes_on = explorer.next_plan(&mut plan);
        each(explorer, None);
        if !goes_on {
            return true;
        }
        executor.execute(&plan, &mut run);
        assert!(run.is_maximal(), "{:?} in\n{program}", run.end);
        each(explorer, Some(&run));
        explorer.observe(&run);
    }
    false
}

fn brute_force(program: &Program) -> Option<All> {
    let mut all = All::default();
    let each = |_: &Exhaustive, run: Option<&Run>| run.into_iter().for_each(|run| all.take(&Shown::of(run)));
    explore(program, &mut Exhaustive::new(), each).then_some(all)
}

/// The leaves of RVF-SMC.
fn rvf_smc(program: &Program, options: Options) -> (Vec<Shown>, Effort) {
    let mut explorer = RvfSmc::with_options(options);
    let (mut runs, mut leaves) = (Vec::new(), Vec::new());
    let ended = explore(program, &mut explorer, |explorer, run| match run {
        Some(run) => runs.push(Shown::of(run)),
        None => leaves.extend(explorer.leaves().iter().map(|&leaf| runs[leaf as usize])),
    });
    assert!(ended, "fewer runs than interleavings");
    assert_eq!(runs.len() as u64, explorer.effort().runs);
    (leaves, explorer.effort())
}

/// What is wrong with the leaves, if anything is.
fn difference(every: &All, leaves: &[Shown]) -> Option<String> {
    let mut found = All::default();
    leaves.iter().for_each(|leaf| found.take(leaf));
    let ends = every.ends.symmetric_difference(&found.ends).count();
    let classes = every.views.symmetric_difference(&found.views).count();
    let extra = found.reads_from.difference(&every.reads_from).count();
    let twice = leaves.len() - found.reads_from.len();
    (ends + classes + extra + twice > 0).then(|| {
        let (all, views) = (every.ends.len(), every.views.len());
        format!("{ends} of {all} ends and {classes} of {views} view classes differ, {twice} leaves are double")
    })
}

/// The same for a program. `None` also where brute force takes too long.
fn difference_of(program: &Program, options: Options, sum: &mut Sum) -> Option<String> {
    let every = brute_force(program)?;
    let (leaves, effort) = rvf_smc(program, options);
    assert_eq!(leaves.len() as u64, effort.leaves);
    sum.add(&every, effort);
    difference(&every, &leaves)
}

/// All programs of a mix together.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    programs: u64,
    views: u64,
    reads_from: u64,
    effort: Effort,
}

impl Sum {
    fn add(&mut self, every: &All, effort: Effort) {
        self.programs += 1;
        self.views += every.views.len() as u64;
        self.reads_from += every.reads_from.len() as u64;
        self.effort.nodes += effort.nodes;
        self.effort.leaves += effort.leaves;
        self.effort.runs += effort.runs;
        self.effort.questions += effort.questions;
        self.effort.refused += effort.refused;
    }
}

/// The smallest program found by removing statements that still shows a difference.
fn shrunk(program: Program, options: Options) -> Program {
    let fails = |smaller: &Program| difference_of(smaller, options, &mut Sum::default()).is_some();
    let smaller = shrink(&program).find(fails);
    smaller.map_or(program, |smaller| shrunk(smaller, options))
}

#[allow(clippy::print_stdout, reason = "how much was explored, for who asks with --nocapture")]
fn compare(name: &str, size: Size, weights: &Weights) {
    let number =
        |variable: &str, default: u64| std::env::var(variable).map_or(default, |text| text.parse().expect("a number"));
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 100), number("RSMC_ORACLE_SEED", 0));
    let mut sum = Sum::default();
    for seed in first..first + programs {
        let program = random(seed, size, weights);
        let options = variant(seed);
        if let Some(difference) = difference_of(&program, options, &mut sum) {
            let small = shrunk(program, options);
            let again = difference_of(&small, options, &mut Sum::default()).unwrap_or_default();
            panic!("{name}, seed {seed}, {options:?}: {difference}\nshrunk ({again}):\n{small}");
        }
    }
    println!("{name}: {sum:?}");
    // There are more runs than leaves, but not many more.
    assert!(sum.effort.runs <= 2 * sum.effort.leaves, "{name}: {sum:?}");
}

/// Most programs with everything on; each switch must not change what is found.
fn variant(seed: u64) -> Options {
    let all = Options::default();
    match seed % 8 {
        5 => Options { backtrack_signals: false, ..all },
        6 => Options { closure: false, ..all },
        7 => Options { guidance: false, ..all },
        _ => all,
    }
}

macro_rules! mixes {
    ($($name:ident: $size:ident, $weights:ident;)+) => {
        $(#[test]
        fn $name() {
            compare(stringify!($name), oracle::$size, &Weights::$weights);
        })+
    };
}

mixes! {
    atomics: SMALL, ATOMICS;
    atomics_of_two_threads: TWO_THREADS, ATOMICS;
    updates: SMALL, UPDATES;
    updates_of_three_threads: THREE_THREADS, UPDATES;
    locks: SMALL, LOCKS;
    locks_of_two_threads: TWO_THREADS, LOCKS;
    everything: SMALL, EVERYTHING;
    everything_of_three_threads: THREE_THREADS, EVERYTHING;
}

/// The leaves and runs of a program that is correct.
fn counts(text: &str) -> (u64, u64) {
    let program = parse(text).expect("it is a program");
    let effort = rvf_smc(&program, Options::default()).1;
    (effort.leaves, effort.runs)
}

fn readinc(n: usize) -> String {
    (1..=n).map(|i| format!("t{i}: a{i} = x; x = a{i} + 1\n")).collect()
}

fn msv(n: usize) -> String {
    format!("t1: {}\nt2: {}\n", "x = 0; ".repeat(n), "a = x; ".repeat(n))
}

fn redundant_co(n: usize) -> String {
    format!("t1: {}\nt2: {}\nt3: a = x; b = x\n", "x = 1; ".repeat(n), "x = 2; ".repeat(n))
}

fn singleton(n: usize) -> String {
    let threads: String = (0..n).map(|i| format!("t{i}: x = {}\n", 1 + u32::from(i == 1))).collect();
    let (spawns, joins): (String, String) = (0..n).map(|i| (format!("spawn t{i}; "), format!("join t{i}; "))).unzip();
    format!("main: {spawns}{joins}a = x\n{threads}")
}

/// The leaves that the authors' implementation explores, and our runs.
#[test]
fn as_many_leaves_as_the_authors_count() {
    assert_eq!([2, 3, 4, 5].map(|n| counts(&readinc(n))), [(3, 3), (14, 15), (91, 101), (772, 875)]);
    for n in 1..=6 {
        assert_eq!(counts(&msv(n)), (1, 1));
        assert_eq!(counts(&redundant_co(n)), (7, 7));
        assert_eq!(counts(&singleton(n + 1)), (2, 2));
    }
}

/// The switches change how leaves are found, not how many there are.
#[test]
fn every_switch_leaves_the_number_of_leaves() {
    let program = parse(&readinc(4)).expect("it is a program");
    for seed in 5..8 {
        assert_eq!(rvf_smc(&program, variant(seed)).1.leaves, 91, "{:?}", variant(seed));
    }
}

/// Agreement that cannot fail proves nothing.
#[test]
fn the_comparison_notices_a_forgotten_and_a_repeated_leaf() {
    let program = parse("t1: x = 1; a = y\nt2: y = 1; b = x\n").expect("it is a program");
    let every = brute_force(&program).expect("it is small");
    let (mut leaves, _) = rvf_smc(&program, Options::default());
    assert_eq!(difference(&every, &leaves), None);
    leaves.push(leaves[0]);
    let twice = "0 of 3 ends and 0 of 3 view classes differ, 1 leaves are double";
    assert_eq!(difference(&every, &leaves).as_deref(), Some(twice));
    leaves.truncate(2);
    let missed = "1 of 3 ends and 1 of 3 view classes differ, 0 leaves are double";
    assert_eq!(difference(&every, &leaves).as_deref(), Some(missed));
}
