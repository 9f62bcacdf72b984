//! Reports: from the outcome of a check to what its user reads: text, and for a failure a page, a graph and JSON.
//!
//! Everything here is a pure function: no clock, no terminal, no colours, no environment, no file. The same outcome
//! gives the same text, also when it is found again by a replay; so addresses become letters, and threads are
//! numbered by their order in the execution. Lines are at most 80 columns wide, or as wide as the terminal, except the
//! replay line.
//!
//! The text report:
//!
//! - `headline`: what went wrong, and where, by kind of failure; `race` for a data race, `memory` for what was freed.
//! - `legend`: the names of locations, and where they were created.
//! - `rows`: the execution as rows; `fold` leaves out the middle of a long one.
//! - `buffers`: what the rows say about stores that wait in the buffer of their thread.
//! - `options`: how wide the schedule may be, colours, and letters.
//! - `live`: the rows of an execution that goes on.
//! - `last_words`: what is said when the process ends in the middle of an execution.
//! - `table`: the rows with one column per thread; `lanes`: with one narrow lane per thread, where columns are too
//!   wide.
//! - `summary`: one line for a success, what to do about a limit, counts and replay line of a failure.
//! - `command`: how cargo runs one test.
//! - `names`, `places`, `values`, `text`: how threads, locations, source lines, values and columns are written.
//!
//! The other forms are made of one value, the [`Diagram`], which says what the text says, and what each step changes:
//!
//! - `diagram`: the value. It is the JSON form.
//! - `dot`: a graph for Graphviz.
//! - `html`: a page to look at in a browser.
//! - `json`: plain data as JSON.
//!
//! Of any check there is a `line`, for who counts many of them.

mod buffer_legend;
mod buffers;
mod command;
mod diagram;
mod dot;
mod fold;
mod headline;
mod html;
mod json;
mod last_words;
mod legend;
mod line;
mod live;
mod memory;
mod names;
mod options;
mod places;
mod race;
mod rows;
mod summary;
mod table;
mod text;
mod values;

use std::time::Duration;

use crate::analysis::race::Race;
use crate::session::{
    Config, Estimate, ExplorerKind, Failure, FailureKind, Fewest, MemoryModel, Needs, Remedy, Report, Verdict,
};
use crate::step::{BadMemory, Panicked, Pending};
use crate::trace::Trace;

pub use command::{DOC_TEST, command};
pub use diagram::{Change, Check, Coherence, Diagram, Location, Place, Setting, Step, Thread, VERSION, Waiting};
pub use dot::dot;
pub use html::html;
pub use last_words::{last_seed, last_words, stuck};
pub use line::{About, line};
pub use live::Live;
pub use options::RenderOptions;
pub use summary::{incomplete, verified};
pub use text::visible;

/// A failing execution, as far as its report needs it; the seed is text already.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What went wrong. Threads are best left out: a report has its own names for them.
    pub message: &'a str,
    /// Replays the execution.
    pub seed: &'a str,
    /// The execution.
    pub trace: &'a Trace,
    /// The threads that wait at its end, and for what.
    pub waiting: &'a [Pending],
    /// From the event at this position on, threads do the same again and again.
    pub repeats: Option<u32>,
    /// The panics.
    pub panics: &'a [Panicked],
    /// The race, if it is one.
    pub race: Option<&'a Race>,
    /// What is done with memory, if it is that.
    pub bad_memory: Option<&'a BadMemory>,
    /// How many context switches the execution has.
    pub switches: u32,
    /// Whether fewer are possible.
    pub fewest: Fewest,
    /// Which memory models allow the failure, if that was asked.
    pub needs: Option<&'a Needs>,
    /// Which stronger orderings mend it, if that was asked and found.
    pub remedy: Option<&'a Remedy>,
    /// How many columns its schedule may take.
    pub columns: usize,
}

impl<'a> Finding<'a> {
    /// An execution of which nothing is known but what happened, and what kind of failure it is.
    pub fn of(kind: FailureKind, trace: &'a Trace) -> Self {
        Self {
            kind,
            message: "",
            seed: "",
            trace,
            waiting: &[],
            repeats: None,
            panics: &[],
            race: None,
            bad_memory: None,
            switches: 0,
            fewest: Fewest::Unsought,
            needs: None,
            remedy: None,
            columns: RenderOptions::default().columns,
        }
    }
}

