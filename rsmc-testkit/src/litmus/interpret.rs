//! The interpreter: an executor whose threads are positions in lists of instructions.
//!
//! It drives [`rsmc_core::machine`] exactly as the coroutine runtime does, and shares nothing with it: locations are
//! added at their first access, each thread stands before its next visible operation.
//!
//! Limits. Instructions between two visible operations are not bounded by the machine; after [`SILENT`] of them the
//! execution ends as [`End::StepLimit`], so that `while 1 { }` is reported and does not hang.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::litmus::compile::{Compiled, Instruction, compile};
use crate::litmus::expr::MASK;
use crate::litmus::names::Place;
use crate::litmus::{Error, Expr, Outcome, Program};
use rsmc_core::base::{IdVec, LocId, ThreadId, mix};
use rsmc_core::machine::{Machine, Next, Outcome as Performed, Rules, State};
use rsmc_core::model::MemoryModel;
use rsmc_core::step::{End, Executor, Knowledge, Plan, Run, Watcher};
use rsmc_core::trace::{Action, LocInfo, NoteKind, Op, POISONED, Rmw, Site};

/// The most instructions a thread may take without a visible operation.
const SILENT: u32 = 1 << 16;

/// Runs one program, once for each plan.
pub struct Interpreter {
    compiled: Arc<Compiled>,
    machine: Machine,
    /// Main, then the threads of the program.
    threads: Vec<Thread>,
    /// By id of a thread in this execution: the number of the thread in the program.
    numbers: IdVec<ThreadId, usize>,
    locs: Vec<Option<LocId>>,
    /// By place: the value of plain memory.
    plain: Vec<u64>,
    stuck: bool,
    panicked: bool,
}

/// The state of a thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    id: Option<ThreadId>,
    /// The next instruction, or the one it stands before.
    at: usize,
    registers: Vec<u64>,
    /// The registers before each of its operations.
    stood: Vec<u64>,
    /// The locks it holds in the order of acquisition, and whether it found them poisoned.
    held: Vec<(Place, bool)>,
    /// A number for what it has changed of plain memory, and not changed back.
    changes: u64,
    panicked: bool,
}

impl Thread {
    fn eval(&self, expr: &Expr<usize>) -> u64 {
        expr.eval(&|&register| self.registers[register])
    }

    /// Notes the registers before an operation.
    fn stand(&mut self, number: usize) {
        self.stood.truncate(number * self.registers.len());
        self.stood.extend_from_slice(&self.registers);
    }

    /// Takes the thread back to the operation before which it waits: what it did since it came there is no part of the
    /// execution.
    fn return_to(&mut self, number: usize) {
        let size = self.registers.len();
        if let Some(registers) = self.stood.get(number * size..(number + 1) * size) {
            self.registers.copy_from_slice(registers);
        }
    }

    fn set(&mut self, register: Option<usize>, value: u64) {
        if let Some(register) = register {
            self.registers[register] = value;
        }
    }
}

/// An operation with both its orderings, at a place whose location may not exist yet.
struct Arrival {
    action: Action,
    place: Place,
    order: Ordering,
    failure: Ordering,
}

impl Arrival {
    fn new(action: Action, place: Place, order: Ordering) -> Self {
        Self { action, place, order, failure: order }
    }

    /// A lock attempt: Acquire where it succeeds.
    fn lock(action: Action, place: Place) -> Self {
        Self { action, place, order: Ordering::Acquire, failure: Ordering::Relaxed }
    }
}

/// The result of an instruction.
enum Then {
    /// The thread goes on with the next instruction.
    Next,
    /// It goes on with this one.
    Jump(usize),
    /// It stands before an operation.
    Stand(Arrival),
    /// It waits, and goes on with the next instruction then.
    Wait,
    /// It waits until its stores are visible, and comes back to this instruction then.
    Drain,
    /// It panics.
    Panic(String),
}

