//! The comparison of an explorer with brute force on a program in which threads wait: classes, and how often each is
//! run.

use std::collections::{BTreeMap, BTreeSet};

use rsmc_core::base::{Digest, Spill};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Check, Config, ExplorerKind, Seen};
use rsmc_core::step::{End, Executor, Plan, Run, SchedulingPolicy};
use rsmc_core::trace::{Trace, reads_from_class};
use rsmc_testkit::litmus::{Interpreter, Outcome, Program};

use crate::litmus_brute as brute;

/// An interpreter that gives up after so many runs, and notes what complete ones left in the registers.
struct Patient {
    interpreter: Interpreter,
    left: u32,
    outcomes: BTreeSet<Outcome>,
}

impl Executor for Patient {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        self.left -= 1;
        self.interpreter.execute(plan, run);
        let judged = plan.policy != SchedulingPolicy::RunOn || (plan.frozen.is_empty() && run.repeated.is_none());
        if run.end == End::Complete && judged {
            self.outcomes.insert(self.interpreter.outcome());
        }
    }

    fn is_broken(&self) -> bool {
        self.left == 0
    }
}

/// Classes, whether a thread is stuck in each, and how often each was run.
pub type Classes = BTreeMap<Digest, (bool, u32)>;

/// The largest number of runs of a program. Under C11 brute force has each read take each write in each interleaving.
pub fn runs(memory: MemoryModel) -> u32 {
    match memory {
        MemoryModel::Sc => 1_000_000,
        MemoryModel::Tso | MemoryModel::Pso => 30_000,
        MemoryModel::C11 => 4_000,
    }
}

/// The classes that a check counts, and the outcomes of what is complete; `None` if that takes too many runs.
pub fn classes(
    program: &Program,
    memory: MemoryModel,
    explorer: ExplorerKind,
    class: fn(&Trace) -> Digest,
) -> Option<(Classes, BTreeSet<Outcome>)> {
    classes_within(runs(memory), program, memory, Exploration::of(explorer), class)
}

/// An explorer, and how it is run.
#[derive(Clone, Copy, Debug)]
pub struct Exploration {
    pub explorer: ExplorerKind,
    /// The number by which threads are drawn in what it leaves open, if that is not the one that ran last.
    pub stirred: Option<u64>,
    /// The bound of loops that count.
    pub spin_bound: u32,
    /// The explorer has what it knows in files but for this many entries of each map.
    pub in_memory: Option<usize>,
}

impl Exploration {
    pub fn of(explorer: ExplorerKind) -> Self {
        Self { explorer, stirred: None, spin_bound: 32, in_memory: None }
    }
}

/// The ways in which an explorer is compared: who goes on where it leaves that open must not matter, nor what is in
/// files.
pub fn explorations(explorer: ExplorerKind) -> [Exploration; 3] {
    let of = Exploration::of(explorer);
    [of, Exploration { stirred: Some(1), ..of }, Exploration { stirred: Some(2), in_memory: Some(16), ..of }]
}

/// As [`classes`], with another limit of runs. `None` also if threads go on for ever and write: the exploration does
/// not end then.
pub fn classes_within(
    left: u32,
    program: &Program,
    memory: MemoryModel,
    exploration: Exploration,
    class: fn(&Trace) -> Digest,
) -> Option<(Classes, BTreeSet<Outcome>)> {
    let Exploration { explorer, stirred, spin_bound, in_memory } = exploration;
    let interpreter = Interpreter::new(program, Rules { stirred, spin_bound, ..Rules::new(memory, 400) }).unwrap();
    let mut executor = Patient { interpreter, left, outcomes: BTreeSet::new() };
    let config = Config::default().memory(memory).explorer(explorer).keep_going(true).sets(0);
    let mut config = if explorer == ExplorerKind::Random { config.max_executions(300) } else { config };
    config.spill = in_memory.map(|full| Spill { full, ..Spill::to(&std::env::temp_dir(), u64::MAX) });
    let (mut classes, mut endless) = (Classes::new(), false);
    Check::new(&config, &mut executor)
        .watch(|seen| {
            let Seen::Run(run, counted) = seen else {
                classes.clear();
                return;
            };
            endless |= matches!(run.end, End::Endless { .. } | End::StepLimit { .. });
            if counted {
                classes.entry(class(&run.trace)).or_insert((run.end == End::Stuck, 0)).1 += 1;
            }
        })
        .run();
    (executor.left > 0 && !endless && !classes.is_empty()).then_some((classes, executor.outcomes))
}

