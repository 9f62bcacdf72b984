//! Data races: every explorer finds those that brute force finds, on random programs with shared cells.
//!
//! Compared are the outcomes, deadlocks and panics of all executions, the pairs of accesses that race in some
//! execution, and which pairs race together with which outcome.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs each mix gets (default 50), `RSMC_ORACLE_SEED` shifts them.

use std::collections::{BTreeMap, BTreeSet};

use rsmc_core::analysis::race::{Access, Position, all_races, find_race};
use rsmc_core::base::Digest;
use rsmc_core::explore::view_xplore::Traversal;
use rsmc_core::explore::{Exhaustive, RfSmc, RvfSmc, ViewXplore};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel::{self, Pso, Sc, Tso};
use rsmc_core::step::{End, Executor, Explorer, Plan, Run};
use rsmc_core::trace::{NoteKind, Site, Trace, outcome_digest, reads_from_class};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, parse, random, shrink};

use crate::oracle;

/// An explorer under test: its name, the models it knows, and a new exploration of a program with this number.
type Candidate = (&'static str, &'static [MemoryModel], fn(MemoryModel, u64) -> Box<dyn Explorer>);

const CANDIDATES: [Candidate; 3] = [
    ("reads-from", &[Sc, Tso, Pso], |memory, _| Box::new(RfSmc::new(memory))),
    ("view", &[Sc, Tso, Pso], |memory, number| {
        let depth_first = number.is_multiple_of(2);
        let traversal = if depth_first { Traversal::DepthFirst } else { Traversal::BreadthFirst };
        Box::new(ViewXplore::new(memory, traversal))
    }),
    ("reads-value-from", &[Sc], |_, _| Box::new(RvfSmc::new())),
];

/// Brute force gives up on longer programs.
const LONGEST: u64 = 400_000;

/// The end of an execution: its outcome, whether it is stuck, and its panics.
type Ending = (Digest, bool, usize);

/// An access of a cell: its thread, how many accesses the thread made before, and its line.
type Place = (u32, usize, u32);

/// The racing pairs of an execution, each in order of the threads.
type Races = BTreeSet<(Place, Place)>;

fn races(trace: &Trace) -> Races {
    let is_cell = |kind| matches!(kind, NoteKind::CellRead(_) | NoteKind::CellWrite(_));
    let place = |access: Access| {
        let nth = match access.position {
            Position::Note(at) => {
                let before = trace.notes[..at].iter();
                before.filter(|note| note.thread == access.thread && is_cell(note.kind)).count()
            }
            Position::Event(at) => usize::MAX - trace.events[at].id.index as usize,
            Position::Made(_) => panic!("the programs make no objects"),
        };
        let Site::Line(line) = access.site else { panic!("every statement has a line") };
        (access.thread.0, nth, line)
    };
    let all = all_races(trace);
    match find_race(trace) {
        Some(race) => assert!(all.contains(&race), "{race:?} is not in {all:?}"),
        None => assert!(all.is_empty(), "{all:?} are not found"),
    }
    let pair = |a: Place, b: Place| if a < b { (a, b) } else { (b, a) };
    all.iter().map(|race| pair(place(race.first), place(race.second))).collect()
}

/// The results of all executions together.
#[derive(Debug, Default, PartialEq)]
struct Found {
    runs: u64,
    endings: BTreeSet<Ending>,
    races: Races,
    /// The races of single executions, with their endings.
    together: BTreeSet<(Ending, Races)>,
    /// By reads-from class.
    by_class: BTreeMap<Digest, Races>,
}

impl Found {
    fn take(&mut self, run: &Run) {
        let ending = (outcome_digest(&run.trace), run.end == End::Stuck, run.panics.len());
        let races = races(&run.trace);
        let class = self.by_class.entry(reads_from_class(&run.trace)).or_insert_with(|| races.clone());
        assert_eq!(*class, races, "happens-before is the same in all executions of a class");
        self.runs += 1;
        self.endings.insert(ending);
        self.races.extend(&races);
        self.together.insert((ending, races));
    }
}

