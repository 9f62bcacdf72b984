//! Waiting loops: RF-SMC, RVF-SMC and ViewXplore against brute force on random programs in which a thread spins.
//!
//! `RSMC_ORACLE_PROGRAMS` and `RSMC_ORACLE_SEED` choose other and more programs, as in `rf_smc_oracle`.

#[path = "litmus_brute.rs"]
#[allow(dead_code, reason = "each test uses a part of it")]
mod brute;

use std::collections::{BTreeMap, BTreeSet};

use rsmc_core::base::{Digest, mix};
use rsmc_core::litmus::{Interpreter, Outcome, Program, parse};
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Config, ExplorerKind, check_counted};
use rsmc_core::step::{End, Executor, Plan, Run, Tail};
use rsmc_core::trace::{Trace, reads_from_class};

/// A stream of small numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = mix(self.0, 11);
        self.0 % bound
    }
}

/// Loops that wait: for one location, for one of two, for one after looking at another, for what the thread itself
/// wrote to change, with a swap, for a lock that is released again, and twice at the same lines, with and without a hint.
const LOOPS: [&str; 8] = [
    "    a = x\n    while a == 0 {\n        spin\n        a = x\n    }\n",
    "    a = x\n    if a == 0 { b = y }\n    while a + b == 0 {\n        spin\n        a = x\n        if a == 0 { b = y }\n    }\n",
    "    a = y\n    b = x\n    while b == 0 {\n        spin\n        a = y\n        b = x\n    }\n",
    "    x = 1\n    a = 1\n    while a == 1 {\n        a = x\n        if a == 1 { spin }\n    }\n",
    "    a = swap(x, 0)\n    while a == 0 {\n        spin\n        a = swap(x, 0)\n    }\n",
    "    while a == 0 {\n        a = cas(x, 0, 1)\n        if a == 0 { spin }\n    }\n    x = 0\n",
    "    while i < 2 {\n        a = 0\n        while a == 0 {\n            a = x\n            spin\n        }\n        i = i + 1\n    }\n",
    "    while i < 4 {\n        a = 0\n        while a == 0 {\n            a = x\n        }\n        i = i + 1\n    }\n",
];

/// A program with a thread that waits in a loop, perhaps a second one that waits for a lock, and one or two that write.
///
/// In every other program the last thread ends by setting both locations, so that fewer wait for ever. For C11 orderings
/// of loads are drawn, too.
fn program(seed: u64, memory: MemoryModel) -> Program {
    let mut draw = Draw(mix(seed, 5));
    let mut text = String::from("t1:\n");
    if draw.below(3) == 0 {
        text += "    z = 1\n";
    }
    text += LOOPS[draw.below(8) as usize];
    text += "    c = z\n";
    let spinners = 1 + u64::from(draw.below(6) == 0);
    if spinners == 2 {
        text += "t2:\n";
        text += &LOOPS[5].replace("a = ", "e = ").replace("a == ", "e == ");
    }
    let threads = spinners + 1 + if spinners == 1 { draw.below(2) } else { 0 };
    for thread in spinners + 1..=threads {
        text += &format!("t{thread}:\n");
        for at in 0..1 + draw.below(4 - spinners) {
            let loc = ["x", "x", "y", "z"][draw.below(4) as usize];
            text += &match draw.below(4) {
                0 => format!("    d{at} = {loc}\n"),
                1 => format!("    d{at} = add({loc}, 1)\n"),
                _ => format!("    {loc} = {}\n", draw.below(2)),
            };
        }
    }
    if seed.is_multiple_of(2) {
        text += "    x = 1\n    y = 1\n";
    }
    let weaken = if memory == MemoryModel::C11 { weakened_access } else { weakened };
    let text: String = text.lines().map(|line| weaken(line, &mut draw) + "\n").collect();
    parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// A line with the ordering of its store drawn, if it is one.
fn weakened(line: &str, draw: &mut Draw) -> String {
    let start = line.len() - line.trim_start().len();
    let is_store = line[start..].starts_with(['x', 'y', 'z']) && line[start + 1..].starts_with(" = ");
    let order = ["", ".rlx", ".rlx", ".rel"][if is_store { draw.below(4) as usize } else { 0 }];
    let (name, rest) = line.split_at(if is_store { start + 1 } else { 0 });
    format!("{name}{order}{rest}")
}

/// A line with the ordering of its access drawn, if it is a load or a store.
fn weakened_access(line: &str, draw: &mut Draw) -> String {
    let is_load = [" = x", " = y", " = z"].iter().any(|end| line.ends_with(end));
    let order = ["", ".rlx", ".rlx", ".acq"][if is_load { draw.below(4) as usize } else { 0 }];
    weakened(line, draw) + order
}

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
        let judged = plan.tail != Tail::RunOn || (plan.frozen.is_empty() && run.repeated.is_none());
        if run.end == End::Complete && judged {
            self.outcomes.insert(self.interpreter.outcome());
        }
    }

    fn is_broken(&self) -> bool {
        self.left == 0
    }
}

