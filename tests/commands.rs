//! The command that a report prints runs the failing test again, with its seed, and no other test.

use std::process::Command;
use std::time::Duration;

use rsmc::Config;
use rsmc::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::support::child;

/// An update in two steps is lost; only in processes that are meant to fail.
fn update() {
    if child::case().is_none() {
        return;
    }
    let x = AtomicU32::new(0);
    let add = || x.store(x.load(Relaxed) + 1, Relaxed);
    rsmc::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(add))));
    assert_eq!(x.load(Relaxed), 2, "an update is lost");
}

fn config() -> Config {
    Config::default().allow_trivial(true)
}

mod checks {
    #[test]
    fn update() {
        rsmc::check_with(super::config(), super::update);
    }

    /// Its name has the other one's in it.
    #[test]
    fn update_too() {
        rsmc::check_with(super::config(), super::update);
    }

    #[rsmc::test(allow_trivial = true)]
    fn update_by_attribute() {
        super::update();
    }

    /// The check is in a thread that the test started.
    #[test]
    fn elsewhere() {
        let check = || rsmc::check_with(super::config(), super::update);
        let thread = std::thread::Builder::new().name("worker".to_owned()).spawn(check).unwrap();
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }

    #[cfg(unix)]
    #[test]
    fn update_aborts() {
        rsmc::check_with(super::config(), || {
            if super::child::case().is_some() {
                super::AtomicU32::new(0).store(1, super::Relaxed);
                std::process::abort();
            }
        });
    }
}

mod in_vain {
    use rsmc::Config;

    /// With two processes, whose workers have the same variables.
    #[test]
    fn explored() {
        let config = super::config().jobs(2).divide_after(std::time::Duration::ZERO);
        for _ in 0..2 {
            let report = rsmc::explore(&config, super::two_threads);
            assert_eq!(report.executions, 6);
        }
    }

    #[test]
    fn outcomes() {
        rsmc::outcomes(&Config::default(), || rsmc::choose(2));
    }

    /// The configuration has what the variable has.
    #[test]
    fn replayed_by_the_configuration() {
        let Ok(seed) = std::env::var("RSMC_REPLAY") else { return };
        let config = Config::default().replay(seed.parse().unwrap());
        rsmc::explore(&config, || assert_eq!(rsmc::choose(2), 1));
    }
}

mod in_the_environment {
    use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};

    /// Does something where the variable is set only.
    #[test]
    fn spurious() {
        if std::env::var_os("RSMC_SPURIOUS").is_some() {
            rsmc::check(|| assert!(AtomicU32::new(0).compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok()));
        }
    }
}

#[test]
fn spurious_outcomes_by_a_variable() {
    for (value, passes) in [("0", true), ("1", false), ("some", false)] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["commands::in_the_environment::spurious", "--exact"]).env("RSMC_SPURIOUS", value);
        let output = command.output().unwrap();
        assert_eq!(output.status.success(), passes, "{value}: {output:?}");
    }
}

fn two_threads() {
    let x = AtomicU32::new(0);
    rsmc::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(|| x.fetch_add(1, Relaxed)))));
}

/// Said once by the process and not by its workers, and past what libtest keeps.
#[test]
fn variables_that_nobody_reads() {
    let said = |test: &str, variables: &[(&str, &str)]| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([test, "--exact"]).envs(variables.iter().copied());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let expected = |test: &str, set: &str, starter: &str| {
        format!(
            "rsmc: commands::in_vain::{test}: {set} set, but this check was started by `rsmc::{starter}`, which does not read the environment; \
             `rsmc::check` does\n"
        )
    };
    let (log, replay) = (("RSMC_LOG", "trace"), ("RSMC_REPLAY", "x"));
    assert_eq!(said("commands::in_vain::explored", &[]), "");
    assert_eq!(said("commands::in_vain::explored", &[log]), expected("explored", "RSMC_LOG is", "explore"));
    assert_eq!(
        said("commands::in_vain::outcomes", &[log, replay]),
        expected("outcomes", "RSMC_REPLAY and RSMC_LOG are", "outcomes")
    );
    let seed = rsmc::outcomes(&Config::default(), || rsmc::choose(2)).get(&1).unwrap().seed.to_string();
    assert_eq!(said("commands::in_vain::replayed_by_the_configuration", &[("RSMC_REPLAY", &seed)]), "");
}

