//! A failing execution as a page for a browser: one file, which fetches nothing.
//!
//! The drawing is SVG, made here, and can be read without a script. The script (`page.js`) adds a slider over the
//! steps, with memory and buffers after each of them, and shows the source of the step under the mouse.
//!
//! - `layout`: the positions; `draw`: the drawing; `edges`: the ways of its edges.
//! - `items`: the rows, and the data of the script about each.
//! - `sources`: excerpts of the source.
//! - `escape`: makes text of a user harmless in HTML.

mod draw;
mod edges;
mod escape;
mod items;
mod layout;
mod sources;

use crate::report::Sources;
use crate::report::causes::MOST;
use crate::report::diagram::{Cause, Check, Diagram, Location, Setting, Step};
use crate::report::headline::words;
use crate::report::text::count;
use crate::session::{FailureKind, MemoryModel};
use draw::draw;
use escape::script_json;
use items::{Data, LONGEST, folds, rows};
use sources::{Excerpts, label};

pub use escape::escape;

/// The page of a failing execution. `sources` returns the text of a source file, named as by the compiler, if it
/// exists.
pub fn html(diagram: &Diagram, sources: Sources<'_>) -> String {
    let data = Data::new(diagram, Excerpts::new(diagram, sources));
    let name = diagram.test.as_deref().unwrap_or("a check");
    let body = format!(
        "{}{}<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}</script>\n",
        header(diagram),
        main(diagram, &data),
        script_json(&data),
        include_str!("page.js")
    );
    document(&format!("{}: {name}", kind(diagram)), "; script-src 'unsafe-inline'", "", &body)
}

/// A page without a script, in the style of [`html`]: a title, which is any text, further style sheets, and the
/// contents of the body in HTML, of which [`escape`] has made all text harmless.
pub fn page(title: &str, style: &str, body: &str) -> String {
    document(title, "", style, body)
}

/// A whole page, with what it may do besides having styles.
fn document(title: &str, permits: &str, style: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\
         {permits}\">\n<title>{}</title>\n<style>\n{}{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title),
        include_str!("page.css"),
    )
}

/// `DataRace` → `data race`
fn kind(diagram: &Diagram) -> String {
    words(&format!("{:?}", diagram.kind))
}

/// The header of the page: the failure, its places, the facts of the check, and the command that replays it.
fn header(diagram: &Diagram) -> String {
    let lines = diagram.title.trim_start();
    let kind = kind(diagram);
    let title = lines.strip_prefix(&format!("{kind}: ")).unwrap_or(lines);
    let details = match diagram.details.join("\n") {
        details if details.is_empty() => String::new(),
        details => format!("<pre class=\"details\">{}</pre>\n", escape(details)),
    };
    format!(
        "<header>\n<p class=\"kind\"><span aria-hidden=\"true\">✗</span> \
         {}</p>\n<h1>{}</h1>\n{details}{}{}{}</header>\n",
        escape(kind),
        escape(title),
        facts(diagram),
        replay(diagram),
        settings(diagram)
    )
}

fn facts(diagram: &Diagram) -> String {
    let check = &diagram.check;
    let seconds = check.milliseconds as f64 / 1000.0;
    let mut facts = vec![
        ("test", diagram.test.clone().unwrap_or_else(|| "–".to_owned())),
        ("memory model", check.memory.clone()),
        ("explorer", check.explorer.clone()),
    ];
    if diagram.kind != FailureKind::StaleSeed {
        let executions = count(check.executions, "execution");
        facts.push(("found after", format!("{executions}, {}", count(check.runs, "run"))));
        facts.push(("in", format!("{seconds:.2} s")));
    }
    facts.extend(causes(check).map(|causes| ("failures", causes)));
    facts.extend(diagram.switches.clone().map(|switches| ("schedule", switches)));
    facts.extend(diagram.needs.clone().map(|needs| ("models", needs)));
    facts.extend(diagram.remedy.clone().map(|remedy| ("remedy", remedy)));
    facts.extend(diagram.seed.clone().map(|seed| ("seed", seed)));
    let fact = |(name, value): &(&str, String)| {
        let class = if *name == "seed" { " class=\"seed\"" } else { "" };
        format!("<div><dt>{name}</dt><dd{class}>{}</dd></div>", escape(value))
    };
    format!("<dl class=\"facts\">{}</dl>\n", facts.iter().map(fact).collect::<String>())
}

