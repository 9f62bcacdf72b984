//! Draws the statements of one random thread.

use std::sync::atomic::Ordering;

use crate::litmus::text::failure_order;
use crate::litmus::{Expr, Operator, Stmt, StmtKind, Weights};
use rsmc_core::trace::RmwKind;

/// The names of locations, and of locks.
pub(super) const LOCATIONS: [&str; 6] = ["x", "y", "z", "u", "v", "w"];
pub(super) const LOCKS: [&str; 4] = ["m", "n", "p", "q"];
/// The names of cells, the first more often: accesses are to meet.
const CELLS: [&str; 4] = ["c", "c", "c", "d"];

/// The name of a thread.
pub(super) fn name_of(thread: usize) -> String {
    format!("t{}", thread + 1)
}

/// A statement that may be drawn next.
#[derive(Clone, Copy)]
pub(super) enum Draw {
    Load,
    Store,
    Rmw,
    Cas,
    Fence,
    Hint,
    Lock,
    TryLock,
    Cell,
    Plain,
    Park,
    Branch,
    Repeat,
    Assert,
    WeakCas,
    Choose,
}

/// A stream of random numbers, the same on every platform: SplitMix64.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// True once in `n` times.
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the items, of which there is one at least.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// An access of a cell.
pub(super) fn cell_access(dice: &mut Dice) -> Stmt {
    let cell = dice.pick(&CELLS);
    access(dice, cell)
}

fn access(dice: &mut Dice, place: &str) -> Stmt {
    let place = place.to_owned();
    Stmt::new(if dice.one_in(2) { StmtKind::CellRead(place) } else { StmtKind::CellWrite(place) })
}

/// A thread that is being written.
pub(super) struct Thread<'a> {
    pub(super) dice: &'a mut Dice,
    pub(super) weights: &'a Weights,
    pub(super) number: usize,
    pub(super) threads: usize,
    pub(super) locations: usize,
    pub(super) locks: usize,
    /// The number of the program's registers so far: no two threads share one.
    pub(super) registers: usize,
    /// The registers of this thread that have a value.
    pub(super) known: Vec<String>,
    /// The locks held, as bits.
    pub(super) held: u32,
}

