//! The command that a report prints runs the failing test again, also where another tool has made it: rstest, proptest,
//! or rustdoc. For a doc test, whose name a check does not know, it runs all doc tests.

use std::process::Command;

use proptest::prelude::*;
use rsmc::Config;
use rsmc::sync::atomic::{AtomicU32, Ordering::Relaxed};
use rstest::rstest;

/// Tests are meant to fail in processes where this is set; the doc test of `Permits::free` reads it, too.
const FAILS: &str = "PERMITS_ARE_LOST";

/// Adds in two steps.
fn count(add: u32) {
    if std::env::var_os(FAILS).is_none() {
        return;
    }
    rsmc::check_with(Config::default(), || {
        let x = AtomicU32::new(0);
        let adds = || x.store(x.load(Relaxed) + add, Relaxed);
        rsmc::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(adds))));
        assert_eq!(x.load(Relaxed), 2 * add);
    });
}

#[rstest]
#[case::one(1)]
#[case::two(2)]
fn cases(#[case] add: u32) {
    count(add);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn draws(add in 1_u32..9) {
        count(add);
    }
}

/// The output of a process that fails.
fn output(command: &mut Command, seed: Option<&str>) -> String {
    command.env(FAILS, "1").env("RUST_BACKTRACE", "0").envs(seed.map(|seed| ("RSMC_REPLAY", seed)));
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// The printed commands: seeds, and what follows after `cargo test`.
fn commands(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("RSMC_REPLAY="));
    lines.map(|line| line.split_once(" cargo test ").unwrap_or_else(|| panic!("{text}"))).collect()
}

#[test]
fn of_tests_that_macros_make() {
    for (test, names) in [("cases::", &["cases::case_1_one", "cases::case_2_two"][..]), ("draws", &["draws"])] {
        let run = |arguments: &[&str], seed| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            output(command.args(arguments).arg("--test-threads=1"), seed)
        };
        let text = run(&[test], None);
        // proptest runs the input that fails more often than once.
        let mut found = commands(&text);
        found.dedup();
        let arguments: Vec<_> = found.iter().map(|(_, arguments)| (*arguments).to_owned()).collect();
        assert_eq!(arguments, names.iter().map(|name| format!("{name} -- --exact")).collect::<Vec<_>>(), "{text}");
        for ((seed, arguments), name) in found.into_iter().zip(names) {
            let words: Vec<_> = arguments.split(' ').filter(|&word| word != "--").collect();
            let text = run(&words, Some(seed));
            assert!(text.contains("running 1 test\n") && text.contains(&format!("test {name} ... FAILED")), "{text}");
            assert!(text.contains("found after 1 execution "), "{text}");
        }
    }
}

/// The doc test of `Permits::free`.
#[test]
fn of_a_doc_test() {
    let run = |arguments: &[&str], seed| {
        let mut command = Command::new(env!("CARGO"));
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        output(command.args(["test", "--manifest-path", manifest]).args(arguments), seed)
    };
    let text = run(&["--doc"], None);
    let found = commands(&text);
    let [(seed, "--doc")] = found[..] else { panic!("{text}") };
    let text = run(&["--doc"], Some(seed));
    assert!(text.contains("found after 1 execution "), "{text}");
    assert_eq!(commands(&text), [(seed, "--doc")], "{text}");
}
