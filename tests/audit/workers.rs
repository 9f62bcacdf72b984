//! Audits that take long: worker processes ask questions side by side, and a checkpoint has the answers so far.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rsmc::Config;
use serde_json::Value;

use crate::audit::{RUN, run_test, too_strong};

/// The folder for the files of a run that nothing else writes to.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workers").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// The audit of a test of `inner` with these variables, and all that its process says.
pub(super) fn audit(name: &str, variables: &[(&str, &str)]) -> (Value, String) {
    let folder = folder(&format!("{name}.{variables:?}").replace(|c: char| !c.is_alphanumeric(), "_"));
    let dir = ("RSMC_REPORT_DIR", folder.to_str().unwrap());
    let (passed, text) = run_test(name, &[&[dir], variables].concat());
    assert!(passed, "{text}");
    let file = folder.join(format!("all.audit.inner.{name}.audit.json"));
    (serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap(), text)
}

/// All that an audit finds, without how it went about it.
fn findings(mut audit: Value) -> Value {
    for way in ["checks", "notes"] {
        audit.as_object_mut().unwrap().remove(way).unwrap();
    }
    audit
}

fn notes(audit: &Value) -> Vec<&str> {
    audit["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect()
}

#[test]
fn workers_find_what_one_process_finds() {
    for name in ["strong", "listed", "spec"] {
        let [(alone, _), (several, text)] =
            ["1", "3"].map(|jobs| audit(name, &[("RSMC_AUDIT", "60s"), ("RSMC_JOBS", jobs)]));
        assert!(alone["is_complete"] == true && notes(&several) == notes(&alone), "{text}");
        assert_eq!(findings(several), findings(alone));
    }
}

/// The workers of the second audit pass the first one by.
#[test]
fn a_program_has_workers_as_well() {
    let audits = [1, 2].map(|jobs| rsmc::audit(&Config::default().jobs(jobs), too_strong));
    let [alone, several] = audits.map(|audit| (format!("{:?} {:?}", audit.orderings, audit.together), audit.notes));
    assert_eq!(several, alone);
    assert!(several.1.is_empty());
}

/// The pointer is null where the flag is seen without it: that ends one worker, and the audit goes on.
#[cfg(unix)]
#[test]
fn a_crash_of_a_worker_is_an_answer() {
    let (audit, _) = audit("dangling", &[("RSMC_AUDIT", "60s"), ("RSMC_JOBS", "2"), (RUN, "1")]);
    assert_eq!(audit["is_complete"], true);
    let orderings = audit["orderings"].as_array().unwrap();
    assert_eq!(orderings.len(), 2);
    for ordering in orderings {
        assert_eq!((&ordering["verdict"], &ordering["needed"]["kind"]), (&"needed".into(), &"Crash".into()));
        let message = ordering["needed"]["message"].as_str().unwrap();
        assert!(message.starts_with("the process was ended by SIG") && message.ends_with(" in this execution"));
        let [weakened, seed] = [&ordering["needed"]["weakened"][0], &ordering["needed"]["seed"]];
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["audit::inner::dangling", "--exact"]).env(RUN, "1");
        let output = again.env("RSMC_WEAKEN", weakened.as_str().unwrap()).env("RSMC_REPLAY", seed.as_str().unwrap());
        let output = output.output().unwrap();
        assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The checkpoint of the audit of a test of `inner`. Each test of this file has its own.
fn checkpoint(name: &str) -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    let target = executable.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).unwrap();
    target.join("rsmc").join(format!("all.audit.inner.{name}.audit-checkpoint"))
}

/// The number of answers with which an audit went on.
fn resumed(audit: &Value) -> u32 {
    let note = notes(audit).into_iter().find_map(|note| note.strip_prefix("resumed after ")?.strip_suffix(" answers"));
    note.map_or(0, |number| number.parse().unwrap())
}

#[test]
fn an_audit_that_was_stopped_goes_on() {
    let file = checkpoint("slow");
    let (whole, _) = audit("slow", &[("RSMC_AUDIT", "60s"), (RUN, "1")]);
    assert!(whole["is_complete"] == true && !file.exists());
    let (part, _) = audit("slow", &[("RSMC_AUDIT", "400ms"), (RUN, "1")]);
    assert_eq!(part["is_complete"], false);
    let command = "to go on from here: RSMC_RESUME=1 RSMC_AUDIT=1 cargo test audit::inner::slow -- --exact";
    assert_eq!(notes(&part), [command]);
    let other = [("RSMC_RESUME", "1"), ("RSMC_AUDIT", "60s"), (RUN, "1"), ("RSMC_WEAKEN", "src/a.rs:1:2=Relaxed")];
    let (passed, text) = run_test("slow", &other);
    let refused = "audit-checkpoint: it was made with other settings\n  delete this file, or run without RSMC_RESUME";
    assert!(!passed && text.contains("rsmc: cannot resume from ") && text.contains(refused), "{text}");
    // As many processes as there are may go on.
    let variables = [("RSMC_RESUME", "1"), ("RSMC_AUDIT", "60s"), ("RSMC_JOBS", "2"), (RUN, "1")];
    let (rest, text) = audit("slow", &variables);
    assert!(rest["is_complete"] == true && resumed(&rest) > 0, "{text}");
    assert!(resumed(&rest) + u32::try_from(rest["checks"].as_u64().unwrap()).unwrap() > 5);
    assert!(!file.exists(), "it is not needed any more");
    assert_eq!(findings(rest), findings(whole));
    let (again, _) = audit("slow", &[("RSMC_RESUME", "1"), ("RSMC_AUDIT", "60s"), (RUN, "1")]);
    assert!(notes(&again).is_empty() && again["is_complete"] == true);
}

#[test]
fn an_audit_that_was_killed_goes_on() {
    let file = checkpoint("slower");
    let _ = std::fs::remove_file(&file);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["audit::inner::slower", "--exact"]).env("RSMC_AUDIT", "60s").env(RUN, "1");
    command.env("RSMC_REPORT_DIR", folder("killed")).stdout(Stdio::null()).stderr(Stdio::null());
    let (mut process, begun) = (command.spawn().unwrap(), Instant::now());
    while !file.exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let (rest, text) = audit("slower", &[("RSMC_RESUME", "1"), ("RSMC_AUDIT", "60s"), (RUN, "1")]);
    assert!(rest["is_complete"] == true && resumed(&rest) > 0, "{text}");
}