/// The figures of a check; see [`Report`].
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Maximal executions explored.
    pub executions: u64,
    /// How often the body was started.
    pub runs: u64,
    /// Runs that were given up as redundant.
    pub blocked: u64,
    /// How many explored executions fail.
    pub failures: u64,
    /// The largest number of threads in one execution, the body included.
    pub threads: usize,
    /// The largest number of visible operations in one execution.
    pub events: usize,
    /// Whether some atomic, lock or cell was used by two threads in an execution.
    pub shares: bool,
    /// Whether something of the shim was used that the check does not model.
    pub unmodelled: bool,
    /// How many runs there would have been in all, if a limit came first and that is known.
    pub estimate: Option<Estimate>,
    /// How long the check took.
    pub elapsed: Duration,
    /// The memory model.
    pub memory: MemoryModel,
    /// The explorer.
    pub explorer: ExplorerKind,
}

impl From<&Report> for Counts {
    fn from(report: &Report) -> Self {
        Self {
            executions: report.executions,
            runs: report.runs,
            blocked: report.blocked,
            failures: report.failures,
            threads: report.threads,
            events: report.events,
            shares: report.shares,
            unmodelled: report.unmodelled,
            estimate: report.estimate,
            elapsed: report.elapsed,
            memory: report.memory,
            explorer: report.explorer,
        }
    }
}

/// The report of a failing execution.
fn failure(failure: &Failure, report: &Report, options: &RenderOptions<'_>) -> String {
    let seed = options.seed_file.map_or_else(|| failure.seed.to_string(), str::to_owned);
    finding_text(&finding_of(failure, &seed, options.columns), options.name, &report.into())
}

fn finding_of<'a>(failure: &'a Failure, seed: &'a str, columns: usize) -> Finding<'a> {
    Finding {
        kind: failure.kind,
        message: &failure.message,
        seed,
        trace: &failure.trace,
        waiting: &failure.waiting,
        repeats: failure.repeats,
        panics: &failure.panics,
        race: failure.race.as_ref(),
        bad_memory: failure.bad_memory.as_ref(),
        switches: failure.switches,
        fewest: failure.fewest,
        needs: failure.needs.as_ref(),
        remedy: failure.remedy.as_ref(),
        columns,
    }
}

/// The failing execution of a check as one value; `None` if there is none. `config` is what the check was asked to do,
/// and `name` the path of the test as `cargo test` takes it, or [`DOC_TEST`].
pub fn diagram(report: &Report, config: &Config, name: Option<&str>) -> Option<Diagram> {
    let Verdict::Failed(failure) = &report.verdict else { return None };
    let seed = failure.seed.to_string();
    let finding = finding_of(failure, &seed, RenderOptions::default().columns);
    Some(Diagram::new(&finding, name, &report.into(), config))
}

/// The JSON form of a failing execution, in one line; `docs/report-json.md` describes it.
pub fn json(diagram: &Diagram) -> String {
    json::to_json(diagram) + "\n"
}

/// The report of any check: the schedule of a failure; one line if the check is complete; what to do if a limit ended it.
pub fn text(report: &Report, options: &RenderOptions<'_>) -> String {
    let text = match &report.verdict {
        Verdict::Verified => verified(&report.into()),
        Verdict::Failed(failed) => failure(failed, report, options),
        Verdict::Incomplete(limit) => incomplete(&report.into(), *limit),
    };
    options.put(text + &notes(report))
}

fn notes(report: &Report) -> String {
    report.notes.iter().map(|note| format!("\n{}", text::wrap(&format!("note: {note}"), "  "))).collect()
}

/// The report of a failing execution, from its parts.
pub fn finding_text(finding: &Finding<'_>, name: Option<&str>, counts: &Counts) -> String {
    let scene = rows::Scene::new(finding);
    let sections = [
        headline::section(&scene),
        legend::section(&scene),
        table::section(&scene),
        summary::counts_section(finding, counts),
        summary::replay_section(finding, name),
    ];
    let mut text = sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n");
    text.push('\n');
    text
}
