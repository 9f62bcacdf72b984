//! A failing execution as a graph for Graphviz.
//!
//! A cluster for each thread, a node for each step. Edges: program order, spawn and join; `rf` from a write to its
//! reader, dashed while the write is in the buffer of its thread; `flush` from a buffered store to the step in which it
//! becomes visible; `co` between writes of a location that follow one another in coherence order; `waits for` from a
//! thread that waits at the end to the one for which it does, so that a deadlock is a cycle. Only program order, spawn
//! and join affect the layout.

use std::fmt::Write;

use crate::report::diagram::{Diagram, Place, Step};
use crate::report::text::visible;

/// The graph in Graphviz's language.
pub fn dot(diagram: &Diagram) -> String {
    let mut text = String::new();
    let title = quoted(&format!("{}\n{}", diagram.test.as_deref().unwrap_or("a check"), diagram.title));
    let _ = writeln!(text, "digraph failure {{\n  label={title};\n  labelloc=t;");
    text.push_str(
        "  node [shape=box, fontname=\"monospace\", fontsize=10];\n  edge [fontname=\"monospace\", fontsize=9];\n",
    );
    for thread in 0..diagram.threads.len() {
        cluster(&mut text, diagram, thread);
    }
    for step in &diagram.steps {
        edges(&mut text, diagram, step);
    }
    for coherence in &diagram.coherence {
        for pair in coherence.steps.windows(2) {
            edge(&mut text, pair[0], pair[1], "co", "color=gray40, style=dotted");
        }
    }
    waits(&mut text, diagram);
    text.push_str("}\n");
    text
}

/// A thread: its steps, and its wait at the end, in program order.
fn cluster(text: &mut String, diagram: &Diagram, thread: usize) {
    let own: Vec<&Step> =
        diagram.steps.iter().filter(|step| step.thread == thread && step.operation != "flush").collect();
    let name = &diagram.threads[thread].name;
    let _ = writeln!(text, "  subgraph cluster_{thread} {{\n    label={};", quoted(name));
    for step in &own {
        node(text, &format!("s{}", step.number), &label(step), step.failing);
    }
    let flushes = diagram.steps.iter().filter(|step| step.thread == thread && step.operation == "flush");
    for step in flushes {
        node(text, &format!("s{}", step.number), &label(step), step.failing);
    }
    let mut ids: Vec<String> = own.iter().map(|step| format!("s{}", step.number)).collect();
    for (number, waiting) in diagram.waiting.iter().enumerate().filter(|(_, waiting)| waiting.thread == thread) {
        let id = format!("w{number}");
        node(text, &id, &format!("{}{}", waiting.text, line(waiting.place.as_ref())), waiting.failing);
        ids.push(id);
    }
    for pair in ids.windows(2) {
        let _ = writeln!(text, "    {} -> {} [weight=10];", pair[0], pair[1]);
    }
    text.push_str("  }\n");
}

/// The edges from each waiting thread to the one for which it waits: to its own wait, or to its last step.
fn waits(text: &mut String, diagram: &Diagram) {
    for (number, waiting) in diagram.waiting.iter().enumerate() {
        let Some(other) = waiting.waits_for.filter(|&other| other != waiting.thread) else { continue };
        let end = match diagram.waiting.iter().position(|waits| waits.thread == other) {
            Some(number) => format!("w{number}"),
            None => match diagram.steps.iter().rfind(|step| step.thread == other && step.operation != "flush") {
                Some(step) => format!("s{}", step.number),
                None => continue,
            },
        };
        let _ = writeln!(text, "  w{number} -> {end} [label=\"waits for\", color=red, constraint=false];");
    }
}

fn label(step: &Step) -> String {
    let ordering = step.ordering.as_ref().map(|ordering| format!(" ({ordering})")).unwrap_or_default();
    format!("#{} {}{ordering}{}", step.number, step.text, line(step.place.as_ref()))
}

/// `\nqueue.rs:41`, below the words of a node.
fn line(place: Option<&Place>) -> String {
    let Some(Place { file, line }) = place else { return String::new() };
    match file.as_deref().and_then(|file| file.rsplit(['/', '\\']).next()) {
        Some(file) => format!("\n{file}:{line}"),
        None => format!("\nline {line}"),
    }
}

fn node(text: &mut String, id: &str, label: &str, fails: bool) {
    let (label, style) = match fails {
        true => (format!("✗ {label}"), ", color=red, penwidth=2"),
        false => (label.to_owned(), ""),
    };
    let _ = writeln!(text, "    {id} [label={}{style}];", quoted(&label));
}

/// The edges that end in a step, or leave it for a new thread.
fn edges(text: &mut String, diagram: &Diagram, step: &Step) {
    let of =
        |thread: usize| diagram.steps.iter().filter(move |other| other.thread == thread && other.operation != "flush");
    match (step.operation, step.other) {
        ("spawn", Some(child)) => {
            if let Some(first) = of(child).next() {
                edge(text, step.number, first.number, "spawn", "color=gray40");
            }
        }
        ("join", Some(child)) => {
            if let Some(last) = of(child).next_back() {
                edge(text, last.number, step.number, "join", "color=gray40");
            }
        }
        _ => {}
    }
    if let Some(from) = step.reads_from.filter(|from| *from > 0) {
        let style = if step.from_buffer { ", style=dashed" } else { "" };
        edge(text, from, step.number, "rf", &format!("color=blue, constraint=false{style}"));
    }
    for from in &step.flushes {
        edge(text, *from, step.number, "flush", "color=darkorange3, style=dashed");
    }
}

fn edge(text: &mut String, from: usize, to: usize, label: &str, style: &str) {
    let constraint = if label == "co" { ", constraint=false" } else { "" };
    let _ = writeln!(text, "  s{from} -> s{to} [label={label}, {style}{constraint}];");
}

/// A string of Graphviz's language, in which a backslash begins an escape. Control characters are spelt, as in
/// [`visible`].
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in visible(text).chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_closed_where_they_end() {
        assert_eq!(quoted("a \"b\" \\n\n\tc\u{7}\u{202e}"), r#""a \"b\" \\n\n c\\u{7}\\u{202e}""#);
    }
}
