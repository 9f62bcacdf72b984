//! What a pipeline asks for: no check passes that is not complete, a line for each check, and seeds that became stale
//! are seen.
//!
//! The tests run this executable again for the checks of `inner`, as libtest does by default.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};
use rsmc::{Config, Explorer, FailureKind, Seed, Verdict, thread};
use serde_json::Value;

/// Says that the checks of `inner` do something.
const RUN: &str = "CI_RUN";

/// An update that can be lost, or one that cannot.
fn update(whole: bool) {
    let x = AtomicU32::new(0);
    let add = || if whole { drop(x.fetch_add(1, SeqCst).to_string()) } else { x.store(x.load(SeqCst) + 1, SeqCst) };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(add))));
    assert_eq!(x.load(SeqCst), 2);
}

/// A seed of the update that can be lost.
fn seed() -> Seed {
    match rsmc::explore(&Config::default(), || update(false)).verdict {
        Verdict::Failed(failure) => failure.seed,
        verdict => panic!("{verdict:?}"),
    }
}

mod inner {
    use std::time::Duration;

    use super::*;

    fn is_run() -> bool {
        std::env::var_os(RUN).is_some()
    }

    #[rsmc::test]
    fn complete() {
        update(true);
    }

    #[rsmc::test(memory = "sc", max_executions = 1)]
    fn executions() {
        update(true);
    }

    #[rsmc::test(explorer = "random", max_executions = 7)]
    fn samples() {
        update(true);
    }

    #[test]
    fn time() {
        rsmc::check_with(Config::default().max_duration(Duration::ZERO), || update(true));
    }

    #[rsmc::test]
    fn fails() {
        update(!is_run());
    }

    #[test]
    fn stale() {
        rsmc::check_with(Config::default().pin(seed()), || update(true));
    }
}

fn run(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact"]).env(RUN, "1").envs(variables.iter().copied()).output().unwrap()
}

/// Whether a test passes, and all that it prints.
#[track_caller]
fn passes(test: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let output = run(test, variables);
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("1 passed") || text.contains("1 failed"), "{text}");
    (output.status.success(), text)
}

/// A file that is not there yet.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ci").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder.join("deep/summary.jsonl")
}

/// The lines of a summary, by test.
fn lines(file: &Path) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}")));
    lines.map(|line| (line["test"].as_str().unwrap().to_owned(), line)).collect()
}

#[test]
fn what_is_not_complete_fails_where_that_is_asked_for() {
    let fail = [("RSMC_INCOMPLETE", "fail")];
    for test in ["ci::inner::executions", "ci::inner::samples", "ci::inner::time"] {
        assert!(passes(test, &[]).0, "{test}");
        let (passed, text) = passes(test, &fail);
        assert!(!passed && text.contains("incomplete, NOT a proof: stopped at"), "{test}: {text}");
        assert!(text.contains("RSMC_INCOMPLETE=fail: a check that is not complete fails"), "{test}: {text}");
    }
    assert!(passes("ci::inner::complete", &fail).0);
    let replayed = seed().to_string();
    let replay = ("RSMC_REPLAY", replayed.as_str());
    assert!(!passes("ci::inner::fails", &[replay]).0);
    let (passed, text) = passes("ci::inner::complete", &[("RSMC_INCOMPLETE", "yes")]);
    assert!(!passed && text.contains("`RSMC_INCOMPLETE` must be `fail`"), "{text}");
}

#[test]
fn problems_are_shown_at_their_places_where_that_is_asked_for() {
    let github = [("RSMC_ANNOTATE", "github")];
    let lines = |test: &str, variables: &[(&str, &str)]| {
        let text = String::from_utf8(run(test, variables).stdout).unwrap();
        text.lines().filter(|line| line.starts_with("::")).map(str::to_owned).collect::<Vec<_>>()
    };
    let [panic] = &lines("ci::inner::fails", &github)[..] else { panic!("one panic, one line") };
    assert!(panic.starts_with("::error file=tests/ci.rs,line="), "{panic}");
    assert!(panic.contains(",title=panic in ci%3A%3Ainner%3A%3Afails::panic: assertion"), "{panic}");
    // It stands at the beginning of its line where libtest has begun one, and is not kept until the end of the test.
    let mut one_at_a_time = Command::new(std::env::current_exe().unwrap());
    one_at_a_time.args(["ci::inner::fails", "--exact", "--test-threads=1"]).env(RUN, "1").envs(github);
    let text = String::from_utf8(one_at_a_time.output().unwrap().stdout).unwrap();
    assert!(text.contains(&format!("\n{panic}\n")), "{text}");
    // Those that pass print nothing, nor do others without the variable.
    assert_eq!(lines("ci::inner::complete", &github), [""; 0]);
    assert_eq!(lines("ci::inner::executions", &github), [""; 0]);
    assert_eq!(lines("ci::inner::fails", &[]), [""; 0]);
    let incomplete = lines("ci::inner::executions", &[github[0], ("RSMC_INCOMPLETE", "fail")]);
    let [incomplete] = &incomplete[..] else { panic!("{incomplete:?}") };
    assert!(incomplete.contains(",title=incomplete in ci%3A%3Ainner%3A%3Aexecutions::incomplete, NOT"), "{incomplete}");
    let (passed, text) = passes("ci::inner::complete", &[("RSMC_ANNOTATE", "gitlab")]);
    assert!(!passed && text.contains("`RSMC_ANNOTATE` must be `github`"), "{text}");
}

