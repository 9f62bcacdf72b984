//! Two laws of C11 on random programs, by the axioms: every outcome under SC, TSO and PSO is one under C11, and a
//! program with nothing but SeqCst has exactly its outcomes under SC.
//!
//! `RSMC_ORACLE_PROGRAMS` sets how many programs each mix gets (default 12), `RSMC_ORACLE_SEED` shifts them.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::SeqCst;

use rsmc_core::model::MemoryModel;
use rsmc_testkit::litmus::{Outcome, Program, Size, Stmt, StmtKind, Weights};

use crate::c11_axioms::executions;
use crate::litmus_brute::brute;
use crate::oracle;

const SMALL: Size = Size { threads: 4, locations: 2, locks: 2, operations: 7 };
const TWO_THREADS: Size = Size { threads: 2, locations: 3, locks: 2, operations: 8 };
const THREE_THREADS: Size = Size { threads: 3, locations: 3, locks: 2, operations: 8 };

/// An attempt that fails is Relaxed, so attempts have no place where all is SeqCst.
const NO_ATTEMPTS: Weights = Weights { try_lock: 0, ..Weights::EVERYTHING };

/// An outcome of brute force that the axioms do not allow.
fn lost(program: &Program, _: u64) -> Option<String> {
    let found = executions(program)?;
    [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso].into_iter().find_map(|memory| {
        let shown = brute(program, memory, 20_000)?.outcomes;
        let lost = text(shown.difference(&found.outcomes));
        (!lost.is_empty()).then(|| format!("under {memory} and not under c11: {lost}"))
    })
}

/// The difference between C11 and SC on the program with every ordering made SeqCst.
fn not_sc(program: &Program, _: u64) -> Option<String> {
    let program = all_seqcst(program);
    let (found, shown) = (executions(&program)?.outcomes, brute(&program, MemoryModel::Sc, 20_000)?.outcomes);
    let difference = text(found.symmetric_difference(&shown));
    (!difference.is_empty()).then(|| format!("under one of c11 and sc: {difference}"))
}

fn text<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    outcomes.map(ToString::to_string).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" | ")
}

fn all_seqcst(program: &Program) -> Program {
    let mut program = program.clone();
    program.main.iter_mut().chain(&mut program.threads).for_each(|thread| make_seqcst(&mut thread.body));
    program
}

fn make_seqcst(body: &mut [Stmt]) {
    for stmt in body {
        match &mut stmt.kind {
            StmtKind::Load { order, .. } | StmtKind::Store { order, .. } | StmtKind::Rmw { order, .. } => {
                *order = SeqCst
            }
            StmtKind::Cas { order, failure, .. } => (*order, *failure) = (SeqCst, SeqCst),
            StmtKind::Fence(order) => *order = SeqCst,
            StmtKind::If { then, otherwise, .. } => {
                make_seqcst(then);
                make_seqcst(otherwise);
            }
            StmtKind::While { body, .. } => make_seqcst(body),
            _ => {}
        }
    }
}

#[test]
fn what_other_models_show_is_an_outcome_under_c11() {
    oracle::compare("atomics", SMALL, &Weights::ATOMICS, &lost);
    oracle::compare("atomics of two threads", TWO_THREADS, &Weights::ATOMICS, &lost);
    oracle::compare("updates", THREE_THREADS, &Weights::UPDATES, &lost);
    oracle::compare("locks", SMALL, &Weights::LOCKS, &lost);
    oracle::compare("everything", THREE_THREADS, &Weights::EVERYTHING, &lost);
}

#[test]
fn all_seqcst_is_sequential_consistency() {
    oracle::compare("atomics", SMALL, &Weights::ATOMICS, &not_sc);
    oracle::compare("atomics of three threads", THREE_THREADS, &Weights::ATOMICS, &not_sc);
    oracle::compare("updates", THREE_THREADS, &Weights::UPDATES, &not_sc);
    oracle::compare("everything", SMALL, &NO_ATTEMPTS, &not_sc);
}
