//! A failing execution as one value with everything in it named: what the JSON form says, and what pictures are drawn
//! of.
//!
//! A step is a row of the text report, with the same number, names, words and values. On top of that a step says what
//! it changes: in memory, and in the buffers. So the state after each step follows from the steps up to it, and the
//! size of the whole is linear in their number.
//!
//! - `steps`: the steps, and the threads that wait at the end.
//! - `memory`: when stores reach memory, and what a location then holds.
//! - `coherence`: the order of the writes of each location.
//! - `settings`: the configuration.
//!
//! Fields that say nothing (`None`, `false`, an empty list) are left out of the JSON form; `docs/report-json.md`
//! describes it.

mod coherence;
mod memory;
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

/// The version of the JSON form. It changes where a reader of the old form could be wrong about the new one.
pub const VERSION: u32 = 1;

/// A failing execution, with the check that found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagram {
    /// Always `rsmc-failure`.
    pub format: &'static str,
    /// [`VERSION`].
    pub version: u32,
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What went wrong, in one line or a few.
    pub title: String,
    /// The lines below the title in the text report: who, where, usual causes.
    pub details: Vec<String>,
    /// The path of the test as `cargo test` takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Replays the execution; `None` if it is a seed that fails to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The command line that does this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The figures of the check.
    pub check: Check,
    /// What the check was asked to do.
    pub settings: Vec<Setting>,
    /// The threads, the test body first. They are named elsewhere by their place in this list.
    pub threads: Vec<Thread>,
    /// The locations. They are named elsewhere by their place in this list.
    pub locations: Vec<Location>,
    /// What happened, in order; step 1 comes first.
    pub steps: Vec<Step>,
    /// The threads that wait at the end.
    pub waiting: Vec<Waiting>,
    /// For each location the steps that write it, in coherence order, if there are any.
    pub coherence: Vec<Coherence>,
    /// How few context switches the schedule has, if a small one was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<String>,
    /// Which memory models allow the failure, if that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// Which stronger orderings mend the failure, if some were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What the steps say about buffers, explained, if they say something.
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
    pub threads: usize,
    pub events: usize,
    /// How long it took.
    pub milliseconds: u64,
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
    /// What it is called in the report.
    pub name: String,
    /// Where it was spawned; `None` for the test body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawned: Option<Place>,
}

/// A location: an atomic, a lock, a token of a thread, a tracked cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Location {
    /// What it is called in the report.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it was created, or first used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Place>,
    /// What it holds at first; `None` for a cell, whose value is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<String>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// Its number, from 1.
    pub number: usize,
    /// Whose step it is.
    pub thread: usize,
    /// What kind of step: `load`, `store`, `cas`, `lock`, `spawn`, …
    pub operation: &'static str,
    /// What happens, in a few words.
    pub text: String,
    /// The ordering that applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordering: Option<String>,
    /// Where it stands.
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
    /// The step with a newer write that it could not see, or did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misses: Option<usize>,
    /// Whether its store goes into the buffer of its thread and is still there after the step.
    #[serde(skip_serializing_if = "Not::not")]
    pub buffered: bool,
    /// The earlier steps whose stores leave the buffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flushes: Vec<usize>,
    /// What changes in memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Change>,
    /// Whether the failure is here.
    #[serde(skip_serializing_if = "Not::not")]
    pub failing: bool,
    /// Whether the text report leaves it out.
    #[serde(skip_serializing_if = "Not::not")]
    pub folded: bool,
}

/// A location holds another value from now on.
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
    /// What it would do next, in a few words.
    pub text: String,
    /// Where it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// For a lock: the step that took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_since: Option<usize>,
    /// Whether the failure is that it waits.
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
    /// The value of a failing execution. `test` is the path of the test as `cargo test` takes it, or [`DOC_TEST`].
    pub fn new(finding: &Finding<'_>, test: Option<&str>, counts: &Counts, config: &Config) -> Self {
        let scene = Scene::new(finding);
        let names = Names::new(&scene);
        let recorded = steps::record(&scene, &names, counts.memory);
        Self {
            format: "rsmc-failure",
            version: VERSION,
            kind: finding.kind,
            title: headline::title(&scene),
            details: headline::details(&scene).iter().flat_map(|part| part.lines()).map(str::to_owned).collect(),
            test: test.filter(|&name| name != DOC_TEST).map(str::to_owned),
            seed: finding.kind.is_replayed().then(|| finding.seed.to_owned()),
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

    /// Whether the failure is at some step, or is that a thread waits.
    pub fn marks(&self) -> bool {
        self.steps.iter().any(|step| step.failing) || self.waiting.iter().any(|waiting| waiting.failing)
    }
}

impl From<&Counts> for Check {
    fn from(counts: &Counts) -> Self {
        Self {
            memory: counts.memory.to_string(),
            explorer: counts.explorer.to_string(),
            executions: counts.executions,
            runs: counts.runs,
            blocked: counts.blocked,
            failures: counts.failures,
            threads: counts.threads,
            events: counts.events,
            milliseconds: u64::try_from(counts.elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// The places of threads and locations in their lists.
struct Names<'a> {
    scene: &'a Scene<'a>,
    locations: BTreeMap<LocId, usize>,
}

impl<'a> Names<'a> {
    fn new(scene: &'a Scene<'a>) -> Self {
        Self { scene, locations: scene.locations.iter().enumerate().map(|(at, (loc, _))| (loc, at)).collect() }
    }

    /// Every thread that has a row is one of the trace, and these have numbers.
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
        let location = |(loc, name): (LocId, &str)| {
            let info = &self.scene.finding.trace.locs[loc];
            Location {
                name: name.to_owned(),
                kind: info.kind.to_owned(),
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
