//! Writes docs/benchmarks, docs/litmus.md and docs/seeds.md, or with the name of a page this one alone:
//! `cargo run --profile measured --manifest-path benches/Cargo.toml --bin report`.

mod c11;
mod chart;
mod exhaust;
mod explorers;
mod index;
mod jobs;
mod litmus;
mod machine;
mod measure;
mod memory_page;
mod minutes;
mod peers;
mod promise;
#[path = "../../tests/counts/rows.rs"]
mod rows;
mod scaling;
mod seeds;
mod shim;
mod throughput;
mod timed;
mod turns;
mod verify;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use machine::{machine, output};
use rsmc_benches::instructions::perform;
use rsmc_benches::{on_rsmc as programs, relaxed as buffered};

fn main() -> Result<(), Box<dyn Error>> {
    if perform() {
        return Ok(());
    }
    let (start, docs) = (Instant::now(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs"));
    let folder = docs.join("benchmarks");
    fs::create_dir_all(&folder)?;
    write(std::env::args().nth(1).as_deref().unwrap_or("all"), &docs, &folder)?;
    eprintln!("took {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Writes a page, or several.
fn write(page: &str, docs: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    match page {
        "throughput" => throughput::write(folder).map(drop),
        "peers" => peers::write(folder).map(drop),
        "shim" => shim::write(folder).map(drop),
        "memory" => memory_page::write(folder).map(drop),
        minutes::ARGUMENT => minutes::run(&std::env::args().nth(2).unwrap_or_default()),
        "exhaust" => exhaust::write(folder),
        "scaling" => scaling::write(folder),
        "c11" => c11::write(folder),
        "jobs" => jobs::write(folder, std::env::args().nth(2).as_deref()),
        "explorers" => explorers::write(folder),
        "verify" => verify::write(folder),
        "litmus" => litmus::write(docs),
        "seeds" => seeds::write(docs),
        "promises" => index::write(folder),
        "all" => {
            let pages = ["promises", "jobs", "exhaust", "scaling", "explorers", "verify", "c11", "litmus", "seeds"];
            pages.into_iter().try_for_each(|page| write(page, docs, folder))
        }
        _ => Err(
            "usage: report [throughput|peers|memory|shim|promises|jobs|exhaust|scaling|explorers|verify|c11|litmus|seeds]"
                .into(),
        ),
    }
}
