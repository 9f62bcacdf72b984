//! Smaller variants of a program, to find the smallest that still fails.
//!
//! Use: take the first candidate that still fails, and begin again with it, until none does. Every candidate is
//! smaller, so this ends. Expectations are dropped, since they do not hold for a variant.

use crate::litmus::compile::compile;
use crate::litmus::{Program, Stmt, StmtKind, ThreadProgram};

/// All programs that have one thread or one statement less, or a block in place of its `if` or `while`. Each of
/// them runs.
///
/// A `lock` goes together with the next `unlock` of its block, so that no candidate releases what it does not hold
/// (taking a block out of its `if` can do that, where the `if` was on a try-lock: such a program has a panic).
pub fn shrink(program: &Program) -> impl Iterator<Item = Program> + use<> {
    let base = Program { expectations: Vec::new(), ..program.clone() };
    let threads = (0..base.threads.len()).map(|at| without_thread(&base, at));
    let mains = base.main.iter().flat_map(|main| {
        variants(&main.body).into_iter().map(|body| Program { main: Some(replace(main, body)), ..base.clone() })
    });
    let statements = base.threads.iter().enumerate().flat_map(|(at, thread)| {
        let base = &base;
        variants(&thread.body).into_iter().map(move |body| {
            let mut smaller = base.clone();
            smaller.threads[at] = replace(thread, body);
            smaller
        })
    });
    let unused = without_unused(&base);
    let mut all: Vec<Program> = threads.chain(mains).chain(statements).chain(unused).collect();
    all.retain(|candidate| compile(candidate).is_ok());
    all.iter_mut().for_each(Program::renumber);
    all.into_iter()
}

fn replace(thread: &ThreadProgram, body: Vec<Stmt>) -> ThreadProgram {
    ThreadProgram { body, ..thread.clone() }
}

/// Takes a thread out, and every statement that names it.
fn without_thread(program: &Program, at: usize) -> Program {
    let mut smaller = program.clone();
    let gone = smaller.threads.remove(at).name;
    for thread in smaller.main.iter_mut().chain(&mut smaller.threads) {
        forget(&mut thread.body, &gone);
    }
    smaller
}

fn forget(body: &mut Vec<Stmt>, gone: &str) {
    body.retain_mut(|stmt| match &mut stmt.kind {
        StmtKind::Unpark(name) | StmtKind::Spawn(name) | StmtKind::Join(name) => name != gone,
        StmtKind::If { then, otherwise, .. } => {
            forget(then, gone);
            forget(otherwise, gone);
            true
        }
        StmtKind::While { body, .. } => {
            forget(body, gone);
            true
        }
        _ => true,
    });
}

/// Takes out the locations that no statement accesses.
fn without_unused(program: &Program) -> Option<Program> {
    let mut used = Vec::new();
    program.visit(|stmt| used.extend(stmt.location().map(str::to_owned)));
    let mut smaller = program.clone();
    smaller.locations.retain(|location| used.contains(&location.name));
    (smaller.locations.len() < program.locations.len()).then_some(smaller)
}

/// All smaller variants of a block.
fn variants(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut found = Vec::new();
    for (at, stmt) in body.iter().enumerate() {
        let with = |inner: &[Stmt]| [&body[..at], inner, &body[at + 1..]].concat();
        found.push(without_statement(body, at));
        let changed = |kind| with(&[Stmt { line: stmt.line, kind }]);
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                let condition = || condition.clone();
                found.extend([with(then), with(otherwise)]);
                found.extend(
                    variants(then).into_iter().map(|then| {
                        changed(StmtKind::If { condition: condition(), then, otherwise: otherwise.clone() })
                    }),
                );
                found.extend(
                    variants(otherwise).into_iter().map(|otherwise| {
                        changed(StmtKind::If { condition: condition(), then: then.clone(), otherwise })
                    }),
                );
            }
            StmtKind::While { condition, bound, body } => {
                found.push(with(body));
                found.extend(
                    variants(body)
                        .into_iter()
                        .map(|body| changed(StmtKind::While { condition: condition.clone(), bound: *bound, body })),
                );
            }
            _ => {}
        }
    }
    found
}

/// Takes a statement out; with a lock its release in the same block.
fn without_statement(body: &[Stmt], at: usize) -> Vec<Stmt> {
    let mut smaller = body.to_vec();
    let gone = smaller.remove(at).kind;
    if let StmtKind::Lock(lock) = gone {
        let unlock = smaller[at..].iter().position(|stmt| stmt.kind == StmtKind::Unlock(lock.clone()));
        if let Some(offset) = unlock {
            smaller.remove(at + offset);
        }
    }
    smaller
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::{Size, Weights, parse, random};

    fn size(program: &Program) -> usize {
        let mut statements = 0;
        program.visit(|_| statements += 1);
        statements + program.threads.len() + program.locations.len()
    }

    #[test]
    fn candidates_are_smaller_and_run() {
        for seed in 0..100 {
            let program = random(seed, Size::default(), &Weights::EVERYTHING);
            for candidate in shrink(&program) {
                assert!(size(&candidate) < size(&program), "{candidate}");
                assert!(parse(&candidate.to_string()).is_ok(), "{candidate}");
            }
        }
    }

    #[test]
    fn a_condition_shrinks_to_its_core() {
        let stores_two = |program: &Program| program.to_string().contains("x = 2");
        let text = "main: spawn t1; spawn t2; unpark t1; join t1; join t2\nt1: lock m; if 1 { while 1 upto 2 { x = 2; y = 1 } }; unlock m\nt2: x = 1";
        let mut program = parse(text).unwrap();
        while let Some(smaller) = shrink(&program).find(stores_two) {
            program = smaller;
        }
        assert_eq!(program.to_string(), "init x = 0\nmain:\n    spawn t1\nt1:\n    x = 2\n");
    }

    #[test]
    fn a_lock_goes_with_its_unlock() {
        let program = parse("t1: lock m; x = 1; unlock m").unwrap();
        let texts: Vec<String> = shrink(&program).map(|program| program.to_string()).collect();
        assert!(texts.contains(&"init x = 0\nt1:\n    x = 1\n".to_owned()), "{texts:?}");
    }
}