impl Interpreter {
    /// An interpreter of a program; an error if the program cannot be run.
    pub fn new(program: &Program, rules: Rules) -> Result<Self, Error> {
        let compiled = compile(program)?;
        Ok(Self {
            machine: Machine::new(rules),
            threads: vec![Thread::default(); compiled.threads.len()],
            numbers: IdVec::new(),
            locs: Vec::new(),
            plain: Vec::new(),
            stuck: false,
            panicked: false,
            compiled: Arc::new(compiled),
        })
    }

    fn execute_once(&mut self, plan: &Plan, run: &mut Run) {
        let compiled = Arc::clone(&self.compiled);
        self.machine.begin(plan);
        self.reset();
        self.advance(&compiled, ThreadId::MAIN);
        loop {
            match self.machine.who_next() {
                Next::Continue(thread) => self.advance(&compiled, thread),
                Next::Step(thread) => {
                    self.perform(&compiled, thread);
                    self.advance(&compiled, thread);
                }
                Next::Over => break,
            }
        }
        self.machine.take_run(run);
    }

    /// The registers at the end of the last execution, and whether it was a deadlock or had a panic.
    ///
    /// Meaningful if the execution was maximal.
    pub fn outcome(&self) -> Outcome {
        let value = |thread: usize, register: usize| self.threads[thread].registers.get(register).copied().unwrap_or(0);
        let registers = self.compiled.outcome.iter().map(|(name, thread, at)| (name.clone(), value(*thread, *at)));
        Outcome { registers: registers.collect(), stuck: self.stuck, panicked: self.panicked }
    }

    fn reset(&mut self) {
        for (thread, code) in self.threads.iter_mut().zip(&self.compiled.threads) {
            thread.id = None;
            thread.at = 0;
            thread.registers.clear();
            thread.registers.resize(code.registers, 0);
            thread.stood.clear();
            thread.held.clear();
            thread.changes = 0;
            thread.panicked = false;
        }
        self.locs.clear();
        self.locs.resize(self.compiled.places.len(), None);
        self.plain.clear();
        self.plain.resize(self.compiled.places.len(), 0);
        self.started(ThreadId::MAIN, 0);
    }

    fn started(&mut self, id: ThreadId, number: usize) {
        self.threads[number].id = Some(id);
        self.numbers.grow_to(id, || 0);
        self.numbers[id] = number;
    }

    /// Lets a thread take instructions until it stands before an operation, waits or ends.
    fn advance(&mut self, compiled: &Compiled, id: ThreadId) {
        let number = self.numbers[id];
        let code = &compiled.threads[number].code;
        for _ in 0..SILENT {
            let at = self.threads[number].at;
            let Some((instruction, line)) = code.get(at) else {
                self.leave(compiled, id, number);
                return;
            };
            let site = Site::Line(*line);
            match self.take(compiled, id, instruction, site) {
                Then::Next => self.threads[number].at = at + 1,
                Then::Jump(to) => self.threads[number].at = to,
                Then::Stand(arrival) => return self.arrive(compiled, id, &arrival, site),
                Then::Wait => return self.threads[number].at = at + 1,
                Then::Drain => return,
                Then::Panic(message) => {
                    self.machine.panicked(id, message, site);
                    self.threads[number].panicked = true;
                    self.threads[number].at = code.len();
                }
            }
        }
        let at = self.threads[number].at;
        let site = code.get(at).map_or(Site::Unknown, |(_, line)| Site::Line(*line));
        self.machine.finish(End::StepLimit { thread: id, site });
    }

    /// A thread is past its last instruction: after a panic it releases its locks, then it ends.
    fn leave(&mut self, compiled: &Compiled, id: ThreadId, number: usize) {
        let thread = &self.threads[number];
        match thread.held.first() {
            Some(&(lock, _)) if thread.panicked => {
                let site = self.machine.run().panics.iter().find(|panic| panic.thread == id).map(|panic| panic.site);
                let release = Arrival::new(Action::Release { poisoned: true }, lock, Ordering::Release);
                self.arrive(compiled, id, &release, site.unwrap_or_default());
            }
            _ => self.machine.end(id),
        }
    }

