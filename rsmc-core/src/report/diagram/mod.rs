//! A failing execution as one value with everything in it named: the JSON form, and the source of all pictures.
//!
//! A step is a row of the text report, with the same number, names, words and values. A step also has its changes to
//! memory and to the buffers. So the state after each step follows from the steps up to it, and the size of the whole
//! is linear in their number.
//!
//! - `steps`: the steps, and the threads that wait at the end.
//! - `memory`: the times at which stores reach memory, and the values of locations.
//! - `coherence`: the order of the writes of each location.
//! - `settings`: the configuration.
//! - `problems`: the places to point at.
//!
//! The JSON form leaves out empty fields (`None`, `false`, an empty list); `docs/report-json.md` describes it.

mod coherence;
mod memory;
mod problems;
mod settings;
mod steps;

use std::collections::BTreeMap;
use std::ops::Not;

use serde::Serialize;

use crate::base::{LocId, ThreadId};
use crate::report::places::parts;
use crate::report::rows::Scene;
use crate::report::{Counts, DOC_TEST, Finding, buffer_legend, headline, summary};
use crate::session::{Config, FailureKind, Needs, Remedy};
use crate::trace::Site;

pub use problems::{Level, Problem, Related};

/// The version of the JSON form. It changes if a reader of the old form could be wrong about the new one, and with a
/// part that tools are meant to rely on.
pub const VERSION: u32 = 2;

/// A failing execution, with the check that found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagram {
    /// Always `rsmc-failure`.
    pub format: &'static str,
    /// [`VERSION`].
    pub version: u32,
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The failure, in one line or a few.
    pub title: String,
    /// The lines below the title in the text report: threads, places, usual causes.
    pub details: Vec<String>,
    /// The problems, for tools that point at lines of the source.
    pub problems: Vec<Problem>,
    /// The path of the test as `cargo test` takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The seed that replays the execution; `None` if the failure is a stale seed or has no failing execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The command line that replays the execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The figures of the check.
    pub check: Check,
    /// The configuration of the check.
    pub settings: Vec<Setting>,
    /// The threads, the test body first. Other fields name a thread by its place in this list.
    pub threads: Vec<Thread>,
    /// The locations. Other fields name a location by its place in this list.
    pub locations: Vec<Location>,
    /// The steps in order; step 1 comes first.
    pub steps: Vec<Step>,
    /// The threads that wait at the end.
    pub waiting: Vec<Waiting>,
    /// For each location that has writes: the steps that write it, in coherence order.
    pub coherence: Vec<Coherence>,
    /// The number of context switches of the schedule, if a small one was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<String>,
    /// The memory models that allow the failure, if they were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// The stronger orderings that mend the failure, if some were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The legend for the remarks on buffers, if the steps have some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about_buffers: Option<String>,
}

/// The figures of a check; see [`Counts`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "they are those of `Counts`")]
#[non_exhaustive]
pub struct Check {
    pub memory: String,
    pub explorer: String,
    pub executions: u64,
    pub runs: u64,
    pub blocked: u64,
    pub failures: u64,
    /// The causes of the failures, the most frequent first, if several executions fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    pub threads: usize,
    pub events: usize,
    /// The time that it took.
    pub milliseconds: u64,
}

/// A cause of failures; see [`crate::session::Cause`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "they are those of the other `Cause`")]
#[non_exhaustive]
pub struct Cause {
    pub kind: FailureKind,
    pub message: String,
    pub executions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
}

/// A setting of the check, by the name that it has in the attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its value, as the attribute takes it but without quotes; `none` if it is not set.
    pub value: String,
    /// Whether it differs from the default.
    #[serde(skip_serializing_if = "Not::not")]
    pub changed: bool,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The path of the file as the compiler knows it; `None` in a litmus program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    pub line: u32,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Thread {
    /// Its name in the report.
    pub name: String,
    /// The place where it was spawned; `None` for the test body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawned: Option<Place>,
}

/// A location: an atomic, a lock, a token of a thread, a tracked cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Location {
    /// Its name in the report.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The place where it was created, or first used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Place>,
    /// Its initial value; `None` for a cell, whose value is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<String>,
}

/// A step of the execution: a row of the text report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// Its number, from 1.
    pub number: usize,
    /// The thread that takes it.
    pub thread: usize,
    /// The kind of step: `load`, `store`, `cas`, `lock`, `spawn`, …
    pub operation: &'static str,
    /// A description in a few words.
    pub text: String,
    /// The steps of rsmc of which it consists, if it is a call of more than one: of a `RwLock`, a `Condvar`, a channel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<String>,
    /// The functions of the user through which the thread came there, from the one that called that of the place
    /// outwards, as far as they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
    /// The ordering that applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordering: Option<String>,
    /// Its place in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The location that it acts on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<usize>,
    /// The thread that it spawns or joins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<usize>,
    /// The value that it read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// The value that it wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The step whose write it read; 0 for the initial value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_from: Option<usize>,
    /// Whether that write was still in the buffer of its own thread.
    #[serde(skip_serializing_if = "Not::not")]
    pub from_buffer: bool,
    /// The step with a newer write that it did not see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misses: Option<usize>,
    /// Whether its store enters the buffer of its thread and is still there after the step.
    #[serde(skip_serializing_if = "Not::not")]
    pub buffered: bool,
    /// The earlier steps whose stores leave the buffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flushes: Vec<usize>,
    /// The changes of memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Change>,
    /// Whether the failure is here.
    #[serde(skip_serializing_if = "Not::not")]
    pub failing: bool,
    /// Whether the text report leaves it out.
    #[serde(skip_serializing_if = "Not::not")]
    pub folded: bool,
}