/// The findings of an explorer, once it knows all it needs; `None` if that takes too long.
fn explore(program: &Program, memory: MemoryModel, explorer: &mut dyn Explorer) -> Option<Found> {
    let rules = Rules::new(memory, 1_000);
    let mut executor = Interpreter::new(program, rules).expect("a generated program is well formed");
    let (mut plan, mut run, mut found) = (Plan::default(), Run::default(), Found::default());
    for _ in 0..LONGEST {
        if !explorer.next_plan(&mut plan) {
            return Some(found);
        }
        executor.execute(&plan, &mut run);
        match run.end {
            End::Tried => {}
            ref end => {
                assert!(run.is_maximal(), "{end:?} in\n{program}");
                found.take(&run);
            }
        }
        explorer.observe(&run);
        if explorer.starts_over() {
            found = Found::default();
        }
    }
    None
}

/// In what an explorer differs from brute force, if it does.
fn difference(every: &Found, found: &Found) -> Option<String> {
    let missed: Vec<_> = every.races.difference(&found.races).collect();
    let extra = found.races.difference(&every.races).count();
    let endings = every.endings.symmetric_difference(&found.endings).count();
    let together = every.together.symmetric_difference(&found.together).count();
    (!missed.is_empty() || extra + endings + together > 0).then(|| {
        let of = (every.races.len(), every.endings.len(), every.together.len());
        format!(
            "missed {missed:?} (thread, access, line) of {} races, {extra} extra; of {} endings {endings} differ, \
             of {} endings with their races {together}",
            of.0, of.1, of.2
        )
    })
}

/// The difference for all explorers on a program. `None` also where brute force takes too long.
fn difference_of(program: &Program, memory: MemoryModel, number: u64, sum: &mut Sum) -> Option<String> {
    let every = explore(program, memory, &mut Exhaustive::new())?;
    sum.add(&every);
    CANDIDATES.iter().filter(|(_, models, _)| models.contains(&memory)).find_map(|(name, _, new)| {
        let found = explore(program, memory, &mut *new(memory, number)).expect("fewer classes than interleavings");
        sum.runs += found.runs;
        difference(&every, &found).map(|difference| format!("{name}: {difference}"))
    })
}

/// All programs of a mix together.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    programs: u64,
    racy: u64,
    /// Some executions have a race that others do not have.
    at_times: u64,
    pairs: u64,
    interleavings: u64,
    /// Of the explorers under test.
    runs: u64,
}

impl Sum {
    fn add(&mut self, every: &Found) {
        self.programs += 1;
        self.racy += u64::from(!every.races.is_empty());
        self.at_times += u64::from(every.together.iter().any(|(_, races)| *races != every.races));
        self.pairs += every.races.len() as u64;
        self.interleavings += every.runs;
    }
}

/// The smallest program found by removing statements that still shows a difference.
fn shrunk(program: Program, memory: MemoryModel, number: u64) -> Program {
    let fails = |smaller: &Program| difference_of(smaller, memory, number, &mut Sum::default()).is_some();
    let smaller = shrink(&program).find(fails);
    smaller.map_or(program, |smaller| shrunk(smaller, memory, number))
}

#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
fn compare(name: &str, memory: MemoryModel, size: Size, weights: &Weights) {
    let number =
        |variable: &str, default: u64| std::env::var(variable).map_or(default, |text| text.parse().expect("a number"));
    let (programs, first) = (number("RSMC_ORACLE_PROGRAMS", 50), number("RSMC_ORACLE_SEED", 0));
    let mut sum = Sum::default();
    for seed in first..first + programs {
        let program = random(seed, size, weights);
        if let Some(difference) = difference_of(&program, memory, seed, &mut sum) {
            let small = shrunk(program, memory, seed);
            let again = difference_of(&small, memory, seed, &mut Sum::default()).unwrap_or_default();
            panic!("{name} under {memory}, seed {seed}: {difference}\nshrunk ({again}):\n{small}");
        }
    }
    println!("{name}: {sum:?}");
    assert!(sum.at_times * 8 > sum.programs, "too few programs have a race at times only: {sum:?}");
}

