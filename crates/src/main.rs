//! Runs the loom suites of published crates under loom and under rsmc.
//!
//! ```sh
//! cargo run --release --manifest-path crates/Cargo.toml -- [NAME…] [--limit SECONDS] [--only loom|rsmc]
//! ```
//!
//! `crates.toml` lists the crates. Cargo gets their published sources, which are copied below `crates/target/corpus`
//! and compiled there as they are; only their manifests change. Each test runs in a process of its own. `results.toml`
//! keeps the results, and `docs/crates.md` shows them.
//!
//! With `--sample` the crates of the sample run under rsmc only, nothing is written, and a test that does not end as
//! `crates.toml` says is an error.

mod build;
mod list;
mod page;
mod results;
mod run;
mod source;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::build::Suite;
use crate::list::{Checker, Crate, List};
use crate::results::{Ended, Outcome, Results, TestResult};

/// An error with its message; this program only prints it.
type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match Options::of_command_line().and_then(|options| work(&options)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("crates: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of this package.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// The command line.
struct Options {
    /// The crates that run; all if it is empty.
    names: Vec<String>,
    /// The time that a test may take.
    limit: Duration,
    checkers: Vec<Checker>,
    /// Only tests whose names contain this.
    test: String,
    is_sample: bool,
    /// Nothing runs; the page is written from the results.
    only_page: bool,
}

impl Options {
    fn of_command_line() -> Result<Self, Error> {
        use lexopt::Arg::{Long, Value};
        use lexopt::ValueExt;
        let mut options = Self {
            names: Vec::new(),
            limit: Duration::from_secs(120),
            checkers: vec![Checker::Loom, Checker::Rsmc],
            test: String::new(),
            is_sample: false,
            only_page: false,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("limit") => options.limit = Duration::from_secs(parser.value()?.parse()?),
                Long("only") => options.checkers = vec![parser.value()?.parse()?],
                Long("test") => options.test = parser.value()?.string()?,
                Long("sample") => (options.is_sample, options.checkers) = (true, vec![Checker::Rsmc]),
                Long("page") => options.only_page = true,
                Value(name) => options.names.push(name.string()?),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(options)
    }

    /// The crates that run.
    ///
    /// # Errors
    /// A name that the list does not have.
    fn chosen<'a>(&self, list: &'a List) -> Result<Vec<&'a Crate>, Error> {
        if let Some(name) = self.names.iter().find(|name| list.crates.iter().all(|one| one.name != **name)) {
            return Err(format!("crates.toml has no crate `{name}`").into());
        }
        let is_chosen = |one: &&Crate| {
            if self.is_sample { one.sample } else { self.names.is_empty() || self.names.contains(&one.name) }
        };
        Ok(list.crates.iter().filter(is_chosen).collect())
    }
}

fn work(options: &Options) -> Result<ExitCode, Error> {
    let list = List::read()?;
    let mut results = Results::read()?;
    let mut wrong = Vec::new();
    let chosen = if options.only_page { Vec::new() } else { options.chosen(&list)? };
    for one in chosen {
        eprintln!("crates: {} {}", one.name, one.version);
        match run_crate(one, &list, options) {
            Ok(found) => {
                found.iter().for_each(|found| wrong.extend(unexpected(one, found, options.is_sample)));
                results.put(one, options, found);
            }
            Err(error) => wrong.push(format!("{}: {error}", one.name)),
        }
        if !options.is_sample {
            results.write()?;
            page::write(&list, &results)?;
        }
    }
    if options.only_page {
        page::write(&list, &results)?;
    }
    for line in &wrong {
        eprintln!("crates: not as listed: {line}");
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Compiles the suite of a crate for each checker, and runs each of its tests under one after the other.
fn run_crate(one: &Crate, list: &List, options: &Options) -> Result<Vec<TestResult>, Error> {
    let published = source::published(one)?;
    let mut suites = Vec::new();
    for &checker in &options.checkers {
        let folder = source::prepared(one, checker, &published)?;
        suites.push((checker, build::compile(one, &list.cfgs(one), checker, &folder)?));
    }
    let mut found: Vec<TestResult> = Vec::new();
    for (checker, suite) in &suites {
        for test in suite.tests.iter().filter(|test| test.name.contains(&options.test)) {
            if found.iter().all(|found| found.name != test.name) {
                found.push(TestResult::new(&test.name));
            } else if *checker == options.checkers[0] {
                return Err(format!("two tests are called {}", test.name).into());
            }
        }
    }
    for result in &mut found {
        for (checker, suite) in &suites {
            if let Some(ended) = run_test(one, suite, *checker, &result.name, options.limit)? {
                result.set(*checker, ended);
            }
        }
    }
    Ok(found)
}

/// Runs one test, if the suite has it.
fn run_test(one: &Crate, suite: &Suite, checker: Checker, name: &str, limit: Duration) -> Result<Option<Ended>, Error> {
    let Some(test) = suite.tests.iter().find(|test| test.name == name) else { return Ok(None) };
    let ended = run::run(one, checker, suite, test, limit)?;
    eprintln!("  {checker:<4}  {:<10} {:>9.2} s  {name}", ended.outcome.word(), ended.seconds);
    Ok(Some(ended))
}

/// The results of a test that the list does not explain, as lines. In the sample every test has to finish.
fn unexpected(one: &Crate, found: &TestResult, is_sample: bool) -> Vec<String> {
    let wrong = |checker: Checker| {
        let ended = found.get(checker)?;
        let is_listed = match ended.outcome {
            Outcome::Passed => true,
            Outcome::Failed => one.explanation(&found.name, checker).is_some(),
            Outcome::Unfinished => !is_sample,
        };
        (!is_listed).then(|| format!("{} {} under {checker}: {}", one.name, found.name, ended.outcome.word()))
    };
    [Checker::Loom, Checker::Rsmc].into_iter().filter_map(wrong).collect()
}
