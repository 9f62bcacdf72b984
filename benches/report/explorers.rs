//! The report on explorers: classes and times as programs grow, what the parts of RVF-SMC are worth, what ViewXplore
//! looks at and keeps.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rsmc::{Explorer, MemoryModel};
use rsmc_benches::explorations::{ABLATIONS, EXPLORERS, Program, RUNTIMES, body, drive, drive_with, explore, program};
use rsmc_core::consistency::Decided;
use rsmc_core::explore::view_xplore::{Effort, Traversal};
use rsmc_core::explore::{RfSmc, RvfSmc, ViewXplore};

use crate::chart::{Chart, Curve, slope};
use crate::measure::{best_time, short, thousands};
use rsmc_benches::memory;

const TEXT: &str = include_str!("explorers.md");

/// The programs whose curves are drawn.
const CURVES: [&str; 4] = ["readinc", "fib_bench", "reorder", "redundant_co"];
/// The sizes of `msv` under view alone.
const MSV: [usize; 5] = [25, 50, 100, 200, 400];
const ABLATED: [(&str, usize); 7] = [
    ("readinc", 5),
    ("fib_bench", 3),
    ("redundant_co", 20),
    ("eratosthenes", 11),
    ("peterson", 2),
    ("linuxrwlocks", 3),
    ("casrot", 7),
];
/// What RF-SMC explores without one of the runtime's savings.
const SAVED: [(&str, usize); 4] = [("readinc", 6), ("msv", 8), ("lastzero", 8), ("fib_bench", 4)];
const LOOKED_INTO: [(&str, usize); 12] = [
    ("readinc", 5),
    ("readinc", 6),
    ("fib_bench", 3),
    ("reorder", 12),
    ("redundant_co", 30),
    ("msv", 100),
    ("readers", 10),
    ("lastzero", 8),
    ("eratosthenes", 11),
    ("peterson", 2),
    ("linuxrwlocks", 3),
    ("casrot", 8),
];

/// Measures everything, and writes the text and the curves.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let rows = measure_all();
    draw(folder, "explorers-time", "milliseconds", &rows, |measured| 1e3 * measured.seconds)?;
    draw(folder, "explorers-classes", "classes", &rows, |measured| measured.classes as f64)?;
    let text = TEXT
        .replace("{{machine}}", &crate::machine()?)
        .replace("{{headline}}", &headline(&rows))
        .replace("{{msv}}", &msv())
        .replace("{{ablations}}", &ablations())
        .replace("{{savings}}", &savings())
        .replace("{{view}}", &looked_into());
    fs::write(folder.join("explorers.md"), text)?;
    Ok(())
}

/// What an exploration took.
#[derive(Clone, Copy)]
struct Measured {
    classes: u64,
    seconds: f64,
}

/// A program of some size, under each explorer that is done in time.
struct Row {
    program: Program,
    n: usize,
    measured: [Option<Measured>; EXPLORERS.len()],
}

fn measure_all() -> Vec<Row> {
    let sizes = |program: Program| program.sizes.iter().map(move |&n| (program, n));
    CURVES.map(program).into_iter().flat_map(sizes).map(|(program, n)| row(program, n)).collect()
}

fn row(program: Program, n: usize) -> Row {
    let start = Instant::now();
    let measured = EXPLORERS.map(|explorer| program.suits(explorer, n).then(|| measure(program.body, n, explorer)));
    println!("{}({n}) took {:.1} s", program.name, start.elapsed().as_secs_f64());
    Row { program, n, measured }
}

fn measure(body: fn(usize), n: usize, explorer: Explorer) -> Measured {
    let (report, seconds) = best_time(|| {
        let report = explore(body, n, explorer);
        (report.elapsed.as_secs_f64(), report)
    });
    Measured { classes: report.executions, seconds }
}

fn headline(rows: &[Row]) -> String {
    let row = rows.iter().rfind(|row| row.program.name == "readinc").expect("it is in the list");
    let [Some(reads_from), _, Some(view)] = row.measured else { unreachable!("it suits all explorers") };
    format!(
        "readinc({}): {} views in {} s, {} reads-from classes in {} s: view takes {:.2} times as long.",
        row.n,
        thousands(view.classes),
        short(view.seconds),
        thousands(reads_from.classes),
        short(reads_from.seconds),
        view.seconds / reads_from.seconds,
    )
}

