//! The report on what C11 costs: RF-SMC under C11 beside SC, and the share of VerifyC11.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rsmc::MemoryModel;
use rsmc_benches::explorations::{drive, programs};
use rsmc_core::explore::RfSmc;

use crate::measure::{best_time, short, thousands};

const TEXT: &str = include_str!("c11.md");

/// Measures everything, and writes the text.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut rows = String::new();
    for program in programs() {
        for &n in program.sizes {
            for (orderings, body) in [("Relaxed", program.relaxed), ("SeqCst", program.body)] {
                let row = row(program.name, n, orderings, body);
                print!("{row}");
                rows += &row;
            }
        }
    }
    let text = TEXT.replace("{{machine}}", &crate::machine()?).replace("{{table}}", &rows);
    fs::write(folder.join("c11.md"), text)?;
    println!("took {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// An exploration.
struct Measured {
    runs: u64,
    questions: u64,
    seconds: f64,
    share: f64,
}

impl Measured {
    fn per_run(&self) -> f64 {
        self.seconds / self.runs as f64
    }
}

fn measure(memory: MemoryModel, body: fn(usize), n: usize) -> Measured {
    let once = |explorer: fn(MemoryModel) -> RfSmc| {
        let start = Instant::now();
        let result = drive(memory, body, n, || explorer(memory), |explorer, runs| (explorer.effort(), runs));
        (start.elapsed().as_secs_f64(), result)
    };
    let ((effort, runs), seconds) = best_time(|| once(RfSmc::new));
    let (slower, (timed, _)) = once(|memory| RfSmc::new(memory).measure_verifier());
    let share = timed.verifying.map_or(0.0, |time| time.as_secs_f64() / slower);
    Measured { runs, questions: effort.questions, seconds, share }
}

fn row(name: &str, n: usize, orderings: &str, body: fn(usize)) -> String {
    let [sc, c11] = [MemoryModel::Sc, MemoryModel::C11].map(|memory| measure(memory, body, n));
    let mut text = String::new();
    let cells = |measured: &Measured| {
        let Measured { runs, questions, seconds, share } = *measured;
        let per_run = 1e6 * measured.per_run();
        format!(
            "{} | {} | {per_run:.1} | {} | {:.0} % |",
            thousands(runs),
            short(seconds),
            thousands(questions),
            1e2 * share
        )
    };
    let ratio = c11.per_run() / sc.per_run();
    writeln!(text, "| {name} | {n} | {orderings} | {} {} {ratio:.2} |", cells(&sc), cells(&c11))
        .expect("a string grows");
    text
}
