//! Litmus programs as Rust code that calls the runtime's hooks, by walking their statements.
//!
//! Other tests include this file as a module.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use rsmc_core::base::ThreadId;
use rsmc_core::machine::Outcome;
use rsmc_core::runtime::hook::cells::{CellAccess, Contents};
use rsmc_core::runtime::{Object, Tag, hook};
use rsmc_core::trace::{Action, POISONED, Rmw};
use rsmc_testkit::litmus::{Expr, Operator, Program, Stmt, StmtKind, ThreadProgram};

/// The shared objects of a program, by name, made anew for every execution.
#[derive(Default)]
struct Shared {
    tags: RefCell<BTreeMap<String, &'static Tag>>,
    ids: RefCell<BTreeMap<String, ThreadId>>,
    plain: RefCell<BTreeMap<String, u64>>,
}

impl Shared {
    fn object(&self, kind: &'static str, name: &str) -> Object<'static> {
        let tag = *self.tags.borrow_mut().entry(format!("{kind} {name}")).or_insert_with(|| Box::leak(Box::default()));
        Object { tag, kind, created: None }
    }
}

/// A thread that walks its statements.
struct Walker<'a> {
    program: &'a Program,
    thread: &'a ThreadProgram,
    shared: Rc<Shared>,
    registers: BTreeMap<String, u64>,
    held: Vec<(String, bool)>,
}

impl Walker<'_> {
    fn eval(&self, expr: &Expr) -> u64 {
        match expr {
            Expr::Number(number) => *number,
            Expr::Register(name) => self.registers.get(name).copied().unwrap_or(0),
            Expr::Binary(operator, a, b) => {
                let (a, b) = (self.eval(a) as u32, self.eval(b) as u32);
                match operator {
                    Operator::Add => u64::from(a.wrapping_add(b)),
                    Operator::Sub => u64::from(a.wrapping_sub(b)),
                    Operator::Eq => u64::from(a == b),
                    Operator::Ne => u64::from(a != b),
                    Operator::Lt => u64::from(a < b),
                    Operator::And => u64::from(a != 0 && b != 0),
                    Operator::Or => u64::from(a != 0 || b != 0),
                }
            }
        }
    }

    fn set(&mut self, register: Option<&String>, value: u64) {
        if let Some(register) = register {
            self.registers.insert(register.clone(), value);
        }
    }

    fn access(&self, loc: &str, action: Action, order: Ordering, failure: Ordering) -> Outcome {
        let init = self.program.locations.iter().find(|location| location.name == loc).map_or(0, |l| l.init);
        hook::objects::access(self.shared.object("AtomicU32", loc), || init, action, order, failure).unwrap()
    }

    fn touch(&self, cell: &str, access: CellAccess) {
        hook::cells::cell(self.shared.object("UnsafeCell", cell), access, Contents::NONE);
    }

    fn lock(&self, lock: &str, action: Action) -> Outcome {
        let order = if matches!(action, Action::Release { .. }) { Ordering::Release } else { Ordering::Acquire };
        let failure = if action.locks() { Ordering::Relaxed } else { order };
        hook::objects::access(self.shared.object("Mutex", lock), || 0, action, order, failure).unwrap()
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Load { to, loc, order } => {
                let read = self.access(loc, Action::Load, *order, *order).read;
                self.set(Some(to), read);
            }
            StmtKind::Store { loc, value, order } => {
                self.access(loc, Action::Store(self.eval(value)), *order, *order);
            }
            StmtKind::Rmw { to, kind, loc, operand, order } => {
                let rmw = Rmw { kind: *kind, operand: self.eval(operand), bits: 32 };
                let read = self.access(loc, Action::Rmw(rmw), *order, *order).read;
                self.set(to.as_ref(), read);
            }
            StmtKind::Cas { weak, success, old, loc, expected, new, order, failure } => {
                let action = Action::Cas { expected: self.eval(expected), new: self.eval(new), weak: *weak };
                let outcome = self.access(loc, action, *order, *failure);
                self.set(success.as_ref(), u64::from(outcome.written.is_some()));
                self.set(old.as_ref(), outcome.read);
            }
            StmtKind::Choose { to, of } => {
                let value = hook::choices::choose(of.map_or(2, u64::from), of.is_none()).unwrap();
                self.set(Some(to), value);
            }
            StmtKind::Assign { to, value } => self.set(Some(to), self.eval(value)),
            StmtKind::Fence(order) => drop(hook::atomics::fence(*order)),
            StmtKind::Lock(lock) => {
                let read = self.lock(lock, Action::Acquire).read;
                self.held.push((lock.clone(), read & POISONED != 0));
            }
            StmtKind::TryLock { to, lock } => {
                let outcome = self.lock(lock, Action::TryAcquire);
                self.set(Some(to), u64::from(outcome.written.is_some()));
                if outcome.written.is_some() {
                    self.held.push((lock.clone(), outcome.read & POISONED != 0));
                }
            }
            StmtKind::Unlock(lock) => {
                let held = self.held.iter().position(|(held, _)| held == lock);
                let (_, poisoned) = self.held[held.expect("unlock of a lock that the thread does not hold")];
                self.lock(lock, Action::Release { poisoned });
                self.held.retain(|(held, _)| held != lock);
            }
            StmtKind::CellRead(cell) => self.touch(cell, CellAccess::Read),
            StmtKind::CellWrite(cell) => self.touch(cell, CellAccess::Write),
            StmtKind::Peek { to, cell } => {
                let value = self.shared.plain.borrow().get(cell).copied().unwrap_or(0);
                self.set(Some(to), value);
            }
            StmtKind::Poke { cell, value } => {
                let value = self.eval(value);
                self.shared.plain.borrow_mut().insert(cell.clone(), value);
            }
            StmtKind::Park => hook::tokens::park(self.shared.object("park token", &self.thread.name).tag),
            StmtKind::Unpark(thread) => hook::tokens::unpark(self.shared.object("park token", thread).tag),
            StmtKind::Spin => drop(hook::loops::hint()),
            StmtKind::If { condition, then, otherwise } => {
                self.block(if self.eval(condition) != 0 { then } else { otherwise });
            }
            StmtKind::While { condition, bound, body } => {
                let mut left = bound.unwrap_or(u32::MAX);
                while left > 0 && self.eval(condition) != 0 {
                    left -= 1;
                    self.block(body);
                }
            }
            StmtKind::Assert(condition) => assert!(self.eval(condition) != 0, "assertion failed"),
            StmtKind::Spawn(thread) => spawn(self.program, &self.shared, thread),
            StmtKind::Join(thread) => {
                let target = self.shared.ids.borrow()[thread];
                hook::threads::join(target);
            }
        }
    }
}

