//! All executions of a litmus program under C11, by adding one event after the other to a graph.
//!
//! Any thread that can goes on, with any source; a graph that is not consistent is dropped, since no event makes a
//! graph consistent again. A graph that was reached before is dropped too.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::Ordering;

use rsmc_core::trace::Rmw;
use rsmc_testkit::litmus::{Expr, Outcome, Program, Stmt, StmtKind, ThreadProgram};

use super::{Event, Graph, Kind, consistent};

/// A program with a longer execution is left out: it may have a loop that waits.
const LONGEST: usize = 24;

/// A program with more graphs is left out.
const MOST: usize = 300_000;

/// The results of all maximal executions together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executions {
    /// Their outcomes.
    pub outcomes: BTreeSet<Outcome>,
    /// The number of reads-from classes.
    pub classes: u64,
}

/// All consistent executions of a program; `None` where there are too many, or where one is too long.
pub fn executions(program: &Program) -> Option<Executions> {
    let code = Code::of(program, usize::MAX);
    let mut found = Executions::default();
    for_each_maximal(&code, MOST, |state| {
        found.outcomes.insert(state.outcome(&code));
        found.classes += 1;
    })?;
    Some(found)
}

/// Visits each maximal execution, at most one for each reads-from class; `None` where there are too many graphs on the
/// way, or where one is too long.
pub(super) fn for_each_maximal(code: &Code<'_>, most: usize, mut visit: impl FnMut(&State)) -> Option<()> {
    let mut stack = vec![State::first(code)];
    let mut seen = HashSet::new();
    while let Some(state) = stack.pop() {
        if !seen.insert(state.key()) {
            continue;
        }
        if state.graph.events.len() > LONGEST || seen.len() > most {
            return None;
        }
        let next = state.extensions(code);
        if next.is_empty() {
            visit(&state);
        }
        stack.extend(next);
    }
    Some(())
}

/// A program with main written out, and numbers for its places.
pub(super) struct Code<'p> {
    /// The number of rounds for which a loop without a bound of its own is run; its thread is cut off there.
    rounds: usize,
    /// The operation that goes on without cause: of a thread, the weak compare-exchange or `maybe` with this number.
    pub(super) without_cause: Option<(usize, usize)>,
    /// Main, then the others.
    threads: Vec<ThreadProgram>,
    places: Vec<(Place, u64)>,
    program: &'p Program,
}

/// An object with a location of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Variable(String),
    Lock(String),
    /// The token of a thread.
    Token(String),
}

/// The operation that a thread stands before.
#[derive(Clone, Debug)]
enum Op {
    Load(Place, Ordering),
    Store(Place, u64, Ordering),
    Rmw(Place, Rmw, Ordering),
    Cas { place: Place, expected: u64, new: u64, success: Ordering, failure: Ordering },
    Park(Place),
    Fence(Ordering),
    Lock(Place),
    Spawn(String),
    Join(String),
}

/// The effect of an operation, given the value at its location: kind, ordering, the value written.
type Effect = (Kind, Ordering, Option<u64>);

const FREE: u64 = 0;
const HELD: u64 = 1;

impl Op {
    fn place(&self) -> Option<&Place> {
        match self {
            Op::Load(place, _) | Op::Store(place, ..) | Op::Rmw(place, ..) | Op::Park(place) | Op::Lock(place) => {
                Some(place)
            }
            Op::Cas { place, .. } => Some(place),
            Op::Fence(_) | Op::Spawn(_) | Op::Join(_) => None,
        }
    }

    fn reads(&self) -> bool {
        !matches!(self, Op::Store(..) | Op::Fence(_))
    }

    /// Whether no source may be good enough.
    fn waits(&self) -> bool {
        matches!(self, Op::Park(_) | Op::Lock(_))
    }

    /// `None` where it cannot happen with this value.
    fn effect(&self, value: u64) -> Option<Effect> {
        Some(match *self {
            Op::Load(_, order) => (Kind::Read, order, None),
            Op::Store(_, new, order) => (Kind::Write, order, Some(new)),
            Op::Rmw(_, rmw, order) => (Kind::Update, order, Some(rmw.apply(value))),
            Op::Cas { expected, new, success, .. } if value == expected => (Kind::Update, success, Some(new)),
            Op::Cas { failure, .. } => (Kind::Read, failure, None),
            Op::Park(_) if value == 1 => (Kind::Update, Ordering::Acquire, Some(0)),
            Op::Lock(_) if value == FREE => (Kind::Update, Ordering::Acquire, Some(HELD)),
            Op::Park(_) | Op::Lock(_) => return None,
            Op::Fence(order) => (Kind::Fence, order, None),
            Op::Spawn(_) | Op::Join(_) => unreachable!("no event"),
        })
    }
}

