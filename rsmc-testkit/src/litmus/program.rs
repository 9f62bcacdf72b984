//! Programs as data: what the parser makes, the generators build and the interpreter runs.
//!
//! Names are strings: a program is small and made once, and `compile` turns names into numbers.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;

use crate::litmus::{Expr, Outcome};
use rsmc_core::trace::RmwKind;

/// A line of the text. All lines are equal: programs are compared by their statements, not by the lines of these.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _: &Line) -> bool {
        true
    }
}

impl Eq for Line {}

impl Hash for Line {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A whole program, with what is expected of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Program {
    /// Its name; may be empty.
    pub name: String,
    /// The locations, with their initial values.
    pub locations: Vec<Location>,
    /// The program of main; `None`: main spawns the threads that no other thread spawns, and joins them.
    pub main: Option<ThreadProgram>,
    /// The other threads.
    pub threads: Vec<ThreadProgram>,
    /// The expectations.
    pub expectations: Vec<Expectation>,
}

/// A shared variable of 32 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// Its value before any write.
    pub init: u64,
}

/// The program of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadProgram {
    /// Its name.
    pub name: String,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// The line at which its text begins.
    pub line: Line,
}

/// A statement with its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stmt {
    /// The line at which it begins.
    pub line: Line,
    /// Its kind, with its parts.
    pub kind: StmtKind,
}

/// A kind of statement, with its parts. The module describes the text of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields of a statement are what its text shows")]
pub enum StmtKind {
    /// `a = x`
    Load { to: String, loc: String, order: Ordering },
    /// `x = e`
    Store { loc: String, value: Expr, order: Ordering },
    /// `a = add(x, e)`
    Rmw { to: Option<String>, kind: RmwKind, loc: String, operand: Expr, order: Ordering },
    /// `a, b = cas(x, e, e)`, or `wcas` if it is weak
    Cas {
        weak: bool,
        success: Option<String>,
        old: Option<String>,
        loc: String,
        expected: Expr,
        new: Expr,
        order: Ordering,
        failure: Ordering,
    },
    /// `a = e`, without a shared access
    Assign { to: String, value: Expr },
    /// `fence`
    Fence(Ordering),
    /// `lock m`
    Lock(String),
    /// `unlock m`
    Unlock(String),
    /// `a = trylock m`
    TryLock { to: String, lock: String },
    /// `a = choose 3`; without `of` `a = maybe`, where a 1 is a spurious outcome
    Choose { to: String, of: Option<u32> },
    /// `read c`
    CellRead(String),
    /// `write c`
    CellWrite(String),
    /// `a = peek c`
    Peek { to: String, cell: String },
    /// `poke c e`
    Poke { cell: String, value: Expr },
    /// `park`
    Park,
    /// `unpark t1`
    Unpark(String),
    /// `spin`
    Spin,
    /// `if e { … } else { … }`
    If { condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// `while e upto n { … }`
    While { condition: Expr, bound: Option<u32>, body: Vec<Stmt> },
    /// `assert e`
    Assert(Expr),
    /// `spawn t1`
    Spawn(String),
    /// `join t1`
    Join(String),
}

/// One line of expectations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expectation {
    /// The memory model: one of [`Expectation::MODELS`].
    pub model: String,
    /// The results that are expected under it.
    pub expected: Expected,
    /// Its line.
    pub line: Line,
}

impl Expectation {
    /// The memory models an expectation may name.
    pub const MODELS: [&'static str; 4] = ["sc", "tso", "pso", "c11"];
    /// The equivalences an expectation may name: happens-before, reads-from, reads-value-from, view.
    pub const EQUIVALENCES: [&'static str; 4] = ["hb", "rf", "rvf", "view"];
}

/// The results that are expected of the maximal executions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expected {
    /// Exactly these outcomes.
    Outcomes(BTreeSet<Outcome>),
    /// Exactly this many classes.
    Classes {
        /// One of [`Expectation::EQUIVALENCES`].
        equivalence: String,
        /// The number of classes.
        count: u64,
    },
}

impl Stmt {
    /// A statement that stands nowhere yet; [`Program::renumber`] gives it a line.
    pub fn new(kind: StmtKind) -> Self {
        Self { line: Line::default(), kind }
    }