impl Thread<'_> {
    /// Writes the whole thread; returns it with the new number of registers.
    pub(super) fn body(mut self, operations: usize) -> (Vec<Stmt>, usize) {
        let mut left = operations;
        let body = self.block(&mut left, usize::MAX);
        (body, self.registers)
    }

    /// Statements until `left` visible operations are used up, at most `most` of them.
    fn block(&mut self, left: &mut usize, most: usize) -> Vec<Stmt> {
        let mut body = Vec::new();
        let mut silent = 0;
        while *left > 0 && silent < 8 && body.len() < most {
            let before = *left;
            self.statement(left, &mut body);
            silent += usize::from(*left == before);
        }
        body
    }

    fn statement(&mut self, left: &mut usize, body: &mut Vec<Stmt>) {
        let table = self.weights.table();
        let total: u32 = table.iter().map(|(_, weight)| weight).sum();
        let mut at = self.dice.below(total.max(1) as usize) as u32;
        let drawn = table.iter().find(|(_, weight)| {
            let found = at < *weight;
            at = at.saturating_sub(*weight);
            found
        });
        match drawn.map_or(Draw::Load, |(draw, _)| *draw) {
            Draw::Lock if *left >= 2 => self.lock(left, body),
            Draw::TryLock if *left >= 2 => self.try_lock(left, body),
            Draw::Cell => {
                *left -= 1;
                let access = cell_access(self.dice);
                body.push(self.perhaps(access));
            }
            Draw::Plain => {
                *left -= 1;
                let location = self.dice.pick(&LOCATIONS[..self.locations]);
                let access = access(self.dice, location);
                body.push(self.perhaps(access));
            }
            Draw::Branch if !self.known.is_empty() => self.branch(left, body),
            Draw::Repeat if *left >= 2 => self.repeat(left, body),
            Draw::Hint => body.push(Stmt::new(StmtKind::Spin)),
            Draw::Fence => {
                let order = self.dice.pick(&[Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst]);
                body.push(Stmt::new(StmtKind::Fence(order)));
            }
            Draw::Assert if !self.known.is_empty() => {
                let condition = self.condition(Operator::Ne);
                body.push(Stmt::new(StmtKind::Assert(condition)));
            }
            simple => {
                *left -= 1;
                let kind = self.access(simple);
                body.push(Stmt::new(kind));
            }
        }
    }

    /// A statement of one visible operation.
    fn access(&mut self, draw: Draw) -> StmtKind {
        let loc = LOCATIONS[self.dice.below(self.locations)].to_owned();
        match draw {
            Draw::Store => {
                let order = self.dice.pick(&[Ordering::Relaxed, Ordering::Release, Ordering::SeqCst]);
                StmtKind::Store { loc, value: self.value(), order }
            }
            Draw::Rmw => {
                let kind = self.dice.pick(&[RmwKind::Add, RmwKind::Add, RmwKind::Swap, RmwKind::Swap, RmwKind::Or]);
                let (order, operand) = (self.update_order(), self.value());
                StmtKind::Rmw { to: Some(self.register()), kind, loc, operand, order }
            }
            Draw::Choose => {
                let of = if self.dice.one_in(2) { Some(2 + self.dice.below(2) as u32) } else { None };
                StmtKind::Choose { to: self.register(), of }
            }
            Draw::Cas | Draw::WeakCas => {
                let weak = matches!(draw, Draw::WeakCas);
                let (expected, new) = (Expr::Number(self.dice.below(2) as u64), self.value());
                let order = self.update_order();
                let success = Some(self.register());
                let old = if self.dice.one_in(3) { Some(self.register()) } else { None };
                StmtKind::Cas { weak, success, old, loc, expected, new, order, failure: failure_order(order) }
            }
            Draw::Park if self.dice.one_in(3) => StmtKind::Park,
            Draw::Park => {
                let other = (self.number + 1 + self.dice.below(self.threads - 1)) % self.threads;
                StmtKind::Unpark(name_of(other))
            }
            _ => {
                let order = self.dice.pick(&[Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst]);
                StmtKind::Load { to: self.register(), loc, order }
            }
        }
    }

    /// This access, half of them only where the thread has read something else than 0.
    fn perhaps(&mut self, access: Stmt) -> Stmt {
        let Some(last) = self.known.last().filter(|_| self.dice.one_in(2)) else { return access };
        let condition = Expr::Register(last.clone());
        Stmt::new(StmtKind::If { condition, then: vec![access], otherwise: Vec::new() })
    }

    fn lock(&mut self, left: &mut usize, body: &mut Vec<Stmt>) {
        let Some(lock) = self.free_lock() else { return };
        let name = LOCKS[lock].to_owned();
        *left -= 2;
        self.held |= 1 << lock;
        body.push(Stmt::new(StmtKind::Lock(name.clone())));
        if *left >= 2 && self.dice.one_in(2) {
            self.lock(left, body);
        }
        let most = 1 + self.dice.below(2);
        body.extend(self.block(left, most));
        if !self.dice.one_in(12) {
            self.held &= !(1 << lock);
            body.push(Stmt::new(StmtKind::Unlock(name)));
        }
    }

    fn try_lock(&mut self, left: &mut usize, body: &mut Vec<Stmt>) {
        let lock = self.dice.below(self.locks);
        let (name, was_held) = (LOCKS[lock].to_owned(), self.held);
        *left -= 2;
        self.held |= 1 << lock;
        let to = self.register();
        let before = self.known.clone();
        let most = self.dice.below(3);
        let mut then = self.block(left, most);
        then.push(Stmt::new(StmtKind::Unlock(name.clone())));
        (self.held, self.known) = (was_held, before);
        body.push(Stmt::new(StmtKind::TryLock { to: to.clone(), lock: name }));
        body.push(Stmt::new(StmtKind::If { condition: Expr::Register(to), then, otherwise: Vec::new() }));
    }

    fn branch(&mut self, left: &mut usize, body: &mut Vec<Stmt>) {
        let condition = self.condition(Operator::Eq);
        let (before, held) = (self.known.clone(), self.held);
        let mut most = 1 + self.dice.below(2);
        let then = self.block(left, most);
        (self.known, self.held) = (before.clone(), held);
        most = self.dice.below(3);
        let otherwise = self.block(left, most);
        (self.known, self.held) = (before, held);
        body.push(Stmt::new(StmtKind::If { condition, then, otherwise }));
    }

    /// Looks at a location at most twice.
    fn repeat(&mut self, left: &mut usize, body: &mut Vec<Stmt>) {
        *left -= 2;
        let kind = self.access(Draw::Load);
        let StmtKind::Load { to, .. } = &kind else { return };
        let condition = Expr::binary(Operator::Eq, Expr::Register(to.clone()), Expr::Number(0));
        body.push(Stmt::new(StmtKind::While { condition, bound: Some(2), body: vec![Stmt::new(kind)] }));
    }

    fn free_lock(&mut self) -> Option<usize> {
        let free: Vec<usize> = (0..self.locks).filter(|lock| self.held & (1 << lock) == 0).collect();
        (!free.is_empty()).then(|| self.dice.pick(&free))
    }

    fn register(&mut self) -> String {
        self.registers += 1;
        let name = format!("r{}", self.registers);
        self.known.push(name.clone());
        name
    }

    fn value(&mut self) -> Expr {
        if !self.known.is_empty() && self.dice.one_in(5) {
            let register = Expr::Register(self.known[self.dice.below(self.known.len())].clone());
            return Expr::binary(Operator::Add, register, Expr::Number(1));
        }
        Expr::Number(1 + self.dice.below(2) as u64)
    }

    fn condition(&mut self, operator: Operator) -> Expr {
        let register = Expr::Register(self.known[self.dice.below(self.known.len())].clone());
        Expr::binary(operator, register, Expr::Number(self.dice.below(3) as u64))
    }

    fn update_order(&mut self) -> Ordering {
        let orders = [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];
        self.dice.pick(&orders)
    }
}
