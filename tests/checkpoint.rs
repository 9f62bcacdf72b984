//! Long checks from outside: stopped by their limit or by Ctrl-C, resumed until they are done, and stale checkpoints
//! refused.
//!
//! The tests run this executable again, for one of the checks at the end of this file; each has a checkpoint of its
//! own.

use std::fs;
use std::io::Write;
#[cfg(unix)]
use std::io::{BufRead, BufReader};
#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Stdio;
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rsmc::Config;
use rsmc::sync::Arc;
use rsmc::sync::atomic::AtomicU32;
use rsmc::sync::atomic::Ordering::SeqCst;

use crate::support::child::in_one_line;

/// The variable that makes a process one that is only to run its check.
const CHILD: &str = "CHECKPOINT_TEST_CHILD";

/// The words of a check before an execution of it that takes for ever.
const HANGS: &str = "this execution does not end";

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// This executable, for one check, with these variables.
fn command(check: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([check, "--exact", "--nocapture"]).env(CHILD, "1").envs(variables.iter().copied());
    command
}

/// A command for a check that does not ignore Ctrl-C, even if this process does.
#[cfg(unix)]
fn interruptible(check: &str) -> Command {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let direct = command(check, &[]);
    if ignored & 1 << 1 == 0 {
        return direct;
    }
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(direct.get_program()).args(direct.get_args()).env(CHILD, "1");
    command
}

