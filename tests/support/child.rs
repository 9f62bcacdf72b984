//! Checks in processes of their own: what they do to their process is what is tested.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The variable that says which case a process is for.
const CASE: &str = "CASE_OF_TEST";

/// The end of a process.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Ended {
    /// The text on stderr with its lines joined: where they are wrapped depends on names.
    pub fn said(&self) -> String {
        in_one_line(&self.stderr)
    }
}

pub fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The case that this process is for, if it was started for one.
pub fn case() -> Option<String> {
    std::env::var(CASE).ok()
}

/// Runs the test `test` of this executable, by its whole name, for a case in a process of its own.
pub fn command(test: &str, case: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CASE, case)
        .env("RUST_BACKTRACE", "0")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// As [`command`], until it ends; `Err` with what it said if it takes longer.
pub fn run(test: &str, case: &str, variables: &[(&str, &str)], most: Duration) -> Result<Ended, String> {
    let start = Instant::now();
    let mut child = command(test, case, variables).spawn().unwrap();
    let read = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            drop(pipe.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = read(Box::new(child.stdout.take().unwrap()));
    let stderr = read(Box::new(child.stderr.take().unwrap()));
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if start.elapsed() > most {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    match status {
        Some(status) => Ok(Ended { status, stdout, stderr, took: start.elapsed() }),
        None => Err(format!("{case} took longer than {most:?}: {stdout}\n{stderr}")),
    }
}

/// The body of the test `test`, in a process of its own, because it measures its process.
pub fn alone(test: &str, most: Duration, body: impl FnOnce()) {
    if case().is_some() {
        return body();
    }
    let Ended { status, stdout, stderr, .. } = run(test, "alone", &[], most).unwrap();
    assert!(status.success() && stdout.contains("1 passed"), "{stdout}\n{stderr}");
}
