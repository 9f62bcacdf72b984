//! One state of a program and the steps from it, under SC, TSO and PSO.
//!
//! A step is one visible operation of a thread, with all that the thread does after it up to its next one, or the
//! arrival of one buffered store in memory. Starting, joining and ending a thread are no steps of their own, as in the
//! interpreter.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use crate::litmus::Expr;
use crate::litmus::compile::{Cas, Compiled, Instruction};
use crate::litmus::expr::MASK;
use crate::litmus::names::Place;
use rsmc_core::model::MemoryModel;
use rsmc_core::trace::{HELD, POISONED, Rmw};

/// The most instructions a thread may take without a visible operation.
const SILENT: u32 = 1 << 16;
/// The number of spurious outcomes that an execution may have.
const SPURIOUS: u32 = 1;

/// The effect of a step on what other threads can see, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Impact {
    /// It writes nothing, or it is an update that leaves the value as it was.
    None,
    /// It takes or releases a lock.
    Turns,
    /// It writes.
    Writes,
    /// It chooses another value than 0, which no thread does for ever.
    Chooses,
}

/// The status of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Status {
    /// It was not spawned.
    #[default]
    Absent,
    /// It stands before an operation.
    Standing,
    /// It waits for the end of a thread.
    Joining(usize),
    /// It waits until its stores are in memory.
    Draining,
    /// It ended.
    Ended,
}

/// A store that waits in the buffer of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Waiting {
    place: Place,
    value: u64,
    epoch: u32,
}

/// A thread in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    status: Status,
    at: usize,
    pub(super) registers: Vec<u64>,
    /// The locks it holds in the order of acquisition, and whether it found them poisoned.
    held: Vec<(Place, bool)>,
    pub(super) panicked: bool,
    /// Oldest first.
    buffer: Vec<Waiting>,
    /// The number of store-store fences it has passed that matter to what is in its buffer.
    epoch: u32,
}

impl Thread {
    /// Whether it has begun and not ended.
    pub(super) fn is_waiting(&self) -> bool {
        !matches!(self.status, Status::Absent | Status::Ended)
    }

    fn eval(&self, expr: &Expr<usize>) -> u64 {
        expr.eval(&|&register| self.registers[register])
    }

    fn set(&mut self, register: Option<usize>, value: u64) {
        if let Some(register) = register {
            self.registers[register] = value;
        }
    }

    /// Numbers the epochs anew, so that equal buffers are equal.
    fn tidy(&mut self) {
        let (mut last, mut rank) = (self.buffer.first().map(|store| store.epoch), 0);
        for store in &mut self.buffer {
            rank += u32::from(last != Some(store.epoch));
            last = Some(store.epoch);
            store.epoch = rank;
        }
        self.epoch = last.map_or(0, |last| rank + u32::from(self.epoch > last));
    }
}

/// Everything that the future depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// The value of every place.
    memory: Vec<u64>,
    pub(super) threads: Vec<Thread>,
    /// The number of spurious outcomes so far.
    spurious: u32,
}

impl State {
    /// The value of a place as a thread sees it.
    fn view(&self, thread: usize, place: Place) -> u64 {
        let own = self.threads[thread].buffer.iter().rev().find(|store| store.place == place);
        own.map_or(self.memory[place], |store| store.value)
    }
}

/// The result of an instruction without a visible operation.
enum Then {
    Next,
    Jump(usize),
    Wait(Status),
    Panic,
}

/// The mover of a step, its impact, and the state to which it leads.
pub(super) type Successor = (u8, Impact, State);

/// The steps of a program under a memory model.
pub(super) struct Steps<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) memory: MemoryModel,
}

