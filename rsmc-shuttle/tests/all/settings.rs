//! shuttle's settings and variables, and what a check says beside its verdict.

use rsmc_shuttle as shuttle;

use std::process::Command;
use std::time::Duration;

use shuttle::scheduler::{DfsScheduler, RandomScheduler};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner, thread};

use crate::support::report;

fn run(set: impl Fn(&mut Config), body: impl Fn() + Send + Sync + 'static) -> usize {
    let mut config = Config::default();
    set(&mut config);
    Runner::new(RandomScheduler::new(10), config).run(body)
}

#[test]
fn an_execution_has_as_many_operations_as_it_may() {
    let hundred = || {
        let count = AtomicUsize::new(0);
        (0..100).for_each(|_| _ = count.fetch_add(1, SeqCst));
    };
    assert_eq!(run(|config| config.max_steps = MaxSteps::FailAfter(200), hundred), 10);
    assert_eq!(run(|config| config.max_steps = MaxSteps::None, hundred), 10);
    let text = report(|| _ = run(|config| config.max_steps = MaxSteps::FailAfter(50), hundred));
    assert!(text.contains("did not end within 50 operations"), "{text}");
}

#[test]
fn a_check_stops_in_time_and_passes() {
    let mut config = Config::new();
    config.max_time = Some(Duration::from_millis(50));
    config.silence_warnings = true;
    let executions = Runner::new(RandomScheduler::new(usize::MAX), config).run(|| {
        thread::spawn(thread::yield_now).join().unwrap();
    });
    assert!(executions > 0);
}

/// Each call takes half a kilobyte of stack or more.
fn deep(depth: usize) -> usize {
    let page = std::hint::black_box([depth; 64]);
    if depth == 0 { page[0] } else { deep(depth - 1) + std::hint::black_box(page)[1] - depth }
}

#[test]
fn stacks_are_as_large_as_asked() {
    assert_eq!(run(|config| config.stack_size = 8 << 20, || assert_eq!(deep(2_000), 0)), 10);
}

#[test]
fn no_persistence_is_a_report() {
    let text = report(|| _ = run(|config| config.failure_persistence = FailurePersistence::None, || panic!("no")));
    assert!(!crate::support::seed(&text).is_empty());
}

/// Runs one of the tests below in a process of its own, with variables, and returns what it says.
fn said(test: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("a test is a file"));
    let name = format!("settings::child::{test}");
    command.args([&name, "--exact", "--nocapture"]).envs(variables.iter().copied());
    let output = command.output().expect("it can be run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stderr) + &text(&output.stdout))
}

/// What the tests of this module run, one a process.
mod child {
    use super::*;

    #[test]
    fn shares_nothing() {
        shuttle::check_random(|| drop(thread::spawn(|| AtomicUsize::new(1).load(SeqCst)).join()), 3);
    }

    #[test]
    fn buffers_stores() {
        shuttle::check_dfs(
            || {
                let cells = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
                let theirs = Arc::clone(&cells);
                let thread = thread::spawn(move || {
                    theirs.0.store(1, Relaxed);
                    theirs.1.load(Relaxed)
                });
                cells.1.store(1, Relaxed);
                assert_ne!((cells.0.load(Relaxed), thread.join().unwrap()), (0, 0), "both are late");
            },
            None,
        );
    }

    #[test]
    #[allow(clippy::print_stdout, reason = "the test that starts this one reads it")]
    fn draws() {
        use shuttle::rand::RngCore;
        shuttle::check_random(|| println!("drawn {}", shuttle::rand::thread_rng().next_u64()), 1);
    }
}

#[test]
fn a_check_that_shares_nothing_says_so_and_passes() {
    let (passes, said) = said("shares_nothing", &[]);
    assert!(passes && said.contains("no two threads share anything of `shuttle`"), "{said}");
}

#[test]
fn variables_override_memory_and_explorer() {
    assert!(said("buffers_stores", &[]).0);
    let (passes, text) = said("buffers_stores", &[("RSMC_MEMORY", "tso")]);
    assert!(!passes && text.contains("both are late"), "{text}");
    let (passes, text) = said("buffers_stores", &[("RSMC_EXPLORER", "exhaustive")]);
    assert!(passes && text.contains("6 executions"), "{text}");
}

#[test]
fn a_variable_has_the_seed_of_the_samples() {
    let drawn = |variables: &[(&str, &str)]| {
        let (passes, text) = said("draws", variables);
        assert!(passes, "{text}");
        text.lines().find(|line| line.starts_with("drawn ")).map(str::to_owned).expect("it draws")
    };
    let seeded = |seed| drawn(&[("SHUTTLE_RANDOM_SEED", seed)]);
    assert_eq!(drawn(&[]), seeded("0"));
    assert_ne!(seeded("1"), seeded("2"));
    let (passes, text) = said("draws", &[("SHUTTLE_RANDOM_SEED", "any")]);
    assert!(!passes && text.contains("invalid value `any` for `SHUTTLE_RANDOM_SEED`"), "{text}");
}

#[test]
fn a_search_can_be_bounded() {
    let executions = Runner::new(DfsScheduler::new(Some(3), false), Config::new()).run(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let threads = [0; 3].map(|_| {
            let count = Arc::clone(&count);
            thread::spawn(move || count.fetch_add(1, SeqCst))
        });
        threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
    });
    assert_eq!(executions, 3);
}