/// Classes, whether a thread is stuck in each, and how often each was run.
type Classes = BTreeMap<Digest, (bool, u32)>;

/// How many runs a program may take. Under C11 brute force has each read take each write in each interleaving.
fn runs(memory: MemoryModel) -> u32 {
    match memory {
        MemoryModel::Sc => 1_000_000,
        MemoryModel::Tso | MemoryModel::Pso => 30_000,
        MemoryModel::C11 => 4_000,
    }
}

/// The classes that a check counts, and the outcomes of what is complete; `None` if that takes too many runs.
fn classes(
    program: &Program,
    memory: MemoryModel,
    explorer: ExplorerKind,
    class: fn(&Trace) -> Digest,
) -> Option<(Classes, BTreeSet<Outcome>)> {
    let interpreter = Interpreter::new(program, Rules::new(memory, 400)).unwrap();
    let mut executor = Patient { interpreter, left: runs(memory), outcomes: BTreeSet::new() };
    let config = Config::default().memory(memory).explorer(explorer).keep_going(true);
    let config = if explorer == ExplorerKind::Random { config.max_executions(300) } else { config };
    let mut classes = Classes::new();
    check_counted(&config, &mut executor, &mut |run: &Run, counted| {
        if run.end == End::Learned {
            classes.clear();
        }
        if counted {
            classes.entry(class(&run.trace)).or_insert((run.end == End::Stuck, 0)).1 += 1;
        }
    });
    (executor.left > 0).then_some((classes, executor.outcomes))
}

/// An explorer shows every class once.
fn agree(program: &Program, memory: MemoryModel, every: &Classes, explorer: ExplorerKind, class: fn(&Trace) -> Digest) {
    let (found, _) = classes(program, memory, explorer, class).expect("fewer classes than interleavings");
    let twice = found.values().filter(|(_, runs)| *runs > 1).count();
    let extra = found.keys().filter(|class| !every.contains_key(class)).count();
    let missed = every.keys().filter(|class| !found.contains_key(class)).count();
    let counts = (twice, missed, extra);
    let of = every.len();
    assert_eq!(counts, (0, 0, 0), "{explorer} under {memory}, of {of} classes: twice, missed, extra in\n{program}");
}

/// RVF-SMC shows every view class, and no reads-from class twice.
fn agree_on_values(program: &Program, every: &Classes, views: &Classes) {
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
    assert_eq!((twice, extra, lost, other), (0, 0, 0, 0), "reads-value-from: twice, extra, lost, other in\n{program}");
}

fn compare(memory: MemoryModel) {
    let (mut livelocks, mut programs) = (0_u64, 0_u64);
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let drawn = number("RSMC_ORACLE_PROGRAMS").unwrap_or(match memory {
        MemoryModel::Sc => 200,
        _ => 40,
    });
    let first = number("RSMC_ORACLE_SEED").unwrap_or(0);
    for seed in first..first + drawn {
        let program = program(seed, memory);
        let Some((every, outcomes)) = classes(&program, memory, ExplorerKind::Exhaustive, reads_from_class) else {
            continue;
        };
        agree(&program, memory, &every, ExplorerKind::ReadsFrom, reads_from_class);
        if memory != MemoryModel::C11 {
            let (views, _) = classes(&program, memory, ExplorerKind::Exhaustive, brute::view_class).expect("as before");
            agree(&program, memory, &views, ExplorerKind::View, brute::view_class);
            if memory == MemoryModel::Sc {
                agree_on_values(&program, &every, &views);
            }
        }
        // Schedules at random refuse no iteration: whatever they show must have been found.
        let (_, random) = classes(&program, memory, ExplorerKind::Random, reads_from_class).expect("few executions");
        let lost: Vec<String> = random.difference(&outcomes).map(Outcome::to_string).collect();
        assert!(lost.is_empty(), "seed {seed} under {memory}: brute force lacks {lost:?} in\n{program}");
        livelocks += u64::from(every.values().any(|(stuck, _)| *stuck));
        programs += 1;
    }
    let some = |part: u64| part * 10 > programs;
    assert!(
        programs * 3 > drawn && some(livelocks) && some(programs - livelocks),
        "{livelocks} of {programs} livelock"
    );
}

#[test]
fn spinning_programs_are_exact() {
    compare(MemoryModel::Sc);
}

#[test]
fn spinning_programs_are_exact_under_tso() {
    compare(MemoryModel::Tso);
}

#[test]
fn spinning_programs_are_exact_under_pso() {
    compare(MemoryModel::Pso);
}

#[test]
fn spinning_programs_are_exact_under_c11() {
    compare(MemoryModel::C11);
}
