//! Verdicts about progress against brute force, on structures drawn at random.
//!
//! A structure has two atomics; an operation is a few statements: loads, stores, additions, compare-exchanges that are
//! tried once or until they succeed, loops that wait, and stores that help others. Each is also a list of steps in a
//! small interpreter. It builds the graph of all states of a scenario, under SC, and for each set of threads the graph
//! without their steps. There, others can go on for ever though all get their turns, if and only if some strongly
//! connected part has, for each of them that has not ended, a step that stays in it. In all states of such a part the
//! suspended threads are at one point each. Nothing here knows of loops that wait, of events, or of classes.

use std::collections::HashMap;

use rsmc_core::session::{Config, ExplorerKind, MemoryModel};
use rsmc_shim::hint;
use rsmc_shim::sync::atomic::AtomicU8;
use rsmc_shim::sync::atomic::Ordering::SeqCst;

use crate::spec::Spec;
use crate::spec::enumerate::{Size, words};
use crate::spec::explore::{Ended, Tour};
use crate::spec::scenario::Scenario;

/// A statement of an operation. The first numbers are those of atomics.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Load(usize),
    Store(usize, u8),
    Add(usize),
    Cas(usize, u8, u8),
    /// Adds one by compare-exchanges, until one succeeds.
    AddByCas(usize),
    /// Waits for a value.
    Wait(usize, u8),
    /// Waits until it has replaced 0 by 1.
    Lock(usize),
    /// If the one has this value, stores another in the other.
    Help((usize, u8), (usize, u8)),
    /// Loads the second between two loads of the first that have the same even value.
    Stable(usize, usize),
}

use Statement::{Add, AddByCas, Cas, Help, Load, Lock, Stable, Store, Wait};

type Statements = Vec<Statement>;

type Memory = [u8; 2];

/// Runs statements on real atomics.
fn run(memory: &[AtomicU8; 2], statements: &[Statement]) {
    for statement in statements {
        match *statement {
            Load(at) => _ = memory[at].load(SeqCst),
            Store(at, value) => memory[at].store(value, SeqCst),
            Add(at) => _ = memory[at].fetch_add(1, SeqCst),
            Cas(at, old, new) => _ = memory[at].compare_exchange(old, new, SeqCst, SeqCst),
            AddByCas(at) => {
                let mut old = memory[at].load(SeqCst);
                while let Err(now) = memory[at].compare_exchange(old, old + 1, SeqCst, SeqCst) {
                    old = now;
                }
            }
            Wait(at, value) => {
                while memory[at].load(SeqCst) != value {
                    hint::spin_loop();
                }
            }
            Lock(at) => {
                while memory[at].compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
                    hint::spin_loop();
                }
            }
            Help((asked, value), (at, new)) => {
                if memory[asked].load(SeqCst) == value {
                    memory[at].store(new, SeqCst);
                }
            }
            Stable(version, at) => loop {
                let before = memory[version].load(SeqCst);
                if before.is_multiple_of(2) {
                    memory[at].load(SeqCst);
                    if memory[version].load(SeqCst) == before {
                        break;
                    }
                }
                hint::spin_loop();
            },
        }
    }
}

/// A thread of the interpreter: the call, the statement in it, the step of that, what it has loaded, and whether it has
/// taken a step of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Thread {
    call: usize,
    statement: usize,
    step: u8,
    loaded: u8,
    has_begun: bool,
}