impl Drop for Walker<'_> {
    fn drop(&mut self) {
        if hook::threads::panicking() {
            for (lock, _) in std::mem::take(&mut self.held) {
                self.lock(&lock, Action::Release { poisoned: true });
            }
        }
    }
}

fn spawn(program: &Program, shared: &Rc<Shared>, name: &str) {
    // Programs outlive all executions: they are leaked by `compare`.
    let program: &'static Program = Box::leak(Box::new(program.clone()));
    let (shared_there, name_there) = (Rc::clone(shared), name.to_owned());
    let id = hook::threads::spawn(
        Some(name.to_owned()),
        Box::new(move || {
            let thread = program.threads.iter().find(|thread| thread.name == name_there).unwrap();
            let _ = hook::threads::catch(|| walk(program, thread, shared_there));
        }),
    );
    shared.ids.borrow_mut().insert(name.to_owned(), id);
}

fn walk(program: &Program, thread: &ThreadProgram, shared: Rc<Shared>) {
    let mut walker = Walker { program, thread, shared, registers: BTreeMap::new(), held: Vec::new() };
    walker.block(&thread.body);
}

/// The test body: main as written; without one, the threads that no other spawns are spawned and joined.
pub fn body(program: &Program) {
    let shared = Rc::new(Shared::default());
    if let Some(main) = &program.main {
        return walk(program, main, shared);
    }
    let mut spawned = Vec::new();
    program.visit(|stmt| {
        if let StmtKind::Spawn(name) = &stmt.kind {
            spawned.push(name);
        }
    });
    let own = || program.threads.iter().map(|thread| &thread.name).filter(|name| !spawned.contains(name));
    own().for_each(|name| spawn(program, &shared, name));
    own().for_each(|name| {
        let id = shared.ids.borrow()[name];
        hook::threads::join(id);
    });
}
