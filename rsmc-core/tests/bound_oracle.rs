//! Preemption bounds against brute force: every class that has an execution with few preemptions is run, none twice.
//!
//! Brute force runs every interleaving and counts the preemptions of each by its rows alone. The fewest of a class is
//! the minimum over its executions. An exploration in which the bound rises runs every class once.
//! `RSMC_ORACLE_PROGRAMS` and `RSMC_ORACLE_SEED` choose programs, as in `rf_smc_oracle`.

use std::cell::Cell;
use std::collections::BTreeMap;

use rsmc_core::base::Digest;
use rsmc_core::machine::Rules;
use rsmc_core::model::MemoryModel;
use rsmc_core::session::{Check, Config, ExplorerKind, PreemptionBound};
use rsmc_core::step::{Choice, End, Executor, Plan, Run, Step, Why};
use rsmc_core::trace::{Effect, Note, NoteKind, reads_from_class};
use rsmc_testkit::litmus::{Interpreter, Program, Size, Weights, parse};

use crate::loops;
use crate::oracle::{self, mixes};
use crate::spinning;

/// The number of preemptions of an execution: of switches from a thread that could go on, and of spurious outcomes.
fn preemptions(run: &Run) -> u32 {
    let events = &run.trace.events;
    let of_events = |choice: &&Choice| !choice.left_out && !matches!(choice.taken, Step::Flush(_));
    let choices: Vec<&Choice> = run.choices.iter().filter(of_events).collect();
    assert_eq!(choices.len(), events.len(), "each event is a choice");
    let is_preemption = |at: usize| {
        let thread = events[at].id.thread;
        let is_its = |step: &Step| step.thread() == thread && !matches!(step, Step::Flush(_));
        let is_draining = || choices[at + 1].possible.iter().any(|step| step.thread() == thread);
        thread != events[at + 1].id.thread
            && (choices[at + 1].possible.iter().any(is_its) || is_draining())
            && could_go_on(run, at)
    };
    let spurious = events.iter().filter(|event| event.op.action.is_spurious());
    ((0..events.len().saturating_sub(1)).filter(|&at| is_preemption(at)).count() + spurious.count()) as u32
}

/// Whether the thread of an event has not ended right after it, and waits for no other thread, by the rows alone.
fn could_go_on(run: &Run, at: usize) -> bool {
    let (trace, events) = (&run.trace, &run.trace.events);
    let thread = events[at].id.thread;
    let next = trace.of_thread(thread).get(events[at].id.index as usize + 1).map(|&next| next as usize);
    let until = next.unwrap_or(events.len());
    let waits = |note: &Note| match note.kind {
        NoteKind::Join(child) => trace.of_thread(child).last().is_some_and(|&last| last as usize > at),
        NoteKind::Hint => true,
        _ => false,
    };
    let mut own = trace.notes.iter().filter(|note| note.thread == thread);
    if own.any(|note| (at + 1..=until).contains(&(note.at as usize)) && waits(note)) {
        return false;
    }
    let waiting = run.waiting.iter().find(|pending| pending.id.thread == thread);
    let pending = waiting.filter(|pending| !matches!(pending.why, Why::Spin { .. }));
    let Some(op) = next.map(|next| events[next].op).or_else(|| pending.and_then(|pending| pending.op)) else {
        return false;
    };
    let now = events[..=at].iter().rev().find(|event| event.op.loc == op.loc && event.written.is_some());
    let value = now.map_or(trace.locs[op.loc].init, |write| write.written.expect("it writes"));
    op.action.with_alternative(0).effect(value) != Effect::Blocked
}

/// The number of runs after which brute force gives up. Under C11 it has each read take each write in each order.
fn longest(memory: MemoryModel) -> u32 {
    if memory.is_graph() { 20_000 } else { 200_000 }
}

/// An interpreter that gives up after so many runs.
struct Patient(Interpreter, u32);

impl Executor for Patient {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        self.1 -= 1;
        self.0.execute(plan, run);
    }

    fn is_broken(&self) -> bool {
        self.1 == 0
    }
}

/// The classes of a check, by `see` of all their executions; `None` if it takes too many runs, or if one goes on for
/// ever.
fn classes<T: Default>(program: &Program, config: &Config, see: impl Fn(&mut T, &Run)) -> Option<BTreeMap<Digest, T>> {
    let rules = Rules::new(config.effective_memory(), 1_000);
    let interpreter = Interpreter::new(program, rules).expect("a generated program is well formed");
    let (mut executor, mut classes) =
        (Patient(interpreter, longest(config.effective_memory())), BTreeMap::<Digest, T>::new());
    let mut is_endless = false;
    Check::new(&config.clone().keep_going(true).shrink(0), &mut executor)
        .observe(|run, counted| {
            if run.end == End::Learned {
                classes.clear();
            }
            is_endless |= matches!(run.end, End::StepLimit { .. } | End::Endless { .. });
            // Brute force does not try which write may be the newest at the end though another happened later.
            if counted && run.newest.is_empty() {
                see(classes.entry(reads_from_class(&run.trace)).or_default(), run);
            }
        })
        .run();
    (executor.1 > 0 && !is_endless).then_some(classes)
}

/// The fewest preemptions of each class.
pub fn fewest(program: &Program, memory: MemoryModel) -> Option<BTreeMap<Digest, u32>> {
    let config = Config::default().memory(memory).explorer(ExplorerKind::Exhaustive);
    let see = |fewest: &mut Option<u32>, run: &Run| {
        let count = preemptions(run);
        *fewest = Some(fewest.map_or(count, |known| known.min(count)));
    };
    let classes = classes(program, &config, see)?;
    Some(classes.into_iter().map(|(class, fewest)| (class, fewest.expect("a class has an execution"))).collect())
}