/// Takes one step of a statement. Returns the next step of it; `None` if it is over.
fn step(memory: &mut Memory, loaded: &mut u8, statement: Statement, step: u8) -> Option<u8> {
    let is_over = |over: bool, next: u8| if over { None } else { Some(next) };
    match (statement, step) {
        (Load(_), _) => None,
        (Store(at, value), _) | (Help(_, (at, value)), 1) => {
            memory[at] = value;
            None
        }
        (Add(at), _) => {
            memory[at] += 1;
            None
        }
        (Cas(at, old, new), _) => {
            memory[at] = if memory[at] == old { new } else { memory[at] };
            None
        }
        (AddByCas(at), 0) | (Stable(at, _), 0) => {
            *loaded = memory[at];
            let must_wait = matches!(statement, Stable(..)) && *loaded % 2 == 1;
            Some(u8::from(!must_wait))
        }
        (AddByCas(at), _) => {
            let succeeds = memory[at] == *loaded;
            *loaded = memory[at];
            memory[at] += u8::from(succeeds);
            is_over(succeeds, 1)
        }
        (Wait(at, value), _) => is_over(memory[at] == value, 0),
        (Lock(at), _) => {
            let is_free = memory[at] == 0;
            memory[at] = if is_free { 1 } else { memory[at] };
            is_over(is_free, 0)
        }
        (Help((asked, value), _), _) => is_over(memory[asked] != value, 1),
        (Stable(..), 1) => Some(2),
        (Stable(version, _), _) => is_over(memory[version] == *loaded, 0),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    memory: Memory,
    threads: Vec<Thread>,
}

/// A scenario in the interpreter: the calls of each thread, as statements.
struct Program(Vec<Vec<Statements>>);

impl Program {
    fn has_ended(&self, state: &State, thread: usize) -> bool {
        state.threads[thread].call == self.0[thread].len()
    }

    /// The state after a step of a thread that has not ended.
    fn after(&self, state: &State, number: usize) -> State {
        let mut next = state.clone();
        let thread = &mut next.threads[number];
        let statements = &self.0[number][thread.call];
        thread.has_begun = true;
        match step(&mut next.memory, &mut thread.loaded, statements[thread.statement], thread.step) {
            Some(step) => thread.step = step,
            None => {
                let statement = thread.statement + 1;
                *thread = match statement == statements.len() {
                    true => Thread { call: thread.call + 1, ..Thread::default() },
                    false => Thread { statement, step: 0, loaded: 0, ..*thread },
                };
            }
        }
        next
    }

    /// All states, each with its steps: thread and next state.
    fn graph(&self) -> (Vec<State>, Vec<Vec<(usize, usize)>>) {
        let first = State { memory: [0; 2], threads: vec![Thread::default(); self.0.len()] };
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let (mut states, mut steps) = (vec![first], Vec::new());
        while let Some(state) = states.get(steps.len()).cloned() {
            let mut of_state = Vec::new();
            for thread in (0..self.0.len()).filter(|&thread| !self.has_ended(&state, thread)) {
                let next = self.after(&state, thread);
                let number = *numbers.entry(next.clone()).or_insert(states.len());
                if number == states.len() {
                    states.push(next);
                }
                of_state.push((thread, number));
            }
            steps.push(of_state);
        }
        (states, steps)
    }

    /// Whether threads can go on for ever though all get their turns: first if none is suspended, then if some, but not
    /// all, are in the middle of their last calls.
    fn may_never_end(&self) -> [bool; 2] {
        let (states, steps) = self.graph();
        let is_without = |suspended: u32| {
            let goes_on = |thread: usize| suspended & (1 << thread) == 0;
            let part = parts(&steps, &goes_on);
            let count = part.iter().max().map_or(0, |&last| last + 1);
            let mut stay = vec![vec![false; self.0.len()]; count];
            for (from, steps) in steps.iter().enumerate() {
                for &(thread, to) in steps.iter().filter(|&&(thread, to)| goes_on(thread) && part[from] == part[to]) {
                    stay[part[to]][thread] = true;
                }
            }
            states.iter().zip(&part).any(|(state, &part)| {
                let mut stopped = (0..self.0.len()).filter(|&thread| !goes_on(thread));
                let are_in_the_middle = stopped.all(|thread| {
                    let Thread { call, has_begun, .. } = state.threads[thread];
                    has_begun && call + 1 == self.0[thread].len()
                });
                let mut open = (0..self.0.len()).filter(|&it| goes_on(it) && !self.has_ended(state, it)).peekable();
                are_in_the_middle && open.peek().is_some() && open.all(|thread| stay[part][thread])
            })
        };
        [is_without(0), (1..(1 << self.0.len()) - 1).any(is_without)]
    }
}

/// The strongly connected part of each state, by number, if only threads take steps of which `goes_on` is true: states
/// in the order in which their searches end, and then whatever reaches the last of them (Kosaraju).
fn parts(steps: &[Vec<(usize, usize)>], goes_on: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let mut back = vec![Vec::new(); steps.len()];
    let (mut ended, mut seen) = (Vec::new(), vec![false; steps.len()]);
    for first in 0..steps.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut open = vec![(first, 0)];
        while let Some((state, number)) = open.last_mut() {
            let (from, next) = (*state, steps[*state].get(*number));
            *number += 1;
            match next {
                Some(&(thread, to)) if goes_on(thread) => {
                    back[to].push(from);
                    if !std::mem::replace(&mut seen[to], true) {
                        open.push((to, 0));
                    }
                }
                Some(_) => {}
                None => ended.extend(open.pop().map(|(state, _)| state)),
            }
        }
    }
    let mut part = vec![usize::MAX; steps.len()];
    let mut count = 0;
    for &first in ended.iter().rev() {
        let mut open = vec![first];
        let is_new = part[first] == usize::MAX;
        while let Some(state) = open.pop() {
            if part[state] == usize::MAX {
                part[state] = count;
                open.extend(&back[state]);
            }
        }
        count += usize::from(is_new);
    }
    part
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    /// A statement, or a few that belong together: with a lock, or of a writer that readers look out for.
    fn statements(&mut self) -> Statements {
        let (kind, at, value, other) = (self.below(16), self.below(2), self.below(2) as u8, self.below(2) as u8);
        match kind {
            0 => vec![Load(at)],
            1 => vec![Add(at)],
            2 | 3 => vec![Store(at, value)],
            4 | 5 => vec![Cas(at, value, other)],
            6 | 7 => vec![AddByCas(at)],
            8 => vec![Wait(at, value)],
            9..=11 => vec![Lock(at), Store(1 - at, value), Store(at, 0)],
            12 => vec![Add(at), Store(1 - at, value), Add(at)],
            13 => vec![Stable(at, 1 - at)],
            _ => vec![Help((at, value), (self.below(2), other))],
        }
    }

    fn operation(&mut self) -> Statements {
        (0..1 + self.below(2)).flat_map(|_| self.statements()).collect()
    }
}