fn run(check: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let Output { status, stdout, stderr } = command(check, variables).output().unwrap();
    (status.success(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

/// `<target>/rsmc/all.<check>.checkpoint`; it does not exist.
fn no_checkpoint(check: &str) -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    let target = executable.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    let target = target.unwrap_or(executable.ancestors().nth(3).unwrap());
    let path = target.join("rsmc").join(format!("all.{}.checkpoint", check.replace("::", ".")));
    if path.exists() {
        fs::remove_file(&path).unwrap();
    }
    path
}

/// The number before a word.
fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().expect("there is a first part").trim_end();
    let number = before.rsplit(|c: char| !c.is_ascii_digit() && c != ',').next().unwrap_or_default();
    number.replace(',', "").parse().unwrap_or_else(|_| panic!("no number before `{word}` in {text}"))
}

/// A check that takes several parts of this time.
const PART: (&str, &str) = ("RSMC_MAX_DURATION", "20ms");
const RESUME: (&str, &str) = ("RSMC_RESUME", "1");

/// Threads that read and increment: six of them have 16,807 classes.
fn increments(threads: u32) {
    let x = Arc::new(AtomicU32::new(0));
    let spawn = |_| {
        let x = Arc::clone(&x);
        rsmc::thread::spawn(move || x.store(x.load(SeqCst) + 1, SeqCst))
    };
    let threads: Vec<_> = (0..threads).map(spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_check_in_parts_is_the_whole_check() {
    let path = no_checkpoint("checkpoint::checks::whole");
    let (passes, text) = run("checkpoint::checks::whole", &[PART]);
    assert!(passes && text.contains("incomplete, NOT a proof: stopped at max_duration = 0.02 s"), "{text}");
    assert!(text.contains("to go on from here:\nRSMC_RESUME=1 cargo test checkpoint::checks::whole"), "{text}");
    assert!(!text.contains("verified") && text.contains("\n  left: ") && text.contains("may fail"), "{text}");
    let mut last = 0;
    for part in 1.. {
        assert!(path.exists(), "{} after part {part}", path.display());
        let (passes, text) = run("checkpoint::checks::whole", &[PART, RESUME]);
        assert!(passes, "{text}");
        let before = number_before(&text, " executions\n");
        assert!(text.contains("note: resumed after ") && before >= last, "{text}");
        last = before;
        if text.contains("verified: 16807 executions") {
            assert!(part > 1, "one part is enough: this tests nothing");
            break;
        }
        assert!(part < 500, "{text}");
    }
    assert!(!path.exists(), "{} is not needed any more", path.display());
    let (passes, text) = run("checkpoint::checks::whole", &[RESUME]);
    assert!(passes && text.contains("there was no checkpoint to resume from"), "{text}");
}

/// The memory is looked at before the first execution, so a limit that is too small stops the check there. With workers
/// theirs counts, too.
#[test]
#[cfg(target_os = "linux")]
fn a_check_that_memory_stops_goes_on_from_there() {
    const CHECK: &str = "checkpoint::checks::fat";
    let path = no_checkpoint(CHECK);
    for jobs in ["1", "2"].map(|jobs| ("RSMC_JOBS", jobs)) {
        let (passes, text) = run(CHECK, &[("RSMC_MAX_MEMORY", "1MiB"), jobs]);
        assert!(passes && text.contains("incomplete, NOT a proof: stopped at max_memory = 1MiB"), "{text}");
        assert!(text.contains("to go on from here:\nRSMC_RESUME=1 cargo test checkpoint::checks::fat"), "{text}");
        assert!(path.exists(), "{}", path.display());
        let (passes, text) = run(CHECK, &[("RSMC_MAX_MEMORY", "8GiB"), RESUME, jobs]);
        assert!(passes && text.contains("verified: 125 executions"), "{text}");
    }
}

/// Several processes, then one, then several: each class is counted once.
#[test]
fn a_check_of_several_processes_in_parts_is_the_whole_check() {
    const PART: (&str, &str) = ("RSMC_MAX_DURATION", "300ms");
    let path = no_checkpoint("checkpoint::checks::shared");
    let (_, text) = run("checkpoint::checks::shared", &[]);
    let all = number_before(text.split("verified: ").nth(1).expect(&text), " executions");
    let (passes, text) = run("checkpoint::checks::shared", &[PART, ("RSMC_JOBS", "2")]);
    assert!(passes && text.contains("incomplete, NOT a proof: stopped at max_duration = 0.30 s"), "{text}");
    assert!(text.contains("to go on from here:\nRSMC_RESUME=1 cargo test checkpoint::checks::shared"), "{text}");
    let mut last = number_before(&text, " executions (");
    for jobs in ["3", "1", "2"].into_iter().cycle() {
        assert!(path.exists(), "{}", path.display());
        let (passes, text) = run("checkpoint::checks::shared", &[PART, RESUME, ("RSMC_JOBS", jobs)]);
        assert!(passes && text.contains(&format!("note: resumed after {last} executions")), "{text}");
        if text.contains(&format!("verified: {all} executions")) {
            break;
        }
        assert!(text.contains("\n  left: "), "{text}");
        last = number_before(&text, " executions (");
        assert!(last < all, "{text}");
    }
    assert!(!path.exists(), "{} is not needed any more", path.display());
}

/// Makes a checkpoint, changes it or what is resumed, and expects to be refused.
#[track_caller]
fn refused(check: &str, change: impl FnOnce(&Path), variables: &[(&str, &str)], why: &str) {
    let path = no_checkpoint(check);
    let (_, text) = run(check, &[PART]);
    assert!(path.exists(), "{text}");
    change(&path);
    let (passes, text) = run(check, variables);
    assert!(!passes && text.contains(why) && text.contains("delete this file, or run without RSMC_RESUME"), "{text}");
    assert!(path.exists(), "it is not deleted without being asked");
    fs::remove_file(&path).unwrap();
}

#[test]
fn stale_checkpoints_are_refused() {
    let cut = |path: &Path| fs::write(path, &fs::read(path).unwrap()[..100]).unwrap();
    refused("checkpoint::checks::stale", cut, &[RESUME], "it is damaged");
    let other = |path: &Path| fs::write(path, "something else").unwrap();
    refused("checkpoint::checks::stale", other, &[RESUME], "it is no checkpoint");
    let memory = ("RSMC_MEMORY", "sc");
    refused(
        "checkpoint::checks::stale",
        |_| (),
        &[RESUME, memory],
        "it was made with memory = c11, and this check has memory = sc",
    );
    let moved = |path: &Path| {
        let (_, text) = run("checkpoint::checks::moved", &[PART]);
        fs::rename(path.with_file_name("all.checkpoint.checks.moved.checkpoint"), path).expect(&text);
    };
    refused("checkpoint::checks::stale", moved, &[RESUME], "it is one of `checkpoint::checks::moved@");
}

/// Another build: the same executable with one more byte, in another place but with the same name.
#[cfg(unix)]
#[test]
fn a_checkpoint_of_another_build_is_refused() {
    let path = no_checkpoint("checkpoint::checks::rebuilt");
    let (_, text) = run("checkpoint::checks::rebuilt", &[PART]);
    assert!(path.exists(), "{text}");
    let executable = std::env::current_exe().unwrap();
    let rebuilt = executable.with_file_name("all-00000000deadbeef");
    fs::copy(&executable, &rebuilt).unwrap();
    let mut bytes = fs::read(&rebuilt).unwrap();
    bytes.push(0);
    fs::write(&rebuilt, bytes).unwrap();
    let mut again = Command::new(&rebuilt);
    again.args(["checkpoint::checks::rebuilt", "--exact", "--nocapture"]).env(CHILD, "1").envs([RESUME]);
    let output = again.output().unwrap();
    fs::remove_file(&rebuilt).unwrap();
    fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("it was made by another build of the test executable"), "{text}");
}

/// Sends what Ctrl-C sends, to a process or, with a minus, to a group.
#[cfg(unix)]
fn interrupt(whom: &str) {
    assert!(Command::new("kill").args(["-INT", "--", whom]).status().unwrap().success(), "{whom}");
}

/// Ctrl-C: the check says what it has covered, its checkpoint is written, and the process ends with status 130.
#[cfg(unix)]
#[test]
fn an_interrupted_check_says_so_and_can_be_resumed() {
    let path = no_checkpoint("checkpoint::checks::interrupted");
    let mut child =
        interruptible("checkpoint::checks::interrupted").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(2500));
    assert!(child.try_wait().unwrap().is_none(), "the check takes longer than that");
    interrupt(&child.id().to_string());
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(60), "it stops soon");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("incomplete, NOT a proof: stopped at an interrupt"), "{text}");
    assert!(in_one_line(&text).contains("RSMC_RESUME=1 cargo test checkpoint::checks::interrupted"), "{text}");
    assert!(text.contains("\n  left: "), "{text}");
    let covered = number_before(&text, " executions");
    let (_, text) = run("checkpoint::checks::interrupted", &[RESUME, PART]);
    assert!(text.contains(&format!("resumed after {covered} executions")), "{covered}: {text}");
    fs::remove_file(&path).unwrap();
}

