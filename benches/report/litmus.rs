//! The page on litmus tests: what rsmc shows under each memory model, and what loom shows.

mod tests;

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rsmc_benches::litmus_on_rsmc::MODELS;
use rsmc_benches::{litmus_on_loom, litmus_on_rsmc};
use rsmc_testkit::litmus::{Outcome, Program, parse};
use tests::{SAID, Test, reason, tests};

use crate::measure::thousands;

const TEXT: &str = include_str!("litmus.md");

/// Runs all tests, and writes the page; an error if its text says what they do not show.
pub fn write(docs: &Path) -> Result<(), Box<dyn Error>> {
    let rows = tests().map(row).collect::<Result<Vec<Row>, _>>()?;
    check_text(&rows)?;
    let text = TEXT
        .replace("{{date}}", &crate::output("date", "+%F")?)
        .replace("{{loom}}", crate::machine::version("loom"))
        .replace("{{table}}", &table(&rows))
        .replace("{{differences}}", &differences(&rows))
        .replace("{{tests}}", &rows.len().to_string())
        .replace("{{same}}", &rows.iter().filter(|row| !row.differs()).count().to_string())
        .replace("{{executions}}", &thousands(rows.iter().map(|row| row.executions).sum()))
        .replace("{{iterations}}", &thousands(rows.iter().map(|row| row.loom.iterations).sum()))
        .replace("{{longest}}", &longest(&rows));
    fs::write(docs.join("litmus.md"), text)?;
    Ok(())
}

/// What is shown of one test.
struct Row {
    program: Program,
    /// The outcome that is asked for, without the registers that do not matter.
    weak: &'static str,
    /// Under each of [`MODELS`].
    outcomes: Vec<BTreeSet<Outcome>>,
    /// Under C11.
    executions: u64,
    loom: litmus_on_loom::Shown,
}

fn row(Test { file, weak }: Test) -> Result<Row, Box<dyn Error>> {
    let start = Instant::now();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rsmc-core/tests/litmus");
    let program = parse(&fs::read_to_string(folder.join(file).with_extension("litmus"))?)?;
    let shown = MODELS.map(|memory| litmus_on_rsmc::explore(&program, memory, None));
    let executions = shown[MODELS.len() - 1].executions;
    let outcomes = shown.into_iter().map(|shown| shown.outcomes).collect();
    let loom = litmus_on_loom::explore(&program, None)?;
    println!("{file} took {:.1} s", start.elapsed().as_secs_f64());
    Ok(Row { program, weak, outcomes, executions, loom })
}

impl Row {
    fn name(&self) -> &str {
        &self.program.name
    }

    fn c11(&self) -> &BTreeSet<Outcome> {
        self.outcomes.last().expect("there are models")
    }

    /// What loom shows and C11 forbids.
    fn impossible(&self) -> Vec<&Outcome> {
        self.loom.outcomes.difference(self.c11()).collect()
    }

    /// What C11 allows and loom does not show.
    fn missed(&self) -> Vec<&Outcome> {
        self.c11().difference(&self.loom.outcomes).collect()
    }

    fn differs(&self) -> bool {
        self.loom.outcomes != *self.c11()
    }

    /// The outcomes under each model, and in loom.
    fn columns(&self) -> impl Iterator<Item = &BTreeSet<Outcome>> {
        self.outcomes.iter().chain([&self.loom.outcomes])
    }

    /// Whether the outcome that is asked for is among these.
    fn shows(&self, outcomes: &BTreeSet<Outcome>) -> bool {
        let weak: Outcome = self.weak.parse().expect("it is written in the list");
        let is_weak = |outcome: &Outcome| weak.registers.iter().all(|(name, value)| outcome.registers[name] == *value);
        outcomes.iter().any(is_weak)
    }
}

/// The text says of tests what they show, and has a reason for each in which loom differs.
fn check_text(rows: &[Row]) -> Result<(), String> {
    for (shows, name) in SAID.iter().flat_map(|(shows, names)| names.iter().map(move |name| (shows, *name))) {
        let row = rows.iter().find(|row| row.name() == name).ok_or(format!("no test is called {name}"))?;
        let found: Vec<bool> = row.columns().map(|outcomes| row.shows(outcomes)).collect();
        if found != shows {
            return Err(format!("the text expects {shows:?} of {name}, found {found:?}"));
        }
    }
    match rows.iter().find(|row| row.differs() != reason(row.name()).is_some()) {
        Some(row) => Err(format!("the text is wrong on whether loom differs in {}", row.name())),
        None => Ok(()),
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let verdict = |outcomes: &BTreeSet<Outcome>| {
            let shows = if row.shows(outcomes) { "**yes**" } else { "no" };
            format!("{shows} {}", outcomes.len())
        };
        let verdicts: Vec<String> = row.columns().map(verdict).collect();
        let cells = [row.name().to_owned(), code(&row.program), row.weak.to_owned(), verdicts.join(" | "), judged(row)];
        let counts = [row.executions, row.loom.iterations].map(thousands);
        writeln!(text, "| {} | {} |", cells.join(" | "), counts.join(" | ")).expect("a string grows");
    }
    text
}

/// The test with the most iterations.
fn longest(rows: &[Row]) -> String {
    let row = rows.iter().max_by_key(|row| row.loom.iterations).expect("there are tests");
    format!("{} of them in {}", thousands(row.loom.iterations), row.name())
}

/// How loom differs from C11.
fn judged(row: &Row) -> String {
    let (impossible, missed) = (row.impossible().len(), row.missed().len());
    let impossible = (impossible > 0).then(|| format!("**{impossible} impossible**"));
    let missed = (missed > 0).then(|| format!("**misses {missed} of {}**", row.c11().len()));
    let words: Vec<String> = impossible.into_iter().chain(missed).collect();
    if words.is_empty() { "same".to_owned() } else { words.join(", ") }
}

/// The tests in which loom differs from C11, with the outcomes.
fn differences(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let Some(reason) = reason(row.name()) else { continue };
        let lists = [row.impossible(), row.missed()].map(|outcomes| listed(&outcomes));
        writeln!(text, "| {} | {} | {reason} |", row.name(), lists.join(" | ")).expect("a string grows");
    }
    text
}

fn listed(outcomes: &[&Outcome]) -> String {
    let outcomes: Vec<String> = outcomes.iter().map(ToString::to_string).collect();
    if outcomes.is_empty() { "–".to_owned() } else { outcomes.join(", ") }
}

/// The threads side by side, and what main reads after it has joined them.
fn code(program: &Program) -> String {
    let threads: Vec<String> = program.threads.iter().map(|thread| statements(program, &thread.name)).collect();
    let end = program.main.as_ref().map(|_| format!(", then `{}`", statements(program, "main")));
    format!("`{}`{}", threads.join(" ‖ "), end.unwrap_or_default())
}

/// The statements of a thread in one line, without those that spawn and join.
fn statements(program: &Program, thread: &str) -> String {
    let (text, head) = (program.to_string(), format!("{thread}:"));
    let body = text.lines().skip_while(|line| *line != head).skip(1).map_while(|line| line.strip_prefix("    "));
    let shown: Vec<&str> = body.filter(|line| !line.starts_with("spawn") && !line.starts_with("join")).collect();
    shown.join("; ")
}
