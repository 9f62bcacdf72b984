//! Loops: the explorers against all states of a program, on random programs whose threads go round loops.
//!
//! [`States`] keeps no executions and leaves no iterations out; it shares nothing with the rule by which the machine
//! does. Under C11 the axioms say what unrolled loops can do (`c11_axioms::states`). Compared are the outcomes,
//! exactly, and whether threads can wait for ever.
//!
//! `RSMC_ORACLE_PROGRAMS` and `RSMC_ORACLE_SEED` choose other and more programs, as in `rf_smc_oracle`. Under C11 they
//! are a quarter as many: the axioms take five times as long for a program.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Check, Config, ExplorerKind, Seen};
use rsmc_core::step::{End, Executor, Plan, Run, Why};
use rsmc_testkit::litmus::{Interpreter, Outcome, Program, States, parse, shrink};

use crate::c11_axioms;
use crate::loops;
use crate::spinning;

/// How many rounds a loop is unrolled under C11.
const ROUNDS: usize = 5;
/// The most states that a program may have here.
const STATES: usize = 20_000;
/// The most runs that an explorer may take.
const RUNS: u32 = 4_000;

/// An interpreter that gives up after so many runs, and says what the last run left in the registers.
struct Patient {
    interpreter: Interpreter,
    left: u32,
    outcome: Rc<RefCell<Outcome>>,
}

impl Executor for Patient {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        self.left -= 1;
        self.interpreter.execute(plan, run);
        *self.outcome.borrow_mut() = self.interpreter.outcome();
    }

    fn is_broken(&self) -> bool {
        self.left == 0
    }
}

/// Programs, and the terms on which they are compared.
#[derive(Clone, Copy)]
struct Family {
    program: fn(u64, MemoryModel) -> Program,
    rules: Rules,
    /// A register that counts looks: how often a loop looks that gives up is not explored beyond the bound.
    counter: Option<&'static str>,
    /// Whether loops change something in rounds that are counted: it is not explored what comes in the last rounds.
    counts_rounds: bool,
    /// Whether locks are polled: no program panics, and each has more executions.
    polls: bool,
    /// Whether loops take back what they change: each program has more executions, and few panic.
    takes_back: bool,
    /// Whether threads share plain memory, without races and, under C11, by `SeqCst` alone: then C11 is SC. A smaller
    /// variant might race.
    plain: bool,
}

impl Family {
    /// Loops of every kind, at most three looks each if they count.
    fn loops(memory: MemoryModel) -> Self {
        let rules = Rules::new(memory, 400);
        Self {
            program: loops::program,
            rules,
            counter: None,
            counts_rounds: false,
            polls: false,
            takes_back: false,
            plain: false,
        }
    }

    /// Loops that look more often than the bound.
    fn counting(memory: MemoryModel) -> Self {
        let rules = Rules { spin_bound: 2, ..Rules::new(memory, 400) };
        Self { program: loops::counting, rules, counter: Some("i"), ..Self::loops(memory) }
    }

    /// Loops that change something and take it back, in every round.
    fn taking_back(memory: MemoryModel) -> Self {
        Self { program: loops::taking_back, takes_back: true, ..Self::loops(memory) }
    }

    /// Loops that take back what they change, and go more rounds than the bound.
    fn counting_back(memory: MemoryModel) -> Self {
        Self { program: loops::counting_back, takes_back: true, counts_rounds: true, ..Self::counting(memory) }
    }

    /// Looks at plain memory under a lock.
    fn guarded(memory: MemoryModel) -> Self {
        Self { program: loops::guarded, takes_back: true, plain: true, ..Self::loops(memory) }
    }

    /// Locks that are polled while others try to take them.
    fn polling(memory: MemoryModel) -> Self {
        Self { program: spinning::polling, polls: true, ..Self::loops(memory) }
    }

    /// Small programs for C11.
    fn unrolled() -> Self {
        Self { program: loops::small, ..Self::loops(MemoryModel::C11) }
    }

    /// The part of an outcome that is compared.
    fn visible(self, mut outcome: Outcome) -> Outcome {
        outcome.registers.retain(|name, _| self.counter != Some(register(name)));
        outcome
    }

