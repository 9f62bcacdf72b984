//! Fails when an exploration executes more or fewer instructions than guard.toml says, or more than its limit.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin guard`, with `RSMC_BLESS=1` to write the figures anew.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::process::{Command, ExitCode};

use rsmc::Explorer::{ReadsFrom, View};
use rsmc::MemoryModel::{C11, Sc};
use rsmc_benches::instructions::{Subject, Work, idle_instructions, perform};
use serde::{Deserialize, Serialize};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/guard.toml");
const HEAD: &str =
    "# Instructions of the checks of guard/main.rs, which writes this file with RSMC_BLESS=1 and compares without.\n\n";

/// More than so much off the figure, in either direction, is an error.
const TOLERANCE: f64 = 0.03;

/// What is counted; complete explorations.
const CHECKS: [(&str, Work); 3] = [
    ("readinc(5), reads-from, sc", work(Subject::Program("readinc", 5), ReadsFrom, Sc)),
    ("lastzero(8), reads-from, c11", work(Subject::Program("lastzero", 8), ReadsFrom, C11)),
    ("readinc(5), view, sc", work(Subject::Program("readinc", 5), View, Sc)),
];

const fn work(subject: Subject, explorer: rsmc::Explorer, memory: rsmc::MemoryModel) -> Work {
    Work { subject, explorer, memory, executions: u64::MAX }
}

/// The contents of guard.toml.
#[derive(Deserialize, Serialize)]
struct Figures {
    /// The compiler for which they hold.
    rustc: String,
    /// By the name of the check.
    instructions: BTreeMap<String, u64>,
    /// The most that a check may execute: 5 % over what it took before threads were compared by their states.
    limits: BTreeMap<String, u64>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if perform() {
        return Ok(ExitCode::SUCCESS);
    }
    let (idle, mut instructions) = (idle_instructions()?, BTreeMap::new());
    for (name, work) in CHECKS {
        instructions.insert(name.to_owned(), work.instructions()? - idle);
    }
    let committed: Figures = toml::from_str(&fs::read_to_string(FILE)?)?;
    let found = Figures { rustc: rustc()?, instructions, limits: committed.limits.clone() };
    if std::env::var_os("RSMC_BLESS").is_some() {
        fs::write(FILE, HEAD.to_owned() + &toml::to_string(&found)?)?;
        println!("{FILE} is written; compared with the figures of before:");
    }
    Ok(if compare(&committed, &found) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rustc() -> Result<String, Box<dyn Error>> {
    let output = Command::new("rustc").arg("--version").output()?.stdout;
    Ok(String::from_utf8(output)?.trim().to_owned())
}

/// Prints the table; whether all figures are as committed.
fn compare(committed: &Figures, found: &Figures) -> bool {
    println!("{:32} {:>15} {:>15} {:>8} {:>15}", "instructions", "committed", "found", "change", "at most");
    let mut holds = true;
    for (name, &now) in &found.instructions {
        let (Some(&before), Some(&limit)) = (committed.instructions.get(name), committed.limits.get(name)) else {
            println!("{name:32} {:>15} {now:>15}", "none");
            holds = false;
            continue;
        };
        let change = now as f64 / before as f64 - 1.0;
        holds &= change.abs() <= TOLERANCE && now <= limit;
        println!("{name:32} {before:>15} {now:>15} {:>+7.2}% {limit:>15}", 1e2 * change);
    }
    if !holds {
        println!("\nA figure changed by more than {:.0}%, is over its limit, or there is none.", 1e2 * TOLERANCE);
        if committed.rustc != found.rustc {
            println!("The compiler differs: guard.toml is for {}, this is {}.", committed.rustc, found.rustc);
        }
        println!("If that is meant, write the new figures, and commit benches/guard.toml:");
        println!("RSMC_BLESS=1 cargo run --release --manifest-path benches/Cargo.toml --bin guard");
    }
    holds
}
