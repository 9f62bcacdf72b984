//! The page on loom and shuttle: the same bodies, in the same run.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rsmc_benches::explorations::{Program, program};
use rsmc_benches::tools::{Exhausted, LOOM_THREADS, loom, reads_from, shuttle_dfs, shuttle_random};

use crate::machine::{machine, version};
use crate::measure::{best_time, short, thousands};
use crate::promise::Promise;
use crate::turns::best_rates;

const TEXT: &str = include_str!("peers.md");
const PAGE: &str = "peers";

/// The programs on which rates are promised.
const RATED: [(&str, usize); 8] = [
    ("readinc", 6),
    ("msv", 8),
    ("lastzero", 12),
    ("readers", 14),
    ("casw", 5),
    ("fib_bench", 5),
    ("treiber", 3),
    ("msqueue", 2),
];
/// Iterations of shuttle at a time.
const SAMPLES: u64 = 2_000;
/// As many executions per second as shuttle, at least.
const SHUTTLE: f64 = 0.5;

/// Those that loom can run, with growing sizes; it stops at the first that it does not finish.
const EXHAUSTED: [(&str, &[usize]); 29] = [
    ("readinc", &[2, 3, 4]),
    ("fib_bench", &[1, 2, 3]),
    ("reorder", &[3]),
    ("redundant_co", &[2]),
    ("msv", &[2, 4, 6]),
    ("same_value", &[3]),
    ("fkp2013", &[2]),
    ("sb", &[3]),
    ("readers", &[2]),
    ("nwr", &[2]),
    ("nwr2", &[2, 3, 5]),
    ("float_read", &[3]),
    ("lastwrite", &[3]),
    ("singleton", &[3]),
    ("co2p2w", &[2]),
    ("two_sources", &[1]),
    ("ainc", &[3]),
    ("binc", &[2, 3]),
    ("casrot", &[3]),
    ("casw", &[2, 3]),
    ("lastzero", &[2]),
    ("indexer", &[2, 3]),
    ("eratosthenes", &[3]),
    ("opt_lock", &[2]),
    ("dekker", &[1]),
    ("peterson", &[1]),
    ("linuxrwlocks", &[2, 3]),
    ("treiber", &[2]),
    ("msqueue", &[2]),
];
/// What loom may take for one of them.
const LOOM: (Duration, u64) = (Duration::from_secs(20), 100_000_000);
/// Iterations of shuttle's depth-first search at most.
const DFS: u64 = 50_000;
/// The part of loom's time that a check may take, on the geometric mean.
const PART: f64 = 1.0 / 50.0;

/// Measures everything, and writes the text.
pub fn write(folder: &Path) -> Result<Vec<Promise>, Box<dyn Error>> {
    let rated: Vec<Rated> = RATED.iter().map(|(name, n)| Rated::measure(name, *n)).collect();
    let exhausted: Vec<Row> = EXHAUSTED.iter().flat_map(|(name, sizes)| rows(name, sizes)).collect();
    let promises = vec![rate_promise(&rated), time_promise(&exhausted)];
    let everywhere = geometric_mean(exhausted.iter().filter_map(Row::ratio));
    let text = TEXT
        .replace("{{machine}}", &machine()?)
        .replace("{{loom}}", version("loom"))
        .replace("{{shuttle}}", version("shuttle"))
        .replace("{{promises}}", &crate::promise::table(&promises))
        .replace("{{rates}}", &rated.iter().map(Rated::text).collect::<String>())
        .replace("{{everywhere}}", &format!("{:.0}", 1.0 / everywhere))
        .replace("{{exhausted}}", &exhausted.iter().map(Row::text).collect::<String>());
    fs::write(folder.join(PAGE).with_extension("md"), text)?;
    Ok(promises)
}

/// A program whose rates are compared.
struct Rated {
    name: &'static str,
    n: usize,
    events: usize,
    classes: u64,
    reads_from: f64,
    shuttle: f64,
}

