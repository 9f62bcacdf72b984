//! Litmus programs on loom: its atomics and threads, driven by the statements of a program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use loom::model::Builder;
use loom::sync::atomic::{AtomicU32, fence};
use loom::thread::{self, JoinHandle};
use rsmc_core::trace::RmwKind;
use rsmc_testkit::litmus::{Expr, Outcome, Program, Stmt, StmtKind, ThreadProgram};

/// A model ends after so many iterations.
const MOST: usize = 1_000_000;
/// Main and four others, all that loom has.
const THREADS: usize = 5;
/// More than any of the programs needs.
const BRANCHES: usize = 1_000;

/// What loom shows of a program.
pub struct Shown {
    /// The outcomes of all iterations.
    pub outcomes: BTreeSet<Outcome>,
    /// How many there were.
    pub iterations: u64,
}

/// Runs a program until loom has no more iterations with at most so many preemptions.
///
/// # Errors
/// If there are too many.
///
/// # Panics
/// If the program has statements that loom has not, or two threads with a register of one name.
pub fn explore(program: &Program, preemptions: Option<usize>) -> Result<Shown, String> {
    let (outcomes, iterations) = (Arc::new(Mutex::new(BTreeSet::new())), Arc::new(AtomicU64::new(0)));
    let (program, found, count) = (Arc::new(program.clone()), Arc::clone(&outcomes), Arc::clone(&iterations));
    let mut builder = builder();
    builder.preemption_bound = preemptions;
    builder.check(move || {
        count.fetch_add(1, Relaxed);
        let outcome = run(&program);
        found.lock().expect("nobody panics with it").insert(outcome);
    });
    let iterations = iterations.load(Relaxed);
    if iterations >= MOST as u64 {
        return Err(format!("loom has not ended after {iterations} iterations"));
    }
    let outcomes = outcomes.lock().expect("nobody panics with it").clone();
    Ok(Shown { outcomes, iterations })
}

/// Loom's own settings, whatever the environment says.
fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.max_threads = THREADS;
    builder.max_branches = BRANCHES;
    builder.max_permutations = Some(MOST);
    builder.max_duration = None;
    builder.checkpoint_file = None;
    // Limits are looked at only as often.
    builder.checkpoint_interval = 1_000;
    builder.location = false;
    builder.log = false;
    builder
}

type Registers = BTreeMap<String, u64>;

/// One iteration. No two threads of a program may have a register of the same name.
fn run(program: &Arc<Program>) -> Outcome {
    let mut main = Thread::new(program, Arc::new(locations(program)));
    match &program.main {
        Some(thread) => main.walk(thread),
        None => main.all(),
    }
    let mut registers: Registers = registers(program);
    registers.extend(main.registers);
    Outcome { registers, stuck: false, panicked: false }
}

fn locations(program: &Program) -> BTreeMap<String, AtomicU32> {
    program.locations.iter().map(|location| (location.name.clone(), AtomicU32::new(location.init as u32))).collect()
}

/// All registers, with 0 in each.
fn registers(program: &Program) -> Registers {
    let mut registers = Registers::new();
    program.visit(|stmt| registers.extend(stmt.assigned().map(|name| (name.to_owned(), 0))));
    registers
}

/// A thread that walks its statements.
struct Thread {
    program: Arc<Program>,
    locations: Arc<BTreeMap<String, AtomicU32>>,
    /// Its own, and those of the threads that it has joined.
    registers: Registers,
    /// The threads that it has spawned.
    spawned: BTreeMap<String, JoinHandle<Registers>>,
}

impl Thread {
    fn new(program: &Arc<Program>, locations: Arc<BTreeMap<String, AtomicU32>>) -> Self {
        let program = Arc::clone(program);
        Self { program, locations, registers: Registers::new(), spawned: BTreeMap::new() }
    }

    /// Main where it is not written out. It does the work of the last thread, which saves loom many iterations.
    fn all(&mut self) {
        let program = Arc::clone(&self.program);
        let (last, others) = program.threads.split_last().expect("there are threads");
        others.iter().for_each(|thread| self.spawn(&thread.name));
        self.walk(last);
        others.iter().for_each(|thread| self.join(&thread.name));
    }

    fn walk(&mut self, thread: &ThreadProgram) {
        thread.body.iter().for_each(|stmt| self.statement(stmt));
    }

    fn spawn(&mut self, name: &str) {
        let mut child = Self::new(&self.program, Arc::clone(&self.locations));
        let at = self.program.threads.iter().position(|thread| thread.name == name).expect("it is in the program");
        let handle = thread::spawn(move || {
            let program = Arc::clone(&child.program);
            child.walk(&program.threads[at]);
            child.registers
        });
        self.spawned.insert(name.to_owned(), handle);
    }

    fn join(&mut self, name: &str) {
        let handle = self.spawned.remove(name).expect("it was spawned here");
        self.registers.extend(handle.join().expect("it does not panic"));
    }

    fn eval(&self, expr: &Expr) -> u32 {
        expr.eval(&|name| self.registers.get(name).copied().unwrap_or(0)) as u32
    }

    fn set(&mut self, register: Option<&String>, value: u32) {
        if let Some(register) = register {
            self.registers.insert(register.clone(), value.into());
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Load { to, loc, order } => {
                let read = self.locations[loc].load(*order);
                self.set(Some(to), read);
            }
            StmtKind::Store { loc, value, order } => self.locations[loc].store(self.eval(value), *order),
            StmtKind::Rmw { to, kind, loc, operand, order } => {
                let (location, operand) = (&self.locations[loc], self.eval(operand));
                let read = match kind {
                    RmwKind::Swap => location.swap(operand, *order),
                    RmwKind::Add => location.fetch_add(operand, *order),
                    _ => panic!("{kind:?} is nothing that is tried on loom"),
                };
                self.set(to.as_ref(), read);
            }
            StmtKind::Cas { weak: false, success, old, loc, expected, new, order, failure } => {
                let (expected, new) = (self.eval(expected), self.eval(new));
                let result = self.locations[loc].compare_exchange(expected, new, *order, *failure);
                self.set(success.as_ref(), result.is_ok().into());
                self.set(old.as_ref(), result.unwrap_or_else(|read| read));
            }
            StmtKind::Fence(order) => fence(*order),
            StmtKind::Spin => loom::hint::spin_loop(),
            StmtKind::Spawn(thread) => self.spawn(thread),
            StmtKind::Join(thread) => self.join(thread),
            StmtKind::If { condition, then, otherwise } => {
                let branch = if self.eval(condition) == 0 { otherwise } else { then };
                branch.iter().for_each(|stmt| self.statement(stmt));
            }
            kind => panic!("{kind:?} is nothing that is tried on loom"),
        }
    }
}
