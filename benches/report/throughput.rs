//! The page on executions per second, beside the floor.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use rsmc_benches::explorations::program;
use rsmc_benches::tools::{floor, random, reads_from};

use crate::chart::{Chart, Curve};
use crate::measure::thousands;
use crate::promise::Promise;
use crate::turns::best_rates;

const TEXT: &str = include_str!("throughput.md");
const PAGE: &str = "throughput";

/// With at least a hundred classes, or the start of the check would count for much.
const PROGRAMS: [(&str, &[usize]); 12] = [
    ("readinc", &[4, 5, 6]),
    ("msv", &[6, 8]),
    ("readers", &[8, 12, 14]),
    ("sb", &[8, 10]),
    ("casw", &[4, 5]),
    ("casrot", &[6, 7, 8]),
    ("lastzero", &[8, 10, 12]),
    ("fib_bench", &[2, 3, 4, 5]),
    ("linuxrwlocks", &[3, 4]),
    ("eratosthenes", &[5, 9, 11]),
    ("treiber", &[3]),
    ("msqueue", &[2]),
];
/// Executions of `random` and of the floor at a time.
const SAMPLES: u64 = 1_000;
/// Programs with fewer events than this are small.
const SMALL: usize = 40;
/// The floor may be so many times as fast for them.
const MOST: f64 = 5.0;
/// So many of them are run in a second, at least.
const LEAST: f64 = 50_000.0;

/// A program of some size.
struct Row {
    name: &'static str,
    n: usize,
    threads: usize,
    events: usize,
    classes: u64,
    reads_from: f64,
    random: f64,
    floor: f64,
}

impl Row {
    fn measure(name: &'static str, n: usize) -> Self {
        let program = program(name);
        let report = reads_from(&program, n);
        let [reads_from, random, floor] = best_rates([
            Box::new(|| reads_from(&program, n).runs),
            Box::new(|| random(&program, n, SAMPLES).runs),
            Box::new(|| {
                floor(&program, n, SAMPLES);
                SAMPLES
            }),
        ]);
        let (threads, events, classes) = (report.threads, report.events, report.executions);
        let row = Self { name, n, threads, events, classes, reads_from, random, floor };
        print!("{}", row.text());
        row
    }

    /// How many times as fast the floor is.
    fn ratio(&self) -> f64 {
        self.floor / self.reads_from
    }

    fn text(&self) -> String {
        let rates = [self.reads_from, self.random, self.floor].map(|rate| thousands(rate as u64));
        let ratios = [self.ratio(), self.floor / self.random].map(|ratio| format!("{ratio:.1}"));
        let Self { name, n, threads, events, classes, .. } = self;
        let classes = thousands(*classes);
        let figures = rates.into_iter().chain(ratios).collect::<Vec<_>>().join(" | ");
        format!("| {name} | {n} | {threads} | {events} | {classes} | {figures} |\n")
    }
}

/// Measures everything, and writes the text and the curves.
pub fn write(folder: &Path) -> Result<Vec<Promise>, Box<dyn Error>> {
    let sizes = PROGRAMS.iter().flat_map(|(name, sizes)| sizes.iter().map(move |&n| (*name, n)));
    let rows: Vec<Row> = sizes.map(|(name, n)| Row::measure(name, n)).collect();
    let mut table = String::new();
    rows.iter().for_each(|row| write!(table, "{}", row.text()).expect("a string grows"));
    draw(&rows, &folder.join(PAGE).with_extension("svg"))?;
    let promises = promises(&rows);
    let text = TEXT
        .replace("{{machine}}", &crate::machine::machine()?)
        .replace("{{promises}}", &crate::promise::table(&promises))
        .replace("{{table}}", &table);
    fs::write(folder.join(PAGE).with_extension("md"), text)?;
    Ok(promises)
}

fn promises(rows: &[Row]) -> Vec<Promise> {
    let small = || rows.iter().filter(|row| row.events < SMALL);
    let slowest = small().min_by(|a, b| a.reads_from.total_cmp(&b.reads_from)).expect("some are small");
    let farthest = small().max_by(|a, b| a.ratio().total_cmp(&b.ratio())).expect("some are small");
    vec![
        Promise {
            page: PAGE,
            what: format!(
                "`reads-from` runs at least {} bodies of under {SMALL} events a second",
                thousands(LEAST as u64)
            ),
            measured: format!("at least {}, in {}({})", thousands(slowest.reads_from as u64), slowest.name, slowest.n),
            holds: slowest.reads_from >= LEAST,
        },
        Promise {
            page: PAGE,
            what: format!("The floor is at most {MOST} times as fast, for these bodies"),
            measured: format!("at most {:.1} times, in {}({})", farthest.ratio(), farthest.name, farthest.n),
            holds: farthest.ratio() <= MOST,
        },
    ]
}

/// Executions per second by the number of events, each program a point of each curve's.
fn draw(rows: &[Row], path: &Path) -> Result<(), Box<dyn Error>> {
    let curve = |name: &str, rate: fn(&Row) -> f64| -> Curve {
        rows.iter().filter(|row| row.name == name).map(|row| (row.events as f64, rate(row))).collect()
    };
    let grown = PROGRAMS.iter().filter(|(_, sizes)| sizes.len() > 1);
    let rates: [fn(&Row) -> f64; 3] = [|row| row.reads_from, |row| row.random, |row| row.floor];
    Chart {
        columns: 3,
        x: "events",
        x_ticks: &[],
        x_shared: false,
        y: "executions per second",
        names: vec!["reads-from", "random", "floor"],
        panels: grown.map(|(name, _)| (name.to_string(), rates.map(|rate| curve(name, rate)).into())).collect(),
    }
    .write(path)
}
