//! README.md and the pages of `docs/` show what rsmc prints today, and link to what exists.
//!
//! Blocks of text in them have to be whole lines of a report, and blocks of code whole lines of a source file. A test
//! that fails says which block it is, and what is printed now: to be copied into the page.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use rsmc::{Config, MemoryModel, RenderOptions, Seed, Verdict};

mod guide;
/// The example of README.md. Its test is not one here, because it fails.
mod letter;
/// The library of `docs/session.md`. Its test is not one here, because it fails.
mod mailbox;
/// The mailbox after the fix.
mod mailbox_fixed;
mod reports;
mod switching;

/// Asks `tests::the_letter_arrives` to do something.
const RUN: &str = "DOCS_RUN_SESSION";

mod tests {
    /// The test of the session, for a process of its own.
    #[rsmc::test]
    fn the_letter_arrives() {
        if std::env::var_os(super::RUN).is_some() {
            super::mailbox::tests::the_letter_arrives();
        }
    }
}

/// A file of the repository.
fn file(path: &str) -> String {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")).replace("\r\n", "\n")
}

/// The insides of all fenced blocks in a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let (fence, mut blocks, mut rest) = (format!("```{language}\n"), Vec::new(), page);
    while let Some((_, after)) = rest.split_once(&fence) {
        let (block, after) = after.split_once("```").expect("a block ends");
        blocks.push(block);
        rest = after;
    }
    blocks
}

/// Without what differs from run to run: times. Without blanks at the ends of lines.
fn plain(text: &str) -> String {
    let is_time =
        |text: &str| text.trim_end_matches(" in all").trim_end_matches([')', 's', ' ']).trim().parse::<f64>().is_ok();
    let line = |line: &str| match line.rsplit_once(", ") {
        Some((before, time)) if is_time(time) => format!("{before}, <time>\n"),
        // A line that was too long goes on with the time alone.
        None if line.ends_with(" s") && is_time(line) => "<time>\n".to_owned(),
        _ => format!("{}\n", line.trim_end()),
    };
    text.lines().map(line).collect()
}

/// Whether `part` is some whole lines of `text`.
fn has_lines(text: &str, part: &str) -> bool {
    let (text, part) = (plain(text), plain(part));
    text.starts_with(&part) || text.contains(&format!("\n{part}"))
}

/// Every block is in one of the texts, and every text has a block.
#[track_caller]
fn assert_shown(blocks: &[&str], texts: &[String]) {
    assert!(blocks.iter().all(|block| !block.trim().is_empty()), "a block is empty");
    let mut wrong = String::new();
    for block in blocks.iter().filter(|block| !texts.iter().any(|text| has_lines(text, block))) {
        let differs = block.lines().find(|line| !texts.iter().any(|text| has_lines(text, line)));
        write!(wrong, "\nnot printed, from {:?}:\n{block}", differs.unwrap_or("its order")).unwrap();
    }
    for text in texts.iter().filter(|text| !blocks.iter().any(|block| has_lines(text, block))) {
        write!(wrong, "\nprinted, but not in the page:\n{text}").unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}\nall that is printed:\n{}", texts.join("\n"));
}

fn report(name: &str, config: &Config, body: fn()) -> String {
    rsmc::render(&rsmc::explore(config, body), Some(&format!("tests::{name}")))
}

fn seed(body: fn()) -> Seed {
    match rsmc::explore(&Config::default(), body).verdict {
        Verdict::Failed(failure) => failure.seed,
        verdict => panic!("{verdict:?}"),
    }
}

/// The reports of `docs/reading-a-report.md`.
fn reports() -> Vec<String> {
    let config = Config::default;
    let with_file = RenderOptions::of_test(Some("tests::long")).seed_file(Some("target/rsmc/my_crate.tests.long.seed"));
    vec![
        report("two_flags", &config(), reports::two_flags),
        report("two_flags", &config().memory(MemoryModel::Pso), reports::two_flags),
        report("race", &config(), reports::race),
        report("two_locks", &config(), reports::two_locks),
        report("transfers", &config(), reports::transfers),
        report("two_mistakes", &config().keep_going(true), reports::two_mistakes),
        report("freed", &config(), reports::freed),
        report("many", &config(), reports::many),
        rsmc::render_in(&rsmc::explore(&config(), reports::long), &with_file),
        report("two_flags", &config(), reports::two_flags_seq_cst),
        report("two_flags", &config().max_executions(2), reports::two_flags_seq_cst),
        report("two_flags", &config().replay(seed(reports::two_flags)), reports::two_flags_seq_cst),
        report("two_flags", &config().pin(seed(reports::two_flags)), reports::two_flags_seq_cst),
    ]
}