impl<'p> Code<'p> {
    pub(super) fn of(program: &'p Program, rounds: usize) -> Self {
        let main = program.main.clone().unwrap_or_else(|| main_of(program));
        let threads: Vec<_> = std::iter::once(main).chain(program.threads.clone()).collect();
        let mut places: Vec<(Place, u64)> = Vec::new();
        places.extend(program.locations.iter().map(|l| (Place::Variable(l.name.clone()), l.init)));
        program.visit(|stmt| {
            if let StmtKind::Lock(lock) | StmtKind::TryLock { lock, .. } = &stmt.kind
                && !places.iter().any(|(place, _)| *place == Place::Lock(lock.clone()))
            {
                places.push((Place::Lock(lock.clone()), FREE));
            }
        });
        places.extend(threads.iter().map(|thread| (Place::Token(thread.name.clone()), 0)));
        Self { rounds, without_cause: None, threads, places, program }
    }

    /// The number of threads.
    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    fn thread(&self, name: &str) -> usize {
        self.threads.iter().position(|thread| thread.name == name).expect("checked by the parser")
    }

    /// Whether a location is that of a lock.
    pub(super) fn is_lock(&self, loc: usize) -> bool {
        matches!(self.places[loc].0, Place::Lock(_))
    }

    fn place(&self, place: &Place) -> usize {
        self.places.iter().position(|(other, _)| other == place).expect("all places are listed")
    }
}

/// Spawns all threads that no other thread spawns, and joins them.
fn main_of(program: &Program) -> ThreadProgram {
    let mut spawned = BTreeSet::new();
    program.visit(|stmt| {
        if let StmtKind::Spawn(name) = &stmt.kind {
            spawned.insert(name.clone());
        }
    });
    let names: Vec<_> = program.threads.iter().map(|t| &t.name).filter(|name| !spawned.contains(*name)).collect();
    let spawns = names.iter().map(|name| Stmt::new(StmtKind::Spawn((*name).clone())));
    let joins = names.iter().map(|name| Stmt::new(StmtKind::Join((*name).clone())));
    ThreadProgram { name: "main".to_owned(), body: spawns.chain(joins).collect(), ..ThreadProgram::default() }
}

/// A graph with what makes it.
#[derive(Clone)]
pub(super) struct State {
    pub(super) graph: Graph,
    /// The value that each event wrote.
    pub(super) written: Vec<Option<u64>>,
    /// The number of each event within its thread.
    index: Vec<usize>,
    threads: Vec<Thread>,
}

/// A thread, and the number of one of its events.
type Name = (usize, usize);

/// The past of a thread.
#[derive(Clone, Default)]
struct Thread {
    spawned: bool,
    /// The results of its operations, oldest first.
    answers: Vec<u64>,
    /// The events that come before its next in sb, without those before them.
    last: Vec<usize>,
    events: usize,
}

impl State {
    fn first(code: &Code) -> Self {
        let mut threads = vec![Thread::default(); code.threads.len()];
        threads[0].spawned = true;
        let mut state = Self { graph: Graph::default(), written: Vec::new(), index: Vec::new(), threads };
        state.run_local_steps(code);
        state
    }

    /// Spawns and joins what can be spawned and joined: these are no events.
    fn run_local_steps(&mut self, code: &Code) {
        while let Some((thread, other, spawns)) = (0..self.threads.len()).find_map(|thread| self.local(code, thread)) {
            if spawns {
                self.threads[other].spawned = true;
                self.threads[other].last = self.threads[thread].last.clone();
            } else {
                let last = self.threads[other].last.clone();
                self.threads[thread].last.extend(last);
            }
            self.threads[thread].answers.push(0);
        }
    }

    /// The thread that a thread can spawn or join now, and whether it spawns it.
    fn local(&self, code: &Code, thread: usize) -> Option<(usize, usize, bool)> {
        match self.replay(code, thread).next {
            Some(Op::Spawn(name)) => Some((thread, code.thread(&name), true)),
            Some(Op::Join(name)) if self.replay(code, code.thread(&name)).ended => {
                Some((thread, code.thread(&name), false))
            }
            _ => None,
        }
    }

