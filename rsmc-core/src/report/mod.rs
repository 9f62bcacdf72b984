//! Reports: the outcome of a check as text, and a failure also as a page, a graph and JSON.
//!
//! Everything here is a pure function: no clock, no terminal, no environment, no file. The same outcome gives the same
//! text, also if a replay finds it again; so addresses become letters, and threads are numbered by their order in the
//! execution. Lines are at most 80 columns wide, or as wide as the terminal, except the replay line.
//!
//! The text report:
//!
//! - `headline`: the failure and its places, by kind; `race` for a data race, `memory` for freed memory.
//! - `legend`: the names of locations, and the places where they were created.
//! - `rows`: the execution as rows; `fold` leaves out the middle of a long one.
//! - `buffers`: the stores that wait in the buffer of their thread.
//! - `options`: the width of the schedule, colours, and letters.
//! - `live`: the rows of a running execution.
//! - `last_words`: the text for a process that ends in the middle of an execution.
//! - `table`: the rows with one column per thread; `lanes`: with one narrow lane per thread, if columns are too wide.
//! - `callers`: the call paths of the rows with the failure; `functions`: the functions of a path.
//! - `summary`: one line for a success, advice for a limit, counts and replay line of a failure.
//! - `command`: the command by which cargo runs one test.
//! - `names`, `places`, `values`, `text`: the texts of threads, locations, source lines, values and columns.
//!
//! The other forms are made from one value, the [`Diagram`], which has the contents of the text, and the changes of
//! each step:
//!
//! - `diagram`: the value. It is the JSON form.
//! - `dot`: a graph for Graphviz.
//! - `html`: a page to look at in a browser.
//! - `json`: plain data as JSON.
//! - `annotation`: the problems as lines that GitHub shows beside the source.
//!
//! Every check has a `line`, for tools that count many checks.

mod annotation;
mod buffer_legend;
mod buffers;
mod call_words;
mod callers;
mod calls;
mod causes;
mod command;
mod diagram;
mod dot;
mod fold;
mod functions;
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
mod source;
mod summary;
mod table;
mod text;
mod values;

use std::fmt;
use std::time::Duration;

use crate::analysis::race::Race;
use crate::session::{
    Cause, Config, Estimate, ExplorerKind, Failure, FailureKind, Fewest, MemoryModel, Needs, PreemptionBound, Remedy,
    Report, Spot, Verdict,
};
use crate::step::{BadMemory, Panicked, Pending};
use crate::trace::Trace;

pub use annotation::{github, github_check};
pub use command::{DOC_TEST, command, quoted};
pub use diagram::{
    Caller, Change, Check, Coherence, Diagram, Level, Location, Place, Problem, Related, Setting, Step, Thread,
    VERSION, Waiting,
};
pub use dot::dot;
pub use html::{escape, html, page};
pub use json::to_json;
pub use last_words::{last_seed, last_words, stuck};
pub use line::{About, line};
pub use live::Live;
pub use options::{Form, RenderOptions};
pub use places::is_of_user;
pub use source::{Call, Sources};
pub use summary::{incomplete, verified};
pub use text::{visible, wrap};

/// A failing execution, as far as its report needs it.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// A description. It should name no threads: a report has its own names for them.
    pub message: &'a str,
    /// The values of the variables that replay the execution.
    pub replay: Replay<'a>,
    /// The execution.
    pub trace: &'a Trace,
    /// The threads that wait at its end, and what each waits for.
    pub waiting: &'a [Pending],
    /// The position of the event from which threads repeat the same operations.
    pub repeats: Option<u32>,
    /// The panics.
    pub panics: &'a [Panicked],
    /// The race, if it is one.
    pub race: Option<&'a Race>,
    /// The bad use of memory, if it is one.
    pub bad_memory: Option<&'a BadMemory>,
    /// The places that only the message names.
    pub spots: &'a [Spot],
    /// The number of context switches of the execution.
    pub switches: u32,
    /// Whether fewer are possible.
    pub fewest: Fewest,
    /// The memory models that allow the failure, if they were looked for.
    pub needs: Option<&'a Needs>,
    /// The stronger orderings that mend the failure, if some were found.
    pub remedy: Option<&'a Remedy>,
    /// The form of its schedule, and where its names come from.
    pub form: Form<'a>,
}

/// The values of the variables that replay an execution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replay<'a> {
    /// The seed, or the file that has it.
    pub seed: &'a str,
    /// The scenario, if it is an execution of one.
    pub scenario: Option<&'a str>,
    /// The orderings that are weaker than written.
    pub weakened: Option<&'a str>,
}

impl<'a> Finding<'a> {
    /// A failing execution of which only the kind of failure and the trace are known.
    pub fn of(kind: FailureKind, trace: &'a Trace) -> Self {
        Self {
            kind,
            message: "",
            replay: Replay::default(),
            trace,
            waiting: &[],
            repeats: None,
            panics: &[],
            race: None,
            bad_memory: None,
            spots: &[],
            switches: 0,
            fewest: Fewest::Unsought,
            needs: None,
            remedy: None,
            form: RenderOptions::default().form(Sources::NONE),
        }
    }
}