/// The number of programs of each mix, unless the environment has another one. Each is explored six times.
const PROGRAMS: u64 = 12;

/// The bounds that are compared.
const BOUNDS: [Option<u32>; 5] = [Some(0), Some(1), Some(2), Some(3), None];

/// Figures of a comparison: by bound, the number of classes that are within it, and of those that were run.
type Figures = [Cell<(u64, u64)>; BOUNDS.len()];

/// The difference between explorations under a bound and brute force, if there is one. `off` is added to the bound of
/// the explorer.
fn difference(program: &Program, memory: MemoryModel, off: i32, figures: &Figures) -> Option<String> {
    let fewest = fewest(program, memory)?;
    for (figure, bound) in figures.iter().zip(BOUNDS) {
        let mut config = Config::default().memory(memory);
        let explored = bound.map(|bound| bound.saturating_add_signed(off));
        config.preemption_bound = explored.map(PreemptionBound::AtMost);
        let found = classes(program, &config, |runs: &mut u32, _| *runs += 1)?;
        let within = || fewest.iter().filter(|(_, count)| bound.is_none_or(|bound| **count <= bound));
        let missed = within().filter(|(class, _)| !found.contains_key(class)).count();
        let extra = found.keys().filter(|class| !fewest.contains_key(class)).count();
        let twice = found.values().filter(|runs| **runs > 1).count();
        let (of, all) = (within().count(), fewest.len());
        if missed + extra + twice > 0 {
            let counts = format!("{missed} missed, {extra} extra, {twice} twice, of {of} within, {all} in all");
            return Some(format!("bound {bound:?}: {counts}"));
        }
        let (before, run) = figure.get();
        figure.set((before + of as u64, run + found.len() as u64));
    }
    risen_difference(program, memory, fewest.len())
}

/// The difference of an exploration in which the bound rises: it runs each of so many classes once.
fn risen_difference(program: &Program, memory: MemoryModel, all: usize) -> Option<String> {
    let config = Config::default().memory(memory).rising_preemption_bound();
    let found = classes(program, &config, |runs: &mut u32, _| *runs += 1)?;
    let twice = found.values().filter(|runs| **runs > 1).count();
    (found.len() != all || twice > 0).then(|| format!("rising: {} classes of {all}, {twice} twice", found.len()))
}

/// The comparison on random programs, for [`mixes`].
struct Bounded;

const BOUNDED: Bounded = Bounded;

impl Bounded {
    fn compare(&self, name: &str, memory: MemoryModel, size: Size, weights: &Weights) {
        let figures = Figures::default();
        let difference = |program: &Program, _| difference(program, memory, 0, &figures);
        oracle::compare_some(PROGRAMS, &format!("{name} under {memory}"), size, weights, &difference);
        report(name, memory, &figures);
    }
}

/// Prints how many classes were within each bound, and how many were run.
#[allow(clippy::print_stdout, reason = "how much was compared, for who asks with --nocapture")]
fn report(name: &str, memory: MemoryModel, figures: &Figures) {
    let figures = figures.iter().map(|figure| format!("{}/{}", figure.get().0, figure.get().1));
    println!("{name} under {memory}: {}", figures.collect::<Vec<_>>().join(", "));
}

mixes!(BOUNDED);
mixes!(BOUNDED, C11);

#[test]
fn updates_of_two_threads() {
    BOUNDED.compare("updates_of_two_threads", MemoryModel::Sc, oracle::TWO_THREADS, &Weights::UPDATES);
}

#[test]
fn everything_of_two_threads() {
    BOUNDED.compare("everything_of_two_threads", MemoryModel::Sc, oracle::TWO_THREADS, &Weights::EVERYTHING);
}

/// Random programs in which a thread waits in a loop.
fn compare_waiting(memory: MemoryModel) {
    let (programs, first) = (oracle::number("RSMC_ORACLE_PROGRAMS", PROGRAMS), oracle::number("RSMC_ORACLE_SEED", 0));
    let figures = Figures::default();
    for seed in first..first + programs {
        let program = match seed % 2 {
            0 => spinning::program(seed, memory),
            _ => loops::small(seed, memory),
        };
        let found = difference(&program, memory, 0, &figures);
        assert_eq!(found, None, "seed {seed} under {memory}:\n{program}");
    }
    report("waiting", memory, &figures);
}

#[test]
fn waiting() {
    compare_waiting(MemoryModel::Sc);
}

#[test]
fn tso_waiting() {
    compare_waiting(MemoryModel::Tso);
}

#[test]
fn pso_waiting() {
    compare_waiting(MemoryModel::Pso);
}

#[test]
fn c11_waiting() {
    compare_waiting(MemoryModel::C11);
}

/// Agreement that cannot fail proves nothing: a bound that is too small by one is noticed.
#[test]
fn a_bound_that_is_too_small_is_noticed() {
    let program = parse("t1: x = 1; x = 2\nt2: a = x; b = x\n").unwrap();
    let (memory, figures) = (MemoryModel::Sc, Figures::default());
    assert_eq!(difference(&program, memory, 0, &figures), None);
    let found = difference(&program, memory, -1, &figures);
    assert_eq!(found.as_deref(), Some("bound Some(1): 1 missed, 0 extra, 0 twice, of 4 within, 6 in all"));
}
