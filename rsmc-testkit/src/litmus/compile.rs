//! Turns a program into numbers: flat instructions per thread, places for names. Everything that can be wrong with
//! a program is found here, so that running it has no errors.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use crate::litmus::check;
use crate::litmus::names::{Names, Place, PlaceInfo};
use crate::litmus::{Error, Expr, Operator, Program, Stmt, StmtKind, ThreadProgram};
use rsmc_core::trace::RmwKind;

/// A number of a register within its thread.
pub(super) type Register = usize;

/// An instruction of a thread. Jumps go to positions in the thread's instructions.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    Load { to: Register, loc: Place, order: Ordering },
    Store { loc: Place, value: Expr<Register>, order: Ordering },
    Rmw { to: Option<Register>, kind: RmwKind, loc: Place, operand: Expr<Register>, order: Ordering },
    Cas(Box<Cas>),
    Assign { to: Register, value: Expr<Register> },
    Fence(Ordering),
    Lock(Place),
    Unlock(Place),
    TryLock { to: Register, lock: Place },
    Choose { to: Register, of: Option<u32>, place: Place },
    CellRead(Place),
    CellWrite(Place),
    Peek { to: Register, cell: Place },
    Poke { cell: Place, value: Expr<Register> },
    Park(Place),
    Unpark(Place),
    Spin,
    Assert(Expr<Register>),
    Spawn(usize),
    Join(usize),
    JumpUnless { condition: Expr<Register>, to: usize },
    Jump(usize),
}

/// A compare-exchange.
#[derive(Clone, Debug)]
pub(super) struct Cas {
    pub(super) weak: bool,
    pub(super) success: Option<Register>,
    pub(super) old: Option<Register>,
    pub(super) loc: Place,
    pub(super) expected: Expr<Register>,
    pub(super) new: Expr<Register>,
    pub(super) order: Ordering,
    pub(super) failure: Ordering,
}

/// A thread as instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) name: String,
    /// The instructions with their lines.
    pub(super) code: Vec<(Instruction, u32)>,
    /// The number of its registers.
    pub(super) registers: usize,
}

/// A program as numbers. Thread 0 is main.
#[derive(Clone, Debug, Default)]
pub(super) struct Compiled {
    pub(super) threads: Vec<Thread>,
    pub(super) places: Vec<PlaceInfo>,
    /// The registers of an outcome: name, thread, register.
    pub(super) outcome: Vec<(String, usize, Register)>,
}

/// Checks and translates a program.
pub(super) fn compile(program: &Program) -> Result<Compiled, Error> {
    check::names(program)?;
    check::orders(program)?;
    check::spawns(program)?;
    let implicit;
    let main = match &program.main {
        Some(main) => main,
        None => {
            implicit = implicit_main(program);
            &implicit
        }
    };
    let threads: Vec<&ThreadProgram> = std::iter::once(main).chain(&program.threads).collect();
    let names = Names::of(program, &threads);
    let mut compiled = Compiled { places: names.places(program), ..Compiled::default() };
    let mut outcome = Vec::new();
    for (number, thread) in threads.iter().enumerate() {
        let mut code = Code { names: &names, number, registers: BTreeMap::new(), hidden: 0, code: Vec::new() };
        code.block(&thread.body)?;
        let assigned = assigned(thread);
        outcome.extend(assigned.iter().map(|&register| (register.to_owned(), number, code.registers[register])));
        let registers = code.registers.len() + code.hidden;
        compiled.threads.push(Thread { name: thread.name.clone(), code: code.code, registers });
    }
    compiled.outcome = qualified(outcome, &threads);
    check::outcomes(program, &compiled.outcome)?;
    Ok(compiled)
}

fn implicit_main(program: &Program) -> ThreadProgram {
    let mut spawned = BTreeSet::new();
    program.visit(|stmt| {
        if let StmtKind::Spawn(name) = &stmt.kind {
            spawned.insert(name.as_str());
        }
    });
    let rest = || program.threads.iter().filter(|thread| !spawned.contains(thread.name.as_str()));
    let spawns = rest().map(|thread| Stmt { line: thread.line, kind: StmtKind::Spawn(thread.name.clone()) });
    let joins = rest().map(|thread| Stmt { line: thread.line, kind: StmtKind::Join(thread.name.clone()) });
    ThreadProgram { name: "main".to_owned(), body: spawns.chain(joins).collect(), ..ThreadProgram::default() }
}

fn assigned(thread: &ThreadProgram) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    thread.body.iter().for_each(|stmt| stmt.visit(&mut |stmt| names.extend(stmt.assigned())));
    names
}

/// Puts the thread's name before registers that several threads have.
fn qualified(registers: Vec<(String, usize, Register)>, threads: &[&ThreadProgram]) -> Vec<(String, usize, Register)> {
    let shared = |name: &str| registers.iter().filter(|(other, ..)| other == name).count() > 1;
    let name = |name: &str, thread: usize| format!("{}.{name}", threads[thread].name);
    let entry = |(register, thread, number): &(String, usize, Register)| {
        let printed = if shared(register) { name(register, *thread) } else { register.clone() };
        (printed, *thread, *number)
    };
    registers.iter().map(entry).collect()
}

/// The instructions of one thread so far.
struct Code<'a> {
    names: &'a Names<'a>,
    number: usize,
    registers: BTreeMap<String, Register>,
    hidden: usize,
    code: Vec<(Instruction, u32)>,
}