    /// The outcomes of which an explorer may lose none: only the end of the rounds if there were too many.
    fn required(self, outcomes: &BTreeSet<Outcome>) -> BTreeSet<Outcome> {
        let mut required = outcomes.clone();
        if self.counts_rounds {
            let ends = |outcome: &Outcome| {
                outcome.registers.iter().any(|(name, &value)| value > 0 && "as".contains(register(name)))
            };
            let only = |mut outcome: Outcome| {
                let gives_up = !ends(&outcome);
                outcome.registers.retain(|name, _| !gives_up && !"bcdgl".contains(register(name)));
                outcome
            };
            required = required.into_iter().map(only).collect();
        }
        required
    }

    fn states(self, program: &Program) -> Option<States> {
        let mut states = match self.rules.memory {
            MemoryModel::C11 if self.plain => States::of(program, MemoryModel::Sc, STATES).unwrap()?,
            MemoryModel::C11 => c11_axioms::states(program, ROUNDS)?,
            memory => States::of(program, memory, STATES).unwrap()?,
        };
        states.outcomes = states.outcomes.into_iter().map(|outcome| self.visible(outcome)).collect();
        Some(states)
    }
}

/// The findings of an explorer.
#[derive(Default)]
struct Found {
    outcomes: BTreeSet<Outcome>,
    livelock: bool,
    /// Some execution was cut off.
    endless: bool,
    /// It goes on for ever, and something is written again and again.
    busy: bool,
    waits: bool,
    /// The message of the explorer's panic.
    panic: String,
}

/// The findings of an explorer, if only that it panics; `None` if that takes too many runs.
fn explore(program: &Program, family: Family, explorer: ExplorerKind) -> Option<Found> {
    catch_unwind(AssertUnwindSafe(|| explore_all(program, family, explorer))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Some(Found { panic: text.unwrap_or("a panic without a text").to_owned(), ..Found::default() })
    })
}

fn explore_all(program: &Program, family: Family, explorer: ExplorerKind) -> Option<Found> {
    let rules = family.rules;
    let outcome = Rc::new(RefCell::new(Outcome::default()));
    let interpreter = Interpreter::new(program, rules).unwrap();
    let mut executor = Patient { interpreter, left: RUNS, outcome: Rc::clone(&outcome) };
    let config = Config::default().memory(rules.memory).explorer(explorer).keep_going(true).sets(0).shrink(0);
    let mut found = Found::default();
    Check::new(&config, &mut executor)
        .watch(|seen| {
            let Seen::Run(run, counted) = seen else {
                found = Found::default();
                return;
            };
            found.endless |= matches!(run.end, End::StepLimit { .. } | End::Endless { .. });
            found.livelock |= matches!(run.end, End::Endless { .. });
            found.busy |= matches!(run.end, End::Endless { .. });
            if !counted {
                return;
            }
            found.waits |= run.has_waits();
            match run.end {
                End::Stuck if run.waiting.iter().any(|thread| matches!(thread.why, Why::Spin { .. })) => {
                    found.livelock = true;
                }
                _ => drop(found.outcomes.insert(family.visible(outcome.borrow().clone()))),
            }
        })
        .run();
    (executor.left > 0).then_some(found)
}

