//! All small programs: two threads, two locations, every sequence of operations up to a length.

use std::sync::atomic::Ordering;

use crate::litmus::{Expr, Location, Program, Stmt, StmtKind, ThreadProgram};
use rsmc_core::trace::RmwKind;

/// The locations of an enumerated program.
const LOCATIONS: [&str; 2] = ["x", "y"];
/// The number of operations on one location.
const KINDS: usize = 6;

/// All programs of two threads that each perform 1 to `length` operations: a load, a store of 1 or 2, an addition
/// of 1, a compare-exchange of 0 for 1 or of 1 for 2, on one of two locations. Symmetric ones are not left out.
///
/// There are 144 programs for length 1, 24,336 for length 2 and 3,549,456 for length 3.
pub fn enumerate(length: u32) -> impl Iterator<Item = Program> {
    bodies(length)
        .flat_map(move |first| bodies(length).map(move |second| program(&[first.as_slice(), second.as_slice()])))
}

/// All sequences of operations of one thread, short ones first.
fn bodies(length: u32) -> impl Iterator<Item = Vec<usize>> {
    let letters = KINDS * LOCATIONS.len();
    (1..=length).flat_map(move |length| (0..letters.pow(length)).map(move |code| digits(code, length, letters)))
}

fn digits(mut code: usize, length: u32, base: usize) -> Vec<usize> {
    let mut next = || {
        let digit = code % base;
        code /= base;
        digit
    };
    (0..length).map(|_| next()).collect()
}

fn program(bodies: &[&[usize]]) -> Program {
    let location = |name: &&str| Location { name: (*name).to_owned(), init: 0 };
    let mut registers = 0;
    let mut threads = Vec::new();
    for (number, body) in bodies.iter().enumerate() {
        let mut statement = |&code: &usize| {
            registers += 1;
            Stmt::new(operation(code, format!("r{registers}")))
        };
        let body = body.iter().map(&mut statement).collect();
        threads.push(ThreadProgram { name: format!("t{}", number + 1), body, ..ThreadProgram::default() });
    }
    let locations = LOCATIONS.iter().map(location).collect();
    let mut program = Program { locations, threads, ..Program::default() };
    program.renumber();
    program
}

fn operation(code: usize, register: String) -> StmtKind {
    let loc = LOCATIONS[code / KINDS].to_owned();
    let order = Ordering::SeqCst;
    let cas = |loc, success, expected| StmtKind::Cas {
        weak: false,
        success,
        old: None,
        loc,
        expected: Expr::Number(expected),
        new: Expr::Number(expected + 1),
        order,
        failure: order,
    };
    match code % KINDS {
        0 => StmtKind::Load { to: register, loc, order },
        1 => StmtKind::Store { loc, value: Expr::Number(1), order },
        2 => StmtKind::Store { loc, value: Expr::Number(2), order },
        3 => StmtKind::Rmw { to: Some(register), kind: RmwKind::Add, loc, operand: Expr::Number(1), order },
        4 => cas(loc, Some(register), 0),
        _ => cas(loc, Some(register), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_programs_are_there_and_none_twice() {
        assert_eq!(enumerate(1).collect::<HashSet<_>>().len(), 144);
        assert_eq!(enumerate(2).count(), 24_336);
        assert_eq!(enumerate(0).count(), 0);
        let printed: HashSet<String> = enumerate(2).step_by(7).map(|program| program.to_string()).collect();
        assert_eq!(printed.len(), 24_336_usize.div_ceil(7));
    }
}