impl Steps<'_> {
    /// The number of movers: each thread, and for each thread and place the stores of that thread to it.
    pub(super) fn movers(&self) -> usize {
        self.compiled.threads.len() * (1 + self.variables())
    }

    fn variables(&self) -> usize {
        self.compiled.places.iter().filter(|place| place.kind == "AtomicU32").count()
    }

    /// The state in which main stands before its first operation; `None` if there is none.
    pub(super) fn first(&self) -> Option<State> {
        let new = |registers| Thread { registers: vec![0; registers], ..Thread::default() };
        let mut state = State {
            memory: self.compiled.places.iter().map(|place| place.init).collect(),
            threads: self.compiled.threads.iter().map(|thread| new(thread.registers)).collect(),
            spurious: 0,
        };
        self.advance(&mut state, 0)?;
        Some(state)
    }

    /// Adds the steps from a state; `None` if a thread would go round a loop without any operation.
    pub(super) fn successors(&self, state: &State, all: &mut Vec<Successor>) -> Option<()> {
        for thread in 0..state.threads.len() {
            let first = all.len();
            if state.threads[thread].status == Status::Standing {
                self.perform(state, thread, all);
            }
            for (.., next) in &mut all[first..] {
                self.advance(next, thread)?;
            }
            self.flushes(state, thread, all)?;
        }
        all.iter_mut().for_each(|(.., next)| next.threads.iter_mut().for_each(Thread::tidy));
        Some(())
    }

    /// Adds the arrivals of stores of a thread in memory.
    fn flushes(&self, state: &State, thread: usize, all: &mut Vec<Successor>) -> Option<()> {
        let buffer = &state.threads[thread].buffer;
        for (at, store) in buffer.iter().enumerate() {
            let overtakes = match self.memory {
                MemoryModel::Pso => {
                    buffer[..at].iter().any(|before| before.place == store.place || before.epoch != store.epoch)
                }
                _ => at > 0,
            };
            if overtakes {
                continue;
            }
            let mut next = state.clone();
            next.memory[store.place] = store.value;
            next.threads[thread].buffer.remove(at);
            if next.threads[thread].buffer.is_empty() && next.threads[thread].status == Status::Draining {
                self.advance(&mut next, thread)?;
            }
            let mover = self.compiled.threads.len() + thread * self.variables() + store.place;
            all.push((mover as u8, Impact::Writes, next));
        }
        Some(())
    }

    /// Adds the steps by which a thread performs the operation that it stands before. The thread stays where it is if
    /// it releases a lock after a panic, and goes on by one instruction otherwise.
    fn perform(&self, state: &State, thread: usize, all: &mut Vec<Successor>) {
        let own = &state.threads[thread];
        let is_drained = own.buffer.is_empty();
        let mut add = |impact, change: &dyn Fn(&mut State)| {
            let mut next = state.clone();
            next.threads[thread].at += 1;
            change(&mut next);
            all.push((thread as u8, impact, next));
        };
        let Some((instruction, _)) = self.compiled.threads[thread].code.get(own.at) else {
            if is_drained {
                add(Impact::Writes, &|next| {
                    let (lock, _) = next.threads[thread].held.remove(0);
                    next.memory[lock] = POISONED;
                    next.threads[thread].at = own.at;
                });
            }
            return;
        };
        match instruction {
            Instruction::Load { to, loc, .. } => {
                let value = state.view(thread, *loc) & MASK;
                add(Impact::None, &|next| next.threads[thread].registers[*to] = value);
            }
            Instruction::Store { loc, value, order } if self.waits_in_buffer(*order) => {
                let value = own.eval(value);
                add(Impact::Writes, &|next| self.buffer(&mut next.threads[thread], *loc, value, *order));
            }
            Instruction::Choose { to, of, .. } => {
                let values = of.map_or(1 + u64::from(state.spurious < SPURIOUS), u64::from);
                for value in 0..values {
                    add(if value == 0 { Impact::None } else { Impact::Chooses }, &|next| {
                        next.threads[thread].registers[*to] = value;
                        next.spurious += u32::from(of.is_none() && value > 0);
                    });
                }
            }
            _ if is_drained => perform_drained(state, thread, instruction, &mut add),
            _ => {}
        }
    }

    /// Whether a store of this ordering waits in a buffer.
    fn waits_in_buffer(&self, order: Ordering) -> bool {
        self.memory != MemoryModel::Sc && order != Ordering::SeqCst
    }

    fn buffer(&self, thread: &mut Thread, place: Place, value: u64, order: Ordering) {
        self.fence(thread, order);
        thread.buffer.push(Waiting { place, value, epoch: thread.epoch });
    }

    /// A store-store fence, if the ordering is one.
    fn fence(&self, thread: &mut Thread, order: Ordering) {
        let releases = matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst);
        thread.epoch += u32::from(self.memory == MemoryModel::Pso && releases);
    }

    /// Lets a thread go on until it stands before an operation, waits or ends, and then the threads that it sets free.
    fn advance(&self, state: &mut State, thread: usize) -> Option<()> {
        let mut due = VecDeque::from([thread]);
        let mut left = SILENT;
        while let Some(thread) = due.pop_front() {
            let status = loop {
                left = left.checked_sub(1)?;
                match self.take(state, thread, &mut due) {
                    Then::Next => state.threads[thread].at += 1,
                    Then::Jump(to) => state.threads[thread].at = to,
                    Then::Wait(status) => break status,
                    Then::Panic => {
                        state.threads[thread].panicked = true;
                        state.threads[thread].at = self.compiled.threads[thread].code.len();
                    }
                }
            };
            state.threads[thread].status = status;
            if status == Status::Ended {
                let joins = |&other: &usize| state.threads[other].status == Status::Joining(thread);
                due.extend((0..state.threads.len()).filter(joins));
            }
        }
        Some(())
    }

    /// Takes one instruction, or returns that the thread waits before it.
    fn take(&self, state: &mut State, number: usize, due: &mut VecDeque<usize>) -> Then {
        let thread = &mut state.threads[number];
        let drained = thread.buffer.is_empty();
        let Some((instruction, _)) = self.compiled.threads[number].code.get(thread.at) else {
            return Then::Wait(match drained {
                _ if thread.panicked && !thread.held.is_empty() => Status::Standing,
                true => Status::Ended,
                false => Status::Draining,
            });
        };
        match instruction {
            Instruction::Assign { to, value } => {
                thread.registers[*to] = thread.eval(value);
                Then::Next
            }
            Instruction::Peek { to, cell } => {
                thread.registers[*to] = state.memory[*cell];
                Then::Next
            }
            Instruction::Poke { cell, value } => {
                state.memory[*cell] = thread.eval(value);
                Then::Next
            }
            Instruction::Assert(condition) if thread.eval(condition) == 0 => Then::Panic,
            Instruction::JumpUnless { condition, to } if thread.eval(condition) == 0 => Then::Jump(*to),
            Instruction::Jump(to) => Then::Jump(*to),
            Instruction::Unlock(lock) if thread.held.iter().all(|(held, _)| held != lock) => Then::Panic,
            Instruction::Fence(Ordering::SeqCst) | Instruction::Spawn(_) | Instruction::Join(_) if !drained => {
                Then::Wait(Status::Draining)
            }
            Instruction::Fence(order) => {
                self.fence(thread, *order);
                Then::Next
            }
            Instruction::Spawn(child) => {
                due.push_back(*child);
                // It has begun, as threads see that join it.
                state.threads[*child].status = Status::Standing;
                Then::Next
            }
            Instruction::Join(target) => match state.threads[*target].status {
                Status::Absent => Then::Panic,
                Status::Ended => Then::Next,
                _ => Then::Wait(Status::Joining(*target)),
            },
            Instruction::Assert(_)
            | Instruction::JumpUnless { .. }
            | Instruction::CellRead(_)
            | Instruction::CellWrite(_)
            | Instruction::Spin => Then::Next,
            _ => Then::Wait(Status::Standing),
        }
    }
}

