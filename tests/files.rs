//! `RSMC_REPORT_DIR`: the files of a failure, their names, and what the report says of them.
//!
//! The tests run this executable again, with the variable, for one of the checks of `failing`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rsmc::Config;
use rsmc::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Says that the tests of `failing` are to fail.
const FAIL: &str = "FILES_FAIL";

/// An update that can be lost, if the test is asked to fail.
fn update() {
    let x = AtomicU32::new(0);
    rsmc::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| x.store(x.load(SeqCst) + 1, SeqCst));
        }
    });
    assert!(x.load(SeqCst) == 2 || std::env::var_os(FAIL).is_none(), "an update is lost");
}

fn add(x: &AtomicU32) {
    x.fetch_add(1, SeqCst);
}

mod failing {
    #[rsmc::test]
    fn with_the_attribute() {
        super::update();
    }

    #[rsmc::test(memory = ["sc", "c11"])]
    fn per_model() {
        super::update();
    }

    /// Its seed is long: many threads in any order. In a process that is to replay it, its last operation is another.
    #[rsmc::test(explorer = "random", max_executions = 1, shrink = 0)]
    fn long() {
        let x = rsmc::sync::atomic::AtomicU32::new(0);
        let threads = if std::env::var_os(super::FAIL).is_some() { 20 } else { 0 };
        let often = || (0..8).for_each(|_| super::add(&x));
        rsmc::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(often))));
        match std::env::var_os("RSMC_REPLAY") {
            None => super::add(&x),
            Some(_) => x.store(1, super::SeqCst),
        }
        assert!(x.load(super::SeqCst) < 161, "all were added");
    }

    #[test]
    fn by_a_call() {
        rsmc::check(super::update);
    }
}

/// A folder that is not there yet.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files").join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// The output of a test of `failing`, with its files in a folder.
#[track_caller]
fn run(test: &str, dir: &Path, fails: bool) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env("RSMC_REPORT_DIR", dir).env_remove(FAIL);
    if fails {
        command.env(FAIL, "1");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 passed") || text.contains("1 failed"), "{text}");
    assert_eq!(output.status.success(), !fails, "{text}");
    text
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A seed that does not fit any more stays where it is, and is nowhere else.
#[test]
fn a_stale_seed_is_not_kept_again() {
    let dir = folder("stale");
    let text = run("files::failing::long", &dir, true);
    let (file, moved) = (dir.join("all.files.failing.long.seed"), dir.join("moved.seed"));
    let seed = fs::read_to_string(&file).expect(&text);
    fs::rename(&file, &moved).unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["files::failing::long", "--exact", "--nocapture"]).env("RSMC_REPORT_DIR", &dir).env(FAIL, "1");
    let text = String::from_utf8(again.env("RSMC_REPLAY", &moved).output().unwrap().stderr).unwrap();
    let was = "stale seed: the seed does not fit this test any more\n  operation 161 was an update and is a store now";
    assert!(text.contains(was), "{text}");
    assert_eq!((fs::read_to_string(&moved).unwrap(), file.exists()), (seed, false));
}

#[test]
fn a_failure_has_three_files_and_the_report_names_the_page() {
    for (test, name) in [
        ("files::failing::with_the_attribute", "all.files.failing.with_the_attribute"),
        ("files::failing::per_model::c11", "all.files.failing.per_model.c11"),
        ("files::failing::by_a_call", "all.files.failing.by_a_call"),
    ] {
        let dir = folder(name).join("new");
        let text = run(test, &dir, true);
        let page = dir.join(format!("{name}.html"));
        let line = format!("to look at in a browser: {}", page.display());
        assert_eq!(text.matches("to look at").count(), 1, "{text}");
        assert!(text.contains(&format!("\n\n{line}\n")), "{text}");
        assert_eq!(names(&dir), ["dot", "html", "json"].map(|extension| format!("{name}.{extension}")));
        let page = fs::read_to_string(&page).unwrap();
        assert!(page.contains("an update is lost") && page.contains("scope.spawn(|| x.store(x.load(SeqCst)"), "{page}");
        let json = fs::read_to_string(dir.join(format!("{name}.json"))).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let replay = json["replay"].as_str().unwrap();
        assert!(text.contains(replay), "the report has the same command: {replay}");
        parses_as_a_graph(&dir.join(format!("{name}.dot")));
    }
}

#[test]
fn what_passes_has_no_files_and_what_is_there_is_overwritten() {
    let dir = folder("passes");
    run("files::failing::with_the_attribute", &dir, false);
    assert!(!dir.exists());
    fs::create_dir_all(&dir).unwrap();
    let page = dir.join("all.files.failing.with_the_attribute.html");
    fs::write(&page, "old").unwrap();
    run("files::failing::with_the_attribute", &dir, true);
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
}

/// A folder below a file cannot be made, by root neither.
#[test]
fn a_failure_is_not_lost_where_nothing_can_be_written() {
    let file = folder("no_folder");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "").unwrap();
    let text = run("files::failing::with_the_attribute", &file.join("below"), true);
    assert!(text.contains("panic: assertion") || text.contains("an update is lost"), "{text}");
    assert!(text.contains(&format!("RSMC_REPORT_DIR: cannot write {}", file.display())), "{text}");
    assert!(text.contains("RSMC_REPLAY=rsmc3-"), "{text}");
    fs::remove_file(&file).unwrap();
}

/// Asks Graphviz, if it is there.
#[track_caller]
fn parses_as_a_graph(file: &Path) {
    let layout = Command::new("dot").arg("-Tplain").arg(file).stdin(Stdio::null()).output();
    let Ok(output) = layout else {
        assert!(std::env::var_os("NEEDS_TOOLS").is_none(), "there is no Graphviz: install it");
        let _ = writeln!(std::io::stderr(), "NOT TESTED: there is no Graphviz, so no graph was parsed");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{}: {said}", file.display());
    let plain = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(plain.lines().filter(|line| line.starts_with("node ")).count(), 13, "{plain}");
    assert!(plain.lines().filter(|line| line.starts_with("edge ")).count() > 12, "{plain}");
}

#[test]
fn hostile_texts_are_no_graph() {
    let config = Config::default();
    let report = rsmc::explore(&config, || {
        let x = AtomicU32::new(0);
        rsmc::thread::scope(|scope| {
            let builder = rsmc::thread::Builder::new().name("\"}; \\".to_owned());
            builder.spawn_scoped(scope, || (0..4).map(|_| x.fetch_add(1, SeqCst)).sum::<u32>()).unwrap();
        });
        assert_eq!(x.load(SeqCst), 5, "\"]; evil -> graph; \\\" \\N \n <b>");
    });
    let dir = folder("hostile");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("hostile.dot");
    let dot = rsmc::dot(&report, &config, Some("a\"b\\")).unwrap();
    assert!(!dot.lines().any(|line| line.starts_with("  evil")));
    fs::write(&file, dot).unwrap();
    let output = Command::new("dot").arg("-Tplain").arg(&file).output();
    if let Ok(output) = output {
        let plain = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!plain.lines().any(|line| line.starts_with("node evil")), "{plain}");
    }
}