    /// The reads-from class, if this is a maximal execution: every event and its source.
    fn key(&self) -> Vec<(Name, Option<Name>)> {
        let name = |event: usize| (self.graph.events[event].thread, self.index[event]);
        let entry = |event: usize| (name(event), self.graph.events[event].source.map(name));
        let mut key: Vec<_> = (0..self.graph.events.len()).map(entry).collect();
        key.sort_unstable();
        key
    }

    /// All consistent graphs with one event more.
    fn extensions(&self, code: &Code) -> Vec<State> {
        (0..self.threads.len()).flat_map(|thread| self.extensions_of(code, thread)).collect()
    }

    fn extensions_of(&self, code: &Code, thread: usize) -> Vec<State> {
        let Some(op) = self.replay(code, thread).next else { return Vec::new() };
        if matches!(op, Op::Spawn(_) | Op::Join(_)) {
            return Vec::new();
        }
        let loc = op.place().map_or(0, |place| code.place(place));
        let found: Vec<State> = self
            .sources(&op, loc)
            .into_iter()
            .filter_map(|source| self.with(code, thread, &op, loc, source))
            .filter(|state| consistent(&state.graph).is_some())
            .collect();
        assert!(op.waits() || !found.is_empty(), "nothing lets {op:?} go on in\n{}\n{:?}", code.program, self.graph);
        found
    }

    /// The initial value, and all writes of the location; one entry where there is nothing to read.
    fn sources(&self, op: &Op, loc: usize) -> Vec<Option<usize>> {
        let writes =
            |event: &usize| op.reads() && self.written[*event].is_some() && self.graph.events[*event].loc == loc;
        [None].into_iter().chain((0..self.written.len()).filter(writes).map(Some)).collect()
    }

    /// The state after an operation with a source; `None` if it cannot happen with that.
    fn with(&self, code: &Code, thread: usize, op: &Op, loc: usize, source: Option<usize>) -> Option<State> {
        let initial = op.place().map_or(0, |_| code.places[loc].1);
        let value = source.map_or(initial, |event| self.written[event].expect("a source writes"));
        let (kind, order, written) = op.effect(value)?;
        let mut state = self.clone();
        let number = state.graph.events.len();
        let doer = &mut state.threads[thread];
        state.graph.sb.extend(doer.last.iter().map(|&before| (before, number)));
        state.graph.events.push(Event { thread, kind, loc, order, source });
        state.written.push(written);
        state.index.push(doer.events);
        doer.last = vec![number];
        doer.events += 1;
        doer.answers.push(value);
        state.run_local_steps(code);
        Some(state)
    }

    fn replay<'c>(&self, code: &'c Code, thread: usize) -> Replay<'c> {
        let Thread { spawned, answers, .. } = &self.threads[thread];
        let without_cause = code.without_cause.filter(|&(other, _)| other == thread).map(|(_, number)| number);
        let rounds = code.rounds;
        let mut replay = Replay { answers: answers.clone(), rounds, without_cause, ..Replay::default() };
        if *spawned {
            replay.run(&code.threads[thread]);
        }
        replay
    }

    /// The threads that are cut off.
    pub(super) fn cut_off<'c>(&self, code: &'c Code) -> Vec<CutOff<'c>> {
        let end = |thread| {
            let Replay { cut_off, registers, went_on, .. } = self.replay(code, thread);
            cut_off.map(|rounds| CutOff { thread, rounds, registers, went_on })
        };
        (0..self.threads.len()).filter_map(end).collect()
    }

    /// Whether a thread came to what goes on without cause.
    pub(super) fn went_on(&self, code: &Code) -> bool {
        (0..self.threads.len()).any(|thread| self.replay(code, thread).went_on.is_some())
    }

    /// The value that an event read.
    pub(super) fn read(&self, event: usize, code: &Code) -> u64 {
        let Event { source, loc, .. } = self.graph.events[event];
        source.map_or(code.places[loc].1, |source| self.written[source].expect("a source writes"))
    }

    /// The events of a thread from a number on.
    pub(super) fn events_since(&self, thread: usize, first: usize) -> impl Iterator<Item = usize> + '_ {
        let is_since = move |&event: &usize| self.graph.events[event].thread == thread && self.index[event] >= first;
        (0..self.index.len()).filter(is_since)
    }

    pub(super) fn outcome(&self, code: &Code) -> Outcome {
        let ends: Vec<Replay> = (0..self.threads.len()).map(|thread| self.replay(code, thread)).collect();
        let spawned = self.threads.iter().map(|thread| thread.spawned);
        let assigned: Vec<BTreeSet<&str>> = code.threads.iter().map(registers).collect();
        let mut outcome = Outcome {
            stuck: ends.iter().zip(spawned).any(|(end, spawned)| spawned && !end.ended),
            panicked: ends.iter().any(|end| end.panicked),
            ..Outcome::default()
        };
        for ((thread, names), end) in code.threads.iter().zip(&assigned).zip(&ends) {
            for name in names {
                let shared = assigned.iter().filter(|others| others.contains(name)).count() > 1;
                let printed = if shared { format!("{}.{name}", thread.name) } else { (*name).to_owned() };
                outcome.registers.insert(printed, end.get(name));
            }
        }
        outcome
    }
}