fn spec(operations: &[Statements; 2]) -> Spec<[AtomicU8; 2], ()> {
    let mut spec = Spec::new(|| [const { AtomicU8::new(0) }; 2], || ());
    for (statements, name) in operations.iter().zip(["f", "g"]) {
        let statements = statements.clone();
        spec = spec.op0(name, move |memory| run(memory, &statements), |()| ());
    }
    spec.lock_free(["f", "g"]).budget(std::time::Duration::from_secs(600))
}

/// The verdicts about the scenarios of structures drawn at random: how many wait for ever without a suspended thread,
/// how many with one, and how many never.
fn compare(structures: std::ops::Range<u64>, size: Size, config: &Config) -> [usize; 3] {
    let mut verdicts = [0; 3];
    for seed in structures {
        let mut random = Random(seed);
        let operations = [random.operation(), random.operation()];
        let spec = spec(&operations);
        let mut tour = Tour::new(&spec, config);
        for word in words(&tour.alphabet, size) {
            let scenario = tour.scenario_of(&word);
            let told = || format!("{seed} {operations:?}: {}", scenario.text(&|call| spec.label(call)));
            let statements = |thread: &Vec<crate::spec::Call>| {
                thread.iter().map(|call| operations[call.operation].clone()).collect()
            };
            let program = Program(scenario.threads.iter().map(statements).collect());
            let expected = match program.may_never_end() {
                [true, _] => 0,
                [false, true] => 1,
                [false, false] => 2,
            };
            assert_eq!(found(&mut tour, &scenario), expected, "{}", told());
            verdicts[expected] += 1;
        }
    }
    verdicts
}

fn found(tour: &mut Tour<'_, [AtomicU8; 2], ()>, scenario: &Scenario) -> usize {
    match tour.run(scenario).unwrap() {
        Ended::Failed => return 0,
        Ended::Stopped => panic!("stopped"),
        Ended::Verified(_) => {}
    }
    match tour.progress(scenario).unwrap() {
        Ended::Failed => 1,
        Ended::Stopped => panic!("stopped"),
        Ended::Verified(_) => 2,
    }
}

#[test]
fn progress_is_that_of_all_states() {
    let times = if cfg!(debug_assertions) { 1 } else { 30 };
    let sc = Config::default().explorer(ExplorerKind::ReadsValueFrom).effective_memory();
    // In the first one of three threads only two that are suspended keep the third from completing.
    let all = [(sc, 2, 0, 12, 3), (sc, 3, 16, 1, 0), (MemoryModel::default(), 2, 0, 12, 3)];
    for (memory, size, first, structures, least) in all {
        let config = Config::default().memory(memory).shrink(0);
        let size = Size { calls: size, threads: size, ..Size::default() };
        let verdicts = compare(first..first + structures * times, size, &config);
        assert!(verdicts.iter().all(|&some| some >= least), "{verdicts:?}");
    }
}
