//! The pages of failures in a headless Chromium: they render, the slider shows the state after each step, nothing is
//! complained about and nothing fetched, and the main parts have the places and colours that they should.
//!
//! Without a Chromium nothing is tested, which is said on standard error; with `NEEDS_TOOLS=1` that is a failure.
#![cfg(unix)]

mod devtools;
mod pages;

use crate::primitive_reports;
use devtools::Browser;
use pages::{Page, all, audit, buffers, deadlock, hostile, long, longest};
use serde_json::{Value, json};

/// The text of all elements that a selector finds.
fn texts(browser: &mut Browser, selector: &str) -> Vec<String> {
    let texts = browser.eval(&format!("[...document.querySelectorAll('{selector}')].map(e => e.textContent)"));
    texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn number(browser: &mut Browser, expression: &str) -> f64 {
    browser.eval(expression).as_f64().unwrap_or_else(|| panic!("{expression} is a number"))
}

/// Puts the slider somewhere, as a user does by dragging.
fn slide(browser: &mut Browser, position: usize) {
    browser.eval(&format!("slider.value = {position}; slider.dispatchEvent(new Event('input'))"));
}

/// Memory and buffers after so many steps, from the JSON form by its definition.
fn state(json: &Value, steps: usize) -> (Vec<String>, Vec<String>) {
    let list = |name: &str| json[name].as_array().unwrap().clone();
    let locations = list("locations");
    let mut memory: Vec<Option<&str>> = locations.iter().map(|location| location["initial"].as_str()).collect();
    let all = list("steps");
    let done = &all[..steps];
    for change in done.iter().flat_map(|step| step["memory"].as_array().into_iter().flatten()) {
        memory[change["location"].as_u64().unwrap() as usize] = change["value"].as_str();
    }
    let flushed =
        |number: &Value| done.iter().any(|step| step["flushes"].as_array().is_some_and(|all| all.contains(number)));
    let buffer = |thread: usize| {
        let waits = |step: &&Value| step["thread"] == thread && step["buffered"] == true && !flushed(&step["number"]);
        let entries = done.iter().filter(waits).map(|step| {
            let location = &locations[step["location"].as_u64().unwrap() as usize]["name"];
            format!("{} = {} (#{})", location.as_str().unwrap(), step["written"].as_str().unwrap(), step["number"])
        });
        entries.collect::<Vec<_>>().join(", ")
    };
    let threads = list("threads")
        .into_iter()
        .enumerate()
        .map(|(at, thread)| (thread["name"].as_str().unwrap().to_owned(), buffer(at)));
    let buffers: Vec<String> =
        threads.filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name}: {text}")).collect();
    let buffers = if buffers.is_empty() { vec!["all empty".to_owned()] } else { buffers };
    (memory.into_iter().flatten().map(str::to_owned).collect(), buffers)
}

/// One browser for all: to start it takes longer than all else.
#[test]
fn pages_show_what_they_should() {
    let Some(mut browser) = Browser::start() else { return };
    the_slider_shows_the_state_after_each_step(&mut browser);
    keys_and_buttons_move_the_slider(&mut browser);
    the_source_is_shown_of_what_the_mouse_is_over(&mut browser);
    long_executions_are_folded(&mut browser);
    waiting_threads_come_last(&mut browser);
    no_text_of_a_user_is_run(&mut browser);
    every_page_fits_its_window(&mut browser);
    the_column_of_lines_stays(&mut browser);
    the_main_parts_can_be_seen(&mut browser);
    an_audit_fits_its_window(&mut browser);
}

fn the_slider_shows_the_state_after_each_step(browser: &mut Browser) {
    let Page { html, json, .. } = buffers();
    browser.open("buffers", &html, 1280);
    assert_eq!(number(browser, "Number(slider.value)"), 14.0, "it starts at the failure");
    assert_eq!(texts(browser, ".now .number"), ["15"]);
    let mut seen = std::collections::BTreeSet::new();
    for step in 1..=json["steps"].as_array().unwrap().len() {
        slide(browser, step - 1);
        let (memory, mut lines) = state(&json, step);
        assert_eq!(texts(browser, "#memory td"), memory, "after step {step}");
        let shown = texts(browser, "#buffers");
        lines = vec![lines.join("")];
        assert_eq!(shown, lines, "after step {step}");
        assert_eq!(texts(browser, ".row:not(.later)").len(), step, "what is later is dim");
        seen.insert((memory, lines));
    }
    assert!(seen.len() >= 5, "there are such states: {seen:?}");
    browser.assert_quiet("buffers");
}

