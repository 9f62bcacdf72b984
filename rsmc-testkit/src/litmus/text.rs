//! Prints programs so that they parse back, and the words for orderings and read-modify-writes.

use std::fmt;
use std::sync::atomic::Ordering;

use crate::litmus::{Expected, Line, Program, Stmt, StmtKind};
use rsmc_core::trace::RmwKind;

/// The orderings with their suffixes.
pub(super) const ORDERS: [(Ordering, &str); 5] = [
    (Ordering::Relaxed, "rlx"),
    (Ordering::Acquire, "acq"),
    (Ordering::Release, "rel"),
    (Ordering::AcqRel, "acqrel"),
    (Ordering::SeqCst, "sc"),
];

const FUNCTIONS: [(RmwKind, &str); 11] = [
    (RmwKind::Swap, "swap"),
    (RmwKind::Add, "add"),
    (RmwKind::Sub, "sub"),
    (RmwKind::And, "and"),
    (RmwKind::Nand, "nand"),
    (RmwKind::Or, "or"),
    (RmwKind::Xor, "xor"),
    (RmwKind::MaxUnsigned, "umax"),
    (RmwKind::MinUnsigned, "umin"),
    (RmwKind::MaxSigned, "smax"),
    (RmwKind::MinSigned, "smin"),
];

/// The function of this name.
pub(super) fn rmw_kind(name: &str) -> Option<RmwKind> {
    FUNCTIONS.iter().find(|(_, other)| *other == name).map(|(kind, _)| *kind)
}

fn function(kind: RmwKind) -> &'static str {
    FUNCTIONS.iter().find(|(other, _)| *other == kind).map_or("?", |(_, name)| name)
}

/// The suffix of an ordering.
pub(super) fn order_name(order: Ordering) -> &'static str {
    ORDERS.iter().find(|(other, _)| *other == order).map_or("?", |(_, name)| name)
}

/// The ordering of a failed compare-exchange where none is written.
pub(super) fn failure_order(success: Ordering) -> Ordering {
    match success {
        Ordering::Release | Ordering::Relaxed => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        _ => Ordering::SeqCst,
    }
}

fn suffix(order: Ordering) -> String {
    if order == Ordering::SeqCst { String::new() } else { format!(".{}", order_name(order)) }
}

fn target(register: Option<&String>) -> String {
    register.map_or(String::new(), |register| format!("{register} = "))
}

impl Program {
    /// Gives every statement the line it has when the program is printed.
    pub fn renumber(&mut self) {
        let mut line = 1 + u32::from(!self.name.is_empty()) + u32::from(!self.locations.is_empty());
        for thread in self.main.iter_mut().chain(&mut self.threads) {
            thread.line = Line(line);
            line = renumber(&mut thread.body, line + 1);
        }
        for expectation in &mut self.expectations {
            expectation.line = Line(line);
            line += 1;
        }
    }
}

/// Numbers a block whose first statement is on `line`, and returns the line after it.
fn renumber(body: &mut [Stmt], mut line: u32) -> u32 {
    for stmt in body {
        stmt.line = Line(line);
        line = match &mut stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                let middle = renumber(then, line + 1);
                if otherwise.is_empty() { middle + 1 } else { renumber(otherwise, middle + 1) + 1 }
            }
            StmtKind::While { body, .. } => renumber(body, line + 1) + 1,
            _ => line + 1,
        };
    }
    line
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            writeln!(f, "name {}", self.name)?;
        }
        if !self.locations.is_empty() {
            let locations = self.locations.iter().map(|location| format!("{} = {}", location.name, location.init));
            writeln!(f, "init {}", locations.collect::<Vec<_>>().join(", "))?;
        }
        for thread in self.all_threads() {
            writeln!(f, "{}:", thread.name)?;
            block(f, &thread.body, 1)?;
        }
        for expectation in &self.expectations {
            let model = &expectation.model;
            match &expectation.expected {
                Expected::Outcomes(outcomes) => {
                    let outcomes: Vec<String> = outcomes.iter().map(ToString::to_string).collect();
                    writeln!(f, "expect outcomes {model}: {}", outcomes.join(" | "))?;
                }
                Expected::Classes { equivalence, count } => {
                    writeln!(f, "expect classes {equivalence}/{model}: {count}")?;
                }
            }
        }
        Ok(())
    }
}

fn block(f: &mut fmt::Formatter<'_>, body: &[Stmt], depth: usize) -> fmt::Result {
    for stmt in body {
        write!(f, "{:1$}{2}", "", depth * 4, head(&stmt.kind))?;
        match &stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                writeln!(f, " {{")?;
                block(f, then, depth + 1)?;
                if !otherwise.is_empty() {
                    writeln!(f, "{:1$}}} else {{", "", depth * 4)?;
                    block(f, otherwise, depth + 1)?;
                }
                writeln!(f, "{:1$}}}", "", depth * 4)?;
            }
            StmtKind::While { body, .. } => {
                writeln!(f, " {{")?;
                block(f, body, depth + 1)?;
                writeln!(f, "{:1$}}}", "", depth * 4)?;
            }
            _ => writeln!(f)?,
        }
    }
    Ok(())
}

/// A statement up to its first block.
fn head(kind: &StmtKind) -> String {
    match kind {
        StmtKind::Load { to, loc, order } => format!("{to} = {loc}{}", suffix(*order)),
        StmtKind::Store { loc, value, order } => format!("{loc}{} = {value}", suffix(*order)),
        StmtKind::Rmw { to, kind, loc, operand, order } => {
            format!("{}{}({loc}{}, {operand})", target(to.as_ref()), function(*kind), suffix(*order))
        }
        StmtKind::Cas { weak, success, old, loc, expected, new, order, failure } => {
            let results = match old {
                Some(old) => format!("{}, {old} = ", success.as_deref().unwrap_or("_")),
                None => target(success.as_ref()),
            };
            let orders = if *failure == failure_order(*order) {
                suffix(*order)
            } else {
                format!(".{}.{}", order_name(*order), order_name(*failure))
            };
            let name = if *weak { "wcas" } else { "cas" };
            format!("{results}{name}({loc}{orders}, {expected}, {new})")
        }
        StmtKind::Assign { to, value } => format!("{to} = {value}"),
        StmtKind::Fence(order) => format!("fence{}", suffix(*order)),
        StmtKind::Lock(lock) => format!("lock {lock}"),
        StmtKind::Unlock(lock) => format!("unlock {lock}"),
        StmtKind::TryLock { to, lock } => format!("{to} = trylock {lock}"),
        StmtKind::Choose { to, of: Some(of) } => format!("{to} = choose {of}"),
        StmtKind::Choose { to, of: None } => format!("{to} = maybe"),
        StmtKind::CellRead(cell) => format!("read {cell}"),
        StmtKind::CellWrite(cell) => format!("write {cell}"),
        StmtKind::Peek { to, cell } => format!("{to} = peek {cell}"),
        StmtKind::Poke { cell, value } => format!("poke {cell} {value}"),
        StmtKind::Park => "park".to_owned(),
        StmtKind::Unpark(thread) => format!("unpark {thread}"),
        StmtKind::Spin => "spin".to_owned(),
        StmtKind::Assert(condition) => format!("assert {condition}"),
        StmtKind::Spawn(thread) => format!("spawn {thread}"),
        StmtKind::Join(thread) => format!("join {thread}"),
        StmtKind::If { condition, .. } => format!("if {condition}"),
        StmtKind::While { condition, bound: Some(bound), .. } => format!("while {condition} upto {bound}"),
        StmtKind::While { condition, bound: None, .. } => format!("while {condition}"),
    }
}