    /// A thread comes to an operation or a hint: its future depends on its position, locks, registers, panic
    /// and plain memory. Of the latter its own changes count.
    fn visit(&mut self, id: ThreadId, site: Site) {
        let thread = &self.threads[self.numbers[id]];
        let held = thread.held.iter().flat_map(|&(place, poisoned)| [place as u64, u64::from(poisoned)]);
        let parts =
            [thread.at as u64, u64::from(thread.panicked), thread.changes].into_iter().chain(held).chain([u64::MAX]);
        let [low, high] = parts
            .chain(thread.registers.iter().copied())
            .fold([1, 2], |[low, high], part| [mix(low, part), mix(high, part)]);
        let state = State::from(high) << 64 | State::from(low);
        self.machine.visit(id, state, site, None);
        if self.machine.is_watched() {
            self.machine.is_in(id, state, 0);
        }
    }

    fn arrive(&mut self, compiled: &Compiled, id: ThreadId, arrival: &Arrival, site: Site) {
        self.threads[self.numbers[id]].stand(self.machine.run().trace.count(id) as usize);
        self.visit(id, site);
        let loc = self.locate(compiled, arrival.place, site);
        let &Arrival { action, order, failure, .. } = arrival;
        self.machine.arrive(id, Op { action, loc, order, failure, site });
    }

    /// The location of a place, which is added at its first access.
    fn locate(&mut self, compiled: &Compiled, place: Place, site: Site) -> LocId {
        *self.locs[place].get_or_insert_with(|| {
            let info = compiled.places[place];
            self.machine.add_location(LocInfo { kind: info.kind, created: site, init: info.init, address: 0 })
        })
    }

    /// Takes an instruction as far as it goes without a visible operation.
    fn take(&mut self, compiled: &Compiled, id: ThreadId, instruction: &Instruction, site: Site) -> Then {
        let thread = &mut self.threads[self.numbers[id]];
        let stand = |action, place, order| Then::Stand(Arrival::new(action, place, order));
        match instruction {
            Instruction::Load { loc, order, .. } => stand(Action::Load, *loc, *order),
            Instruction::Store { loc, value, order } => stand(Action::Store(thread.eval(value)), *loc, *order),
            Instruction::Rmw { kind, loc, operand, order, .. } => {
                let rmw = Rmw { kind: *kind, operand: thread.eval(operand), bits: 32 };
                stand(Action::Rmw(rmw), *loc, *order)
            }
            Instruction::Cas(cas) => {
                let (expected, new) = (thread.eval(&cas.expected), thread.eval(&cas.new));
                let action = Action::Cas { expected, new, weak: cas.weak };
                Then::Stand(Arrival { action, place: cas.loc, order: cas.order, failure: cas.failure })
            }
            Instruction::Lock(lock) => Then::Stand(Arrival::lock(Action::Acquire, *lock)),
            Instruction::TryLock { lock, .. } => Then::Stand(Arrival::lock(Action::TryAcquire, *lock)),
            Instruction::Unlock(lock) => match thread.held.iter().find(|(held, _)| held == lock) {
                Some(&(_, poisoned)) => stand(Action::Release { poisoned }, *lock, Ordering::Release),
                None => Then::Panic("unlock of a lock that the thread does not hold".to_owned()),
            },
            Instruction::Choose { of, place, .. } => {
                let action = Action::Choose { of: of.map_or(2, u64::from), value: 0, spurious: of.is_none() };
                stand(action, *place, Ordering::SeqCst)
            }
            Instruction::Park(token) => stand(Action::Park, *token, Ordering::Acquire),
            Instruction::Unpark(token) => stand(Action::Unpark, *token, Ordering::Release),
            Instruction::Assign { to, value } => {
                let value = thread.eval(value);
                thread.set(Some(*to), value);
                Then::Next
            }
            Instruction::Assert(condition) if thread.eval(condition) == 0 => Then::Panic("assertion failed".to_owned()),
            Instruction::Assert(_) => Then::Next,
            Instruction::JumpUnless { condition, to } if thread.eval(condition) == 0 => Then::Jump(*to),
            Instruction::JumpUnless { .. } => Then::Next,
            Instruction::Jump(to) => Then::Jump(*to),
            Instruction::Fence(order) if self.machine.fence(id, *order, site) => Then::Next,
            Instruction::Fence(_) => Then::Wait,
            Instruction::CellRead(cell) => {
                let loc = self.locate(compiled, *cell, site);
                self.machine.note(id, NoteKind::CellRead(loc), site);
                Then::Next
            }
            Instruction::CellWrite(cell) => {
                let loc = self.locate(compiled, *cell, site);
                self.machine.note(id, NoteKind::CellWrite(loc), site);
                Then::Next
            }
            Instruction::Peek { to, cell } => {
                let value = self.plain[*cell];
                thread.set(Some(*to), value);
                Then::Next
            }
            Instruction::Poke { cell, value } => {
                let value = thread.eval(value);
                let before = std::mem::replace(&mut self.plain[*cell], value);
                let number = |value| mix(*cell as u64, value);
                thread.changes = thread.changes.wrapping_add(number(value)).wrapping_sub(number(before));
                Then::Next
            }
            Instruction::Spin => {
                self.visit(id, site);
                self.machine.hint(id, site);
                Then::Next
            }
            Instruction::Spawn(_) | Instruction::Join(_) if !self.machine.drain(id) => Then::Drain,
            Instruction::Spawn(number) => {
                let child = self.machine.spawn(id, Some(compiled.threads[*number].name.clone()), site);
                self.started(child, *number);
                Then::Next
            }
            Instruction::Join(number) => match self.threads[*number].id {
                Some(target) if self.machine.join(id, target, site) => Then::Next,
                Some(_) => Then::Wait,
                None => Then::Panic(format!("join of `{}` before it is spawned", compiled.threads[*number].name)),
            },
        }
    }

