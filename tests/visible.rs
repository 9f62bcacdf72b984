//! Text of users with characters that act on a terminal, or on the text around them: they are seen, and do nothing.

use std::fmt;
use std::time::Duration;

use rsmc::sync::atomic::{AtomicU32, Ordering::Relaxed};
use rsmc::{Config, RenderOptions, Report, label, thread};

use crate::support::child;

/// Clears the screen, sets a title, ends a text in C, is a control character of Latin-1, and turns the direction of
/// writing.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;t\u{7}\0\u{9b}\r-\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}";
const SPELT: &str = r"\u{1b}[2J\u{1b}]0;t\u{7}\0\u{9b}\r-\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}";

fn body() {
    let x = AtomicU32::new(0);
    label(&x, "\u{1b}[31m\n\u{202e}x");
    let run = || x.store(1, Relaxed);
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("\u{202e}\u{1b}[\t".to_owned());
        writer.spawn_scoped(scope, run).unwrap();
        assert!(x.load(Relaxed) == 0, "{HOSTILE}\nnext\tline {HOSTILE}");
    });
}

fn report() -> Report {
    rsmc::explore(&Config::default(), body)
}

/// Nothing in a text acts, but for ends of lines and tabs.
#[track_caller]
fn is_harmless(text: &str) {
    let acts =
        |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}".contains(c);
    let at = text.find(acts);
    assert!(at.is_none(), "{:?}", &text[at.unwrap_or_default()..]);
}

#[test]
fn reports_of_all_forms() {
    let (report, config) = (report(), Config::default());
    let text = rsmc::render(&report, Some("a"));
    is_harmless(&text);
    assert!(text.starts_with(&format!("panic: {SPELT}\n")), "{text}");
    assert!(text.contains(&format!("\n    next\tline {SPELT}\n")), "{text}");
    assert!(text.contains(r"\u{1b}[31m\n\u{202e}x"), "{text}");
    let coloured = rsmc::render_in(&report, &RenderOptions::of_test(None).colour(true));
    assert!(coloured.starts_with(&format!("\u{1b}[1;31mpanic: {SPELT}\u{1b}[0m\n")), "{coloured}");
    let page = rsmc::html(&report, &config, None).unwrap();
    is_harmless(&page);
    assert!(page.contains(&format!("<h1>{SPELT}</h1>")), "{page}");
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let data: serde_json::Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    strings(&data).into_iter().for_each(is_harmless);
    let graph = rsmc::dot(&report, &config, None).unwrap();
    is_harmless(&graph);
    assert!(graph.contains(&SPELT.replace('\\', r"\\")), "{graph}");
    // A machine gets what there is.
    let json: serde_json::Value = serde_json::from_str(&rsmc::json(&report, &config, None).unwrap()).unwrap();
    assert!(json["title"].as_str().unwrap().contains(HOSTILE), "{json}");
}

fn strings(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::String(text) => vec![text],
        serde_json::Value::Array(values) => values.iter().flat_map(strings).collect(),
        serde_json::Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Loud;

impl fmt::Debug for Loud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HOSTILE)
    }
}

#[test]
fn outcomes() {
    let outcomes = rsmc::outcomes(&Config::default(), || Loud);
    is_harmless(&outcomes.to_string());
    assert!(outcomes.to_string().contains(SPELT));
    let refused = std::panic::catch_unwind(|| drop(outcomes.always(HOSTILE, |_| false).values())).unwrap_err();
    is_harmless(refused.downcast_ref::<String>().unwrap());
}

/// In a process for it, runs a case.
#[test]
fn child_process() {
    match child::case().as_deref() {
        Some("check") => rsmc::check(body),
        #[cfg(unix)]
        Some("abort") => rsmc::check(|| {
            let x = AtomicU32::new(0);
            label(&x, HOSTILE);
            x.store(1, Relaxed);
            std::process::abort();
        }),
        _ => {}
    }
}

/// The output of a process, and of std's hook for panics in it.
fn said(case: &str, variables: &[(&str, &str)]) -> String {
    let ended = child::run("visible::child_process", case, variables, Duration::from_secs(60)).unwrap();
    assert!(!ended.status.success(), "{ended:?}");
    ended.stdout + &ended.stderr
}

#[test]
fn processes() {
    let usual = said("check", &[]);
    is_harmless(&usual);
    assert_eq!(usual.matches(&format!("panic: {SPELT}\n")).count(), 1, "{usual}");
    let traced = said("check", &[("RSMC_LOG", "trace")]);
    is_harmless(&traced);
    assert!(traced.contains(r"rsmc: ") && traced.contains(SPELT), "{traced}");
    let wrong = said("check", &[("RSMC_REPLAY", "\u{1b}[31m"), ("RSMC_MEMORY", "\u{202e}")]);
    is_harmless(&wrong);
}

#[cfg(unix)]
#[test]
fn last_words() {
    let text = said("abort", &[]);
    is_harmless(&text);
    assert!(text.contains("rsmc: SIGABRT in `visible::child_process`") && text.contains(r"\u{1b}[2J"), "{text}");
}