/// Loads and stores of few values, so that other writes store the same, and fences.
const ATOMICS: Weights = Weights { fence: 3, cell: 9, ..Weights::ATOMICS };
/// Read-modify-writes and compare-exchanges: chains of them carry on what was released before.
const UPDATES: Weights = Weights { fence: 1, cell: 9, ..Weights::UPDATES };
/// Locks beside the other accesses: what they guard is no race.
const LOCKS: Weights = Weights { fence: 1, lock: 5, cell: 12, ..Weights::LOCKS };
const EVERYTHING: Weights = Weights { cell: 18, ..Weights::EVERYTHING };

/// Accesses of atomics that are no atomic operations.
const PLAIN: Weights = Weights { cell: 3, plain: 6, ..Weights::EVERYTHING };

// Accesses of cells count as operations, but do not interleave.
const SMALL: Size = Size { operations: 11, ..oracle::SMALL };
const TWO_THREADS: Size = Size { operations: 18, ..oracle::TWO_THREADS };
const THREE_THREADS: Size = Size { locations: 1, operations: 13, ..oracle::THREE_THREADS };
const BUFFERED: Size = Size { operations: 8, ..oracle::BUFFERED };
const BUFFERED_OF_TWO: Size = Size { locations: 2, operations: 11, ..oracle::BUFFERED_OF_TWO };
const BUFFERED_OF_THREE: Size = Size { locations: 2, operations: 11, ..oracle::BUFFERED_OF_THREE };

macro_rules! mixes {
    ($($name:ident: $memory:ident, $size:ident, $weights:ident;)+) => {
        $(#[test]
        fn $name() {
            compare(stringify!($name), $memory, $size, &$weights);
        })+
    };
}

mixes! {
    atomics: Sc, SMALL, ATOMICS;
    atomics_of_two_threads: Sc, TWO_THREADS, ATOMICS;
    atomics_of_three_threads: Sc, THREE_THREADS, ATOMICS;
    updates: Sc, SMALL, UPDATES;
    updates_of_three_threads: Sc, THREE_THREADS, UPDATES;
    locks: Sc, SMALL, LOCKS;
    locks_of_two_threads: Sc, TWO_THREADS, LOCKS;
    everything: Sc, SMALL, EVERYTHING;
    everything_of_three_threads: Sc, THREE_THREADS, EVERYTHING;
    plain: Sc, SMALL, PLAIN;
    plain_of_three_threads: Sc, THREE_THREADS, PLAIN;
    tso_plain: Tso, BUFFERED, PLAIN;
    pso_plain_of_two_threads: Pso, BUFFERED_OF_TWO, PLAIN;
    tso_atomics: Tso, BUFFERED, ATOMICS;
    tso_atomics_of_two_threads: Tso, BUFFERED_OF_TWO, ATOMICS;
    tso_updates_of_three_threads: Tso, BUFFERED_OF_THREE, UPDATES;
    tso_locks_of_three_threads: Tso, BUFFERED_OF_THREE, LOCKS;
    tso_everything_of_three_threads: Tso, BUFFERED_OF_THREE, EVERYTHING;
    pso_atomics: Pso, BUFFERED, ATOMICS;
    pso_atomics_of_two_threads: Pso, BUFFERED_OF_TWO, ATOMICS;
    pso_updates_of_three_threads: Pso, BUFFERED_OF_THREE, UPDATES;
    pso_locks_of_three_threads: Pso, BUFFERED_OF_THREE, LOCKS;
    pso_everything_of_three_threads: Pso, BUFFERED_OF_THREE, EVERYTHING;
}

