//! The last words about a check whose process ends in the middle of it, or is stuck.

use std::time::Duration;

use crate::report::live::said;
use crate::report::places::at;
use crate::report::rows::Scene;
use crate::report::summary::{how_to_replay, replay};
use crate::report::text::{visible, wrap};
use crate::report::{Finding, Replay};
use crate::runtime::{Fate, LastWords, Moment};
use crate::seed::Seed;
use crate::session::FailureKind;

/// The seed of an execution that goes no further: of its steps so far.
pub fn last_seed(words: &LastWords<'_>) -> Option<Seed> {
    words.moment.map(|Moment { run, observed, .. }| Seed::of_prefix(run, run.model, observed))
}

/// The last words as text. `again` is for the command that runs the execution again, and `test` the path of the test as
/// `cargo test` takes it, or [`DOC_TEST`](crate::report::DOC_TEST).
pub fn last_words(words: &LastWords<'_>, again: Option<Replay<'_>>, test: Option<&str>) -> String {
    let name = if words.check.is_empty() { "a check".to_owned() } else { format!("`{}`", words.check) };
    let place = words.moment.map(place);
    let mut lines = vec![format!("rsmc: {}", headline(words, &name, place.as_ref()))];
    lines.extend(place.map(|place| format!("  {}", place.last)));
    lines.extend(advice(words.fate).iter().map(|line| format!("  {line}")));
    match (again, words.is_inside) {
        (Some(again), _) => {
            lines.push(how_to_replay(test).to_owned());
            lines.push(replay(again, test));
        }
        (None, true) => {
            lines.push("  rsmc itself was at work, or the execution cannot be looked at: there is no seed".into())
        }
        (None, false) => {}
    }
    let is_command = |line: &String| line.starts_with("RSMC_REPLAY=");
    let lines: Vec<String> =
        lines.into_iter().map(|line| if is_command(&line) { line } else { wrap(&line, "    ") }).collect();
    visible(&format!("\n{}\n", lines.join("\n")))
}

/// The reason for which an execution is stuck, as the end of a sentence about its process; `None` if it is not stuck.
pub fn stuck(words: &LastWords<'_>) -> Option<String> {
    let Fate::Stuck(time) = words.fate else { return None };
    let place = words.moment.map(place);
    let what = place.map(|place| format!(": {} did nothing that rsmc sees ({})", place.thread, place.last));
    Some(format!("was stuck for {}{}", seconds(time), what.unwrap_or_default()))
}

/// The thread that runs, and its last operation.
struct Place {
    thread: String,
    last: String,
}

fn place(Moment { run, thread, .. }: Moment<'_>) -> Place {
    // It did not fail so far; the kind only decides which rows are marked.
    let finding = Finding { panics: &run.panics, ..Finding::of(FailureKind::Panic, &run.trace) };
    let scene = Scene::new(&finding);
    let last = scene.lines.iter().rev().find(|line| line.thread == thread);
    let last = match last {
        Some(line) => format!("its last operation: {}", said(line)),
        None => {
            let spawned = run.trace.threads.get(thread).map(|info| at(info.site)).filter(|place| !place.is_empty());
            format!("it did nothing since it was started{}", spawned.unwrap_or_default())
        }
    };
    Place { thread: format!("thread {}", scene.threads.name(thread)), last }
}

fn headline(words: &LastWords<'_>, name: &str, place: Option<&Place>) -> String {
    let thread = match (words.is_inside, place) {
        (false, _) => format!("in a thread that no check knows, while {name} goes on"),
        (true, None) => format!("in {name}"),
        (true, Some(place)) => format!("in {name}, {}", place.thread),
    };
    match words.fate {
        Fate::Signal(number) => format!("{} {thread}", signal(number)),
        Fate::Exit => format!("`exit` was called {thread}"),
        Fate::Stuck(time) => format!("stuck {thread}: for {} it did nothing that rsmc sees", seconds(time)),
    }
}

fn advice(fate: Fate) -> &'static [&'static str] {
    match fate {
        Fate::Signal(_) => &["the process dies of it; usual causes: `unsafe` code, or an abort"],
        Fate::Exit => &["the process ends, and with it all tests that it runs"],
        Fate::Stuck(_) => &[
            "usual causes:",
            "- it waits for a lock, a condition variable or a channel of std: all threads of a check are one OS thread, so the one \
             that has the lock never goes on; use rsmc_shim::sync",
            "- a thread of an earlier execution, which ended before it, held a lock of std across an operation: join or load first, then \
             lock",
            "- it spins on an atomic of std, or in another loop without an operation of rsmc",
            "- it only takes its time: raise RSMC_STUCK_AFTER=60s, or `stuck_after = \"60s\"` in the attribute",
            "the thread cannot be stopped, so the process ends",
        ],
    }
}

fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if time.subsec_millis() == 0 { format!("{seconds} s") } else { format!("{seconds:.2} s") }
}

/// The name of a signal by which a process ends itself.
fn signal(number: i32) -> String {
    let name = match number {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 | 10 => "SIGBUS",
        8 => "SIGFPE",
        11 => "SIGSEGV",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}
