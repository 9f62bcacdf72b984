//! The report on what C11 costs: RF-SMC under C11 beside SC, and the share of VerifyC11.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rsmc::MemoryModel;
use rsmc_benches::explorations::{drive, programs};
use rsmc_core::explore::RfSmc;

use crate::measure::{best_time, thousands};

const TEXT: &str = include_str!("c11.md");

/// These wait in loops, and are wrong with relaxed accesses: what they do then is not comparable.
const LEFT_OUT: [&str; 4] = ["dekker", "peterson", "linuxrwlocks", "ticketlock"];
/// With relaxed accesses it has too many classes under C11: already 431,325 for 11.
const TOO_LARGE: (&str, usize) = ("eratosthenes", 13);

/// Measures everything, and writes the text.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (mut rows, mut worst) = (String::new(), [0.0_f64; 2]);
    for program in programs().into_iter().filter(|program| !LEFT_OUT.contains(&program.name)) {
        for &n in program.sizes.iter().filter(|&&n| (program.name, n) != TOO_LARGE) {
            let bodies = [("Relaxed", program.relaxed), ("SeqCst", program.body)];
            for ((orderings, body), worst) in bodies.into_iter().zip(&mut worst) {
                let (row, ratio) = row(program.name, n, orderings, body);
                print!("{row}");
                rows += &row;
                *worst = worst.max(ratio);
            }
        }
    }
    let text = TEXT
        .replace("{{machine}}", &crate::machine()?)
        .replace("{{relaxed}}", &format!("{:.1}", worst[0]))
        .replace("{{seqcst}}", &format!("{:.1}", worst[1]))
        .replace("{{table}}", &rows);
    fs::write(folder.join("c11.md"), text)?;
    Ok(())
}

/// An exploration.
struct Measured {
    runs: u64,
    seconds: f64,
    /// The part of the time that the verifier took.
    share: f64,
}

impl Measured {
    /// Microseconds for each run.
    fn cost(&self) -> f64 {
        1e6 * self.seconds / self.runs as f64
    }

    fn cells(&self) -> String {
        format!("{} | {:.1} | {:.0} %", thousands(self.runs), self.cost(), 1e2 * self.share)
    }
}

fn measure(memory: MemoryModel, body: fn(usize), n: usize) -> Measured {
    let once = |explorer: fn(MemoryModel) -> RfSmc| {
        let start = Instant::now();
        let result = drive(memory, body, n, || explorer(memory), |explorer, runs| (runs, explorer.effort()));
        (start.elapsed().as_secs_f64(), result)
    };
    let ((runs, _), seconds) = best_time(|| once(RfSmc::new));
    // Measuring the verifier costs some, so the share is of a run of its own.
    let (slower, (_, effort)) = once(|memory| RfSmc::new(memory).measure_verifier());
    Measured { runs, seconds, share: effort.verifying.map_or(0.0, |time| time.as_secs_f64() / slower) }
}

fn row(name: &str, n: usize, orderings: &str, body: fn(usize)) -> (String, f64) {
    let [sc, c11] = [MemoryModel::Sc, MemoryModel::C11].map(|memory| measure(memory, body, n));
    let ratio = c11.cost() / sc.cost();
    (format!("| {name} | {n} | {orderings} | {} | {} | {ratio:.2} |\n", sc.cells(), c11.cells()), ratio)
}