    /// Calls `f` with this statement and all in its blocks, in order of the text.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&'a Stmt)) {
        f(self);
        match &self.kind {
            StmtKind::If { then, otherwise, .. } => then.iter().chain(otherwise).for_each(|stmt| stmt.visit(f)),
            StmtKind::While { body, .. } => body.iter().for_each(|stmt| stmt.visit(f)),
            _ => {}
        }
    }

    /// The registers it assigns, not counting its blocks.
    pub fn assigned(&self) -> impl Iterator<Item = &str> {
        let (first, second) = match &self.kind {
            StmtKind::Load { to, .. }
            | StmtKind::Assign { to, .. }
            | StmtKind::TryLock { to, .. }
            | StmtKind::Peek { to, .. }
            | StmtKind::Choose { to, .. } => (Some(to), None),
            StmtKind::Rmw { to, .. } => (to.as_ref(), None),
            StmtKind::Cas { success, old, .. } => (success.as_ref(), old.as_ref()),
            _ => (None, None),
        };
        first.into_iter().chain(second).map(String::as_str)
    }

    /// The shared variable it accesses.
    pub fn location(&self) -> Option<&str> {
        match &self.kind {
            StmtKind::Load { loc, .. }
            | StmtKind::Store { loc, .. }
            | StmtKind::Rmw { loc, .. }
            | StmtKind::Cas { loc, .. } => Some(loc),
            _ => None,
        }
    }
}

impl Program {
    /// Main, if it is written out, and all other threads.
    pub fn all_threads(&self) -> impl Iterator<Item = &ThreadProgram> {
        self.main.iter().chain(&self.threads)
    }

    /// Calls `f` with every statement, in order of the text.
    pub fn visit<'a>(&'a self, mut f: impl FnMut(&'a Stmt)) {
        self.all_threads().flat_map(|thread| &thread.body).for_each(|stmt| stmt.visit(&mut f));
    }

    /// The expected outcomes under a model, if the program states them.
    pub fn expected_outcomes(&self, model: &str) -> Option<&BTreeSet<Outcome>> {
        self.expectations.iter().filter(|expectation| expectation.model == model).find_map(|e| match &e.expected {
            Expected::Outcomes(outcomes) => Some(outcomes),
            Expected::Classes { .. } => None,
        })
    }

    /// The expected number of classes of an equivalence under a model, if the program states it.
    pub fn expected_classes(&self, equivalence: &str, model: &str) -> Option<u64> {
        self.expectations.iter().filter(|expectation| expectation.model == model).find_map(|e| match &e.expected {
            Expected::Classes { equivalence: of, count } if of == equivalence => Some(*count),
            _ => None,
        })
    }
}

/// Whether text can be a name.
pub(super) fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(letter)
        && text.chars().all(|c| letter(c) || c.is_ascii_digit())
        && text != "_"
        && !RESERVED.contains(&text)
}

/// Whether an undeclared name is one of a location: `u` to `z`, alone or before a number.
pub(super) fn names_location(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| ('u'..='z').contains(&c)) && letters.all(|c| c.is_ascii_digit())
}

/// Words with a meaning of their own.
const RESERVED: [&str; 35] = [
    "name", "init", "expect", "if", "else", "while", "upto", "lock", "unlock", "trylock", "read", "write", "peek",
    "poke", "park", "unpark", "spin", "assert", "spawn", "join", "fence", "ok", "stuck", "panic", "add", "sub", "swap",
    "and", "nand", "or", "xor", "umax", "umin", "smax", "smin",
];
