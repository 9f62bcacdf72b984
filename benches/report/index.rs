//! The page that leads to the others, with what must hold of them.

use std::error::Error;
use std::fs;
use std::path::Path;

use crate::machine::{machine, output, version};
use crate::{memory_page, peers, promise, shim, throughput};

const TEXT: &str = include_str!("index.md");

/// Writes the pages that promise something, and this one.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let pages = [throughput::write, peers::write, memory_page::write, shim::write];
    let promises: Vec<_> = pages.iter().map(|write| write(folder)).collect::<Result<Vec<_>, _>>()?;
    let table = promise::table(&promises.into_iter().flatten().collect::<Vec<_>>());
    let versions = ["loom", "shuttle", "criterion", "generator"].map(|name| format!("{name} {}", version(name)));
    let text = TEXT
        .replace("{{machine}}", &machine()?)
        .replace("{{system}}", &output("uname", "-sr")?)
        .replace("{{versions}}", &versions.join(", "))
        .replace("{{promises}}", &table);
    fs::write(folder.join("README.md"), text)?;
    print!("{table}");
    Ok(())
}