/// An execution that never ends keeps a check from stopping: the first Ctrl-C waits for it, the second ends all.
#[cfg(unix)]
#[test]
fn a_second_interrupt_ends_the_process_at_once() {
    let path = no_checkpoint("checkpoint::checks::hangs");
    let mut child =
        interruptible("checkpoint::checks::hangs").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains(HANGS)), "it comes to that");
    interrupt(&child.id().to_string());
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "one is not enough");
    interrupt(&child.id().to_string());
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(child.kill());
    assert_eq!(child.wait().unwrap().code(), Some(130), "at once");
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert!(!rest.iter().any(|line| line.contains("NOT a proof")), "{rest:?}");
    assert!(!path.exists(), "nothing was covered that could be written down");
}

/// The workers of a check, of all processes.
#[cfg(target_os = "linux")]
fn workers_of(check: &str) -> Vec<String> {
    let is_worker = |number: &String| {
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        let variables = String::from_utf8_lossy(&environment).into_owned();
        variables.split('\0').any(|line| line.starts_with("RSMC_WORKER=") && line.contains(&format!("/{check}@")))
    };
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    processes.filter(is_worker).collect()
}

/// Ctrl-C in a terminal reaches the workers, too. They leave it to the coordinator, and go with it.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_check_of_several_processes_says_so_and_leaves_none_behind() {
    const CHECK: &str = "checkpoint::checks::divided";
    let path = no_checkpoint(CHECK);
    let mut command = interruptible(CHECK);
    let mut child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    let workers = workers_of(CHECK);
    assert_eq!(workers.len(), 2, "both explore: {:?}", child.try_wait());
    workers.iter().for_each(|worker| interrupt(worker));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(workers_of(CHECK), workers, "the same two");
    interrupt(&format!("-{}", child.id()));
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert_eq!(workers_of(CHECK), Vec::<String>::new());
    assert!(text.contains("incomplete, NOT a proof: stopped at an interrupt"), "{text}");
    let mut covered = number_before(&text, " executions (");
    assert!(covered > 0 && text.contains("\n  left: at least "), "{text}");
    let stale = [RESUME, PART, ("RSMC_MEMORY", "sc")];
    assert!(run(CHECK, &stale).1.contains("it was made with memory = c11, and this check has memory = sc"));
    for jobs in ["1", "2"] {
        // Long enough to read the checkpoint and to start workers while other tests run.
        let (_, text) = run(CHECK, &[RESUME, ("RSMC_MAX_DURATION", "500ms"), ("RSMC_JOBS", jobs)]);
        assert!(text.contains(&format!("resumed after {covered} executions")), "{covered}: {text}");
        let before = std::mem::replace(&mut covered, number_before(&text, " executions ("));
        assert!(covered > before, "{text}");
    }
    fs::remove_file(&path).unwrap();
}