/// The impact of an update.
fn of_update(old: u64, new: u64) -> Impact {
    if old == new { Impact::None } else { Impact::Writes }
}

fn acquire(state: &mut State, thread: usize, lock: Place) {
    let poisoned = state.memory[lock] & POISONED != 0;
    state.memory[lock] |= HELD;
    state.threads[thread].held.push((lock, poisoned));
}

/// Adds the steps of a compare-exchange.
fn compare_exchange(state: &State, thread: usize, cas: &Cas, add: &mut impl FnMut(Impact, &dyn Fn(&mut State))) {
    let own = &state.threads[thread];
    let (old, new) = (state.memory[cas.loc], own.eval(&cas.new));
    let is_equal = old == own.eval(&cas.expected);
    let give = |next: &mut State, success| {
        next.threads[thread].set(cas.success, u64::from(success));
        next.threads[thread].set(cas.old, old);
    };
    if is_equal {
        add(of_update(old, new), &|next| {
            next.memory[cas.loc] = new;
            give(next, true);
        });
    }
    let is_spurious = is_equal && cas.weak && state.spurious < SPURIOUS;
    if !is_equal || is_spurious {
        add(Impact::None, &|next| {
            next.spurious += u32::from(is_spurious);
            give(next, false);
        });
    }
}

/// Adds the steps of an operation that needs an empty buffer, which its thread has.
fn perform_drained(
    state: &State,
    thread: usize,
    instruction: &Instruction,
    add: &mut impl FnMut(Impact, &dyn Fn(&mut State)),
) {
    let own = &state.threads[thread];
    match instruction {
        Instruction::Store { loc, value, .. } => {
            let value = own.eval(value);
            add(Impact::Writes, &|next| next.memory[*loc] = value);
        }
        Instruction::Rmw { to, kind, loc, operand, .. } => {
            let old = state.memory[*loc];
            let new = Rmw { kind: *kind, operand: own.eval(operand), bits: 32 }.apply(old);
            add(of_update(old, new), &|next| {
                next.memory[*loc] = new;
                next.threads[thread].set(*to, old & MASK);
            });
        }
        Instruction::Cas(cas) => compare_exchange(state, thread, cas, add),
        Instruction::Lock(lock) if state.memory[*lock] & HELD == 0 => {
            add(Impact::Turns, &|next| acquire(next, thread, *lock));
        }
        Instruction::TryLock { to, lock } if state.memory[*lock] & HELD == 0 => {
            add(Impact::Turns, &|next| {
                acquire(next, thread, *lock);
                next.threads[thread].registers[*to] = 1;
            });
        }
        Instruction::TryLock { to, .. } => add(Impact::None, &|next| next.threads[thread].registers[*to] = 0),
        Instruction::Unlock(lock) => {
            let poisoned = own.held.iter().any(|&(held, poisoned)| held == *lock && poisoned);
            add(if poisoned { Impact::Writes } else { Impact::Turns }, &|next| {
                next.threads[thread].held.retain(|(held, _)| held != lock);
                next.memory[*lock] = if poisoned { POISONED } else { 0 };
            });
        }
        Instruction::Park(token) if state.memory[*token] == 1 => add(Impact::Writes, &|next| next.memory[*token] = 0),
        Instruction::Unpark(token) => add(Impact::Writes, &|next| next.memory[*token] = 1),
        _ => {}
    }
}