impl Rated {
    fn measure(name: &'static str, n: usize) -> Self {
        let program = program(name);
        let report = reads_from(&program, n);
        let [reads_from, shuttle] = best_rates([
            Box::new(|| reads_from(&program, n).runs),
            Box::new(|| {
                shuttle_random(&program, n, SAMPLES);
                SAMPLES
            }),
        ]);
        let rated = Self { name, n, events: report.events, classes: report.executions, reads_from, shuttle };
        print!("{}", rated.text());
        rated
    }

    fn ratio(&self) -> f64 {
        self.reads_from / self.shuttle
    }

    fn text(&self) -> String {
        let Self { name, n, events, .. } = self;
        let [classes, reads_from, shuttle] = [self.classes, self.reads_from as u64, self.shuttle as u64].map(thousands);
        format!("| {name} | {n} | {events} | {classes} | {reads_from} | {shuttle} | {:.2} |\n", self.ratio())
    }
}

fn rate_promise(rated: &[Rated]) -> Promise {
    let worst = rated.iter().min_by(|a, b| a.ratio().total_cmp(&b.ratio())).expect("there are programs");
    Promise {
        page: PAGE,
        what: format!("`reads-from` has at least {SHUTTLE} times the rate of shuttle's random scheduler"),
        measured: format!("at least {:.2} times, in {}({})", worst.ratio(), worst.name, worst.n),
        holds: worst.ratio() >= SHUTTLE,
    }
}

/// A program that tools run to the end, with the seconds of each.
struct Row {
    name: &'static str,
    n: usize,
    classes: u64,
    seconds: f64,
    loom: (Exhausted, f64),
    dfs: Exhausted,
    /// Whether loom finished no larger one.
    last: bool,
}

fn rows(name: &'static str, sizes: &[usize]) -> Vec<Row> {
    let (program, mut rows) = (program(name), Vec::<Row>::new());
    for &n in sizes {
        let row = Row::measure(&program, n);
        let done = row.loom.0.done;
        rows.push(row);
        if !done {
            break;
        }
    }
    if let Some(row) = rows.iter_mut().rfind(|row| row.loom.0.done) {
        row.last = true;
    }
    rows
}

impl Row {
    fn measure(program: &Program, n: usize) -> Self {
        let (report, seconds) = best_time(|| {
            let report = reads_from(program, n);
            (report.elapsed.as_secs_f64(), report)
        });
        assert!(report.threads <= LOOM_THREADS, "{}({n}) has too many threads for loom", program.name);
        let loom = best_time(|| {
            let exhausted = loom(program, n, LOOM.0, LOOM.1);
            (exhausted.time.as_secs_f64(), exhausted)
        });
        let dfs = shuttle_dfs(program, n, DFS);
        let row = Self { name: program.name, n, classes: report.executions, seconds, loom, dfs, last: false };
        print!("{}", row.text());
        row
    }

    /// The part of loom's time, if it ends.
    fn ratio(&self) -> Option<f64> {
        self.loom.0.done.then(|| self.seconds / self.loom.1)
    }

    fn text(&self) -> String {
        let cells = |exhausted: Exhausted, seconds| {
            let more = if exhausted.done { "" } else { "> " };
            format!("{more}{} | {more}{}", thousands(exhausted.iterations), short(seconds))
        };
        let (loom, dfs) = (cells(self.loom.0, self.loom.1), cells(self.dfs, self.dfs.time.as_secs_f64()));
        let ratio = self.ratio().map_or("–".to_owned(), |ratio| format!("1/{:.1}", 1.0 / ratio));
        let (name, n, classes, seconds) = (self.name, self.n, thousands(self.classes), short(self.seconds));
        format!("| {name} | {n} | {classes} | {seconds} | {loom} | {ratio} | {dfs} |\n")
    }
}

fn time_promise(rows: &[Row]) -> Promise {
    let mean = geometric_mean(rows.iter().filter(|row| row.last).filter_map(Row::ratio));
    Promise {
        page: PAGE,
        what: format!(
            "A check takes at most 1/{:.0} of loom's time, on the geometric mean over the programs at the largest size \
             that loom finishes",
            1.0 / PART
        ),
        measured: format!("1/{:.0}", 1.0 / mean),
        holds: mean <= PART,
    }
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count)).exp()
}