/// The registers that a thread assigns somewhere.
fn registers(thread: &ThreadProgram) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    thread.body.iter().for_each(|stmt| stmt.visit(&mut |stmt| names.extend(stmt.assigned())));
    names
}

/// A thread whose loop is run no further.
pub(super) struct CutOff<'c> {
    pub(super) thread: usize,
    /// The beginning of each round of the loop: the registers, and the number of events of the thread.
    pub(super) rounds: Vec<(Registers<'c>, usize)>,
    /// The present registers.
    pub(super) registers: Registers<'c>,
    /// The number of events of the thread where it went on without cause.
    pub(super) went_on: Option<usize>,
}

type Registers<'c> = BTreeMap<&'c str, u64>;

/// A thread run from its beginning, with the answers that its operations got.
#[derive(Default)]
struct Replay<'c> {
    /// All answers, and how many are used.
    answers: Vec<u64>,
    used: usize,
    /// The number of operations that are events.
    events: usize,
    registers: Registers<'c>,
    /// The number of rounds for which a loop is run, and those of the loop that is run no further.
    rounds: usize,
    cut_off: Option<Vec<(Registers<'c>, usize)>>,
    /// How many weak compare-exchanges and `maybe`s there were, which one goes on without cause, and how many events
    /// there were where it did.
    weak: usize,
    without_cause: Option<usize>,
    went_on: Option<usize>,
    /// The locks it holds, in the order of acquisition.
    held: Vec<&'c str>,
    /// The operation it stands before.
    next: Option<Op>,
    panicked: bool,
    ended: bool,
}

/// The reason why a thread does not go on with its next statement.
enum Stop {
    Stands(Op),
    Panics,
    CutOff,
}

impl<'c> Replay<'c> {
    fn run(&mut self, thread: &'c ThreadProgram) {
        let end = match self.block(&thread.body, &thread.name) {
            Err(Stop::Panics) => {
                self.panicked = true;
                self.release_all()
            }
            other => other,
        };
        match end {
            Err(Stop::Stands(op)) => self.next = Some(op),
            Err(Stop::CutOff) => {}
            _ => self.ended = true,
        }
    }

    /// Releases the locks that are held, as a panic does.
    fn release_all(&mut self) -> Result<(), Stop> {
        self.held.clone().into_iter().try_for_each(|lock| self.unlock(lock))
    }

    fn unlock(&mut self, lock: &str) -> Result<(), Stop> {
        self.perform(Op::Store(Place::Lock(lock.to_owned()), FREE, Ordering::Release))?;
        self.held.retain(|held| *held != lock);
        Ok(())
    }

    /// The answer to an operation, if it has happened.
    fn perform(&mut self, op: Op) -> Result<u64, Stop> {
        let is_event = !matches!(op, Op::Spawn(_) | Op::Join(_));
        let answer = self.answers.get(self.used).copied().ok_or(Stop::Stands(op))?;
        self.used += 1;
        self.events += usize::from(is_event);
        Ok(answer)
    }

    /// Whether a weak compare-exchange or `maybe` goes on without cause.
    fn goes_on(&mut self) -> bool {
        let goes_on = self.without_cause == Some(self.weak);
        self.weak += 1;
        if goes_on {
            self.went_on = Some(self.events);
        }
        goes_on
    }

    fn get(&self, register: &str) -> u64 {
        self.registers.get(register).copied().unwrap_or(0)
    }

    fn eval(&self, expr: &Expr) -> u64 {
        expr.eval(&|name: &String| self.get(name))
    }