fn draw(folder: &Path, name: &str, y: &str, rows: &[Row], of: impl Fn(&Measured) -> f64) -> Result<(), Box<dyn Error>> {
    let curve = |program: &str, explorer: usize| -> Curve {
        let rows = rows.iter().filter(|row| row.program.name == program);
        rows.filter_map(|row| Some((row.n as f64, of(row.measured[explorer].as_ref()?)))).collect()
    };
    let panel = |program: &str| (program.to_owned(), (0..EXPLORERS.len()).map(|i| curve(program, i)).collect());
    let names = EXPLORERS.map(|explorer| explorer.to_string());
    Chart {
        columns: 2,
        x: "n",
        x_ticks: &[],
        x_shared: false,
        y,
        names: names.iter().map(String::as_str).collect(),
        panels: CURVES.map(panel).into(),
    }
    .write(&folder.join(name).with_extension("svg"))
}

/// One class, however long the program.
fn msv() -> String {
    let times = MSV.map(|n| (n as f64, measure(body("msv"), n, Explorer::View).seconds));
    let mut text = String::new();
    for (n, seconds) in times {
        writeln!(text, "| {n} | {:.1} |", 1e3 * seconds).expect("a string grows");
    }
    let fitted = slope(&times.into()).expect("there are more than two points");
    format!("{text}\nFitted to the last three points: n^{fitted:.1}.\n")
}

fn ablations() -> String {
    let mut text = String::new();
    for ((name, n), (what, options)) in ABLATED.iter().flat_map(|program| ABLATIONS.map(|parts| (program, parts))) {
        let ((effort, runs), seconds) = best_time(|| {
            let start = Instant::now();
            let explorer = || RvfSmc::with_options(options);
            let (effort, runs) =
                drive(MemoryModel::Sc, body(name), *n, explorer, |explorer, runs| (explorer.effort(), runs));
            (start.elapsed().as_secs_f64(), (effort, runs))
        });
        let counts = [effort.leaves, runs, effort.nodes, effort.questions, effort.refused].map(thousands);
        writeln!(text, "| {name}({n}) | {what} | {} | {} |", counts.join(" | "), short(seconds))
            .expect("a string grows");
    }
    text
}

/// RF-SMC on a runtime without one of its savings.
fn savings() -> String {
    let mut text = String::new();
    for ((name, n), (what, savings)) in SAVED.iter().flat_map(|program| RUNTIMES.map(|savings| (program, savings))) {
        let (runs, seconds) = best_time(|| {
            let (start, model) = (Instant::now(), MemoryModel::Sc);
            let runs = drive_with(savings, model, body(name), *n, || RfSmc::new(model), |_, runs| runs);
            (start.elapsed().as_secs_f64(), runs)
        });
        let rate = thousands((runs as f64 / seconds) as u64);
        writeln!(text, "| {name}({n}) | {what} | {} | {rate} |", thousands(runs)).expect("a string grows");
    }
    text
}

/// What one exploration by ViewXplore looked at and kept.
struct Kept {
    effort: Effort,
    decided: Decided,
    /// Bytes at most, and at the end.
    peak: usize,
    end: usize,
}

fn kept(body: fn(usize), n: usize, traversal: Traversal) -> Kept {
    memory::start();
    let kept = drive(
        MemoryModel::Sc,
        body,
        n,
        || ViewXplore::new(MemoryModel::Sc, traversal),
        |explorer, _| Kept {
            effort: explorer.effort(),
            decided: explorer.decided(),
            peak: memory::peak(),
            end: memory::now(),
        },
    );
    memory::stop();
    kept
}

fn looked_into() -> String {
    let mut text = String::new();
    for (name, n) in LOOKED_INTO {
        let depth = kept(body(name), n, Traversal::DepthFirst);
        let breadth = kept(body(name), n, Traversal::BreadthFirst);
        let Kept { effort, decided, .. } = depth;
        let counts = [effort.cuts, effort.extensions, effort.known];
        let decided = [decided.incr, decided.urf, decided.found, decided.refuted];
        let counts = counts.into_iter().chain(decided).map(thousands).collect::<Vec<_>>().join(" | ");
        let runs = [depth.effort.runs_kept, breadth.effort.runs_kept].map(|runs| thousands(runs as u64)).join(" | ");
        let peaks = [depth.peak, breadth.peak].map(|bytes| format!("{:.2}", bytes as f64 / 1e6)).join(" | ");
        let per_cut = depth.end as u64 / effort.cuts;
        writeln!(text, "| {name}({n}) | {counts} | {runs} | {peaks} | {per_cut} |").expect("a string grows");
    }
    text
}