impl Code<'_> {
    fn register(&mut self, name: &str) -> Register {
        let next = self.registers.len() + self.hidden;
        *self.registers.entry(name.to_owned()).or_insert(next)
    }

    /// A register that no outcome shows.
    fn counter(&mut self) -> Register {
        self.hidden += 1;
        self.registers.len() + self.hidden - 1
    }

    fn expr(&mut self, expr: &Expr) -> Expr<Register> {
        expr.map(&mut |name| self.register(name))
    }

    fn emit(&mut self, line: u32, instruction: Instruction) -> usize {
        self.code.push((instruction, line));
        self.code.len() - 1
    }

    fn block(&mut self, body: &[Stmt]) -> Result<(), Error> {
        body.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), Error> {
        let line = stmt.line.0;
        let instruction = match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => return self.if_else(line, condition, then, otherwise),
            StmtKind::While { condition, bound, body } => return self.while_loop(line, condition, *bound, body),
            StmtKind::Load { to, loc, order } => {
                Instruction::Load { to: self.register(to), loc: self.names.location(loc, line)?, order: *order }
            }
            StmtKind::Store { loc, value, order } => {
                Instruction::Store { loc: self.names.location(loc, line)?, value: self.expr(value), order: *order }
            }
            StmtKind::Rmw { to, kind, loc, operand, order } => Instruction::Rmw {
                to: to.as_ref().map(|to| self.register(to)),
                kind: *kind,
                loc: self.names.location(loc, line)?,
                operand: self.expr(operand),
                order: *order,
            },
            StmtKind::Cas { weak, success, old, loc, expected, new, order, failure } => {
                Instruction::Cas(Box::new(Cas {
                    weak: *weak,
                    success: success.as_ref().map(|to| self.register(to)),
                    old: old.as_ref().map(|to| self.register(to)),
                    loc: self.names.location(loc, line)?,
                    expected: self.expr(expected),
                    new: self.expr(new),
                    order: *order,
                    failure: *failure,
                }))
            }
            StmtKind::Assign { to, value } => Instruction::Assign { to: self.register(to), value: self.expr(value) },
            StmtKind::Fence(order) => Instruction::Fence(*order),
            StmtKind::Lock(lock) => Instruction::Lock(self.names.lock(lock)),
            StmtKind::Unlock(lock) => Instruction::Unlock(self.names.lock(lock)),
            StmtKind::TryLock { to, lock } => {
                Instruction::TryLock { to: self.register(to), lock: self.names.lock(lock) }
            }
            StmtKind::Choose { to, of } => {
                Instruction::Choose { to: self.register(to), of: *of, place: self.names.choice(self.number) }
            }
            StmtKind::CellRead(cell) => Instruction::CellRead(self.names.cell(cell)),
            StmtKind::CellWrite(cell) => Instruction::CellWrite(self.names.cell(cell)),
            StmtKind::Peek { to, cell } => Instruction::Peek { to: self.register(to), cell: self.names.cell(cell) },
            StmtKind::Poke { cell, value } => {
                Instruction::Poke { cell: self.names.cell(cell), value: self.expr(value) }
            }
            StmtKind::Park => Instruction::Park(self.names.token(self.number)),
            StmtKind::Unpark(thread) => Instruction::Unpark(self.names.token(self.names.thread(thread, line)?)),
            StmtKind::Spin => Instruction::Spin,
            StmtKind::Assert(condition) => Instruction::Assert(self.expr(condition)),
            StmtKind::Spawn(thread) => Instruction::Spawn(self.names.thread(thread, line)?),
            StmtKind::Join(thread) => Instruction::Join(self.names.thread(thread, line)?),
        };
        self.emit(line, instruction);
        Ok(())
    }

    fn if_else(&mut self, line: u32, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) -> Result<(), Error> {
        let condition = self.expr(condition);
        let skip = self.emit(line, Instruction::JumpUnless { condition, to: 0 });
        self.block(then)?;
        if otherwise.is_empty() {
            self.land(skip);
            return Ok(());
        }
        let over = self.emit(line, Instruction::Jump(0));
        self.land(skip);
        self.block(otherwise)?;
        self.land(over);
        Ok(())
    }

    /// A bounded loop counts its iterations in a hidden register.
    fn while_loop(&mut self, line: u32, condition: &Expr, bound: Option<u32>, body: &[Stmt]) -> Result<(), Error> {
        let counted = bound.map(|bound| (self.counter(), u64::from(bound)));
        if let Some((counter, _)) = counted {
            self.emit(line, Instruction::Assign { to: counter, value: Expr::Number(0) });
        }
        let head = self.code.len();
        let condition = self.expr(condition);
        let mut exits = vec![self.emit(line, Instruction::JumpUnless { condition, to: 0 })];
        if let Some((counter, bound)) = counted {
            let more = Expr::binary(Operator::Lt, Expr::Register(counter), Expr::Number(bound));
            exits.push(self.emit(line, Instruction::JumpUnless { condition: more, to: 0 }));
            let next = Expr::binary(Operator::Add, Expr::Register(counter), Expr::Number(1));
            self.emit(line, Instruction::Assign { to: counter, value: next });
        }
        self.block(body)?;
        self.emit(line, Instruction::Jump(head));
        exits.into_iter().for_each(|exit| self.land(exit));
        Ok(())
    }

    /// Lets a jump land here.
    fn land(&mut self, jump: usize) {
        let here = self.code.len();
        if let Instruction::JumpUnless { to, .. } | Instruction::Jump(to) = &mut self.code[jump].0 {
            *to = here;
        }
    }
}
