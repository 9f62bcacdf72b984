//! loom's settings, and what a model says beside its verdict.

use rsmc_loom as loom;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::SeqCst;
use loom::thread;

/// Two threads that add in two steps.
fn add_twice(fails: bool) {
    let count = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&count);
    let thread = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
    count.store(count.load(SeqCst) + 1, SeqCst);
    thread.join().unwrap();
    assert!(!fails || count.load(SeqCst) == 2);
}

#[test]
fn the_seed_of_a_failure_is_kept_and_runs_first() {
    let file = std::env::temp_dir().join(format!("rsmc-loom-{}.seed", std::process::id()));
    let mut builder = Builder::new();
    builder.checkpoint_file(file.to_str().expect("it has a plain name"));
    let check = |fails| catch_unwind(AssertUnwindSafe(|| builder.check(move || add_twice(fails))));
    let first = *check(true).expect_err("it loses an update").downcast::<String>().expect("a report");
    let seed = std::fs::read_to_string(&file).expect("the seed was kept");
    assert!(first.contains(seed.trim()), "{first}");
    let again = *check(true).expect_err("it still does").downcast::<String>().expect("a report");
    assert!(again.contains("(1 run,"), "the first run fails: {again}");
    check(false).expect("without the assertion nothing fails");
    std::fs::write(&file, "no seed").expect("it can be written");
    let wrong = *check(true).expect_err("the file has no seed").downcast::<String>().expect("a message");
    assert!(wrong.contains("a seed starts with"), "{wrong}");
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn a_bound_on_executions_passes() {
    let mut builder = Builder::new();
    builder.max_permutations = Some(1);
    builder.check(|| add_twice(false));
}

/// Three threads that add in two steps: the fewer preemptions, the fewer executions.
#[test]
fn a_bound_of_preemptions() {
    let executions = |bound| {
        let runs = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&runs);
        let mut builder = Builder::new();
        builder.preemption_bound = bound;
        builder.check(move || {
            counted.fetch_add(1, SeqCst);
            let count = Arc::new(AtomicUsize::new(0));
            let add = |count: &AtomicUsize| (0..2).for_each(|_| count.store(count.load(SeqCst) + 1, SeqCst));
            let thread = |count: &Arc<AtomicUsize>| {
                let count = Arc::clone(count);
                thread::spawn(move || add(&count))
            };
            let threads = [thread(&count), thread(&count)];
            add(&count);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        runs.load(SeqCst)
    };
    let found = [Some(0), Some(1), Some(2), None].map(executions);
    assert!(found.is_sorted() && found[0] < found[1] && found[1] < found[3], "{found:?}");
}

/// Runs one of the tests below in a process of its own, with a variable, and returns what it says on stderr.
fn said(test: &str, variable: Option<(&str, &str)>) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("a test is a file"));
    command
        .args([&format!("settings::child::{test}"), "--exact", "--nocapture"])
        .env_remove("RUSTFLAGS")
        .envs(variable);
    let output = command.output().expect("it can be run");
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout),
    )
}

/// What the tests of this module run, one a process.
mod child {
    use super::*;

    #[test]
    fn shares_nothing() {
        loom::model(|| drop(thread::spawn(|| AtomicUsize::new(1).load(SeqCst)).join()));
    }

    #[test]
    #[allow(clippy::print_stdout, reason = "the test that starts this one reads it")]
    fn prints_a_report() {
        let failed = catch_unwind(|| loom::model(|| add_twice(true))).expect_err("it loses an update");
        println!("{}", failed.downcast::<String>().expect("a report"));
    }

    #[test]
    fn adds() {
        loom::model(|| add_twice(false));
    }
}

#[test]
fn a_model_that_shares_nothing_says_so_and_passes() {
    let (passes, said) = said("shares_nothing", None);
    assert!(passes, "{said}");
    assert!(said.contains("no two threads share anything of `loom`"), "{said}");
}

/// Without these flags there is no test to run again.
#[test]
fn a_report_says_which_flags_the_command_needs() {
    let note = "the command needs the same RUSTFLAGS='--cfg loom'";
    assert!(said("prints_a_report", Some(("RUSTFLAGS", "--cfg loom"))).1.contains(note));
    assert!(!said("prints_a_report", None).1.contains("RUSTFLAGS"));
}

#[test]
fn variables_are_read() {
    let (passes, text) = said("adds", Some(("LOOM_LOG", "info")));
    assert!(passes && text.contains("settings::child::adds: completed in 3 executions"), "{text}");
    let (passes, text) = said("adds", Some(("LOOM_LOG", "trace")));
    assert!(passes && text.contains("store"), "{text}");
    let (passes, text) = said("adds", Some(("LOOM_MAX_BRANCHES", "many")));
    assert!(!passes && text.contains("invalid value `many` for `LOOM_MAX_BRANCHES`"), "{text}");
}
