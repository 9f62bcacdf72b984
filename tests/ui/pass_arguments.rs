//! Every argument, and every name that an argument takes.
#![deny(warnings)]

#[rsmc::test()]
fn no_arguments() {}

#[rsmc::test(
    memory = "sc",
    explorer = "reads-from",
    max_executions = 1_000_000,
    max_duration = "1m30s",
    max_memory = "4GiB",
    stuck_after = "0s",
    max_steps = 0x1000,
    spin_bound = 3u32,
    stack_size = 65536,
    keep_going = true,
    check_races = false,
    shrink = 0,
    preemption_bound = 2,
    seed = 0,
    pct_depth = 2,
    jobs = 2
)]
fn every_argument() {}

#[rsmc::audit(memory = "c11", explorer = "exhaustive", within = "1m30s", allow = [])]
fn every_argument_of_an_audit() {}

#[rsmc::test(replay = "whatever a failing test printed")]
#[should_panic(expected = "a seed starts with")]
fn replay() {}

/// One test per explorer.
#[cfg(test)]
macro_rules! explorers {
    ($($(#[$attribute:meta])* $test:ident $name:literal)*) => {$(
        #[rsmc::test(explorer = $name, max_executions = 10)]
        $(#[$attribute])*
        fn $test() {}
    )*};
}
#[cfg(test)]
explorers! {
    reads_from "reads-from"
    reads_value_from "reads-value-from"
    view "view"
    exhaustive "exhaustive"
    random "random"
    pct "pct"
}