    fn set(&mut self, register: Option<&'c String>, value: u64) {
        self.registers.extend(register.map(|name| (name.as_str(), value)));
    }

    fn block(&mut self, body: &'c [Stmt], thread: &str) -> Result<(), Stop> {
        body.iter().try_for_each(|stmt| self.statement(&stmt.kind, thread))
    }

    fn statement(&mut self, stmt: &'c StmtKind, thread: &str) -> Result<(), Stop> {
        let variable = |name: &String| Place::Variable(name.clone());
        match stmt {
            StmtKind::Load { to, loc, order } => {
                let value = self.perform(Op::Load(variable(loc), *order))?;
                self.set(Some(to), value);
            }
            StmtKind::Store { loc, value, order } => {
                let value = self.eval(value);
                self.perform(Op::Store(variable(loc), value, *order))?;
            }
            StmtKind::Rmw { to, kind, loc, operand, order } => {
                let rmw = Rmw { kind: *kind, operand: self.eval(operand), bits: 32 };
                let value = self.perform(Op::Rmw(variable(loc), rmw, *order))?;
                self.set(to.as_ref(), value);
            }
            StmtKind::Cas { weak, success, old, loc, expected, new, order, failure } => {
                let (expected, new) = (self.eval(expected), self.eval(new));
                let fails = *weak && self.goes_on();
                let op = match fails {
                    true => Op::Load(variable(loc), *failure),
                    false => Op::Cas { place: variable(loc), expected, new, success: *order, failure: *failure },
                };
                let value = self.perform(op)?;
                self.set(success.as_ref(), u64::from(value == expected && !fails));
                self.set(old.as_ref(), value);
            }
            StmtKind::Choose { to, of: None } => {
                let value = u64::from(self.goes_on());
                self.set(Some(to), value);
            }
            StmtKind::Choose { of: Some(_), .. } => panic!("no axiom is about choices"),
            StmtKind::Assign { to, value } => {
                let value = self.eval(value);
                self.set(Some(to), value);
            }
            StmtKind::Fence(order) => {
                self.perform(Op::Fence(*order))?;
            }
            StmtKind::Lock(lock) => {
                self.perform(Op::Lock(Place::Lock(lock.clone())))?;
                self.held.push(lock);
            }
            StmtKind::TryLock { to, lock } => {
                let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
                let place = Place::Lock(lock.clone());
                let value = self.perform(Op::Cas { place, expected: FREE, new: HELD, success, failure })?;
                self.held.extend((value == FREE).then_some(lock.as_str()));
                self.set(Some(to), u64::from(value == FREE));
            }
            StmtKind::Unlock(lock) if self.held.contains(&lock.as_str()) => self.unlock(lock)?,
            StmtKind::Unlock(_) => return Err(Stop::Panics),
            StmtKind::Park => {
                self.perform(Op::Park(Place::Token(thread.to_owned())))?;
            }
            StmtKind::Unpark(other) => {
                let set = Rmw { kind: rsmc_core::trace::RmwKind::Swap, operand: 1, bits: 32 };
                self.perform(Op::Rmw(Place::Token(other.clone()), set, Ordering::Release))?;
            }
            StmtKind::Spin | StmtKind::CellRead(_) | StmtKind::CellWrite(_) => {}
            StmtKind::Peek { .. } | StmtKind::Poke { .. } => unreachable!("no program for the axioms has plain memory"),
            StmtKind::If { condition, then, otherwise } => {
                let branch = if self.eval(condition) != 0 { then } else { otherwise };
                self.block(branch, thread)?;
            }
            StmtKind::While { condition, bound, body } => {
                let mut rounds = Vec::new();
                while self.eval(condition) != 0 && bound.is_none_or(|bound| (rounds.len() as u64) < bound.into()) {
                    if bound.is_none() && rounds.len() == self.rounds {
                        self.cut_off = Some(rounds);
                        return Err(Stop::CutOff);
                    }
                    rounds.push((self.registers.clone(), self.events));
                    self.block(body, thread)?;
                }
            }
            StmtKind::Assert(condition) if self.eval(condition) == 0 => return Err(Stop::Panics),
            StmtKind::Assert(_) => {}
            StmtKind::Spawn(name) => {
                self.perform(Op::Spawn(name.clone()))?;
            }
            StmtKind::Join(name) => {
                self.perform(Op::Join(name.clone()))?;
            }
        }
        Ok(())
    }
}
