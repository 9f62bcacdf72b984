//! Compares bounds of preemptions with loom's: whatever loom shows within a bound, rsmc shows within that bound.
//!
//! ```sh
//! cargo run --release --manifest-path benches/Cargo.toml --bin bounds -- [PROGRAMS] [FIRST SEED]
//! ```
//!
//! The programs are random, of two to three threads. Loom has one of them run in the body, so its executions have at
//! least as many preemptions as rsmc counts. Accesses are `Acquire`, `Release` or `Relaxed`, since loom's `SeqCst` ones
//! are weaker than C11's. What loom shows and C11 forbids does not count. Each access writes or adds a value of its
//! own, so that an outcome tells what was read from where: some of loom's executions are none of C11, with outcomes
//! that other executions have.
//!
//! Where threads give hints rsmc may need one preemption more. loom leaves out an old value that was seen before a
//! hint, where rsmc counts it, but only while it knows of a newer one. When a thread that has written a location reads
//! a write of another thread, loom forgets which later ones of that thread are newer.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Release, SeqCst};

use rsmc_benches::{litmus_on_loom, litmus_on_rsmc};
use rsmc_core::model::MemoryModel::C11;
use rsmc_core::trace::RmwKind;
use rsmc_testkit::litmus::{Expr, Outcome, Size, Stmt, StmtKind, Weights, random};

/// The number of programs of each kind, unless the command line has another one.
const PROGRAMS: u64 = 300;
/// The bounds.
const BOUNDS: [Option<usize>; 4] = [Some(0), Some(1), Some(2), None];
/// Twice this is the first value that is written; those that programs begin with are smaller.
const FIRST_VALUE: u64 = 8;
const SIZE: Size = Size { threads: 3, locations: 2, locks: 0, operations: 7 };

/// What a bound leaves, of all programs.
#[derive(Clone, Copy, Default)]
struct Row {
    /// The outcomes that loom shows and C11 allows, and loom's iterations.
    loom: (usize, u64),
    /// The outcomes that rsmc shows, and its executions.
    rsmc: (usize, u64),
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let (programs, first) = (numbers.next().unwrap_or(Ok(PROGRAMS))?, numbers.next().unwrap_or(Ok(0))?);
    let kinds = [
        ("loads and stores", Weights::ATOMICS),
        ("updates", Weights::UPDATES),
        ("loads and stores with hints", Weights { hint: 8, ..Weights::ATOMICS }),
        ("updates with hints", Weights { hint: 8, ..Weights::UPDATES }),
    ];
    for (name, weights) in kinds {
        let rows = compare(first..first + programs, &weights)?;
        println!("{programs} programs of {name}: outcomes (executions)");
        for (bound, Row { loom, rsmc }) in BOUNDS.iter().zip(rows) {
            let bound = bound.map_or("none".to_owned(), |bound| bound.to_string());
            println!("  bound {bound:>4}: loom {:>6} ({:>8}), rsmc {:>6} ({:>8})", loom.0, loom.1, rsmc.0, rsmc.1);
        }
    }
    Ok(())
}

/// Compares on the programs with these seeds; an error names an outcome that rsmc does not show.
fn compare(seeds: std::ops::Range<u64>, weights: &Weights) -> Result<[Row; BOUNDS.len()], String> {
    let mut rows = [Row::default(); BOUNDS.len()];
    for seed in seeds {
        let mut program = random(seed, SIZE, weights);
        let mut value = FIRST_VALUE;
        program.threads.iter_mut().flat_map(|thread| &mut thread.body).for_each(|stmt| prepare(stmt, &mut value));
        let allowed = litmus_on_rsmc::explore(&program, C11, None).outcomes;
        for (row, bound) in rows.iter_mut().zip(BOUNDS) {
            let more = bound.map(|bound| bound + usize::from(weights.hint > 0));
            let rsmc = litmus_on_rsmc::explore(&program, C11, more);
            let loom = litmus_on_loom::explore(&program, bound)?;
            let by_loom: BTreeSet<&Outcome> = loom.outcomes.intersection(&allowed).collect();
            if let Some(missed) = by_loom.iter().find(|outcome| !rsmc.outcomes.contains(*outcome)) {
                return Err(format!("seed {seed}, bound {bound:?}: only loom shows {missed}\n{program}"));
            }
            row.loom = (row.loom.0 + by_loom.len(), row.loom.1 + loom.iterations);
            row.rsmc = (row.rsmc.0 + rsmc.outcomes.len(), row.rsmc.1 + rsmc.executions);
        }
    }
    Ok(rows)
}

/// Takes `SeqCst` from a statement and those in it, and gives them values of their own, of one bit each.
fn prepare(stmt: &mut Stmt, value: &mut u64) {
    let weaker = |order: &mut Ordering, than_seq_cst: Ordering| {
        if *order == SeqCst {
            *order = than_seq_cst;
        }
    };
    let mut own = || {
        *value *= 2;
        Expr::Number(*value)
    };
    match &mut stmt.kind {
        StmtKind::Load { order, .. } => weaker(order, Acquire),
        StmtKind::Store { value, order, .. } => {
            *value = own();
            weaker(order, Release);
        }
        StmtKind::Rmw { kind, operand, order, .. } => {
            (*kind, *operand) = (RmwKind::Add, own());
            weaker(order, AcqRel);
        }
        StmtKind::Cas { new, order, failure, .. } => {
            *new = own();
            weaker(order, AcqRel);
            weaker(failure, Acquire);
        }
        StmtKind::Fence(order) => weaker(order, AcqRel),
        StmtKind::If { then, otherwise, .. } => {
            then.iter_mut().chain(otherwise).for_each(|stmt| prepare(stmt, value));
        }
        _ => {}
    }
}
