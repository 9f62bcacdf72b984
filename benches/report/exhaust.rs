//! The page on whole explorations: every program by every explorer under every model that it knows.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rsmc::{Config, Explorer, MemoryModel, Report, Verdict};
use rsmc_benches::explorations::{MODES, Program, drive, programs};
use rsmc_core::explore::view_xplore::Traversal;
use rsmc_core::explore::{RfSmc, RvfSmc, ViewXplore};
use rsmc_core::step;

use crate::measure::{best_time_below, short, thousands};
use crate::timed::Timed;
use rsmc_benches::memory;

const TEXT: &str = include_str!("exhaust.md");

/// A check is given up after this time.
const LIMIT: Duration = Duration::from_secs(3);
/// No larger size is tried after one that took so many seconds, and it is run once.
const LONG: f64 = 0.4;

/// Measures everything, and writes the text.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut tables = String::new();
    for program in programs() {
        let start = Instant::now();
        let rows: String = MODES.iter().map(|mode| rows(&program, *mode)).collect();
        write!(tables, "{}", TABLE.replace("{{program}}", program.name).replace("{{rows}}", &rows))?;
        println!("{} took {:.1} s", program.name, start.elapsed().as_secs_f64());
    }
    let text = TEXT.replace("{{machine}}", &crate::machine()?).replace("{{tables}}", &tables);
    fs::write(folder.join("exhaust.md"), text)?;
    Ok(())
}

/// The table of a program.
const TABLE: &str = "
### {{program}}

| explorer | memory | n | classes | runs | s | classes/s | peak, KiB | run | verify | rest |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{{rows}}";

/// A line for each size, until one takes long.
fn rows(program: &Program, (explorer, memory): (Explorer, MemoryModel)) -> String {
    let (mut text, body) = (String::new(), program.body_under(memory));
    for &n in program.sizes.iter().filter(|&&n| program.suits(explorer, n)) {
        let (report, seconds) = best_time_below(LONG, || {
            let report = check(body, n, explorer, memory);
            (report.elapsed.as_secs_f64(), report)
        });
        write!(text, "| {explorer} | {memory} | {n} | ").expect("a string grows");
        if !matches!(report.verdict, Verdict::Verified) {
            writeln!(text, "> {} | | > {} | | | | | |", thousands(report.executions), LIMIT.as_secs())
                .expect("a string grows");
            break;
        }
        let [classes, runs] = [report.executions, report.runs].map(thousands);
        let rate = thousands((report.executions as f64 / seconds) as u64);
        let parts = parts(body, n, explorer, memory).text();
        writeln!(text, "{classes} | {runs} | {} | {rate} | {parts} |", short(seconds)).expect("a string grows");
        if seconds > LONG {
            break;
        }
    }
    text
}

fn check(body: fn(usize), n: usize, explorer: Explorer, memory: MemoryModel) -> Report {
    let config = Config::default().explorer(explorer).memory(memory).allow_trivial(true).max_duration(LIMIT);
    let report = rsmc::explore(&config, move || body(n));
    assert!(report.failures == 0, "n = {n}, {explorer}, {memory}: {:?}", report.verdict);
    report
}

/// What an exploration needs memory and time for.
struct Parts {
    /// Bytes at most, without stacks.
    peak: usize,
    /// The part of the time that executions take.
    run: f64,
    /// The part that the verifier takes, where that can be measured.
    verify: Option<f64>,
}

impl Parts {
    fn text(&self) -> String {
        let percent = |part: f64| format!("{:.0} %", 1e2 * part);
        let verify = self.verify.map_or("–".to_owned(), percent);
        let rest = 1.0 - self.run - self.verify.unwrap_or_default();
        format!("{} | {} | {verify} | {}", thousands(self.peak as u64 / 1024), percent(self.run), percent(rest))
    }
}

/// From an exploration of its own, because measuring costs some.
fn parts(body: fn(usize), n: usize, explorer: Explorer, memory: MemoryModel) -> Parts {
    match explorer {
        Explorer::ReadsFrom => {
            let new = || RfSmc::new(memory).measure_verifier();
            parts_of(body, n, memory, new, |explorer| explorer.effort().verifying)
        }
        Explorer::ReadsValueFrom => parts_of(body, n, memory, RvfSmc::new, |_| None),
        Explorer::View => parts_of(body, n, memory, || ViewXplore::new(memory, Traversal::DepthFirst), |_| None),
        other => unreachable!("{other} is not compared"),
    }
}

fn parts_of<E: step::Explorer>(
    body: fn(usize),
    n: usize,
    memory: MemoryModel,
    new: impl Fn() -> E + Sync,
    verifying: impl Fn(&E) -> Option<Duration> + Sync,
) -> Parts {
    memory::start();
    let parts = drive(
        memory,
        body,
        n,
        || Timed::new(new()),
        |timed, _| {
            let all = timed.since_start().as_secs_f64();
            let verify = verifying(timed.explorer()).map(|time| time.as_secs_f64() / all);
            Parts { peak: memory::peak(), run: 1.0 - timed.exploring().as_secs_f64() / all, verify }
        },
    );
    memory::stop();
    parts
}