    /// Performs the operation a thread stands before, and gives it the result.
    fn perform(&mut self, compiled: &Compiled, id: ThreadId) {
        let Performed { read, written } = self.machine.perform(id);
        let number = self.numbers[id];
        let thread = &mut self.threads[number];
        let Some((instruction, _)) = compiled.threads[number].code.get(thread.at) else {
            thread.held.remove(0);
            return;
        };
        let succeeded = written.is_some();
        match instruction {
            Instruction::Load { to, .. } | Instruction::Choose { to, .. } => thread.set(Some(*to), read & MASK),
            Instruction::Rmw { to, .. } => thread.set(*to, read & MASK),
            Instruction::Cas(cas) => {
                thread.set(cas.success, u64::from(succeeded));
                thread.set(cas.old, read);
            }
            Instruction::TryLock { to, .. } => thread.set(Some(*to), u64::from(succeeded)),
            Instruction::Unlock(lock) => thread.held.retain(|(held, _)| held != lock),
            _ => {}
        }
        if let Instruction::Lock(lock) | Instruction::TryLock { lock, .. } = instruction
            && succeeded
        {
            thread.held.push((*lock, read & POISONED != 0));
        }
        thread.at += 1;
    }
}

impl Executor for Interpreter {
    fn execute(&mut self, plan: &Plan, run: &mut Run) {
        self.execute_once(plan, run);
        while self.machine.is_to_run_again() {
            self.execute_once(plan, run);
        }
        for waiting in run.waiting.iter().filter(|waiting| waiting.op.is_some()) {
            self.threads[self.numbers[waiting.id.thread]].return_to(waiting.id.index as usize);
        }
        self.stuck = run.end == End::Stuck;
        self.panicked = !run.panics.is_empty();
    }

    fn knowledge(&self) -> Knowledge {
        self.machine.knowledge()
    }

    fn know(&mut self, knowledge: &Knowledge) {
        self.machine.know(knowledge);
    }

    fn follow(&mut self, memory: MemoryModel) -> bool {
        self.machine.follow(memory);
        true
    }

    fn strengthen(&mut self, changes: &[(Site, Ordering)]) -> bool {
        self.machine.strengthen(changes);
        true
    }

    fn watch(&mut self, watcher: Option<Watcher>) {
        self.machine.watch(watcher);
    }
}