/// Before it has taken a second, a check leaves Ctrl-C alone.
#[cfg(unix)]
#[test]
fn a_short_check_ends_as_everything_does() {
    let mut child = interruptible("checkpoint::checks::short").stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "the check takes longer than that");
    interrupt(&child.id().to_string());
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2));
}

/// The checks that the tests above run in processes of their own.
mod checks {
    use super::*;

    #[rsmc::test]
    fn whole() {
        if is_child() {
            increments(6);
        }
    }

    #[rsmc::test]
    fn shared() {
        if is_child() {
            let x = Arc::new(AtomicU32::new(0));
            let spawn = |_| {
                let x = Arc::clone(&x);
                rsmc::thread::spawn(move || x.store(x.load(SeqCst) + 1, SeqCst))
            };
            let threads: Vec<_> = (0..6).map(spawn).collect();
            std::hint::black_box(x.load(SeqCst));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    }

    #[rsmc::test]
    fn fat() {
        if is_child() {
            increments(4);
        }
    }

    #[rsmc::test(max_duration = "20ms")]
    fn stale() {
        if is_child() {
            increments(7);
        }
    }

    #[rsmc::test(max_duration = "20ms")]
    fn moved() {
        if is_child() {
            increments(7);
        }
    }

    #[rsmc::test(max_duration = "20ms")]
    fn rebuilt() {
        if is_child() {
            increments(7);
        }
    }

    #[rsmc::test]
    fn interrupted() {
        if is_child() {
            increments(9);
        }
    }

    #[rsmc::test(jobs = 2)]
    fn divided() {
        if is_child() {
            increments(9);
        }
    }

    #[rsmc::test]
    fn hangs() {
        static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
        if is_child() {
            if STARTED.elapsed() > Duration::from_secs(2) {
                drop(writeln!(std::io::stderr(), "{HANGS}"));
                std::thread::sleep(Duration::from_secs(600));
            }
            increments(9);
        }
    }

    #[test]
    fn short() {
        if is_child() {
            rsmc::check_with(Config::default(), || increments(9));
        }
    }
}