/// The name of a register without that of its thread.
fn register(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The differences between an explorer's findings and the states that there are, each with its kind and details.
fn difference(found: &Found, states: &States, family: Family) -> Vec<(&'static str, String)> {
    let list = |a: &BTreeSet<Outcome>, b| a.difference(b).map(Outcome::to_string).collect::<Vec<_>>().join(" | ");
    let ended = !found.endless;
    if !found.panic.is_empty() {
        return vec![("panics", found.panic.clone())];
    }
    let [all, required] = [&found.outcomes, &states.outcomes].map(|outcomes| family.required(outcomes));
    let lost = if ended { list(&required, &all) } else { String::new() };
    let may_not_end = ended || states.writes || states.turns || found.busy;
    let mut all = vec![
        ("invents outcomes", list(&found.outcomes, &states.outcomes)),
        ("loses outcomes", lost),
        (
            "does not end",
            if may_not_end { "" } else { "no execution writes for ever, or keeps others from locks" }.to_owned(),
        ),
    ];
    if found.busy && !states.livelock() {
        all.push(("goes on for ever", "every fair execution ends".to_owned()));
    }
    let is_known = ended && !states.busy && found.livelock != states.waits;
    let what = if states.looks { "with looks only" } else { "with locks that turn" };
    all.push(("misses a livelock", if is_known && states.waits { what } else { "" }.to_owned()));
    all.push((
        "invents a livelock",
        if is_known && found.livelock { "every fair execution ends" } else { "" }.to_owned(),
    ));
    all.retain(|(_, details)| !details.is_empty());
    all
}

/// The number of programs of each kind.
#[derive(Debug, Default)]
struct Tally {
    programs: u64,
    given_up: u64,
    unfinished: u64,
    waits: u64,
    livelocks: u64,
    busy: u64,
    /// The number of busy ones of which reads-from says that they go on for ever.
    named: u64,
    panics: u64,
    deadlocks: u64,
    fine: u64,
    /// The number of programs of which some execution ends.
    ends: u64,
    compared: u64,
}

impl Tally {
    fn add(&mut self, states: &States) {
        let panics = states.outcomes.iter().any(|outcome| outcome.panicked);
        let deadlocks = states.outcomes.iter().any(|outcome| outcome.stuck);
        self.programs += 1;
        self.livelocks += u64::from(states.waits);
        self.busy += u64::from(states.busy);
        self.panics += u64::from(panics);
        self.deadlocks += u64::from(deadlocks);
        self.ends += u64::from(!states.outcomes.is_empty());
        self.fine += u64::from(!panics && !deadlocks && !states.livelock());
    }
}

fn explorers(memory: MemoryModel) -> &'static [ExplorerKind] {
    use ExplorerKind::{Exhaustive, ReadsFrom, ReadsValueFrom, View};
    match memory {
        MemoryModel::Sc => &[ReadsFrom, View, ReadsValueFrom, Exhaustive],
        MemoryModel::Tso | MemoryModel::Pso => &[ReadsFrom, View, Exhaustive],
        MemoryModel::C11 => &[ReadsFrom, Exhaustive],
    }
}

/// Whether an explorer takes executions for one class that differ in who wrote a value.
fn by_value(explorer: ExplorerKind) -> bool {
    matches!(explorer, ExplorerKind::View | ExplorerKind::ReadsValueFrom)
}