/// The figures of a check; see [`Report`].
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a> {
    /// The number of maximal executions explored.
    pub executions: u64,
    /// The number of times the body was started.
    pub runs: u64,
    /// The number of runs that were given up as redundant.
    pub blocked: u64,
    /// The executions that fail.
    pub failures: Failures<'a>,
    /// The largest number of threads in one execution, the body included.
    pub threads: usize,
    /// The largest number of visible operations in one execution.
    pub events: usize,
    /// Whether some atomic, lock or cell was used by two threads in an execution.
    pub shares: bool,
    /// Whether something of the shim was used that the check does not model.
    pub unmodelled: bool,
    /// The estimated number of runs of the whole check, if a limit ended it and decisions are known.
    pub estimate: Option<Estimate>,
    /// The time that the check took.
    pub elapsed: Duration,
    /// The memory model.
    pub memory: MemoryModel,
    /// The explorer.
    pub explorer: ExplorerKind,
    /// The bound of preemptions.
    pub preemption_bound: Option<PreemptionBound>,
    /// The bound of delays.
    pub delay_bound: Option<u32>,
    /// The bound that was reached, where it rises.
    pub level: Option<u32>,
}

/// The failing executions of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failures<'a> {
    /// Their number.
    pub executions: u64,
    /// Their causes, as [`Report::causes`].
    pub causes: &'a [Cause],
}

impl<'a> From<&'a Report> for Counts<'a> {
    fn from(report: &'a Report) -> Self {
        Self {
            executions: report.executions,
            runs: report.runs,
            blocked: report.blocked,
            failures: Failures { executions: report.failures, causes: &report.causes },
            threads: report.threads,
            events: report.events,
            shares: report.shares,
            unmodelled: report.unmodelled,
            estimate: report.estimate,
            elapsed: report.elapsed,
            memory: report.memory,
            explorer: report.explorer,
            preemption_bound: report.preemption_bound,
            delay_bound: report.delay_bound,
            level: report.level,
        }
    }
}

/// The report of a failing execution.
fn failure(failure: &Failure, report: &Report, options: &RenderOptions<'_>, sources: Sources<'_>) -> String {
    let seed = options.seed_file.map_or_else(|| failure.seed.to_string(), str::to_owned);
    finding_text(&finding_of(failure, report, &seed, options, sources), options.name, &report.into())
}

fn finding_of<'a>(
    failure: &'a Failure,
    report: &'a Report,
    seed: &'a str,
    options: &RenderOptions<'_>,
    sources: Sources<'a>,
) -> Finding<'a> {
    Finding {
        kind: failure.kind,
        message: &failure.message,
        replay: Replay { seed, scenario: failure.scenario.as_deref(), weakened: report.weakened.as_deref() },
        trace: &failure.trace,
        waiting: &failure.waiting,
        repeats: failure.repeats,
        panics: &failure.panics,
        race: failure.race.as_ref(),
        bad_memory: failure.bad_memory.as_ref(),
        spots: &failure.spots,
        switches: failure.switches,
        fewest: failure.fewest,
        needs: failure.needs.as_ref(),
        remedy: failure.remedy.as_ref(),
        form: options.form(sources),
    }
}

/// The failing execution of a check as one value; `None` if there is none. `config` is the configuration of the check,
/// `name` the path of the test as `cargo test` takes it, or [`DOC_TEST`], and `sources` the source of the test.
pub fn diagram(report: &Report, config: &Config, name: Option<&str>, sources: Sources<'_>) -> Option<Diagram> {
    let Verdict::Failed(failure) = &report.verdict else { return None };
    let seed = failure.seed.to_string();
    let finding = finding_of(failure, report, &seed, &RenderOptions::default(), sources);
    Some(Diagram::new(&finding, name, &report.into(), config))
}

/// The JSON form of a failing execution, in one line; `docs/report-json.md` describes it.
pub fn json(diagram: &Diagram) -> String {
    to_json(diagram) + "\n"
}

/// The report of any check: the schedule of a failure; one line if the check is complete; advice if a limit ended it.
pub fn text(report: &Report, options: &RenderOptions<'_>, sources: Sources<'_>) -> String {
    let text = match &report.verdict {
        Verdict::Verified => verified(&report.into()),
        Verdict::Failed(failed) => failure(failed, report, options, sources),
        Verdict::Incomplete(limit) => incomplete(&report.into(), *limit),
    };
    options.put(text + &notes(report))
}

impl fmt::Display for Report {
    /// The report as a test prints it, at 80 columns, without names from the source and without a command that runs a
    /// failing execution again: a report does not know the name of its test. `rsmc::render` has both.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(text(self, &RenderOptions::default(), Sources::NONE).trim_end())
    }
}

/// The notes. What a note has after its first line is a command, which is not broken.
fn notes(report: &Report) -> String {
    let shown = |note: &String| {
        let (what, command) = note.split_at(note.find('\n').unwrap_or(note.len()));
        format!("\n{}{command}", wrap(&format!("note: {what}"), "  "))
    };
    report.notes.iter().map(shown).collect()
}

/// The report of a failing execution, from its parts.
pub fn finding_text(finding: &Finding<'_>, name: Option<&str>, counts: &Counts<'_>) -> String {
    let scene = rows::Scene::new(finding);
    let sections = [
        headline::section(&scene),
        legend::section(&scene),
        table::section(&scene),
        callers::section(&scene),
        summary::counts_section(finding, counts),
        causes::section(finding, &counts.failures),
        summary::replay_section(finding, name),
    ];
    let mut text = sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n");
    text.push('\n');
    text
}
