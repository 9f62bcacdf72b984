//! What the figures of a page depend on.

use std::error::Error;
use std::fs;
use std::process::Command;

const LOCK: &str = include_str!("../Cargo.lock");

/// What a command prints.
pub fn output(command: &str, argument: &str) -> Result<String, Box<dyn Error>> {
    let output = Command::new(command).arg(argument).output()?.stdout;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}

/// Processor, compiler and date, in one sentence.
pub fn machine() -> Result<String, Box<dyn Error>> {
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

/// The version of a package that is locked.
pub fn version(package: &str) -> &'static str {
    let name = format!("name = \"{package}\"");
    let package = LOCK.split("[[package]]").find(|entry| entry.contains(&name)).expect("it is used");
    package.split("version = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("every package has one")
}
