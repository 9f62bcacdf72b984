//! Checks of a program whose names are all known: clashes, impossible orderings, spawns.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::litmus::program::{is_name, names_location};
use crate::litmus::text::order_name;
use crate::litmus::{Error, Expected, Program, Stmt, StmtKind};

/// Checks that names are names, and that no two of a kind are alike.
pub(super) fn names(program: &Program) -> Result<(), Error> {
    let mut locations = BTreeSet::new();
    for name in program.locations.iter().map(|location| location.name.as_str()) {
        well_named(name, 0)?;
        if !locations.insert(name) {
            return Err(Error::Twice { line: 0, name: name.to_owned() });
        }
    }
    let mut threads = BTreeSet::from(["main"]);
    for thread in &program.threads {
        let line = thread.line.0;
        well_named(&thread.name, line)?;
        if !threads.insert(&thread.name) {
            return Err(Error::Twice { line, name: thread.name.clone() });
        }
    }
    each(program, |stmt| {
        let line = stmt.line.0;
        stmt.assigned().try_for_each(|name| {
            well_named(name, line)?;
            if names_location(name) || locations.contains(name) {
                return Err(Error::LooksLikeLocation { line, name: name.to_owned() });
            }
            Ok(())
        })?;
        match &stmt.kind {
            StmtKind::Lock(name)
            | StmtKind::Unlock(name)
            | StmtKind::TryLock { lock: name, .. }
            | StmtKind::CellRead(name)
            | StmtKind::CellWrite(name)
            | StmtKind::Peek { cell: name, .. }
            | StmtKind::Poke { cell: name, .. } => well_named(name, line),
            _ => Ok(()),
        }
    })
}

fn well_named(name: &str, line: u32) -> Result<(), Error> {
    if is_name(name) { Ok(()) } else { Err(Error::Name { line, name: name.to_owned() }) }
}

fn each(program: &Program, mut test: impl FnMut(&Stmt) -> Result<(), Error>) -> Result<(), Error> {
    let mut result = Ok(());
    program.visit(|stmt| {
        if result.is_ok() {
            result = test(stmt);
        }
    });
    result
}

/// Checks that every ordering is one that Rust allows there.
pub(super) fn orders(program: &Program) -> Result<(), Error> {
    each(program, |stmt| {
        let line = stmt.line.0;
        let one_of = |operation, order: Ordering, good: bool, allowed| {
            let found = order_name(order).to_owned();
            if good { Ok(()) } else { Err(Error::Order { line, operation, found, allowed }) }
        };
        let reads = |order| !matches!(order, Ordering::Release | Ordering::AcqRel);
        match stmt.kind {
            StmtKind::Load { order, .. } => one_of("load", order, reads(order), "rlx, acq, sc"),
            StmtKind::Store { order, .. } => {
                let writes = !matches!(order, Ordering::Acquire | Ordering::AcqRel);
                one_of("store", order, writes, "rlx, rel, sc")
            }
            StmtKind::Cas { failure, .. } => one_of("failed cas", failure, reads(failure), "rlx, acq, sc"),
            StmtKind::Fence(order) => one_of("fence", order, order != Ordering::Relaxed, "acq, rel, acqrel, sc"),
            _ => Ok(()),
        }
    })
}

/// Checks that every thread is spawned in one place, which is in no loop. (Whether that place is ever reached is
/// another matter.) A main that is not written out spawns the threads that no other thread spawns.
pub(super) fn spawns(program: &Program) -> Result<(), Error> {
    let mut spawned = BTreeSet::new();
    let mut looped = Vec::new();
    each(program, |stmt| {
        if let StmtKind::While { body, .. } = &stmt.kind {
            body.iter().for_each(|stmt| stmt.visit(&mut |stmt| looped.push(std::ptr::from_ref(stmt))));
        }
        let StmtKind::Spawn(name) = &stmt.kind else { return Ok(()) };
        let first = spawned.insert(name.clone());
        if !first || looped.contains(&std::ptr::from_ref(stmt)) || name == "main" {
            return Err(Error::SpawnedTwice { line: stmt.line.0, name: name.clone() });
        }
        Ok(())
    })?;
    let lost = program.threads.iter().find(|thread| !spawned.contains(&thread.name));
    match lost {
        Some(thread) if program.main.is_some() => {
            Err(Error::NeverSpawned { line: thread.line.0, name: thread.name.clone() })
        }
        _ => Ok(()),
    }
}

/// Checks that every expected outcome lists the registers that there are.
pub(super) fn outcomes(program: &Program, registers: &[(String, usize, usize)]) -> Result<(), Error> {
    let expected: BTreeSet<&str> = registers.iter().map(|(name, ..)| name.as_str()).collect();
    for expectation in &program.expectations {
        let Expected::Outcomes(outcomes) = &expectation.expected else { continue };
        let wrong = outcomes.iter().find(|outcome| !outcome.registers.keys().eq(expected.iter()));
        if let Some(outcome) = wrong {
            let registers = expected.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(Error::Registers { line: expectation.line.0, outcome: outcome.to_string(), registers });
        }
    }
    Ok(())
}