/// The output of this executable with arguments, as failing tests give them.
fn run(arguments: &[&str], seed: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env("CASE_OF_TEST", "fails").env("RUST_BACKTRACE", "0");
    command.envs(seed.map(|seed| ("RSMC_REPLAY", seed)));
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// The commands in a text: seeds, and what follows after `cargo test`.
fn commands(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("RSMC_REPLAY="));
    lines.map(|line| line.split_once(" cargo test ").unwrap_or_else(|| panic!("{text}"))).collect()
}

/// Runs a printed command; cargo passes on to libtest what stands before `--` and after it.
fn replay((seed, arguments): (&str, &str)) -> String {
    let arguments: Vec<&str> = arguments.split(' ').filter(|&word| word != "--").collect();
    run(&arguments, Some(seed))
}

#[test]
fn of_tests() {
    for arguments in [&["commands::checks::update"][..], &["commands::checks::update", "--test-threads=1"]] {
        let arguments = [arguments, &["--skip", "aborts"]].concat();
        let text = run(&arguments, None);
        let mut found = commands(&text);
        found.sort_by_key(|(_, arguments)| arguments.len());
        let names =
            ["commands::checks::update", "commands::checks::update_too", "commands::checks::update_by_attribute"];
        let expected = names.map(|name| format!("{name} -- --exact"));
        assert_eq!(found.iter().map(|(_, arguments)| *arguments).collect::<Vec<_>>(), expected);
        for (command, name) in found.into_iter().zip(names) {
            let text = replay(command);
            assert!(
                text.contains("0 passed; 1 failed;") && text.contains(&format!("test {name} ... FAILED")),
                "{text}"
            );
            assert!(text.contains("an update is lost") && text.contains("found after 1 execution "), "{text}");
            assert_eq!(commands(&text), [command], "{text}");
        }
    }
}

/// The arguments say which test it is, as with cargo-nextest, also where the thread has another name.
#[test]
fn of_a_test_alone() {
    let text = run(&["--exact", "commands::checks::elsewhere", "--nocapture"], None);
    let found = commands(&text);
    assert!(matches!(found[..], [(_, "commands::checks::elsewhere -- --exact")]), "{text}");
    assert!(replay(found[0]).contains("found after 1 execution "));
}

#[cfg(unix)]
#[test]
fn of_a_test_that_ends_the_process() {
    let ended = child::run("commands::checks::update_aborts", "fails", &[], Duration::from_secs(60)).unwrap();
    let found = commands(&ended.stderr);
    assert!(matches!(found[..], [(_, "commands::checks::update_aborts -- --exact")]), "{ended:?}");
    let again = replay(found[0]);
    assert!(again.contains("SIGABRT in `commands::checks::update_aborts`"), "{again}");
}

/// A backtrace of a failing check has frames of the test only: `check_with` is what the test calls.
#[test]
fn backtraces_show_the_frames_of_the_test() {
    for (test, called) in [("commands::checks::update_by_attribute", 0), ("commands::checks::update", 1)] {
        let ended = child::run(test, "fails", &[("RUST_BACKTRACE", "1")], Duration::from_secs(60)).unwrap();
        let (_, frames) = ended.stderr.split_once("stack backtrace:").expect(&ended.stderr);
        let ours = frames.lines().filter(|line| line.contains("at ./src/") || line.contains("rsmc-core")).count();
        assert_eq!(ours, called, "{}", ended.stderr);
        assert!(frames.contains("omitted") && frames.contains("commands.rs"), "{frames}");
    }
}
