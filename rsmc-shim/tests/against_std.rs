//! One source of behaviours, run on std, on the shim outside a check, and on the shim inside one.
#![allow(clippy::incompatible_msrv, reason = "tests are built by the compiler of the workspace")]
#![allow(clippy::let_underscore_lock, clippy::redundant_pattern_matching, unused_qualifications)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "model")]
use crate::support;

/// The macro that both kinds of `Arc` are coerced with.
macro_rules! std_coerce {
    ($arc:expr => $to:ty) => {{
        let arc: std::sync::Arc<$to> = $arc;
        arc
    }};
}

mod on_std {
    use std::{cell, hint, sync, thread, thread_local, time};
    use std_coerce as coerce_arc;
    include!("behaviours/all.rs");
}

mod on_shim {
    use rsmc_shim::{cell, coerce_arc, hint, sync, thread, thread_local, time};
    include!("behaviours/all.rs");
}

/// One test after another: a static cell is not kept from code outside of checks, which some of the behaviours have.
fn each(all: &[(&str, fn())], run: impl Fn(&str, fn())) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let fails = |&&(name, behaviour): &&(&str, fn())| {
        let run = AssertUnwindSafe(|| run(name, behaviour));
        catch_unwind(run).is_err()
    };
    let failed: Vec<&str> = all.iter().filter(fails).map(|&(name, _)| name).collect();
    assert!(failed.is_empty(), "behaviours that differ: {failed:?}");
}

/// The table only grows, has no name twice, and is one for both.
#[test]
fn behaviours_are_many() {
    let names: std::collections::HashSet<&str> = on_std::ALL.iter().map(|&(name, _)| name).collect();
    assert_eq!(names.len(), on_std::ALL.len());
    assert!(names.len() >= 263, "{}", names.len());
    assert!(on_shim::ALL.iter().map(|&(name, _)| name).eq(on_std::ALL.iter().map(|&(name, _)| name)));
}

#[test]
fn on_std() {
    each(on_std::ALL, |_, behaviour| behaviour());
}

#[test]
fn on_the_shim_outside_a_check() {
    each(on_shim::ALL, |_, behaviour| behaviour());
}

#[cfg(feature = "model")]
#[test]
fn on_the_shim_inside_a_check() {
    each(on_shim::ALL, |name, behaviour| {
        support::passes(name, &behaviour);
    });
}

#[cfg(feature = "model")]
#[test]
fn on_the_shim_inside_a_check_under_random_schedules() {
    each(on_shim::ALL, |name, behaviour| support::passes_always(name, &behaviour, 300));
}