/// The lines of the accesses that race under a model, by every explorer.
#[track_caller]
fn check(text: &str, memory: MemoryModel, expected: &[(u32, u32)]) {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let every = explore(&program, memory, &mut Exhaustive::new()).expect("it is small");
    let mut lines: Vec<(u32, u32)> = every.races.iter().map(|(a, b)| (a.2.min(b.2), a.2.max(b.2))).collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines, expected, "{program}");
    for number in 0..2 {
        assert_eq!(difference_of(&program, memory, number, &mut Sum::default()), None, "{program}");
    }
}

/// The accesses that each way to synchronise orders.
#[test]
fn known_races() {
    let passed = |store: &str, load: &str| format!("t1: write c\n {store}\nt2: {load}\n if a {{\n read c\n }}\n");
    for (store, load, is_race) in [
        ("x.rel = 1", "a = x.acq", false),
        ("x.rlx = 1", "a = x.acq", true),
        ("x.rel = 1", "a = x.rlx", true),
        ("fence.rel; x.rlx = 1", "a = x.rlx; fence.acq", false),
        ("fence.acq; x.rlx = 1", "a = x.rlx; fence.acq", true),
        ("x.rel = 2; add(x.rlx, 1)", "a = x.acq; a = a == 3", false),
        ("x.rel = 2; x.rlx = 3", "a = x.acq; a = a == 3", true),
        ("a = add(x.rel, 1)", "a = add(x.acq, 0)", false),
        ("lock m; x.rlx = 1; unlock m", "lock m; a = x.rlx; unlock m", false),
        ("x.rlx = 1; unpark t2", "park; a = x.rlx", false),
    ] {
        for memory in [Sc, Tso, Pso] {
            let expected: &[(u32, u32)] = if is_race { &[(1, 5)] } else { &[] };
            check(&passed(store, load), memory, expected);
        }
    }
    let spawned = "main: write c\n spawn t1\n write d\n join t1\n write e\nt1: read c\n read d\n read e\n";
    check(spawned, Sc, &[(3, 7)]);
}

/// Of two writes of one value, only one passes the cell on.
#[test]
fn races_that_values_do_not_show() {
    check("t1: write c; x.rel = 1\nt2: x.rlx = 1\nt3: a = x.acq; if a { read c }\n", Sc, &[(1, 3)]);
    check("t1: write c; fence.rel; x.rlx = 1\nt2: x = 1\nt3: a = x.rlx; fence.acq; if a { read c }\n", Sc, &[(1, 3)]);
    let chain = "t1: write c; x.rel = 1\nt2: x.rlx = 1\nt3: b = add(x.rlx, 1)\nt4: a = x.acq; if a == 2 { read c }\n";
    check(chain, Sc, &[(1, 4)]);
}

/// An explorer with a mistake: it stops after one execution.
struct Mistaken(Exhaustive, u32);

impl Explorer for Mistaken {
    fn next_plan(&mut self, plan: &mut Plan) -> bool {
        self.1 += 1;
        self.1 == 1 && self.0.next_plan(plan)
    }

    fn observe(&mut self, run: &Run) {
        self.0.observe(run);
    }
}

/// Agreement that cannot fail proves nothing.
#[test]
fn the_comparison_notices_a_missed_race() {
    let program = parse("t1: write c; x.rel = 1\nt2: a = x.acq; read c\n").expect("it is a program");
    let every = explore(&program, Sc, &mut Exhaustive::new()).expect("it is small");
    let found = explore(&program, Sc, &mut Mistaken(Exhaustive::new(), 0)).expect("it is small");
    assert_eq!((every.races.len(), found.races.len()), (1, 0));
    let expected = "missed [((1, 0, 1), (2, 0, 2))] (thread, access, line) of 1 races, 0 extra; of 2 endings 1 differ, \
                    of 2 endings with their races 1";
    assert_eq!(difference(&every, &found).as_deref(), Some(expected));
}