#[test]
fn every_check_has_a_line() {
    let file = file("lines");
    let path = file.to_str().unwrap();
    assert!(!run("no::such::test", &[("RSMC_SUMMARY", path)]).stdout.is_empty() && !file.exists());
    for test in ["complete", "executions", "samples", "time", "fails", "stale"] {
        run(&format!("ci::inner::{test}"), &[("RSMC_SUMMARY", path)]);
    }
    run("ci::inner::samples", &[("RSMC_SUMMARY", path), ("RSMC_INCOMPLETE", "fail")]);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 7);
    let lines = lines(&file);
    let is = |test: &str, key: &str, value: Value| {
        assert_eq!(
            lines[&format!("ci::inner::{test}")][key],
            value,
            "{key}: {:#}",
            lines[&format!("ci::inner::{test}")]
        );
    };
    for (test, verdict, passed) in [
        ("complete", "verified", true),
        ("executions", "incomplete", true),
        ("samples", "incomplete", false),
        ("time", "incomplete", true),
        ("fails", "failed", false),
        ("stale", "verified", true),
    ] {
        is(test, "verdict", verdict.into());
        is(test, "passed", passed.into());
        is(test, "crate", "all".into());
    }
    is("complete", "executions", 2.into());
    is("complete", "model", "c11".into());
    is("complete", "explorer", "reads-from".into());
    is("executions", "model", "sc".into());
    is("executions", "limit", "max_executions".into());
    is("samples", "executions", 7.into());
    is("samples", "explorer", "random".into());
    is("time", "limit", "max_duration".into());
    is("fails", "kind", format!("{:?}", FailureKind::Panic).into());
    is("complete", "kind", Value::Null);
    for line in lines.values() {
        assert!((0.0..60.0).contains(&line["seconds"].as_f64().unwrap()), "{line}");
        assert!(line["place"].as_str().unwrap().starts_with("tests/ci.rs:"), "{line}");
    }
}

/// Tests of one process, and processes, write at once.
#[test]
fn lines_of_tests_that_run_at_once_stay_whole() {
    let file = file("at_once");
    let processes: Vec<_> = (0..6)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["ci::inner::", "--test-threads=4"]).env("RSMC_SUMMARY", &file).env_remove(RUN);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    processes.into_iter().for_each(|mut process| assert!(process.wait().unwrap().success()));
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 36);
    assert_eq!(lines(&file).len(), 6);
}

/// A pipeline that has no summary must not seem to have one.
#[test]
fn a_summary_that_cannot_be_written_fails_the_check() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let (passed, text) = passes("ci::inner::complete", &[("RSMC_SUMMARY", folder)]);
    assert!(!passed && text.contains(&format!("RSMC_SUMMARY: cannot write {folder}: ")), "{text}");
    let (passed, text) = passes("ci::inner::complete", &[("RSMC_SUMMARY", "")]);
    assert!(!passed && text.contains("`RSMC_SUMMARY` must name a file"), "{text}");
}

#[test]
fn a_pinned_seed_that_became_stale_is_said_and_not_kept() {
    let output = run("ci::inner::stale", &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let said = "rsmc: ci::inner::stale: pinned seed 1 was passed over: it does not fit this test any more: operation ";
    assert!(text.starts_with(said) && text.lines().count() == 1, "{text}");
    // One that fits, and one of another model, are nothing to tell.
    assert!(run("ci::inner::complete", &[]).stderr.is_empty());
    let report = rsmc::explore(&Config::default().explorer(Explorer::View).pin(seed()), || update(true));
    assert!(report.notes.len() == 1 && report.stale_pins.is_empty(), "{report:?}");
}

/// A filter that fits no test passes: the modules of tests that `.ci` names are there.
#[test]
fn the_pipeline_names_modules_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut named = 0;
    for script in [".ci/run", ".ci/memcheck"] {
        let text = std::fs::read_to_string(root.join(script)).unwrap();
        // `.ci/memcheck` has its modules from `tests/memcheck.rs`.
        let is_known = |&(name, _): &(&str, &str)| name == "runtime" || name == "'{module}";
        let modules = text.split_whitespace().filter_map(|word| word.split_once("::")).filter(|name| !is_known(name));
        for (module, rest) in modules {
            let file = format!("{module}/{rest}").trim_end_matches(['/', ':']).to_owned() + ".rs";
            let exists = ["tests", "rsmc-core/tests"].iter().any(|folder| root.join(folder).join(&file).exists());
            assert!(exists, "{script} names {module}::{rest}, and there is no {file}");
            named += 1;
        }
    }
    assert!(named > 30, "{named}");
}

/// The page has the keys of a line, and the variables that there are.
#[test]
fn the_page_fits() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci.md")).unwrap();
    let file = file("page");
    for test in ["ci::inner::executions", "ci::inner::fails"] {
        run(test, &[("RSMC_SUMMARY", file.to_str().unwrap())]);
    }
    for line in lines(&file).values() {
        for key in line.as_object().unwrap().keys() {
            assert!(page.contains(&format!("| `{key}` |")), "docs/ci.md does not explain {key}");
        }
    }
    let shown = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    for line in shown.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert!(["verified", "failed", "incomplete"].contains(&line["verdict"].as_str().unwrap()), "{line}");
    }
}
