//! Writes the reports in docs/benchmarks: `cargo run --release --manifest-path benches/Cargo.toml --bin report verify`,
//! `explorers`, `c11` or `jobs`; and docs/litmus.md: `litmus`.

mod c11;
mod chart;
mod explorers;
mod jobs;
mod litmus;
mod measure;
mod memory;
mod verify;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let folder = docs.join("benchmarks");
    fs::create_dir_all(&folder)?;
    match std::env::args().nth(1).as_deref() {
        Some("c11") => c11::write(&folder),
        Some("explorers") => explorers::write(&folder),
        Some("jobs") => jobs::write(&folder, std::env::args().nth(2).as_deref()),
        Some("litmus") => litmus::write(&docs),
        Some("verify") => verify::write(&folder),
        _ => Err("usage: report c11|explorers|jobs|litmus|verify".into()),
    }
}

/// What a command prints.
fn output(command: &str, argument: &str) -> Result<String, Box<dyn Error>> {
    let output = Command::new(command).arg(argument).output()?.stdout;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}

/// Processor, compiler and date, in one sentence.
fn machine() -> Result<String, Box<dyn Error>> {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(": ").nth(1));
    Ok(format!(
        "Measured on {} with {} on {} ({} cores).",
        output("date", "+%F")?,
        output("rustc", "--version")?,
        model.unwrap_or("an unknown processor"),
        std::thread::available_parallelism()?,
    ))
}