/// The number of failing executions of the most frequent causes, in lines; `None` unless several executions fail.
fn causes(check: &Check) -> Option<String> {
    let line = |cause: &Cause| {
        let first = cause.message.lines().next().unwrap_or_default();
        format!("{}: {first}", count(cause.executions, "execution"))
    };
    let lines: Vec<String> = check.causes.iter().take(MOST).map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn replay(diagram: &Diagram) -> String {
    let Some(command) = &diagram.replay else { return String::new() };
    format!(
        "<div class=\"replay\"><span>run this execution again</span><code id=\"command\">{}</code>\
         <button type=\"button\" id=\"copy\" hidden>copy</button></div>\n",
        escape(command)
    )
}

/// The configuration; the summary shows the settings that differ from the default.
fn settings(diagram: &Diagram) -> String {
    let row = |setting: &Setting| {
        let class = if setting.changed { " class=\"changed\"" } else { "" };
        format!("<tr{class}><th>{}</th><td>{}</td></tr>", setting.name, escape(&setting.value))
    };
    let changed = diagram.settings.iter().filter(|setting| setting.changed && setting.name != "replay");
    let changed: Vec<String> = changed.map(|setting| format!("{} = {}", setting.name, setting.value)).collect();
    let summary = match changed.as_slice() {
        [] => "the default".to_owned(),
        changed => changed.join(", "),
    };
    format!(
        "<details class=\"config\"><summary>configuration: {}</summary><table>{}</table></details>\n",
        escape(summary),
        diagram.settings.iter().map(row).collect::<String>()
    )
}

fn main(diagram: &Diagram, data: &Data) -> String {
    format!("<main>\n{}{}</main>\n", schedule(diagram, data), panel(diagram))
}

/// The drawing; a folded one and, unless it is too long, the whole one.
fn schedule(diagram: &Diagram, data: &Data) -> String {
    if diagram.steps.is_empty() && diagram.waiting.is_empty() {
        let why = match diagram.kind {
            FailureKind::NothingShared => "It is not one execution that fails: nothing is shared in any of them.",
            FailureKind::StaleSeed => "The execution that the seed means is not possible any more.",
            _ => "No step of the execution is known.",
        };
        return format!("<section class=\"schedule\"><h2>schedule</h2>\n<p>{why}</p></section>\n");
    }
    let folds = folds(diagram);
    let class = if folds { "folded" } else { "whole" };
    let mut drawings = draw(diagram, data, &rows(diagram, true), class);
    let mut control = String::new();
    if folds && diagram.steps.len() <= LONGEST {
        let steps = diagram.steps.len();
        control = format!("<input type=\"checkbox\" id=\"all\"><label for=\"all\">show all {steps} steps</label>\n");
        drawings += &draw(diagram, data, &rows(diagram, false), "whole");
    } else if folds {
        control = format!("<p class=\"note\">All {} steps are in the JSON file.</p>\n", diagram.steps.len());
    }
    let about = diagram.about_buffers.as_ref().map(|text| format!("<pre class=\"note\">{}</pre>\n", escape(text)));
    format!(
        "<section class=\"schedule\"><h2>schedule</h2>\n{}{}{control}<div \
         class=\"scroll\">\n{drawings}</div></section>\n",
        legend(diagram),
        about.unwrap_or_default()
    )
}

/// The key to the drawing, for the signs that are in it.
fn legend(diagram: &Diagram) -> String {
    let mut parts = vec!["time goes down, a lane for each thread".to_owned(), "→ reads, = writes".to_owned()];
    let key = |class: &str, words: &str| {
        format!(
            "<svg class=\"key\" width=\"26\" height=\"10\"><path class=\"edge {class}\" d=\"M1 5H25\"/></svg> {words}"
        )
    };
    let any = |what: fn(&Step) -> bool| diagram.steps.iter().any(what);
    if any(|step| step.reads_from.is_some_and(|from| from > 0)) {
        parts.push(key("rf", "from a write to who reads it"));
    }
    if any(|step| step.from_buffer) {
        parts.push(key("rf own", "while the write is still buffered"));
    }
    if any(|step| !step.flushes.is_empty()) {
        parts.push(key("flushes", "from a buffered store to when all see it"));
    }
    if diagram.marks() {
        parts.push("<b class=\"mark\">✗</b> the failure".to_owned());
    }
    let items: String = parts.iter().map(|part| format!("<li>{part}</li>")).collect();
    format!("<ul class=\"legend\">{items}</ul>\n")
}

/// The panel that the script fills: the step, its source, memory and buffers after it.
fn panel(diagram: &Diagram) -> String {
    if diagram.steps.is_empty() && diagram.waiting.is_empty() {
        return String::new();
    }
    let rows: String =
        diagram.locations.iter().enumerate().filter_map(|(number, location)| memory(number, location)).collect();
    let memory = &diagram.check.memory;
    let (heading, older) = match MemoryModel::named(memory).is_some_and(MemoryModel::is_graph) {
        true => ("newest values", format!(" Under {memory} a load may take an older one.")),
        false => ("memory", String::new()),
    };
    let note = format!("<p class=\"note\">After this step.{older}</p>\n");
    let memory = match rows.is_empty() {
        true => String::new(),
        false => format!("<h2>{heading}</h2>\n{note}<table id=\"memory\"><tbody>{rows}</tbody></table>\n"),
    };
    let buffers = if diagram.steps.iter().any(|step| step.buffered) {
        "<h2>buffers</h2>\n<p class=\"note\">Only its own thread sees what is in its buffer.</p>\n<div \
         id=\"buffers\"></div>\n"
    } else {
        ""
    };
    format!(
        "<aside class=\"panel\" id=\"panel\" hidden>\n<div class=\"control\"><label for=\"slider\" \
         id=\"position\"></label>\
         <div class=\"slide\"><button type=\"button\" id=\"back\" aria-label=\"one step back\">◀</button>\
         <input type=\"range\" id=\"slider\" min=\"0\" value=\"0\">\
         <button type=\"button\" id=\"on\" aria-label=\"one step on\">▶</button></div></div>\n\
         <div class=\"state\"><div><p id=\"said\"></p>\n<div \
         id=\"source\"></div></div>\n<div>{memory}{buffers}</div></div></aside>\n\
         <noscript><p class=\"note\">With JavaScript there is also a slider over the steps.</p></noscript>\n"
    )
}

/// A location with its initial value; `None` for a cell, whose value is not known.
fn memory(number: usize, location: &Location) -> Option<String> {
    let initial = location.initial.as_deref()?;
    let created = location.created.as_ref().map(label);
    let created = created.map(|place| format!(", created at {place}")).unwrap_or_default();
    Some(format!(
        "<tr><th title=\"{}\">{}</th><td data-location=\"{number}\">{}</td></tr>",
        escape(format!("{}{created}", location.kind)),
        escape(&location.name),
        escape(initial)
    ))
}