/// The numbers of classes that an explorer runs twice, misses, and adds.
pub fn differences(
    program: &Program,
    memory: MemoryModel,
    every: &Classes,
    exploration: Exploration,
    class: fn(&Trace) -> Digest,
) -> (usize, usize, usize) {
    // An explorer may need more runs than brute force, of which most only discover something.
    let most = runs(memory).max(30_000);
    let found = classes_within(most, program, memory, exploration, class).map(|(classes, _)| classes);
    let found = found.unwrap_or_else(|| panic!("{exploration:?} under {memory}: more than {most} runs in\n{program}"));
    let twice = found.values().filter(|(_, runs)| *runs > 1).count();
    let missed = every.keys().filter(|class| !found.contains_key(class)).count();
    let extra = found.keys().filter(|class| !every.contains_key(class)).count();
    (twice, missed, extra)
}

/// An explorer shows every class once.
pub fn agree(
    program: &Program,
    memory: MemoryModel,
    every: &Classes,
    explorer: ExplorerKind,
    class: fn(&Trace) -> Digest,
) {
    let of = every.len();
    for exploration in explorations(explorer) {
        let counts = differences(program, memory, every, exploration, class);
        let of_which = format!("{exploration:?} under {memory}, of {of} classes");
        assert_eq!(counts, (0, 0, 0), "{of_which}: twice, missed, extra in\n{program}");
    }
}

/// As [`agree`], for reads-from and locks that are polled. Under C11 a thread may find a lock held in an iteration that
/// is over, and brute force has left that out by then.
pub fn agree_on_polling(program: &Program, memory: MemoryModel, every: &Classes) {
    for exploration in explorations(ExplorerKind::ReadsFrom) {
        let (twice, missed, extra) = differences(program, memory, every, exploration, reads_from_class);
        let counts = (twice, missed, if memory.is_graph() { 0 } else { extra });
        let of_which = format!("{exploration:?} under {memory}, of {} classes", every.len());
        assert_eq!(counts, (0, 0, 0), "{of_which}: twice, missed, extra in\n{program}");
    }
}

/// RVF-SMC shows every view class, and no reads-from class twice. The latter is not asked of loops that end with `c`
/// where there are updates: an iteration that changes nothing may have one.
pub fn agree_on_values(program: &Program, every: &Classes, views: &Classes) {
    let of = |class| {
        let found = classes(program, MemoryModel::Sc, ExplorerKind::ReadsValueFrom, class);
        found.expect("fewer classes than interleavings").0
    };
    let (found, shown) = (of(reads_from_class), of(brute::view_class));
    let twice = found.values().filter(|(_, runs)| *runs > 1).count();
    let extra = found.keys().filter(|class| !every.contains_key(class)).count();
    let lost =
        views.iter().filter(|(class, (stuck, _))| shown.get(class).is_none_or(|(other, _)| other != stuck)).count();
    let other = shown.keys().filter(|class| !views.contains_key(class)).count();
    let text = program.to_string();
    let updates = text.contains("while c == 0") && ["swap(", "cas(", "add("].iter().any(|update| text.contains(update));
    let twice = if updates { 0 } else { twice };
    assert_eq!((twice, extra, lost, other), (0, 0, 0, 0), "reads-value-from: twice, extra, lost, other in\n{program}");
}

/// Every explorer of a memory model agrees with these reads-from classes.
pub fn agree_on_all(program: &Program, memory: MemoryModel, every: &Classes) {
    agree(program, memory, every, ExplorerKind::ReadsFrom, reads_from_class);
    if memory != MemoryModel::C11 {
        let (views, _) = classes(program, memory, ExplorerKind::Exhaustive, brute::view_class).expect("as before");
        agree(program, memory, &views, ExplorerKind::View, brute::view_class);
        if memory == MemoryModel::Sc {
            agree_on_values(program, every, &views);
        }
    }
}
