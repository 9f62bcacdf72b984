//! C11 by its axioms on the corpus: each file states its outcomes and reads-from classes under C11, two laws tie them
//! to the other models, and what the literature says of well-known tests is found again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::SeqCst;

use rsmc_testkit::litmus::{Outcome, Program, StmtKind};

use crate::c11_axioms::{Executions, executions};
use crate::corpus::corpus;

/// Whether it has a loop that may wait; these have no end here.
fn waits(program: &Program) -> bool {
    let mut waits = false;
    program.visit(|stmt| waits |= matches!(stmt.kind, StmtKind::While { bound: None, .. }));
    waits
}

/// Whether it makes choices, of which no axiom speaks.
fn chooses(program: &Program) -> bool {
    let mut chooses = false;
    program.visit(|stmt| chooses |= matches!(stmt.kind, StmtKind::Cas { weak: true, .. } | StmtKind::Choose { .. }));
    chooses
}

/// The programs without waiting loops and choices, with all their executions.
fn explored() -> impl Iterator<Item = (String, Program, Executions)> {
    corpus().into_iter().filter(|(_, program)| !waits(program) && !chooses(program)).map(|(name, program)| {
        let found = executions(&program).unwrap_or_else(|| panic!("{name}: too many executions"));
        (name, program, found)
    })
}

fn text(outcomes: &BTreeSet<Outcome>) -> String {
    outcomes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
}

#[test]
fn the_axioms_agree_with_the_files() {
    let mut wrong = Vec::new();
    for (name, program, found) in explored() {
        if program.expected_outcomes("c11") != Some(&found.outcomes) {
            wrong.push(format!("{name}: expect outcomes c11: {}", text(&found.outcomes)));
        }
        if program.expected_classes("rf", "c11") != Some(found.classes) {
            wrong.push(format!("{name}: expect classes rf/c11: {}", found.classes));
        }
    }
    assert!(wrong.is_empty(), "the axioms say\n{}", wrong.join("\n"));
}

/// What a buffered machine can do, C11 allows.
#[test]
fn what_other_models_show_is_an_outcome_under_c11() {
    for (name, program, found) in explored() {
        for model in ["sc", "tso", "pso"] {
            let shown = program.expected_outcomes(model).expect("every file lists them");
            let lost: BTreeSet<Outcome> = shown.difference(&found.outcomes).cloned().collect();
            assert!(lost.is_empty(), "{name}: an outcome under {model}, not under c11: {}", text(&lost));
        }
    }
}

/// With nothing but SeqCst, C11 is SC.
#[test]
fn all_seqcst_is_sequential_consistency() {
    let mut files = 0;
    for (name, program, found) in explored().filter(|(_, program, _)| only_seqcst(program)) {
        let shown = program.expected_outcomes("sc").expect("every file lists them");
        assert_eq!(text(shown), text(&found.outcomes), "{name}");
        files += 1;
    }
    assert!(files > 30, "{files} files");
}

/// Whether all accesses and fences are SeqCst. Locks count as they are, but for attempts: one that fails is Relaxed.
fn only_seqcst(program: &Program) -> bool {
    let mut only = true;
    program.visit(|stmt| {
        only &= match &stmt.kind {
            StmtKind::Load { order, .. } | StmtKind::Store { order, .. } | StmtKind::Rmw { order, .. } => {
                *order == SeqCst
            }
            StmtKind::Fence(order) => *order == SeqCst,
            StmtKind::Cas { order, failure, .. } => *order == SeqCst && *failure == SeqCst,
            StmtKind::TryLock { .. } => false,
            _ => true,
        };
    });
    only
}

/// A verdict: the file, some registers, and whether an execution can leave them so.
type Verdict = (&'static str, &'static str, bool);

const POSSIBLE: bool = true;
const IMPOSSIBLE: bool = false;