fn keys_and_buttons_move_the_slider(browser: &mut Browser) {
    browser.open("buffers-keys", &buffers().html, 1280);
    let position = |browser: &mut Browser| number(browser, "Number(slider.value)");
    browser.press("ArrowLeft", 37);
    assert_eq!(position(browser), 13.0);
    browser.eval("slider.focus()");
    browser.press("ArrowLeft", 37);
    assert_eq!(position(browser), 12.0, "the slider's own key moves it once");
    browser.press("Home", 36);
    assert_eq!(texts(browser, "#memory td"), ["0", "0"]);
    browser.point("#on", true);
    assert_eq!(position(browser), 1.0);
    browser.point("#back", true);
    browser.point("#back", true);
    assert_eq!(position(browser), 0.0, "it ends at the first step");
    browser.point(".row[data-step=\"9\"]", true);
    assert_eq!(texts(browser, ".now .number"), ["9"]);
    assert_eq!(texts(browser, "#memory td"), ["1", "0"]);
    browser.assert_quiet("buffers-keys");
}

fn the_source_is_shown_of_what_the_mouse_is_over(browser: &mut Browser) {
    browser.open("buffers-mouse", &buffers().html, 1280);
    browser.point(".row[data-step=\"4\"]", false);
    assert_eq!(texts(browser, "#said"), ["step 4: t1: load x → 1 (Relaxed), from #3 in its own buffer"]);
    let excerpt = texts(browser, ".excerpt div");
    assert_eq!(excerpt.len(), 5);
    assert!(texts(browser, ".excerpt .line")[0].ends_with("(a.load(Relaxed), b.load(Acquire))"), "{excerpt:?}");
    assert_eq!(texts(browser, ".edge.on").len(), 1, "the edge of the step is emphasised");
    browser.point("h1", false);
    assert_eq!(texts(browser, "#said"), ["main: panic"], "then the step of the slider again");
    assert_eq!(texts(browser, ".row .number").len(), 16);
    browser.assert_quiet("buffers-mouse");
}

/// Lanes and nodes are where they should be, in the colours that they should have.
fn the_main_parts_can_be_seen(browser: &mut Browser) {
    for (scheme, lane, node, failure, flush) in [
        ("light", [0x94, 0xa3, 0xb8], [0x47, 0x55, 0x69], [0xc8, 0x1e, 0x1e], [0xb4, 0x53, 0x09]),
        ("dark", [0x64, 0x74, 0x8b], [0xcb, 0xd5, 0xe1], [0xff, 0x6b, 0x6b], [0xf0, 0xa6, 0x4a]),
    ] {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.call("Emulation.setEmulatedMedia", features);
        browser.open("buffers-seen", &buffers().html, 1280);
        browser.eval("document.querySelector('.schedule').scrollIntoView()");
        let picture = browser.screenshot();
        let at = |[x, y]: [f64; 2]| picture.at(x, y);
        let near = |found: [u8; 3], wanted: [u8; 3]| found.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) < 12);
        let step = |browser: &mut Browser, number: u32| browser.middle(&format!(".row[data-step=\"{number}\"] .node"));
        for number in [3, 5, 8] {
            let place = step(browser, number);
            assert!(near(at(place), node), "{scheme}: node {number}: {:?}", at(place));
        }
        let [x, y] = browser.middle(".failing .node");
        // The middle is the cross.
        assert!(near(at([x, y - 6.0]), failure), "{scheme}: the failure: {:?}", at([x, y - 6.0]));
        let place = step(browser, 9);
        assert!(near(at(place), flush), "{scheme}: the flush: {:?}", at(place));
        // Between the nodes of t1 there is its lane, and right of it nothing before the words.
        let [x, y] = step(browser, 5);
        for below in [20.0, 40.0, 60.0] {
            assert!(near(at([x, y + below]), lane), "{scheme}: the lane: {:?}", at([x, y + below]));
            assert!(!near(at([x + 5.0, y + below]), lane), "{scheme}: the lane is narrow");
        }
        // Lanes are in the order of the threads, and each thread has its own.
        let lanes = [1, 3, 6].map(|number| step(browser, number)[0]);
        assert!(lanes.windows(2).all(|pair| pair[0] + 30.0 < pair[1]), "{lanes:?}");
        browser.assert_quiet("buffers-seen");
    }
}

