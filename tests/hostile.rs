//! Bodies that do what nobody should: each runs in a process of its own, and has the verdict that it should have, a
//! failure with its kind and message, or last words. None hangs, none ends without a word, and none is a bug of rsmc.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "what is printed is tested")]

mod drops;
mod locks;
mod memory;
mod panics;
mod process;
mod threads;
mod values;

use std::sync::Mutex;
use std::time::Duration;

use rsmc::{Config, FailureKind, Verdict};

use crate::support::child;

/// A body, and what is to come of it.
struct Case {
    name: &'static str,
    expected: Expected,
    config: fn(Config) -> Config,
    body: fn(),
}

#[derive(Clone, Copy, Debug)]
enum Expected {
    Verified,
    /// A failure of this kind, whose message has this part.
    Fails(FailureKind, &'static str),
    /// The process ends, and says this on stderr.
    Dies(&'static str),
}

fn usual(config: Config) -> Config {
    config
}

const fn passes(name: &'static str, body: fn()) -> Case {
    Case { name, expected: Expected::Verified, config: usual, body }
}

const fn fails(name: &'static str, kind: FailureKind, says: &'static str, body: fn()) -> Case {
    Case { name, expected: Expected::Fails(kind, says), config: usual, body }
}

const fn dies(name: &'static str, says: &'static str, body: fn()) -> Case {
    Case { name, expected: Expected::Dies(says), config: usual, body }
}

impl Case {
    const fn with(self, config: fn(Config) -> Config) -> Self {
        Self { config, ..self }
    }
}

fn all() -> impl Iterator<Item = &'static Case> {
    [drops::CASES, locks::CASES, memory::CASES, panics::CASES, process::CASES, threads::CASES, values::CASES]
        .into_iter()
        .flatten()
}

/// No body takes longer, in whatever build.
const LONGEST: Duration = Duration::from_secs(60);

/// In a process for it, explores a case, and says what came of it. What fails is replayed, and fails in the same way.
#[test]
fn hostile_body() {
    let Some(name) = child::case() else { return };
    let case = all().find(|case| case.name == name).expect("there is such a case");
    // Who is expected to get stuck may do so soon.
    let patience = if let Expected::Dies(_) = case.expected { Duration::from_secs(1) } else { Duration::from_secs(20) };
    let config = (case.config)(Config::default().stuck_after(patience).allow_trivial(true));
    let report = rsmc::explore(&config, case.body);
    let said = match &report.verdict {
        Verdict::Verified => "verified".to_owned(),
        // It is not the same again.
        Verdict::Failed(failure) if failure.kind == FailureKind::Nondeterminism => {
            format!("{:?}: {}", failure.kind, failure.message)
        }
        Verdict::Failed(failure) => {
            let again = rsmc::explore(&config.replay(failure.seed.clone()), case.body);
            match again.verdict {
                Verdict::Failed(again) if again.kind == failure.kind => {}
                verdict => say(&format!("the replay is another: {verdict:?}")),
            }
            format!("{:?}: {}", failure.kind, failure.message)
        }
        verdict => format!("{verdict:?}"),
    };
    say(&format!("{}\nverdict: {said}", rsmc::render(&report, None)));
}

fn say(text: &str) {
    println!("{text}");
}

/// The mistakes in the result of a case.
fn wrong(case: &Case) -> Option<String> {
    let ended = match child::run("hostile::hostile_body", case.name, &[], LONGEST) {
        Ok(ended) => ended,
        Err(late) => return Some(late),
    };
    let verdict = ended.stdout.lines().find_map(|line| line.strip_prefix("verdict: "));
    let is_so = match case.expected {
        Expected::Verified => ended.status.success() && verdict == Some("verified"),
        Expected::Fails(kind, says) => {
            let (found, message) = verdict.and_then(|verdict| verdict.split_once(": ")).unwrap_or_default();
            ended.status.success() && found == format!("{kind:?}") && message.contains(says)
        }
        Expected::Dies(says) => verdict.is_none() && ended.stderr.contains(says),
    };
    let is_other = ended.stdout.contains("the replay is another");
    let is_bug = [&ended.stdout, &ended.stderr].iter().any(|text| text.contains("bug in rsmc"));
    (!is_so || is_bug || is_other).then(|| {
        let child::Ended { status, stdout, stderr, took } = ended;
        format!("{}, expected {:?}: {status} after {took:?}\n{stdout}\n{stderr}", case.name, case.expected)
    })
}

#[test]
fn every_hostile_body_has_its_verdict() {
    let cases = Mutex::new(all());
    let wrongs = Mutex::new(Vec::new());
    let most = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..most {
            scope.spawn(|| {
                loop {
                    let Some(case) = cases.lock().unwrap().next() else { return };
                    wrongs.lock().unwrap().extend(wrong(case));
                }
            });
        }
    });
    let wrongs = wrongs.into_inner().unwrap();
    assert!(wrongs.is_empty(), "{} cases are wrong:\n\n{}", wrongs.len(), wrongs.join("\n\n"));
}

#[test]
fn the_cases_have_names_of_their_own() {
    let names: std::collections::BTreeSet<_> = all().map(|case| case.name).collect();
    assert_eq!(names.len(), all().count());
    assert!(names.len() >= 60, "{}", names.len());
}