/// Verdicts from the literature, or by hand from the axioms. RC11: Lahav et al., PLDI 2017.
const VERDICTS: &[Verdict] = &[
    // Store buffering: only SeqCst on all four accesses, or a full fence (or its equal) on both sides.
    ("store_buffering", "a=0 b=0", IMPOSSIBLE),
    ("store_buffering_relaxed", "a=0 b=0", POSSIBLE),
    ("store_buffering_release", "a=0 b=0", POSSIBLE),
    ("store_buffering_store_both", "a=0 b=0", POSSIBLE),
    ("store_buffering_load_seqcst", "a=0 b=0", POSSIBLE),
    ("dekker_entry_load1", "in1=1 in2=1", POSSIBLE),
    ("dekker_entry_store2", "in1=1 in2=1", POSSIBLE),
    ("store_buffering_fences", "a=0 b=0", IMPOSSIBLE),
    ("store_buffering_fence_one", "a=0 b=0", POSSIBLE),
    ("store_buffering_fence_acqrel", "a=0 b=0", POSSIBLE),
    ("store_buffering_fence_seqcst", "a=0 b=0", IMPOSSIBLE),
    ("store_buffering_fence_mixed", "a=0 b=0", POSSIBLE),
    ("store_buffering_three_fences", "a=0 b=0 c=0", IMPOSSIBLE),
    ("store_buffering_three_fences_two", "a=0 b=0 c=0", POSSIBLE),
    ("store_buffering_lock_shared", "a=0 b=0", IMPOSSIBLE),
    ("store_buffering_lock_between", "a=0 b=0", POSSIBLE),
    ("store_buffering_rmw_shared", "a=0 b=0", POSSIBLE),
    ("store_buffering_rmw_load", "a=0 b=0", POSSIBLE),
    ("store_buffering_seqcst_mixed", "a=0 b=0", IMPOSSIBLE),
    ("store_buffering_seqcst_mixed", "a=0 b=1", POSSIBLE),
    // Message passing: Release with Acquire, each as an ordering or as a fence between.
    ("message_passing", "a=1 b=0", IMPOSSIBLE),
    ("message_passing_relaxed", "a=1 b=0", POSSIBLE),
    ("message_passing_release", "a=1 b=0", POSSIBLE),
    ("message_passing_acquire", "a=1 b=0", POSSIBLE),
    ("message_passing_seqcst", "a=1 b=0", IMPOSSIBLE),
    ("message_passing_fences", "a=1 b=0", IMPOSSIBLE),
    ("message_passing_fence_acquire", "a=1 b=0", IMPOSSIBLE),
    ("message_passing_release_fence", "a=1 b=0", IMPOSSIBLE),
    ("message_passing_release_fence_early", "a=1 b=0", POSSIBLE),
    ("message_passing_fence", "a=1 b=0", POSSIBLE),
    ("message_passing_fence_reader", "a=1 b=0", POSSIBLE),
    ("message_passing_fence_spawn", "a=1 b=0", POSSIBLE),
    ("message_passing_join_fence", "a=1 b=0", POSSIBLE),
    ("park_unpark", "a=0", IMPOSSIBLE),
    ("join_publishes", "a=0", IMPOSSIBLE),
    ("spawn_publishes", "b=0", IMPOSSIBLE),
    ("seqlock", "good=1 b=0 c=1", POSSIBLE),
    ("seqlock_fences", "good=1 b=0 c=1", IMPOSSIBLE),
    ("seqlock_fences", "good=1 b=1 c=0", IMPOSSIBLE),
    ("double_checked", "c=0", POSSIBLE),
    ("double_checked_release", "c=0", IMPOSSIBLE),
    // Load buffering: out of thin air as far as RC11 goes.
    ("load_buffering", "a=1 b=1", IMPOSSIBLE),
    ("load_buffering_release", "a=1 b=1", IMPOSSIBLE),
    // Independent reads: Acquire lets readers disagree, also where only their first loads are (RC11, IRIW-acq-sc).
    ("iriw", "a=1 b=0 c=1 d=0", IMPOSSIBLE),
    ("iriw_relaxed", "a=1 b=0 c=1 d=0", POSSIBLE),
    ("iriw_release", "a=1 b=0 c=1 d=0", POSSIBLE),
    ("iriw_acquire_seqcst", "a=1 b=0 c=1 d=0", POSSIBLE),
    ("iriw_fences", "a=1 b=0 c=1 d=0", IMPOSSIBLE),
    ("iriw_fence_one", "a=1 b=0 c=1 d=0", POSSIBLE),
    // Two stores each, in opposite order: Release does not help.
    ("two_plus_two_w", "a=1 b=1", POSSIBLE),
    ("two_plus_two_w_release", "a=1 b=1", POSSIBLE),
    ("two_plus_two_w_fences", "a=1 b=1", POSSIBLE),
    ("two_plus_two_w_seqcst", "a=1 b=1", POSSIBLE),
    ("two_plus_two_w_seqcst_all", "a=1 b=1", IMPOSSIBLE),
    ("two_plus_two_w_full_fences", "a=1 b=1", IMPOSSIBLE),
    ("r", "a=0 b=2", POSSIBLE),
    ("r_release_fence", "a=0 b=2", POSSIBLE),
    ("r_seqcst", "a=0 b=2", POSSIBLE),
    ("r_seqcst_all", "a=0 b=2", IMPOSSIBLE),
    ("r_fences", "a=0 b=2", IMPOSSIBLE),
    ("s", "a=1 b=2", IMPOSSIBLE),
    ("s_relaxed", "a=1 b=2", POSSIBLE),
    ("s_fence", "a=1 b=2", POSSIBLE),
    ("s_fences", "a=1 b=2", IMPOSSIBLE),
    // Three threads and causality.
    ("wrc", "a=1 b=1 c=0", IMPOSSIBLE),
    ("wrc_relaxed", "a=1 b=1 c=0", POSSIBLE),
    ("wrc_relaxed_first", "a=1 b=1 c=0", IMPOSSIBLE),
    ("wrc_acquire_only", "a=1 b=1 c=0", POSSIBLE),
    ("wrc_fences", "a=1 b=1 c=0", IMPOSSIBLE),
    ("rwc", "a=1 b=0 c=0", IMPOSSIBLE),
    ("rwc_release", "a=1 b=0 c=0", POSSIBLE),
    ("rwc_fence", "a=1 b=0 c=0", POSSIBLE),
    ("rwc_fences", "a=1 b=0 c=0", IMPOSSIBLE),
    ("w_rwc_relaxed", "a=1 b=0 c=0", POSSIBLE),
    ("w_rwc_release", "a=1 b=0 c=0", POSSIBLE),
    ("w_rwc_fence", "a=1 b=0 c=0", POSSIBLE),
    ("w_rwc_fences", "a=1 b=0 c=0", IMPOSSIBLE),
    ("w_rwc_seqcst", "a=1 b=0 c=0", IMPOSSIBLE),
    ("isa2", "a=1 b=1 c=0", IMPOSSIBLE),
    ("isa2_fences", "a=1 b=1 c=0", IMPOSSIBLE),
    ("isa2_relaxed", "a=1 b=1 c=0", POSSIBLE),
    ("isa2_release_first", "a=1 b=1 c=0", POSSIBLE),
    ("isa2_release_second", "a=1 b=1 c=0", POSSIBLE),
    ("z6_u", "a=0 b=1 c=3", POSSIBLE),
    ("z6_u_relaxed", "a=0 b=1 c=3", POSSIBLE),
    ("z6_u_seqcst", "a=0 b=1 c=3", IMPOSSIBLE),
    ("z6_u_fences", "a=0 b=1 c=3", IMPOSSIBLE),
    ("z6_3_relaxed", "a=1 b=0 c=2", POSSIBLE),
    ("z6_3_release", "a=1 b=0 c=2", POSSIBLE),
    ("z6_3_fences", "a=1 b=0 c=2", IMPOSSIBLE),
    // One location is coherent, whatever the orderings.
    ("corr", "a=1 b=0", IMPOSSIBLE),
    ("corr_two", "a=1 b=2 c=2 d=1", IMPOSSIBLE),
    ("corw", "a=1", IMPOSSIBLE),
    ("cowr", "a=0", IMPOSSIBLE),
    ("coww", "a=2 b=1", IMPOSSIBLE),
    ("coww_release", "a=1 b=1", IMPOSSIBLE),
    ("swap_race", "a=0 b=0", IMPOSSIBLE),
    ("swap_race", "a=1 b=1", IMPOSSIBLE),
    ("swap_store_race", "a=0 b=1 c=0", IMPOSSIBLE),
    // Release sequences of C++20: updates of any thread, and no store.
    ("release_sequence", "a=2 b=0", IMPOSSIBLE),
    ("release_sequence", "a=1 b=0", POSSIBLE),
    ("release_sequence_two", "a=7 b=0", IMPOSSIBLE),
    ("release_sequence_two", "a=6 b=0", POSSIBLE),
    ("release_sequence_own", "a=2 b=0", IMPOSSIBLE),
    ("release_sequence_store", "a=2 b=0", POSSIBLE),
    ("release_sequence_broken", "a=4 b=0 c=1", POSSIBLE),
    ("release_sequence_cas", "a=2 b=0", IMPOSSIBLE),
    ("release_sequence_fences", "a=2 b=0", IMPOSSIBLE),
    // A compare-exchange that fails is a load with the ordering for failure.
    ("cas_stale", "a=1 b=0 c=0", POSSIBLE),
    ("cas_stale_acquire", "a=1 b=0", IMPOSSIBLE),
    ("cas_stale_relaxed", "a=1 b=0", POSSIBLE),
    ("store_buffering_cas_acquire", "a=0 c=0", POSSIBLE),
    ("store_buffering_cas_seqcst", "a=0 c=0", IMPOSSIBLE),
    ("cas_once", "a=1 c=1", IMPOSSIBLE),
    ("cas_once", "a=0 c=0", IMPOSSIBLE),
    ("trylock_both", "a=0 b=0", IMPOSSIBLE),
    ("trylock_stale", "a=1 b=0 c=0", POSSIBLE),
    ("trylock_stale", "a=1 b=0 c=1", POSSIBLE),
    // Nothing is forgotten.
    ("ten_stores", "a=1 b=0", POSSIBLE),
    ("ten_stores", "a=1 b=1", POSSIBLE),
    ("ten_stores", "a=1 b=10", POSSIBLE),
];

#[test]
fn well_known_verdicts_hold() {
    let corpus: BTreeMap<String, Program> = corpus().into_iter().collect();
    for (name, registers, possible) in VERDICTS {
        let found = executions(&corpus[*name]).expect("a small program");
        let wanted: Outcome = registers.parse().unwrap();
        let shows = |outcome: &Outcome| wanted.registers.iter().all(|(name, value)| outcome.registers[name] == *value);
        assert_eq!(found.outcomes.iter().any(shows), *possible, "{name}: {registers} among {}", text(&found.outcomes));
    }
}

#[test]
fn loops_that_wait_are_left_out() {
    let waiting: Vec<_> = corpus().into_iter().filter(|(_, program)| waits(program)).collect();
    assert!(!waiting.is_empty());
    for (name, program) in waiting {
        assert_eq!(executions(&program), None, "{name}");
    }
}