/// A function on the way to a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Caller {
    /// Its name.
    pub function: String,
    /// The place of the call in it.
    pub place: Place,
}

/// A change of memory: the new value of a location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The location.
    pub location: usize,
    /// Its value.
    pub value: String,
}

/// A thread that waits at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Waiting {
    /// The thread.
    pub thread: usize,
    /// Its next operation, in a few words.
    pub text: String,
    /// The place where it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The functions through which it came there, as those of a step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
    /// The thread for which it waits: the one that it joins, or one that has the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<usize>,
    /// For a lock: the step that took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_since: Option<usize>,
    /// Whether its waiting is the failure.
    #[serde(skip_serializing_if = "Not::not")]
    pub failing: bool,
}

/// The writes of a location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Coherence {
    /// The location.
    pub location: usize,
    /// The steps that write it, in order.
    pub steps: Vec<usize>,
}

impl Diagram {
    /// The diagram of a failing execution. `test` is the path of the test as `cargo test` takes it, or [`DOC_TEST`].
    pub fn new(finding: &Finding<'_>, test: Option<&str>, counts: &Counts<'_>, config: &Config) -> Self {
        let scene = Scene::new(finding);
        let names = Names::new(&scene);
        let recorded = steps::record(&scene, &names, counts.memory);
        Self {
            format: "rsmc-failure",
            version: VERSION,
            kind: finding.kind,
            title: headline::title(&scene),
            details: headline::details(&scene).iter().flat_map(|part| part.lines()).map(str::to_owned).collect(),
            problems: problems::of(&scene),
            test: test.filter(|&name| name != DOC_TEST).map(str::to_owned),
            seed: finding.kind.is_replayed().then(|| finding.replay.seed.to_owned()),
            replay: summary::replay_command(finding, test),
            check: counts.into(),
            settings: settings::of(config),
            threads: names.threads(),
            locations: names.locations(),
            steps: recorded.steps,
            waiting: steps::waiting(&scene, &names),
            coherence: recorded.coherence,
            switches: summary::switches(finding, counts.memory),
            needs: finding.needs.map(Needs::to_string),
            remedy: finding.remedy.map(Remedy::to_string),
            about_buffers: buffer_legend::legend(&scene),
        }
    }

    /// Whether a step or a waiting thread is marked as the failure.
    pub fn marks(&self) -> bool {
        self.steps.iter().any(|step| step.failing) || self.waiting.iter().any(|waiting| waiting.failing)
    }
}

impl From<&Counts<'_>> for Check {
    fn from(counts: &Counts<'_>) -> Self {
        let failures = counts.failures;
        Self {
            memory: counts.memory.to_string(),
            explorer: counts.explorer.to_string(),
            executions: counts.executions,
            runs: counts.runs,
            blocked: counts.blocked,
            failures: failures.executions,
            causes: if failures.executions > 1 { causes(failures.causes) } else { Vec::new() },
            threads: counts.threads,
            events: counts.events,
            milliseconds: u64::try_from(counts.elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

fn causes(causes: &[crate::session::Cause]) -> Vec<Cause> {
    let cause = |cause: &crate::session::Cause| Cause {
        kind: cause.kind,
        message: cause.message.clone(),
        executions: cause.executions,
        seed: cause.kind.is_replayed().then(|| cause.seed.clone()),
    };
    causes.iter().map(cause).collect()
}

/// The places of threads and locations in their lists.
struct Names<'a> {
    scene: &'a Scene<'a>,
    locations: BTreeMap<LocId, usize>,
}

impl<'a> Names<'a> {
    fn new(scene: &'a Scene<'a>) -> Self {
        Self { scene, locations: scene.locations.iter().enumerate().map(|(at, (loc, ..))| (loc, at)).collect() }
    }

    /// The number of a thread. Every thread that has a row is in the trace, and has one.
    fn thread(&self, thread: ThreadId) -> usize {
        self.scene.threads.number(thread).unwrap_or(0)
    }

    fn location(&self, loc: LocId) -> Option<usize> {
        self.locations.get(&loc).copied()
    }

    fn threads(&self) -> Vec<Thread> {
        let known = &self.scene.finding.trace.threads;
        let place_of = |thread| known.get(thread).filter(|_| thread != ThreadId::MAIN).and_then(|t| place(t.site));
        let thread = |thread| Thread { name: self.scene.threads.name(thread).to_owned(), spawned: place_of(thread) };
        self.scene.threads.iter().map(thread).collect()
    }

    fn locations(&self) -> Vec<Location> {
        let states = memory::States::new(self.scene);
        let location = |(loc, name, kind): (LocId, &str, &str)| {
            let info = &self.scene.finding.trace.locs[loc];
            Location {
                name: name.to_owned(),
                kind: kind.to_owned(),
                created: place(info.created),
                initial: states.has_value(loc).then(|| states.show(loc, info.init, None)),
            }
        };
        self.scene.locations.iter().map(location).collect()
    }
}

fn place(site: Site) -> Option<Place> {
    let (file, line) = parts(site);
    line.map(|line| Place { file: file.map(str::to_owned), line })
}
