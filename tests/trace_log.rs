//! `RSMC_LOG=trace`: every operation is printed while it happens, between what the body prints.

#![allow(clippy::print_stderr, reason = "what is printed is tested")]

use std::process::{Command, Output};
use std::rc::Rc;

use rsmc::sync::atomic::{AtomicU32, Ordering::Relaxed};
use rsmc::{Config, thread};
use rsmc_core::session::check_body;
use rsmc_core::step::{Run, Watcher};
use rsmc_core::trace::{Note, NoteKind};

/// The value that the body reads: nothing here is a step but the store and the load.
fn body() -> u32 {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            x.store(1, Relaxed);
            eprintln!("body: stored");
        });
        let read = x.load(Relaxed);
        eprintln!("body: read {read}");
        read
    })
}

/// The check that the other tests run in a process of its own.
#[rsmc::test]
fn traced() {
    body();
}

fn run(variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["trace_log::traced", "--exact", "--nocapture", "--test-threads=1"]).envs(variables.iter().copied());
    command.output().unwrap()
}

/// The lines of rsmc and of the body, without places.
fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let ours = text.lines().filter(|line| line.starts_with("rsmc:") || line.starts_with("body:"));
    ours.map(|line| line.split(" at ").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_replay_is_printed_while_it_happens() {
    let found = rsmc::outcomes(&Config::default(), body);
    let seed = found.get(&1).unwrap().seed.to_string();
    let output = run(&[("RSMC_LOG", "trace"), ("RSMC_REPLAY", &seed)]);
    assert!(output.status.success(), "{output:?}");
    let expected = [
        "rsmc: an execution",
        "rsmc: 1 main spawn t1",
        "rsmc: 2 t1 store x = 1 (rlx)",
        "body: stored",
        "rsmc: 3 t1 end",
        "rsmc: 4 main load x → 1 (rlx, from #2)",
        "body: read 1",
        "rsmc: 5 main join t1",
        "rsmc: 6 main end",
    ];
    assert_eq!(lines(&output), expected);
}

#[test]
fn without_a_seed_every_execution_is_printed() {
    let output = run(&[("RSMC_LOG", "trace")]);
    assert_eq!(lines(&output).iter().filter(|line| *line == "rsmc: an execution").count(), 2);
}

#[test]
fn there_is_no_other_log() {
    let output = run(&[("RSMC_LOG", "debug")]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("`RSMC_LOG` must be `trace`"), "{text}");
}

/// Fails in the check itself, if it is asked to: not on the stack of a modelled thread, where it would be a panic of
/// the body.
#[test]
fn broken() {
    if std::env::var_os("BROKEN").is_none() {
        return;
    }
    let is_over = |run: &Run| matches!(run.trace.notes.last(), Some(Note { kind: NoteKind::End, .. }));
    let watcher =
        || -> Watcher { Rc::new(move |run| assert!(!is_over(run), "this is a bug in rsmc: it was asked for")) };
    drop(check_body(&Config::default(), &|| _ = body(), |body| body.check().trace(watcher()).run()));
}

/// What goes wrong in the check itself is not kept secret, though panics print nothing inside an execution.
#[test]
fn a_bug_of_the_check_says_so() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["trace_log::broken", "--exact", "--nocapture"]).env("BROKEN", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("this is a bug in rsmc: it was asked for"), "{text}");
}