/// An explorer and the way in which it is wrong, with details.
type Difference = (ExplorerKind, &'static str, String);

/// Compares every explorer on one program.
fn differences(program: &Program, family: Family, tally: &mut Tally) -> Vec<Difference> {
    let Some(states) = family.states(program) else {
        tally.given_up += 1;
        return Vec::new();
    };
    tally.add(&states);
    let mut waits = false;
    let mut all = Vec::new();
    let text = program.to_string();
    // Who had a lock of the program's own last is no value, so what that thread did under it must be in tracked cells.
    let by_source = family.plain && !text.contains("lock m") && !text.contains("read ");
    let is_compared = |explorer: &&ExplorerKind| !by_source || !by_value(**explorer);
    for &explorer in explorers(family.rules.memory).iter().filter(is_compared) {
        // Brute force tries for how long two threads keep each other from a lock.
        let is_brute = explorer == ExplorerKind::Exhaustive;
        let Some(found) = explore(program, family, explorer).filter(|found| !is_brute || !found.endless) else {
            tally.unfinished += u64::from(!is_brute);
            continue;
        };
        tally.compared += 1;
        waits |= found.waits;
        tally.named += u64::from(explorer == ExplorerKind::ReadsFrom && states.busy && found.livelock);
        all.extend(difference(&found, &states, family).into_iter().map(|(how, details)| (explorer, how, details)));
    }
    tally.waits += u64::from(waits);
    all
}

/// The smallest variant of a program with which one of the explorers is wrong in the same way.
fn smallest(program: &Program, family: Family, explorer: ExplorerKind, how: &str) -> (Program, String) {
    if family.plain {
        return (program.clone(), "it is not made smaller".to_owned());
    }
    let fails = |program: &Program| {
        let states = family.states(program)?;
        let found = explore(program, family, explorer)?;
        difference(&found, &states, family).into_iter().find(|(other, _)| *other == how).map(|(_, details)| details)
    };
    let mut smallest = (program.clone(), String::new());
    while let Some(smaller) = shrink(&smallest.0).find_map(|smaller| fails(&smaller).map(|details| (smaller, details)))
    {
        smallest = smaller;
    }
    smallest
}

/// The text about differences, with the smallest program for each explorer and way.
fn report(seed: u64, program: &Program, family: Family, differences: &[Difference]) -> String {
    let mut text = format!("seed {seed} under {}:\n", family.rules.memory);
    for (explorer, how, details) in differences {
        let (program, smaller) = smallest(program, family, *explorer, how);
        text += &format!("{explorer} {how}: {details}; in the smallest: {smaller}\n{program}\n");
    }
    text
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn compare(family: Family) {
    let memory = family.rules.memory;
    let programs = number("RSMC_ORACLE_PROGRAMS").unwrap_or(if family.polls { 60 } else { 36 });
    let is_slow = family.polls || memory == MemoryModel::C11;
    let drawn = programs.div_ceil(if family.takes_back { 6 } else { 1 + 3 * u64::from(is_slow) });
    // `view` has very many cuts where there are rounds.
    let most = if family.plain || family.counts_rounds { 40 } else { 20 };
    let drawn = if family.takes_back { drawn.min(most) } else { drawn };
    // Seed 4 of those that take back has more executions than an explorer may run, which takes half a minute.
    let first = number("RSMC_ORACLE_SEED").unwrap_or(if family.takes_back { 5 } else { 0 });
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for seed in first..first + drawn {
        let program = (family.program)(seed, memory);
        let differences = differences(&program, family, &mut tally);
        if !differences.is_empty() {
            wrong.push(report(seed, &program, family, &differences));
        }
    }
    assert!(wrong.is_empty(), "{}{memory}: {} differ of {tally:?}", wrong.concat(), wrong.len());
    // Few of the loops that count wait for ever.
    let some = |part: u64| part * if family.counter.is_some() { 40 } else { 20 } > drawn;
    let for_ever = match family {
        Family { counts_rounds: true, .. } => tally.waits,
        Family { takes_back: true, .. } => tally.busy,
        _ => tally.livelocks,
    };
    // Where threads take turns at a lock of their own, another one may be kept out for ever by a fair scheduler.
    let fine = if family.plain { tally.ends } else { tally.fine };
    let are_many = [tally.waits, for_ever, fine].map(some);
    assert_eq!(are_many, [true; 3], "too few programs of some kind: {tally:?}");
    let asks_for_panics = !family.polls && !family.takes_back;
    assert!(!asks_for_panics || some(tally.panics + tally.deadlocks), "too few programs panic: {tally:?}");
    // An explorer may go round a loop once more in each run, and reach the limit of steps so. Under C11 it is not known
    // which executions go on for ever, and explorers do not look for those in which a thread is kept from a lock.
    let are_known = memory != MemoryModel::C11 && !family.plain;
    assert!(
        !are_known || tally.named * 4 >= tally.busy * 3,
        "executions that go on for ever reach the limit: {tally:?}"
    );
    // The axioms take long to try all executions of a thread that polls five times, and explorers those of rounds.
    let (part, of) = match memory {
        MemoryModel::C11 if family.polls => (3, 4),
        _ if family.takes_back => (1, 3),
        _ => (1, 10),
    };
    assert!((tally.given_up + tally.unfinished) * of < drawn * part, "too few programs are compared: {tally:?}");
}

/// With each of these an explorer was wrong once: an iteration that is seen by a read which is decided later, a main
/// thread that reads nothing but zeros, and iterations in which a lock is held when another thread tries to take it.
#[test]
fn programs_that_were_wrong_are_right() {
    let seen_later = "init x = 0, y = 0\nt1:\n while a == 0 {\n c = maybe\n a = y\n }\nt2:\n while a == 0 {\n lock m\n a = x\n \
        unlock m\n }\nt3:\n g = trylock m\n if g {\n unlock m\n }\n lock m\n unlock m\n x = 1\n y = 1\n";
    let zeros = "init x = 0\nmain:\n spawn t2\n while a + c == 0 {\n a = x\n c = choose 2\n }\n join t2\nt2:\n x = 1\n";
    let locked = "t1:\n while a == 0 {\n lock m\n unlock m\n }\nt2:\n g0 = trylock m\n g1 = trylock m\n";
    let locked_and_read = "init y = 0\nt1:\n while a == 0 {\n lock m\n b = y\n unlock m\n }\nt2:\n g0 = trylock m\n g1 = trylock m\nt3:\n y = 1\n";
    let until_it_changes =
        "init z = 0\nt1:\n while a == 0 {\n lock m\n b = z\n unlock m\n }\nt2:\n z = 1\n z = 0\nt3:\n g1 = trylock m\n";
    let seen_and_for_ever = "init x = 0\nt1:\n while a == 0 {\n lock m\n a = x\n unlock m\n }\nt2:\n a = add(x, 1)\n x = 0\nt3:\n \
        g0 = trylock m\n";
    let seen_and_locked_out = "init x = 0\nt1:\n while a == 0 {\n lock m\n a = x\n unlock m\n }\nt2:\n x = 2\nt3:\n \
        g0 = trylock m\n g1 = trylock m\n";
    for text in [seen_later, zeros, locked, locked_and_read, until_it_changes, seen_and_for_ever, seen_and_locked_out] {
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            let (program, family) = (parse(text).unwrap(), Family::loops(memory));
            let wrong = differences(&program, family, &mut Tally::default());
            assert!(wrong.is_empty(), "{}", report(0, &program, family, &wrong));
        }
    }
}

#[test]
fn loops_end_as_all_states_say() {
    compare(Family::loops(MemoryModel::Sc));
}

#[test]
fn loops_end_as_all_states_say_under_tso() {
    compare(Family::loops(MemoryModel::Tso));
}

#[test]
fn loops_end_as_all_states_say_under_pso() {
    compare(Family::loops(MemoryModel::Pso));
}

#[test]
fn loops_end_as_the_axioms_say_under_c11() {
    compare(Family::unrolled());
}

#[test]
fn polled_locks_end_as_all_states_say() {
    compare(Family::polling(MemoryModel::Sc));
}

#[test]
fn polled_locks_end_as_all_states_say_under_tso() {
    compare(Family::polling(MemoryModel::Tso));
}

#[test]
fn polled_locks_end_as_the_axioms_say_under_c11() {
    compare(Family::polling(MemoryModel::C11));
}

#[test]
fn loops_that_count_give_up() {
    compare(Family::counting(MemoryModel::Sc));
}

#[test]
fn loops_that_count_give_up_under_tso() {
    compare(Family::counting(MemoryModel::Tso));
}

#[test]
fn loops_that_count_give_up_under_pso() {
    compare(Family::counting(MemoryModel::Pso));
}

#[test]
fn loops_that_take_back_end() {
    compare(Family::taking_back(MemoryModel::Sc));
}

#[test]
fn loops_that_take_back_end_under_tso() {
    compare(Family::taking_back(MemoryModel::Tso));
}

#[test]
fn loops_that_take_back_end_under_pso() {
    compare(Family::taking_back(MemoryModel::Pso));
}

#[test]
fn rounds_that_are_counted_give_up() {
    compare(Family::counting_back(MemoryModel::Sc));
}

#[test]
fn rounds_that_are_counted_give_up_under_tso() {
    compare(Family::counting_back(MemoryModel::Tso));
}

#[test]
fn rounds_that_are_counted_give_up_under_pso() {
    compare(Family::counting_back(MemoryModel::Pso));
}

#[test]
fn loops_that_look_under_a_lock_end() {
    compare(Family::guarded(MemoryModel::Sc));
}

#[test]
fn loops_that_look_under_a_lock_end_under_tso() {
    compare(Family::guarded(MemoryModel::Tso));
}

#[test]
fn loops_that_look_under_a_lock_end_under_pso() {
    compare(Family::guarded(MemoryModel::Pso));
}

#[test]
fn loops_that_look_under_a_lock_end_under_c11() {
    compare(Family::guarded(MemoryModel::C11));
}

/// Loops that count have a bound of one iteration, and what they count is compared: outcomes get lost, and the
/// comparison says so.
#[test]
fn a_wrong_rule_is_noticed() {
    let mut family = Family::loops(MemoryModel::Sc);
    family.rules.spin_bound = 1;
    let mut tally = Tally::default();
    let mut is_noticed =
        |&seed: &u64| !differences(&loops::program(seed, MemoryModel::Sc), family, &mut tally).is_empty();
    let noticed = (0..200).filter(&mut is_noticed).take(4).count();
    assert!(noticed == 4, "{noticed} of {tally:?}");
}
