//! The report on worker processes: wall-clock and processor time of one check with 1 job and with 2.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rsmc::{Config, MemoryModel, Report, Verdict};
use rsmc_benches::{on_rsmc, relaxed};

use crate::measure::thousands;

const TEXT: &str = include_str!("jobs.md");

/// A check of some seconds.
struct Program {
    name: &'static str,
    n: usize,
    memory: MemoryModel,
    body: fn(usize),
}

/// The first three take at least five seconds with one process.
const PROGRAMS: [Program; 6] = [
    Program { name: "lastzero", n: 17, memory: MemoryModel::Sc, body: on_rsmc::lastzero },
    Program { name: "readers", n: 20, memory: MemoryModel::Sc, body: on_rsmc::readers },
    Program { name: "msv", n: 12, memory: MemoryModel::Sc, body: on_rsmc::msv },
    Program { name: "fib_bench", n: 5, memory: MemoryModel::Sc, body: on_rsmc::fib_bench },
    Program { name: "fkp2013", n: 6, memory: MemoryModel::C11, body: relaxed::fkp2013 },
    Program { name: "linuxrwlocks", n: 5, memory: MemoryModel::C11, body: on_rsmc::linuxrwlocks },
];

/// Measures everything, and writes the text; or measures one program, by its name, and prints its row.
///
/// Each program has a process of its own, since a worker comes to a check by way of all those before it.
pub fn write(folder: &Path, name: Option<&str>) -> Result<(), Box<dyn Error>> {
    if let Some(name) = name {
        let program = PROGRAMS.iter().find(|program| program.name == name).ok_or("no such program")?;
        print!("{}", row(program)?);
        return Ok(());
    }
    let mut rows = String::new();
    for program in PROGRAMS {
        let output = Command::new(std::env::current_exe()?).args(["jobs", program.name]).output()?;
        let row = String::from_utf8(output.stdout)?;
        if !output.status.success() {
            return Err(format!("{}: {}", program.name, String::from_utf8_lossy(&output.stderr)).into());
        }
        print!("{row}");
        rows += &row;
    }
    let text = TEXT.replace("{{machine}}", &crate::machine()?).replace("{{table}}", &rows);
    fs::write(folder.join("jobs.md"), text)?;
    Ok(())
}

struct Measured {
    report: Report,
    wall: f64,
    processor: f64,
}

fn measure(program: &Program, jobs: usize) -> Result<Measured, Box<dyn Error>> {
    let Program { memory, n, body, .. } = *program;
    let config = Config::default().memory(memory).jobs(jobs);
    let (start, before) = (Instant::now(), processor_seconds()?);
    let report = rsmc::explore(&config, move || body(n));
    assert!(matches!(report.verdict, Verdict::Verified) && report.notes.is_empty(), "{}", rsmc::render(&report, None));
    Ok(Measured { report, wall: start.elapsed().as_secs_f64(), processor: processor_seconds()? - before })
}

fn row(program: &Program) -> Result<String, Box<dyn Error>> {
    // The one with workers first: they explore by themselves what comes before it.
    let (two, one) = (measure(program, 2)?, measure(program, 1)?);
    let counts = |measured: &Measured| (measured.report.executions, measured.report.runs, measured.report.blocked);
    assert_eq!(counts(&two), counts(&one), "{}", program.name);
    let Program { name, n, memory, .. } = program;
    let executions = thousands(one.report.executions);
    Ok(format!(
        "| {name} | {n} | {memory} | {executions} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |\n",
        one.wall,
        two.wall,
        one.wall / two.wall,
        one.processor,
        two.processor,
        two.processor / one.processor
    ))
}

/// What this process and those that it has waited for have used.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no name in /proc/self/stat")?;
    let ticks: Result<Vec<u64>, _> = fields.split_whitespace().skip(11).take(4).map(str::parse).collect();
    Ok(ticks?.into_iter().sum::<u64>() as f64 / TICKS_PER_SECOND)
}