#[test]
fn reading_a_report() {
    let page = file("docs/reading-a-report.md");
    assert_shown(&blocks(&page, "text"), &reports());
    let source = file("tests/docs/reports.rs");
    assert_shown(&blocks(&page, "rust"), &[source]);
}

/// A file of the session as its reader has it, where the test is a test and nothing else needs to see it.
fn source(path: &str) -> String {
    let test = |line: &str| match line.split_once("#[cfg_attr(any(), ") {
        Some((indent, attribute)) => format!("{indent}#[{}]\n", attribute.strip_suffix(")]").expect("one line")),
        None => format!("{}\n", line.replace("pub(crate) ", "")),
    };
    file(path).lines().map(test).collect()
}

/// Paths as in the session.
fn in_session(text: &str) -> String {
    text.replace("tests/docs/mailbox.rs", "src/lib.rs")
}

/// The lines that `RSMC_LOG=trace` prints for the failing execution.
fn traced() -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["docs::tests::the_letter_arrives", "--exact", "--nocapture"]).env(RUN, "1").env("RSMC_LOG", "trace");
    command.env("RSMC_REPLAY", seed(mailbox::tests::the_letter_arrives).to_string());
    let output = String::from_utf8(command.output().unwrap().stderr).unwrap();
    let lines: Vec<&str> = output.lines().filter(|line| line.starts_with("rsmc:")).collect();
    lines.join("\n")
}

#[test]
fn session() {
    let page = file("docs/session.md");
    let (broken, fixed) = (source("tests/docs/mailbox.rs"), source("tests/docs/mailbox_fixed.rs"));
    let changed: Vec<(&str, &str)> = broken.lines().zip(fixed.lines()).filter(|(old, new)| old != new).collect();
    let [(old, new)] = changed[..] else { panic!("the fix is one line: {changed:?}") };
    assert_eq!(broken.lines().count(), fixed.lines().count());
    assert_shown(&blocks(&page, "rust"), std::slice::from_ref(&broken));
    assert_shown(&blocks(&page, "diff"), &[format!("-{old}\n+{new}")]);

    let config = Config::default;
    let name = "the_letter_arrives";
    let printed = [
        report(name, &config(), mailbox::tests::the_letter_arrives),
        traced(),
        format!("rsmc: {}", report(name, &config(), mailbox_fixed::tests::the_letter_arrives)),
    ];
    for text in printed {
        let text = in_session(text.trim_end());
        assert!(has_lines(&page, &text), "docs/session.md does not have this:\n{text}");
    }
}

#[test]
fn readme() {
    let page = file("README.md");
    assert_shown(&blocks(&page, "rust"), &[source("tests/docs/letter.rs")]);
    let report = rsmc::explore(&Config::default(), letter::the_letter_arrives);
    let printed = rsmc::render(&report, Some("the_letter_arrives"));
    let text = printed.trim_end().replace("tests/docs/letter.rs", "tests/letter.rs");
    assert_shown(&blocks(&page, "text"), &[text]);
}

/// The two commands that CI runs, too, are named.
#[test]
fn readme_names_the_commands_of_ci() {
    let (page, ci) = (file("README.md"), file(".ci/run"));
    for command in ["cargo run --release --example quickstart", "cargo test --workspace"] {
        assert!(page.lines().any(|line| line.starts_with(command)), "README.md does not name `{command}`");
        assert!(
            ci.lines().any(|line| line.starts_with("step") && line.ends_with(command)),
            "CI does not run `{command}`"
        );
    }
}

#[test]
fn readme_is_short() {
    assert!(file("README.md").lines().count() <= 150);
}

/// A block is some whole lines of one of the files, which are compiled with these tests; indentation may differ, and
/// items of the files may be visible to the tests.
#[track_caller]
fn assert_compiled(page: &str, paths: &[&str]) {
    let line = |line: &str| format!("{}\n", line.trim_start().trim_start_matches("pub(crate) "));
    let flat = |text: &str| text.lines().map(line).collect::<String>();
    let files: Vec<String> = paths.iter().map(|path| flat(&source(path))).collect();
    let text = file(page);
    let found = blocks(&text, "rust");
    assert_eq!(found.len(), paths.len(), "{page}: a file for each block");
    for block in found {
        assert!(files.iter().any(|file| has_lines(file, &flat(block))), "{page}: no file has this:\n{block}");
    }
}

