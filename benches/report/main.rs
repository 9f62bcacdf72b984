//! Writes the reports in docs/benchmarks: `cargo run --release --manifest-path benches/Cargo.toml --bin report verify`,
//! `explorers` or `c11`.

mod c11;
mod chart;
mod explorers;
mod measure;
mod memory;
mod verify;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/benchmarks");
    fs::create_dir_all(&folder)?;
    match std::env::args().nth(1).as_deref() {
        Some("c11") => c11::write(&folder),
        Some("explorers") => explorers::write(&folder),
        Some("verify") => verify::write(&folder),
        _ => Err("usage: report c11|explorers|verify".into()),
    }
}

/// Processor, compiler and date, in one sentence.
fn machine() -> Result<String, Box<dyn Error>> {
    let first_line = |command: &str, argument: &str| -> Result<String, Box<dyn Error>> {
        let output = Command::new(command).arg(argument).output()?.stdout;
        Ok(String::from_utf8_lossy(&output).trim().to_owned())
    };
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(": ").nth(1));
    Ok(format!(
        "Measured on {} with {} on {} ({} cores).",
        first_line("date", "+%F")?,
        first_line("rustc", "--version")?,
        model.unwrap_or("an unknown processor"),
        std::thread::available_parallelism()?,
    ))
}
