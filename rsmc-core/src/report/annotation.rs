//! Problems as lines that GitHub shows beside the source: workflow commands, as
//! `::error file=src/lib.rs,line=12,col=9,title=data race::…`.
//!
//! The title is the kind of the failure and the test. Below the message each related place has a line.
//! `docs/report-json.md` describes the mapping.

use std::panic::Location;

use crate::report::diagram::{Level, Problem, Related};
use crate::report::headline::words;
use crate::report::text::visible;

/// The line for a problem, without an end of line. `test` is the path of the test as `cargo test` takes it, and `check`
/// the place of the check, at which a problem without a place is shown.
pub fn github(problem: &Problem, test: Option<&str>, check: &Location<'_>) -> String {
    let place = match (&problem.file, problem.line) {
        (Some(file), Some(line)) => place(file, line, problem.column),
        _ => place(check.file(), check.line(), Some(check.column())),
    };
    let related = problem.related.iter().map(|related| format!("\n{}: {}", whereabouts(related), related.message));
    let message = related.fold(problem.message.clone(), |text, line| text + &line);
    command(problem.level, &place, &title(&words(&format!("{:?}", problem.kind)), test), &message)
}

/// The line for a check that fails without a failing execution, as one that is not complete. `kind` says so in a word
/// or two, and `text` is its report.
pub fn github_check(kind: &str, text: &str, test: Option<&str>, check: &Location<'_>) -> String {
    let place = place(check.file(), check.line(), Some(check.column()));
    command(Level::Error, &place, &title(kind, test), text.trim_end())
}

fn title(kind: &str, test: Option<&str>) -> String {
    test.map_or_else(|| kind.to_owned(), |test| format!("{kind} in {test}"))
}

fn place(file: &str, line: u32, column: Option<u32>) -> String {
    let column = column.map(|column| format!(",col={column}")).unwrap_or_default();
    format!("file={},line={line}{column}", property(file))
}

/// `src/lib.rs:12`
fn whereabouts(related: &Related) -> String {
    related.file.as_ref().map_or_else(|| format!("line {}", related.line), |file| format!("{file}:{}", related.line))
}

fn command(level: Level, place: &str, title: &str, message: &str) -> String {
    let level = match level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    format!("::{level} {place},title={}::{}", property(&visible(title)), data(&visible(message)))
}

/// Text as the data of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text as a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::FailureKind;

    fn problem() -> Problem {
        let related = Related {
            message: "main reads cell1 here".to_owned(),
            file: Some("src/mail, old/box.rs".to_owned()),
            line: 31,
            column: Some(5),
        };
        Problem {
            kind: FailureKind::DataRace,
            level: Level::Error,
            message: "data race: t1 writes cell1: 100%".to_owned(),
            file: Some("src/mail, old/box.rs".to_owned()),
            line: Some(12),
            column: Some(9),
            related: vec![related],
        }
    }

    #[test]
    fn a_problem_is_one_line_of_escaped_text() {
        let expected = "::error file=src/mail%2C old/box.rs,line=12,col=9,title=data race in tests%3A%3Aput::\
                        data race: t1 writes cell1: 100%25%0Asrc/mail, old/box.rs:31: main reads cell1 here";
        assert_eq!(github(&problem(), Some("tests::put"), Location::caller()), expected);
        // The page that describes the mapping has it, too.
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/report-json.md");
        assert!(std::fs::read_to_string(page).unwrap().contains(&format!("```text\n{expected}\n```")));
        assert_eq!(property("a%b\r\nc:d,e"), "a%25b%0D%0Ac%3Ad%2Ce");
        assert_eq!(data("a%b\r\nc:d,e"), "a%25b%0D%0Ac:d,e");
    }

    #[test]
    fn what_is_not_known_is_left_out_or_taken_from_the_check() {
        let mut problem = Problem { column: None, level: Level::Warning, related: Vec::new(), ..problem() };
        let expected =
            "::warning file=src/mail%2C old/box.rs,line=12,title=data race::data race: t1 writes cell1: 100%25";
        assert_eq!(github(&problem, None, Location::caller()), expected);
        problem.file = None;
        let here = Location::caller();
        let expected = format!("::warning file={},line={},col={},title=", here.file(), here.line(), here.column());
        assert!(github(&problem, None, here).starts_with(&expected));
    }

    #[test]
    fn characters_that_act_on_a_terminal_are_spelt() {
        let problem = Problem { message: "panic: \u{1b}[31m\rred".to_owned(), related: Vec::new(), ..problem() };
        assert!(github(&problem, None, Location::caller()).ends_with("::panic: \\u{1b}[31m\\rred"));
    }
}