fn long_executions_are_folded(browser: &mut Browser) {
    browser.open("long", &long().html, 1280);
    let rows = "[...document.querySelectorAll('.row')].filter(row => row.getBoundingClientRect().height > 0).length";
    let folded = number(browser, rows);
    assert!((20.0..80.0).contains(&folded), "{folded}");
    let memory = texts(browser, "#memory td");
    browser.point("#all", true);
    assert_eq!(number(browser, rows), 402.0, "400 operations, and two threads are started");
    assert_eq!(texts(browser, "#memory td"), memory, "it is still the same step");
    slide(browser, 199);
    assert_eq!(texts(browser, "#memory td"), ["198"], "two steps are no additions");
    browser.point("#all", true);
    assert_eq!(number(browser, rows), folded);
    browser.assert_quiet("long");

    let page = longest();
    assert!(page.html.len() < 200_000, "{} bytes", page.html.len());
    browser.open("longest", &page.html, 1280);
    let last = texts(browser, ".number").len() - 1;
    slide(browser, last + 1);
    assert_eq!(texts(browser, "#memory td"), ["30000"], "what is folded counts");
    browser.assert_quiet("longest");
}

fn waiting_threads_come_last(browser: &mut Browser) {
    browser.open("deadlock", &deadlock().html, 1280);
    assert_eq!(texts(browser, ".failing").len(), 4);
    assert_eq!(texts(browser, "#position"), ["at the end"]);
    assert_eq!(texts(browser, "#memory td"), ["held by t1", "held by t2", "held by t3"]);
    slide(browser, 3);
    assert_eq!(texts(browser, "#memory td"), ["held by t1", "free", "free"]);
}

fn no_text_of_a_user_is_run(browser: &mut Browser) {
    let Page { html, name, .. } = hostile();
    browser.open("hostile", &html, 1280);
    assert_eq!(browser.eval("document.title"), json!(format!("panic: {name}")));
    assert!(texts(browser, "h1")[0].contains("</script><script>console.error('run')</script><!--"));
    assert_eq!(texts(browser, ".header .name"), ["main", "<b>&amp;'\""]);
    assert_eq!(number(browser, "document.querySelectorAll('img, b:not(.mark)').length"), 0.0);
    assert_eq!(number(browser, "document.scripts.length"), 2.0);
}

/// No page is wider than its window, nor has anything to complain about.
fn every_page_fits_its_window(browser: &mut Browser) {
    for (name, page) in all() {
        for width in [1280, 700] {
            let name = format!("{name}-{width}");
            browser.open(&name, &page.html, width);
            let found = number(browser, "document.documentElement.scrollWidth");
            assert!(found <= f64::from(width), "{name}: {found}");
            let slides = number(browser, "Number(slider.max)") as usize;
            [0, slides / 2, slides].into_iter().for_each(|position| slide(browser, position));
            assert!(number(browser, "slider.getBoundingClientRect().bottom") < 1000.0, "the slider is in sight");
            browser.assert_quiet(&name);
        }
    }
}

/// The reports around each primitive, in a window of a laptop and in half of one: the places are in sight.
fn the_column_of_lines_stays(browser: &mut Browser) {
    for (name, html) in primitive_reports::pages() {
        for width in [1280, 800] {
            let name = format!("{name}-{width}");
            browser.open(&name, &html, width);
            assert!(number(browser, "document.documentElement.scrollWidth") <= f64::from(width), "{name}");
            let tails = "[...document.querySelectorAll('.row .tail')].filter(tail => tail.textContent.includes(':'))";
            assert!(number(browser, &format!("{tails}.length")) > 0.0, "{name} has no places");
            let right = format!("Math.max(...{tails}.map(tail => tail.getBoundingClientRect().right))");
            assert!(number(browser, &right) <= f64::from(width), "{name}: {}", number(browser, &right));
            browser.assert_quiet(&name);
        }
    }
}

/// An audit of orderings, on a desk and on a phone: every ordering has its lines, and its own colour.
fn an_audit_fits_its_window(browser: &mut Browser) {
    let page = audit();
    for width in [1280, 500] {
        let name = format!("audit-{width}");
        browser.open(&name, &page, width);
        let found = number(browser, "document.documentElement.scrollWidth");
        assert!(found <= f64::from(width), "{name}: {found}");
        assert_eq!(texts(browser, "article .excerpt .line b"), ["store", "store", "load"]);
        assert_eq!(texts(browser, "article .verdict"), ["not exercised", "too strong", "needed"]);
        assert_eq!(texts(browser, "article .excerpt div").len(), 15, "five lines for each");
        let colour =
            "new Set([...document.querySelectorAll('article')].map(e => getComputedStyle(e).borderLeftColor)).size";
        assert_eq!(number(browser, colour), 3.0);
        browser.assert_quiet(&name);
    }
}