#[test]
fn switching_a_crate() {
    assert_compiled("docs/switching.md", &["tests/docs/switching.rs"]);
    let cell = switching::cell::UnsafeCell::new(1);
    // SAFETY: nobody else has the cell.
    cell.with_mut(|value| unsafe { *value += 1 });
    // SAFETY: as above.
    assert_eq!(cell.with(|value| unsafe { *value }), 2);
}

/// All pages below a folder, without the templates of the benchmarks' pages.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_other = name.starts_with('.') || name == "target" || path.ends_with("benches/report");
        if path.is_dir() && !is_other {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

/// The targets of the links of a page, without those of blocks of code.
fn links(page: &str) -> Vec<String> {
    let outside: String = page.split("```").step_by(2).collect();
    let targets = outside.split("](").skip(1);
    targets.map(|rest| rest.split(')').next().unwrap().to_owned()).collect()
}

#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut broken) = (Vec::new(), String::new());
    pages(root, &mut found);
    let mut checked = 0;
    for page in &found {
        for link in links(&std::fs::read_to_string(page).unwrap()) {
            if link.contains("://") {
                continue;
            }
            checked += 1;
            let (path, wanted) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let there = target.exists()
                && (wanted.is_empty() || {
                    let text = std::fs::read_to_string(&target).unwrap();
                    text.lines().any(|line| line.starts_with('#') && anchor(line) == wanted)
                });
            if !there {
                writeln!(broken, "{}: {link}", page.display()).unwrap();
            }
        }
    }
    assert!(checked > 100, "only {checked} links were found");
    assert!(broken.is_empty(), "these links lead nowhere:\n{broken}");
}

/// The pages that `docs/SUMMARY.md` lists, in its order.
fn book_pages() -> Vec<String> {
    links(&file("docs/SUMMARY.md"))
}

/// The book has every page once, with the title that the page has, and no link of a page leaves the book: a build would
/// not notice. `links_lead_somewhere` holds that each link has a file and a heading.
#[test]
fn every_page_is_in_the_book_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let (summary, listed) = (file("docs/SUMMARY.md"), book_pages());
    let mut found = Vec::new();
    pages(&folder, &mut found);
    let name = |path: &PathBuf| path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
    let mut found: Vec<String> = found.iter().map(name).filter(|name| name != "SUMMARY.md").collect();
    let mut sorted = listed.clone();
    found.sort();
    sorted.sort();
    assert_eq!(found, sorted, "the pages of docs, and those of docs/SUMMARY.md");
    for page in &listed {
        let text = file(&format!("docs/{page}"));
        let title = text.lines().next().unwrap().trim_start_matches("# ");
        let title =
            title.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok()).map_or(title, |(_, it)| it);
        assert!(
            summary.contains(&format!("[{title}]({page})")),
            "docs/SUMMARY.md has another title than {page}: {title}"
        );
        let depth = page.matches('/').count();
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            assert!(link.matches("../").count() <= depth, "{page} has a link that leaves the book: {link}");
        }
    }
    let chapters: Vec<&String> =
        listed.iter().filter(|page| page.starts_with("guide/0") || page.starts_with("guide/1")).collect();
    assert_eq!(chapters.len(), 12, "{chapters:?}");
    assert!(chapters.is_sorted(), "{chapters:?}");
}

/// A decision has a number, a row in the index, and the three parts of a decision in this order.
#[test]
fn decisions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/decisions");
    let index = file("docs/decisions/README.md");
    let mut found = Vec::new();
    pages(&folder, &mut found);
    found.retain(|path| !path.ends_with("README.md"));
    found.sort();
    for (number, path) in (1..).zip(&found) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        let title = format!("# {number:03}. ");
        assert!(name.starts_with(&format!("{number:03}-")), "{name} does not have the number {number}");
        assert!(headings[0].starts_with(&title), "{name} begins with {}", headings[0]);
        assert_eq!(headings[1..], ["## Context", "## Decision", "## Consequences"], "{name}");
        let row = format!("| [{number:03}]({name}) | {} | ", &headings[0][title.len()..]);
        assert_eq!(index.lines().filter(|line| line.starts_with(&row)).count(), 1, "{name} has no row in the index");
    }
    assert!(found.len() >= 34, "only {} decisions were found", found.len());
}
