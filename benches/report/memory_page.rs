//! The page on memory over many executions.

use std::error::Error;
use std::fs;
use std::path::Path;

use rsmc::{Config, MemoryModel};
use rsmc_benches::explorations::body;
use rsmc_core::session::check_body;

use crate::measure::thousands;
use crate::promise::Promise;
use rsmc_benches::memory;

const TEXT: &str = include_str!("memory.md");
const PAGE: &str = "memory";

/// Programs with more classes than the last of [`EXECUTIONS`]. None has a loop that waits: runs that are given up leave
/// memory behind, which is taken back without being freed.
const PROGRAMS: [(&str, usize); 6] =
    [("fib_bench", 6), ("msv", 12), ("linuxrwlocks", 6), ("casw", 8), ("readinc", 8), ("ainc", 10)];
/// When memory is looked at.
const EXECUTIONS: [u64; 3] = [10_000, 100_000, 1_000_000];
/// The memory of the process may at last be so many times what it was first.
const GROWTH: f64 = 1.2;
/// As [`GROWTH`], over minutes: runs of `view` that are not finished with are kept, and come to be more.
const OVER_MINUTES: f64 = 1.3;
/// What is allocated may at last be so much more than it was first, in KiB: as much as the sets of decisions may take.
const MORE: usize = 128;

/// What there was after so many executions.
struct Sample {
    executions: u64,
    live: usize,
    peak: usize,
    resident: usize,
}

impl Sample {
    fn take(executions: u64) -> Self {
        Self { executions, live: memory::now(), peak: memory::peak(), resident: memory::resident() }
    }

    fn cells(&self) -> String {
        let sizes = [self.live, self.peak, self.resident].map(|bytes| thousands(bytes as u64 / 1024));
        format!("{} | {}", thousands(self.executions), sizes.join(" | "))
    }
}

/// Measures everything, and writes the text.
pub fn write(folder: &Path) -> Result<Vec<Promise>, Box<dyn Error>> {
    let (mut table, mut worst, mut most) = (String::new(), (0.0, ""), (0, ""));
    for (name, n) in PROGRAMS {
        let samples = samples(name, n)?;
        let rows = samples.iter().map(|sample| format!("| {name} | {n} | {} |\n", sample.cells()));
        table.extend(rows.inspect(|row| print!("{row}")));
        let (first, last) = (&samples[0], &samples[EXECUTIONS.len() - 1]);
        let (growth, more) = (last.resident as f64 / first.resident as f64, (last.peak - first.peak) / 1024);
        worst = if growth > worst.0 { (growth, name) } else { worst };
        most = if more >= most.0 { (more, name) } else { most };
    }
    let (minutes, growth, check) = crate::minutes::rows()?;
    let [first, last] = [EXECUTIONS[0], EXECUTIONS[EXECUTIONS.len() - 1]].map(thousands);
    let promises = vec![
        Promise {
            page: PAGE,
            what: format!(
                "After {last} executions a process has at most {GROWTH} times the memory it had after {first}"
            ),
            measured: format!("{:.2} times, in {}", worst.0, worst.1),
            holds: worst.0 <= GROWTH,
        },
        Promise {
            page: PAGE,
            what: format!("A check has allocated at most {MORE} KiB more in {last} executions than in {first}"),
            measured: format!("{} KiB, in {}", most.0, most.1),
            holds: most.0 <= MORE,
        },
        Promise {
            page: PAGE,
            what: format!("After ten minutes a process has at most {OVER_MINUTES} times the memory it had after four"),
            measured: format!("{growth:.2} times, of {check}"),
            holds: growth <= OVER_MINUTES,
        },
    ];
    let text = TEXT
        .replace("{{machine}}", &crate::machine()?)
        .replace("{{promises}}", &crate::promise::table(&promises))
        .replace("{{table}}", &table)
        .replace("{{minutes}}", &minutes);
    fs::write(folder.join(PAGE).with_extension("md"), text)?;
    Ok(promises)
}

/// Memory in one check.
fn samples(name: &str, n: usize) -> Result<Vec<Sample>, Box<dyn Error>> {
    let (body, mut executions, mut samples) = (body(name), 0, Vec::with_capacity(EXECUTIONS.len()));
    let config = Config::default().memory(MemoryModel::Sc).max_executions(EXECUTIONS[EXECUTIONS.len() - 1]);
    memory::start();
    let mut observe = |_: &_, counts| {
        executions += u64::from(counts);
        if counts && EXECUTIONS.contains(&executions) {
            samples.push(Sample::take(executions));
        }
    };
    let report = check_body(&config, &|| body(n), |body| body.check().observe(&mut observe).run());
    memory::stop();
    report?;
    assert_eq!(samples.len(), EXECUTIONS.len(), "{name}({n}) has too few classes");
    Ok(samples)
}
